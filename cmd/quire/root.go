package main

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/config"
	"github.com/spf13/cobra"
)

// commands lists the commands in the order of the help. A new command is one
// file with one constructor, and one line here.
func (inv *invocation) commands() []*cobra.Command {
	return []*cobra.Command{
		inv.demoCommand(),
		inv.runCommand(),
		inv.planCommand(),
		inv.undoCommand(),
		inv.brainCommand(),
		inv.usageCommand(),
		inv.auditCommand(),
		inv.evalCommand(),
		inv.importCommand(),
		inv.pagesCommand(),
		inv.showCommand(),
		inv.recallCommand(),
		inv.whyCommand(),
		inv.pinCommand(),
		inv.unpinCommand(),
		inv.dropCommand(),
		inv.taskCommand(),
		inv.epochCommand(),
		inv.sessionCommand(),
		inv.poolCommand(),
		inv.forgetCommand(),
		inv.doctorCommand(),
		inv.modelsCommand(),
		inv.serveCommand(),
		inv.statusCommand(),
		inv.mcpCommand(),
		inv.hooksCommand(),
		inv.skillsCommand(),
		inv.simCommand(),
		inv.schemaCommand(),
		inv.configCommand(),
		inv.completionCommand(),
		inv.versionCommand(),
		inv.exitCodesTopic(),
		inv.environmentTopic(),
	}
}

// rootCommand is `quire` with everything below it.
func (inv *invocation) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "quire",
		Short: "See where a coding agent's tokens and money go",
		Long: `Quire gives language models virtual memory: a coding agent whose sessions can go on
for days (run), a relay for the agents that you use already (serve), and an audit of
the session logs that they leave on this machine, which shows where tokens and money
went. The audit needs no key and no network, and changes nothing.

Without a command it says which logs it found and what to do next.`,
		Example: "  quire\n  quire --json",
		Version: inv.versionLine(),
		Args:    inv.unknownCommand,

		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(inv.in)
	root.SetOut(inv.out)
	root.SetErr(inv.err)
	root.SetFlagErrorFunc(flagError)
	bind(root.PersistentFlags(), string(config.UTC), string(config.Color))
	inv.greet(root)
	root.AddCommand(inv.commands()...)
	root.SetHelpCommand(inv.helpCommand(root))
	return root
}

// flagError turns cobra's complaint about a flag into one that says where help is.
func flagError(cmd *cobra.Command, err error) error {
	return unusable(err, "`"+helpFor(cmd)+"` lists the flags")
}

func helpFor(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return strings.Replace(cmd.CommandPath(), "quire", "quire help", 1)
	}
	return "quire help"
}

// unknownCommand refuses an argument where a command is wanted.
func (inv *invocation) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	next := "`" + helpFor(cmd) + "` lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		next = fmt.Sprintf("did you mean `%s %s`? %s", cmd.CommandPath(), near[0], next)
	}
	return unusable(fmt.Errorf("%q is not a command of %s", args[0], cmd.CommandPath()), next)
}

// exactly demands a number of arguments and names them.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		want := "no argument"
		if len(names) > 0 {
			want = strings.Join(names, " and ")
		}
		return unusable(fmt.Errorf("%s wants %s, got %d", cmd.CommandPath(), want, len(args)),
			"`"+helpFor(cmd)+"` shows how")
	}
}
