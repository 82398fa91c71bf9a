package main

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/config"
	"github.com/spf13/cobra"
)

func (inv *invocation) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND…]",
		Short:   "Show help for a command or a topic",
		Long:    "Show help for a command or a topic.",
		Example: "  quire help\n  quire help config set\n  quire help exit-codes",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unusable(fmt.Errorf("no help for %q", strings.Join(args, " ")), "`quire help` lists commands and topics")
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

func (inv *invocation) exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:     "exit-codes",
		Short:   "What the exit codes mean",
		Long:    "Quire exits with one of these codes:\n\n" + exitTable(),
		Example: "  quire version || echo failed with $?",
	}
}

func (inv *invocation) environmentTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("A variable is stronger than a settings file and weaker than a flag. An empty one\ncounts as unset.\n\n")
	for _, k := range config.Keys() {
		fmt.Fprintf(&b, "  %s\n      %s\n", k.Env(), k.Help)
	}
	b.WriteString("  NO_COLOR\n      no colour on the terminal unless the setting color says always\n")
	return &cobra.Command{
		Use:     "environment",
		Short:   "Which variables Quire reads",
		Long:    b.String(),
		Example: "  QUIRE_UTC=true quire version",
	}
}
