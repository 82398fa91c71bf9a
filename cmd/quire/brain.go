package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/role"
	"github.com/spf13/cobra"
)

func (inv *invocation) brainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "brain",
		Short: "Who plans a team's work, and which models its roles run on",
		Long: `A brain plans what a team does and gives each role its models. The built-in one runs
every role on the model of the run. Others stand in brains.json in the home:

  {"brains": [{"id": "mixed", "extends": "brain",
    "planner": {"modelId": "openai/gpt-5.4", "thinkingLevel": "high"},
    "roles": {"review": {"modelId": "google/gemini-3-pro",
      "fallbackModelIds": ["openai/gpt-5.4"]}}}]}

A role's models are tried in their order: what fails falls back to the next. What a
brain leaves out is that of the one it extends. Roles are data too: a file
roles/NAME.json in the home adds one, in the form that quire brain show --roles prints.`,
		Example: "  quire brain list\n  quire brain set mixed",
		Args:    inv.unknownCommand,
	}
	cmd.AddCommand(inv.brainListCommand(), inv.brainShowCommand(), inv.brainSetCommand())
	return cmd
}

// A brainEntry is a brain in a list.
type brainEntry struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Default     bool   `json:"default"`
}

func (inv *invocation) brainListCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "list", Short: "List the brains", Long: "List the brains that there are. The one that runs use is marked.", Example: "  quire brain list", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.listBrains(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write them as JSON")
	return cmd
}

func (inv *invocation) listBrains(cmd *cobra.Command, asJSON bool) error {
	s, err := inv.settings(cmd)
	if err != nil {
		return err
	}
	_, library, err := readLibrary(s.Path(config.Home))
	if err != nil {
		return err
	}
	var list []brainEntry
	for _, id := range library.IDs() {
		b, err := library.Brain(id)
		if err != nil {
			return err
		}
		list = append(list, brainEntry{id, b.Name, b.Description, id == s.Name(config.Brain)})
	}
	if asJSON {
		return writeJSON(inv.out, list)
	}
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	for _, b := range list {
		mark := " "
		if b.Default {
			mark = "*"
		}
		fmt.Fprintf(w, "%s %s\t%s\n", mark, b.ID, b.Description)
	}
	return w.Flush()
}

// A shownBrain is a brain with everything that it extends, and on request the roles.
type shownBrain struct {
	role.Brain
	All role.Set `json:"allRoles,omitempty"`
}

func (inv *invocation) brainShowCommand() *cobra.Command {
	asJSON, roles := false, false
	cmd := &cobra.Command{
		Use: "show [ID]", Short: "Show a brain with everything that it extends",
		Long:    "Show a brain with everything that it extends: for each role the models in the order in\nwhich they are tried. Without ID the one that runs use.",
		Example: "  quire brain show\n  quire brain show mixed --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.showBrain(cmd, strings.Join(args, ""), asJSON, roles)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write it as JSON")
	cmd.Flags().BoolVar(&roles, "roles", false, "also the roles: what they own and may do")
	return cmd
}

func (inv *invocation) showBrain(cmd *cobra.Command, id string, asJSON, withRoles bool) error {
	s, err := inv.settings(cmd)
	if err != nil {
		return err
	}
	roles, library, err := readLibrary(s.Path(config.Home))
	if err != nil {
		return err
	}
	if id == "" {
		id = s.Name(config.Brain)
	}
	b, err := library.Brain(id)
	if err != nil {
		return unusable(err, "`quire brain list` lists them")
	}
	if asJSON {
		shown := shownBrain{Brain: b}
		if withRoles {
			shown.All = roles
		}
		return writeJSON(inv.out, shown)
	}
	return writeBrain(inv.out, b, roles, withRoles)
}

func writeBrain(out io.Writer, b role.Brain, roles role.Set, withRoles bool) error {
	fmt.Fprintf(out, "%s: %s\n", b.ID, b.Description)
	if b.Extends != "" {
		fmt.Fprintf(out, "extends %s\n", b.Extends)
	}
	fmt.Fprintf(out, "at most %d agents at once; edits are reviewed: %t; unsure plans get the oracle: %t\n\n", b.Routing.Parallel, b.Routing.Review, b.Routing.Escalate)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "role\tmodels\tthinking\ttools")
	for _, ro := range roles {
		p := b.Policy(ro.Name)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", ro.Name, chainText(p.Chain()), p.Thinking, ro.Tools)
	}
	if err := w.Flush(); err != nil || !withRoles {
		return err
	}
	for i := range roles {
		fmt.Fprintf(out, "\n%s\n", roles[i].Profile())
	}
	return nil
}

func chainText(chain []string) string {
	for i := range chain {
		if chain[i] == "" {
			chain[i] = "(of the run)"
		}
	}
	return strings.Join(chain, ", ")
}

func (inv *invocation) brainSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set ID", Short: "Let runs use a brain", Long: "Let runs use a brain, unless --brain names another one. It is kept in the user's settings.",
		Example: "  quire brain set mixed", Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return inv.setBrain(cmd, args[0]) },
	}
}

func (inv *invocation) setBrain(cmd *cobra.Command, id string) error {
	s, err := inv.settings(cmd)
	if err != nil {
		return err
	}
	_, library, err := readLibrary(s.Path(config.Home))
	if err != nil {
		return err
	}
	if !slices.Contains(library.IDs(), id) {
		return unusable(errors.New("there is no brain "+id), "`quire brain list` lists them")
	}
	return inv.setSetting(s, config.LayerUser, string(config.Brain), id)
}
