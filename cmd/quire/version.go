package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
)

// A release is what a binary knows of itself.
type release struct {
	Version  string    `json:"version"`            // of the module; (devel) for a build from a checkout
	Commit   string    `json:"commit,omitempty"`   // "" where the build had no version control
	Time     time.Time `json:"time,omitzero"`      // of the commit
	Modified bool      `json:"modified,omitempty"` // built with changes on top of the commit
	Go       string    `json:"go"`
	Platform string    `json:"platform"`
}

func (inv *invocation) release() release {
	r := release{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := inv.app.build()
	if !ok {
		return r
	}
	r.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			r.Commit = s.Value
		case "vcs.modified":
			r.Modified = s.Value == "true"
		case "vcs.time":
			r.Time, _ = time.Parse(time.RFC3339, s.Value) // a stamp of another form is left out
		}
	}
	return r
}

// versionLine is the release in one line, without its time.
func (inv *invocation) versionLine() string { return inv.release().line() }

func (r release) line() string {
	return fmt.Sprintf("quire %s%s %s %s", r.Version, r.commit(), r.Go, r.Platform)
}

func (r release) commit() string {
	if r.Commit == "" {
		return ""
	}
	text := " (" + r.Commit[:min(12, len(r.Commit))]
	if r.Modified {
		text += ", modified"
	}
	return text + ")"
}

func (inv *invocation) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the version, the commit and the platform",
		Long:    "Show the version of this binary, the commit it was built from and when that\nwas made, the Go release and the platform.",
		Example: "  quire version\n  quire version --json",
		Args:    exactly(),
	}
	asJSON := cmd.Flags().Bool("json", false, "write JSON, with the time in UTC")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return inv.version(cmd, *asJSON) }
	return cmd
}

func (inv *invocation) version(cmd *cobra.Command, asJSON bool) error {
	r := inv.release()
	if asJSON {
		return writeJSON(inv.out, r)
	}
	s, err := inv.settings(cmd)
	if err != nil {
		return err
	}
	fmt.Fprintln(inv.out, r.line())
	if !r.Time.IsZero() {
		fmt.Fprintln(inv.out, "commit of", r.Time.In(zone(s)).Format("2006-01-02 15:04:05 MST"))
	}
	return nil
}
