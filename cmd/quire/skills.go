package main

import (
	"fmt"

	"github.com/quire-agent/quire/internal/skill"
	"github.com/spf13/cobra"
)

func (inv *invocation) skillsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List the procedures that the agent can run",
		Long: `A skill is a procedure that somebody wrote down: a folder with a SKILL.md whose front
matter has a name and a description. Skills are looked for in .quire/skills and
.agents/skills of the project and in the folder skills of the home. Where what you ask
fits a description the agent is told in one line; it reads the procedure when it runs it.`,
		Example: "  quire skills list",
		Args:    inv.unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inv.skillsListCommand())
	return cmd
}

func (inv *invocation) skillsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the skills of this project and of the home",
		Long:    "List the skills of this project and of the home: name, description, file.",
		Example: "  quire skills list --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := inv.homeDir(cmd)
			if err != nil {
				return err
			}
			return inv.showSkills(skill.Read(inv.skillPlaces(home, inv.app.dir)), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON array")
	return cmd
}

func (inv *invocation) showSkills(s skill.Set, asJSON bool) error {
	for _, fault := range s.Fault {
		fmt.Fprintln(inv.err, "quire: "+inv.mask(fault))
	}
	if asJSON {
		return writeJSON(inv.out, append([]skill.Skill{}, s.Skills...))
	}
	if len(s.Skills) == 0 {
		_, err := fmt.Fprintln(inv.out, "No skills. `quire help skills` says what one is.")
		return err
	}
	for _, k := range s.Skills {
		if _, err := fmt.Fprintf(inv.out, "%-20s %s\n    %s\n", k.Name, inv.mask(k.Description), k.Path); err != nil {
			return err
		}
	}
	return nil
}
