package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/hook"
	"github.com/quire-agent/quire/internal/x/trust"
	"github.com/spf13/cobra"
)

func (inv *invocation) hooksCommand() *cobra.Command {
	var names []string
	for _, e := range hook.Events() {
		names = append(names, string(e))
	}
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "List the commands that run at moments of a session; trust a project's",
		Long: `Hooks are commands that quire run starts when something happens. They stand in
hooks.json in the home and in .quire/hooks.json of the project:

  {"hooks": {"PreToolUse": [{"matcher": "bash", "hooks": [{"command": "./check.sh"}]}]}}

A hook reads one line of JSON. Exit code 2 blocks what is about to happen, with what
it wrote to standard error as the reason. docs/hooks.md says more.

Events:
` + inThrees(names),
		Example: "  quire hooks list\n  quire hooks trust",
		Args:    inv.unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inv.hooksListCommand(), inv.hooksTrustCommand())
	return cmd
}

// inThrees sets names in lines that a terminal holds.
func inThrees(names []string) string {
	var lines []string
	for three := range slices.Chunk(names, 3) {
		lines = append(lines, "  "+strings.Join(three, ", "))
	}
	return strings.Join(lines, ",\n") + "."
}

// A hookRow is one hook of `quire hooks list`.
type hookRow struct {
	Event   hook.Event  `json:"event"`
	Matcher string      `json:"matcher,omitempty"`
	Command string      `json:"command"`
	Source  hook.Source `json:"source"`
	Runs    bool        `json:"runs"`
	Reason  string      `json:"reason,omitempty"` // why it does not run
}

func (inv *invocation) hooksListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the hooks of the home and of this project",
		Long:    "List the hooks of the home and of this project, and why one does not run.",
		Example: "  quire hooks list --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, _, err := inv.allHooks(cmd)
			if err != nil {
				return err
			}
			return inv.showHooks(list, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON array")
	return cmd
}

func (inv *invocation) allHooks(cmd *cobra.Command) ([]hook.Handler, *trust.Store, error) {
	home, store, err := inv.trusting(cmd)
	if err != nil {
		return nil, nil, err
	}
	h, err := inv.hooks(home, inv.app.dir, store)
	if err != nil {
		return nil, nil, unusable(err, "correct the file, or take it away")
	}
	return h.Handlers, store, nil
}

func (inv *invocation) showHooks(list []hook.Handler, asJSON bool) error {
	rows := []hookRow{}
	for _, h := range list {
		rows = append(rows, hookRow{h.Event, h.Matcher, inv.mask(h.Command), h.Source, h.Skip == "", h.Skip})
	}
	if asJSON {
		return writeJSON(inv.out, rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(inv.out, "No hooks. `quire help hooks` shows how one is written.")
		return err
	}
	for _, r := range rows {
		line := fmt.Sprintf("%-18s %-12s %-8s %s", r.Event, r.Matcher, r.Source.Kind, clip(r.Command, 100))
		if r.Reason != "" {
			line += "\n    does not run: " + r.Reason
		}
		if _, err := fmt.Fprintln(inv.out, line); err != nil {
			return err
		}
	}
	return nil
}

func (inv *invocation) hooksTrustCommand() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:   "trust [EVENT]",
		Short: "Let this project's hooks run",
		Long: `Trust the hooks of the project, or those of one EVENT, exactly as they stand in its
.quire/hooks.json. A hook that changes is no longer trusted. What is trusted is kept in
trust.json in the home; a project cannot trust itself.`,
		Example: "  quire hooks trust\n  quire hooks trust PreToolUse --off",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.trustHooks(cmd, strings.Join(args, ""), off)
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "take the trust back")
	return cmd
}

func (inv *invocation) trustHooks(cmd *cobra.Command, event string, off bool) error {
	if event != "" && !slices.Contains(hook.Events(), hook.Event(event)) {
		return unusable(fmt.Errorf("%q is no event of hooks", event), "`quire help hooks` lists them")
	}
	list, store, err := inv.allHooks(cmd)
	if err != nil {
		return err
	}
	n := 0
	for _, h := range list {
		if h.Source.Kind != hook.OfProject || event != "" && string(h.Event) != event || strings.TrimSpace(h.Command) == "" {
			continue
		}
		n++
		if off {
			_, err = store.Revoke(hook.TrustKind, h.Sum())
		} else {
			err = store.Grant(trust.Grant{Kind: hook.TrustKind, Sum: h.Sum(), Note: string(h.Event) + " of " + h.Source.Path})
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(inv.out, "%s: %s %s\n  %s\n", trustWord(off), h.Event, h.Matcher, inv.mask(h.Command)); err != nil {
			return err
		}
	}
	if n == 0 {
		return unusable(errors.New("the project has no such hooks"), "`quire hooks list` lists them")
	}
	return nil
}
