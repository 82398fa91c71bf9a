package main

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/spf13/cobra"
)

func (inv *invocation) schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schemas of what Quire writes for other programs",
		Long:    "Print the JSON schemas of what Quire writes for other programs.",
		Example: "  quire schema packet",
		Args:    inv.unknownCommand,
	}
	cmd.AddCommand(inv.schemaPacketCommand())
	return cmd
}

func (inv *invocation) schemaPacketCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "packet",
		Short: "The packets between a Brain and its agents, as they stand in journals",
		Long: `Print the JSON schemas of the packets between a Brain and its agents, as one object
with a member for each. They are made from the types that the program uses.`,
		Example: "  quire schema packet",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			all := map[string]json.RawMessage{}
			for _, s := range packet.Schemas() {
				all[s.Name] = s.Schema
			}
			return writeJSON(inv.out, all)
		},
	}
}
