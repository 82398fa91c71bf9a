package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/spf13/cobra"
)

// A welcome is what the bare `quire` says.
type welcome struct {
	Home    string        `json:"home"` // folder of Quire's own settings
	Found   []logFolder   `json:"found"`
	Missing []quire.Agent `json:"missing"` // agents without logs in their usual places
	Looked  []string      `json:"looked"`  // every place that was looked at
	Next    []suggestion  `json:"next"`
}

// A logFolder is a place with logs of an agent.
type logFolder struct {
	Agent  quire.Agent `json:"agent"`
	Path   string      `json:"path"`
	Files  int         `json:"files"`
	Bytes  int64       `json:"bytes"`
	Newest time.Time   `json:"newest,omitzero"` // last change of a file, UTC
}

type suggestion struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// greet gives the bare `quire` its work.
func (inv *invocation) greet(root *cobra.Command) {
	asJSON := root.Flags().Bool("json", false, "write JSON, with times in UTC")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := inv.settings(cmd)
		if err != nil {
			return err
		}
		w := inv.look(cmd.Context())
		w.Home = s.Path(config.Home)
		if *asJSON {
			return writeJSON(inv.out, w)
		}
		return inv.show(w, pen(inv.colour(s)), zone(s))
	}
}

// look visits the usual places of all known agents.
func (inv *invocation) look(ctx context.Context) welcome {
	places := trace.Find(trace.Env{Home: inv.env.home(inv.app.goos), Getenv: inv.env.get, OS: inv.app.goos})
	w := welcome{Found: []logFolder{}, Missing: []quire.Agent{}, Looked: []string{}}
	for _, p := range places {
		w.Looked = append(w.Looked, p.Path)
		if !p.Exists {
			continue
		}
		if f := measure(ctx, p); f.Files > 0 {
			w.Found = append(w.Found, f)
		}
	}
	w.Missing = without(places, w.Found)
	w.Next = suggestions(len(w.Found) > 0)
	return w
}

// without lists the agents of places that have no folder, each once.
func without(places []trace.Place, found []logFolder) []quire.Agent {
	missing := []quire.Agent{}
	for _, p := range places {
		has := slices.ContainsFunc(found, func(f logFolder) bool { return f.Agent == p.Agent })
		if !has && !slices.Contains(missing, p.Agent) {
			missing = append(missing, p.Agent)
		}
	}
	return missing
}

// measure counts the files of a place. What cannot be read is not counted.
func measure(ctx context.Context, p trace.Place) logFolder {
	f := logFolder{Agent: p.Agent, Path: p.Path}
	_ = filepath.WalkDir(p.Path, func(_ string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return filepath.SkipAll
		}
		if err == nil && entry.Type().IsRegular() { // a folder that is closed to us hides its files, no more
			f.add(entry)
		}
		return nil
	})
	return f
}

func (f *logFolder) add(entry fs.DirEntry) {
	info, err := entry.Info()
	if err != nil {
		return // gone since the folder was read
	}
	f.Files++
	f.Bytes += info.Size()
	if at := info.ModTime().UTC(); at.After(f.Newest) {
		f.Newest = at
	}
}

// suggestions are the three commands that come next.
func suggestions(found bool) []suggestion {
	if !found {
		return []suggestion{
			{"quire audit PATH", "read logs from a file or folder of yours"},
			{"quire help audit", "which logs it reads, with examples"},
			{"quire config list", "the settings, QUIRE_HOME among them"},
		}
	}
	return []suggestion{
		{"quire audit", "what these sessions cost, what was wasted, what would have helped"},
		{"quire audit --html report.html", "the same with charts, as one page for the browser"},
		{"quire help audit", "filters by day, project, agent and model, with examples"},
	}
}

func (inv *invocation) show(w welcome, p pen, zone *time.Location) error {
	if len(w.Found) == 0 {
		fmt.Fprintln(inv.out, "No logs of coding agents here. Looked in:")
		for _, path := range w.Looked {
			fmt.Fprintln(inv.out, "  "+inv.short(path))
		}
	} else if err := inv.showFound(w, p, zone); err != nil {
		return err
	}
	fmt.Fprintln(inv.out, "\n"+p.bold("Next"))
	table := tabwriter.NewWriter(inv.out, 0, 0, 3, ' ', 0)
	for _, s := range w.Next {
		fmt.Fprintf(table, "  %s\t%s\n", s.Command, s.Why)
	}
	return table.Flush()
}

func (inv *invocation) showFound(w welcome, p pen, zone *time.Location) error {
	fmt.Fprintln(inv.out, p.bold("Logs found"))
	table := tabwriter.NewWriter(inv.out, 0, 0, 3, ' ', 0)
	for _, f := range w.Found {
		fmt.Fprintf(table, "  %s\t%s\t%d %s\t%s\tnewest %s\n", f.Agent, inv.short(f.Path), f.Files, plural(f.Files, "file", "files"),
			size(f.Bytes), f.Newest.In(zone).Format("2006-01-02 15:04"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	if len(w.Missing) > 0 {
		fmt.Fprintln(inv.out, "None of", list(w.Missing))
	}
	return nil
}

// short writes a path below the user's home folder with ~.
func (inv *invocation) short(path string) string {
	home := inv.env.home(inv.app.goos)
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

func list(agents []quire.Agent) string {
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// size writes bytes with a decimal unit.
func size(bytes int64) string {
	value, unit := float64(bytes), "B"
	for _, next := range []string{"kB", "MB", "GB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}
