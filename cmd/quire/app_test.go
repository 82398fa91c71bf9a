package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// An answer is what one command line gave.
type answer struct {
	code     int
	out, err string
}

// start runs a whole program in process, with a home of its own.
func start(t *testing.T, ctx context.Context, stdout io.Writer, args ...string) (code int, stderr string) {
	t.Helper()
	var errOut bytes.Buffer
	env := newEnvironment([]string{"HOME=" + t.TempDir(), "USERPROFILE=" + t.TempDir()})
	a := app{dir: t.TempDir(), goos: "linux", build: builtFrom("v1.2.3", "0123456789abcdef")}
	code = a.Run(ctx, args, strings.NewReader(""), stdout, &errOut, env)
	return code, errOut.String()
}

func invoke(t *testing.T, args ...string) answer {
	t.Helper()
	var out bytes.Buffer
	code, stderr := start(t, t.Context(), &out, args...)
	return answer{code, out.String(), stderr}
}

func builtFrom(version, commit string) func() (*debug.BuildInfo, bool) {
	info := &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: "2026-03-01T10:20:30Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	return func() (*debug.BuildInfo, bool) { return info, true }
}

func TestVersion(t *testing.T) {
	got := invoke(t, "version", "--utc")
	if got.code != 0 || !strings.HasPrefix(got.out, "quire v1.2.3 (0123456789ab, modified) go1.") {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(got.out, "commit of 2026-03-01 10:20:30 UTC") {
		t.Errorf("no commit time in %q", got.out)
	}
	var r release
	if err := json.Unmarshal([]byte(invoke(t, "version", "--json").out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Commit != "0123456789abcdef" || !r.Modified || r.Platform == "" || r.Time.Year() != 2026 {
		t.Errorf("got %+v", r)
	}
}

func TestInterruptedIs130(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stderr := start(t, ctx, io.Discard, "version")
	if code != 130 || stderr != "quire: interrupted\n" {
		t.Errorf("got %d, %q", code, stderr)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLostOutputIsAFailure(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"config", "list"}, {"config", "schema"}, {"completion", "bash"}, {"--json"}, {}} {
		code, stderr := start(t, t.Context(), full{}, args...)
		if code != 1 || !strings.Contains(stderr, "no space left") {
			t.Errorf("quire %v: got %d, %q", args, code, stderr)
		}
	}
}

// walk visits every command.
func walk(t *testing.T, visit func(*cobra.Command)) {
	t.Helper()
	inv := &invocation{app: app{build: builtFrom("v0", "")}, out: &output{w: io.Discard}}
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		visit(cmd)
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	root := inv.rootCommand()
	root.InitDefaultHelpCmd()
	each(root)
}

func TestEveryCommandExplainsItself(t *testing.T) {
	seen := 0
	walk(t, func(cmd *cobra.Command) {
		seen++
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s lacks its Short, Long or Example", cmd.CommandPath())
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the Short %q is no sentence", cmd.CommandPath(), cmd.Short)
		}
		for line := range strings.Lines(cmd.Example) {
			if !strings.HasPrefix(line, "  ") || !strings.Contains(line, "quire") {
				t.Errorf("%s: example %q is no indented command line", cmd.CommandPath(), line)
			}
		}
		for line := range strings.Lines(cmd.Long) {
			if len([]rune(line)) > 100 {
				t.Errorf("%s: a line of the Long is too wide for a terminal: %q", cmd.CommandPath(), line)
			}
		}
	})
	if seen < 8 {
		t.Errorf("saw only %d commands", seen)
	}
}

// Whatever a command tells a person it tells a program too.
func TestEveryListingHasJSON(t *testing.T) {
	without := map[string]string{
		"quire help":           "prose",
		"quire completion":     "a script",
		"quire brain":          "shows help",
		"quire brain set":      "changes something",
		"quire schema":         "shows help",
		"quire schema packet":  "is JSON",
		"quire config":         "shows help",
		"quire config set":     "changes something",
		"quire config schema":  "is JSON",
		"quire session":        "shows help",
		"quire epoch":          "shows help",
		"quire demo":           "prose",
		"quire eval ablation":  "a table in Markdown, of figures that eval has as JSON",
		"quire eval curve":     "a table in Markdown, of figures that eval has as JSON",
		"quire eval fit":       "writes JSON",
		"quire mcp":            "speaks a protocol",
		"quire sim":            "lists its requests as JSON by itself",
		"quire hooks":          "shows help",
		"quire hooks trust":    "changes something",
		"quire skills":         "shows help",
		"quire mcp trust":      "changes something",
		"quire models key":     "shows help",
		"quire models key set": "changes something",
		"quire models key rm":  "changes something",
	}
	walk(t, func(cmd *cobra.Command) {
		has := cmd.Flags().Lookup("json") != nil
		_, free := without[cmd.CommandPath()]
		if cmd.Runnable() && has == free {
			t.Errorf("%s: --json = %v, exempt = %v", cmd.CommandPath(), has, free)
		}
	})
}

func TestSuggestedCommandsExist(t *testing.T) {
	inv := &invocation{app: app{build: builtFrom("v0", "")}, out: &output{w: io.Discard}}
	root := inv.rootCommand()
	for _, s := range append(suggestions(true), suggestions(false)...) {
		words := strings.Fields(s.Command)[1:]
		if words[0] == "help" {
			words = words[1:]
		}
		cmd, _, err := root.Find(words)
		if err != nil || cmd == root {
			t.Errorf("%q is suggested but there is no such command", s.Command)
			continue
		}
		for _, w := range words {
			if flag, ok := strings.CutPrefix(w, "--"); ok && cmd.Flag(flag) == nil {
				t.Errorf("%q is suggested but %s has no flag %s", s.Command, cmd.Name(), w)
			}
		}
	}
}

func TestUsageIsNeverDumped(t *testing.T) {
	for _, args := range [][]string{
		{"nothing"}, {"--nothing"}, {"config", "nothing"}, {"config", "get"}, {"config", "get", "nothing"}, {"config", "set", "utc"},
		{"config", "list", "more"}, {"config", "list", "--nothing"}, {"completion"}, {"completion", "tcsh"}, {"help", "nothing"},
		{"--color", "red"}, {"--utc=perhaps", "version"}, {"version", "more"},
	} {
		got := invoke(t, args...)
		lines := strings.Split(strings.TrimSuffix(got.err, "\n"), "\n")
		if got.code != 2 || got.out != "" || len(lines) != 2 || !strings.HasPrefix(lines[0], "quire: ") || !strings.HasPrefix(lines[1], "  next: ") {
			t.Errorf("quire %v: got %+v, want code 2, one line that says what and one that says what next", args, got)
		}
	}
}

func TestExitTableIsComplete(t *testing.T) {
	for _, code := range []exitCode{exitOK, exitFailure, exitUnusable, exitInterrupted} {
		if !strings.Contains(invoke(t, "help", "exit-codes").out, fmt.Sprintf(" %d  ", code)) {
			t.Errorf("%d is not in the table", code)
		}
	}
}

func TestColour(t *testing.T) {
	cases := []struct {
		name     string
		env      []string
		goos     string
		terminal bool
		args     []string
		want     bool
	}{
		{"terminal", nil, "linux", true, nil, true},
		{"pipe", nil, "linux", false, nil, false},
		{"NO_COLOR", []string{"NO_COLOR=1"}, "linux", true, nil, false},
		{"empty NO_COLOR", []string{"NO_COLOR="}, "linux", true, nil, true},
		{"flag over NO_COLOR", []string{"NO_COLOR=1"}, "linux", false, []string{"--color", "always"}, true},
		{"dumb", []string{"TERM=dumb"}, "linux", true, nil, false},
		{"variable", []string{"QUIRE_COLOR=never"}, "linux", true, nil, false},
		{"flag over variable", []string{"QUIRE_COLOR=never"}, "linux", true, []string{"--color=always"}, true},
		{"old Windows console", nil, "windows", true, nil, false},
		{"Windows terminal", []string{"WT_SESSION=1"}, "windows", true, nil, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inv := &invocation{app: app{dir: t.TempDir(), goos: c.goos, build: builtFrom("v0", "")}, env: newEnvironment(c.env), out: &output{w: io.Discard}, terminal: c.terminal}
			root := inv.rootCommand()
			if err := root.ParseFlags(c.args); err != nil {
				t.Fatal(err)
			}
			s, err := inv.settings(root)
			if err != nil {
				t.Fatal(err)
			}
			if got := inv.colour(s); got != c.want {
				t.Errorf("colour = %v, want %v", got, c.want)
			}
		})
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 137160: "137.2 kB", 98_100_000: "98.1 MB", 5_000_000_000_000: "5000.0 GB"} {
		if got := size(bytes); got != want {
			t.Errorf("size(%d) = %q, want %q", bytes, got, want)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := invoke(t, "completion", shell); got.code != 0 || !strings.Contains(got.out, "quire") || !strings.Contains(got.out, "__complete") {
			t.Errorf("%s: code %d, %d bytes without a call of quire __complete", shell, got.code, len(got.out))
		}
	}
}

func TestCompletionOfSettings(t *testing.T) {
	cases := []struct {
		args []string
		want string
	}{
		{[]string{"config", "get", ""}, "audit.days\t"},
		{[]string{"config", "set", "color", ""}, "always\n"},
		{[]string{"config", "set", "utc", ""}, "true\n"},
		{[]string{"completion", ""}, "powershell\n"},
	}
	for _, c := range cases {
		if got := invoke(t, append([]string{"__complete"}, c.args...)...); !strings.Contains(got.out, c.want) {
			t.Errorf("completing %q gives %q, want %q in it", c.args, got.out, c.want)
		}
	}
}
