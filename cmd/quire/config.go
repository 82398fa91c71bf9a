package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/quire-agent/quire/internal/config"
	"github.com/spf13/cobra"
)

func (inv *invocation) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: `Show and change settings. The strongest source wins: a flag, then a QUIRE_*
variable, then the project's .quire/settings.json, then settings.json in the home
folder of Quire ($QUIRE_HOME or ~/.quire), then the default. A project's file
comes with other people's code and sets only what can do no harm.`,
		Example: "  quire config list --origin\n  quire config set utc true",
		Args:    inv.unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inv.configListCommand(), inv.configGetCommand(), inv.configSetCommand(), inv.configSchemaCommand())
	return cmd
}

func (inv *invocation) configListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List all settings",
		Long:    "List all settings with their values. --origin adds where each value comes from:\na flag, a variable, a file with its line, or the default.",
		Example: "  quire config list\n  quire config list --origin\n  QUIRE_UTC=true quire config list --origin --json",
		Args:    exactly(),
	}
	origin := cmd.Flags().Bool("origin", false, "show where each value comes from")
	asJSON := cmd.Flags().Bool("json", false, "write JSON, always with origins")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := inv.settings(cmd)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(inv.out, listed(s.All()))
		}
		return inv.listSettings(s, *origin)
	}
	return cmd
}

func (inv *invocation) listSettings(s *config.Settings, origin bool) error {
	table := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	for _, one := range s.All() {
		row := one.Key.Name + "\t" + shown(one.Value)
		if origin {
			row += "\t" + where(one.Origin)
		}
		fmt.Fprintln(table, row)
	}
	return table.Flush()
}

// shown makes an empty value visible.
func shown(value string) string {
	if value == "" {
		return "-"
	}
	return value
}

// where says in words where a value comes from.
func where(o config.Origin) string {
	if o.Where == "" {
		return o.Layer.String()
	}
	return o.Layer.String() + " " + o.Where
}

// A listedSetting is a setting as JSON shows it.
type listedSetting struct {
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value"`
	Type    config.Type     `json:"type"`
	Default json.RawMessage `json:"default"`
	Env     string          `json:"env"`
	Flag    string          `json:"flag,omitempty"`
	Project bool            `json:"project_may_set"`
	Help    string          `json:"help"`
	Origin  config.Origin   `json:"origin"`
}

func listed(all []config.Setting) []listedSetting {
	list := make([]listedSetting, 0, len(all))
	for _, one := range all {
		list = append(list, listedOne(one))
	}
	return list
}

func listedOne(one config.Setting) listedSetting {
	k := one.Key
	return listedSetting{Key: k.Name, Value: k.JSON(one.Value), Type: k.Type, Default: k.JSON(k.Default), Env: k.Env(),
		Flag: k.Flag, Project: k.Reach == config.ReachProject, Help: k.Help, Origin: one.Origin}
}

func (inv *invocation) configGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "get KEY",
		Short:             "Show one setting",
		Long:              "Show the value of one setting, alone on its line, for scripts. --origin adds where\nit comes from.",
		Example:           "  quire config get audit.days\n  quire config get utc --origin",
		Args:              exactly("KEY"),
		ValidArgsFunction: completeKeys,
	}
	origin := cmd.Flags().Bool("origin", false, "show where the value comes from")
	asJSON := cmd.Flags().Bool("json", false, "write JSON, always with the origin")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := inv.settings(cmd)
		if err != nil {
			return err
		}
		one, err := s.Get(args[0])
		if err != nil {
			return err
		}
		return inv.showSetting(one, *origin, *asJSON)
	}
	return cmd
}

func (inv *invocation) showSetting(one config.Setting, origin, asJSON bool) error {
	switch {
	case asJSON:
		return writeJSON(inv.out, listedOne(one))
	case origin:
		fmt.Fprintf(inv.out, "%s\t%s\n", one.Value, where(one.Origin))
	default:
		fmt.Fprintln(inv.out, one.Value)
	}
	return nil
}

func (inv *invocation) configSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one setting",
		Long: `Change one setting in the user's settings file, or with --project in that of the
project around the working directory. The file is replaced in one step, is
readable by its owner only when it is new, and keeps everything else it holds.`,
		Example:           "  quire config set audit.days 7\n  quire config set prices ~/prices.json\n  quire config set utc true --project",
		Args:              exactly("KEY", "VALUE"),
		ValidArgsFunction: completeSetting,
	}
	project := cmd.Flags().Bool("project", false, "change the project's file instead of the user's")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := inv.settings(cmd)
		if err != nil {
			return err
		}
		layer := config.LayerUser
		if *project {
			layer = config.LayerProject
		}
		return inv.setSetting(s, layer, args[0], args[1])
	}
	return cmd
}

func (inv *invocation) setSetting(s *config.Settings, layer config.Layer, name, value string) error {
	path, err := s.Set(layer, name, value)
	if is[*config.Error](err) {
		return err
	}
	if err != nil {
		return failure(err, "check that the folder exists and may be written")
	}
	fmt.Fprintf(inv.out, "%s is set in %s\n", name, path)
	if now, err := s.Get(name); err == nil && now.Origin.Layer > layer {
		fmt.Fprintf(inv.out, "here it has no effect: %s wins\n", where(now.Origin))
	}
	return nil
}

func (inv *invocation) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Write the JSON schema of settings.json",
		Long:    "Write the JSON schema of settings.json, for editors that complete and check it.",
		Example: "  quire config schema > settings.schema.json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = inv.out.Write(text)
			return err
		},
	}
}

// completeKeys offers the names of settings to a shell.
func completeKeys(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, k := range config.Keys() {
		names = append(names, k.Name+"\t"+k.Help)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeSetting offers names first, then the values of the one chosen.
func completeSetting(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeKeys(cmd, args, typed)
	}
	k, _ := config.Lookup(args[0])
	switch k.Type {
	case config.TypeBool:
		return []string{"true", "false"}, cobra.ShellCompDirectiveNoFileComp
	case config.TypeText:
		return k.Words, cobra.ShellCompDirectiveNoFileComp
	case config.TypePath:
		return nil, cobra.ShellCompDirectiveDefault
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
