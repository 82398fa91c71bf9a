package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/quire-agent/quire/internal/mcp"
	"github.com/quire-agent/quire/internal/x/trust"
	"github.com/spf13/cobra"
)

// A serverRow is one server of `quire mcp list`.
type serverRow struct {
	Name   string    `json:"name"`
	Scope  mcp.Scope `json:"scope"`
	Path   string    `json:"path"`
	What   string    `json:"what"` // the command or the address
	State  string    `json:"state"`
	Reason string    `json:"reason,omitempty"`
	Tools  *int      `json:"tools,omitempty"` // only where it was connected to
}

func (inv *invocation) mcpListCommand() *cobra.Command {
	var asJSON, connect bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the servers of this project and of the home",
		Long: `List the servers that .mcp.json in the project and mcp.json in the home name, and why
one is not used. With --connect they are started and asked for their tools.`,
		Example: "  quire mcp list\n  quire mcp list --connect",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := inv.serverRows(cmd, connect)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(inv.out, rows)
			}
			return inv.showServers(rows)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&connect, "connect", false, "connect to them and count their tools")
	f.BoolVar(&asJSON, "json", false, "write a JSON array")
	return cmd
}

func (inv *invocation) serverRows(cmd *cobra.Command, connect bool) ([]serverRow, error) {
	home, store, err := inv.trusting(cmd)
	if err != nil {
		return nil, err
	}
	list, err := inv.servers(home, inv.app.dir, store)
	if err != nil {
		return nil, unusable(err, "correct the file, or take it away")
	}
	rows := []serverRow{}
	for _, s := range list {
		row := serverRow{Name: s.Name, Scope: s.Scope, Path: inv.mask(s.Path), What: inv.mask(s.What()), State: "used", Reason: s.Skip}
		if s.Skip != "" {
			row.State = "skipped"
		}
		rows = append(rows, row)
	}
	if connect {
		hub := mcp.Connect(cmd.Context(), list, inv.hubOptions(cmd.Context(), home, inv.app.dir))
		defer hub.Close()
		inv.connected(rows, hub.Report())
	}
	return rows, nil
}

// connected fills in what became of the servers.
func (inv *invocation) connected(rows []serverRow, r mcp.Report) {
	at := func(scope mcp.Scope, name string) *serverRow {
		i := slices.IndexFunc(rows, func(row serverRow) bool { return row.Name == name && row.Scope == scope })
		return &rows[i]
	}
	for _, c := range r.Connected {
		row := at(c.Scope, c.Name)
		row.State, row.Tools = "connected", &c.Tools
	}
	for state, list := range map[string][]mcp.NotThere{"failed": r.Failed, "pending": r.Pending} {
		for _, f := range list {
			row := at(f.Scope, f.Name)
			row.State, row.Reason = state, inv.mask(f.Reason)
		}
	}
}

func (inv *invocation) showServers(rows []serverRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintf(inv.out, "No servers. %s in the project and %s in the home name them: {\"mcpServers\": {\"name\": {\"command\": \"…\"}}}\n", projectServers, userServers)
		return err
	}
	for _, r := range rows {
		line := fmt.Sprintf("%-16s %-8s %-9s %s", r.Name, r.Scope, r.State, clip(r.What, 80))
		if r.Tools != nil {
			line += fmt.Sprintf(" (%d %s)", *r.Tools, plural(*r.Tools, "tool", "tools"))
		}
		if r.Reason != "" {
			line += "\n" + "    " + r.Reason
		}
		if _, err := fmt.Fprintln(inv.out, line); err != nil {
			return err
		}
	}
	return nil
}

// trusting is the home's folder with what is trusted in it.
func (inv *invocation) trusting(cmd *cobra.Command) (home string, store *trust.Store, err error) {
	if home, err = inv.homeDir(cmd); err != nil {
		return "", nil, err
	}
	if store, err = trust.Open(filepath.Join(home, trustFile)); err != nil {
		return "", nil, unusable(err, "the file is JSON; delete it to trust nothing")
	}
	return home, store, nil
}

func (inv *invocation) mcpTrustCommand() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:   "trust NAME",
		Short: "Let a server of this project be started",
		Long: `Trust the server NAME of the project's .mcp.json, exactly as it stands there: command,
arguments, environment, address. When any of it changes it is no longer trusted. What
is trusted is kept in trust.json in the home; a project cannot trust itself.`,
		Example: "  quire mcp trust issues\n  quire mcp trust issues --off",
		Args:    exactly("NAME"),
		RunE:    func(cmd *cobra.Command, args []string) error { return inv.trustServer(cmd, args[0], off) },
	}
	cmd.Flags().BoolVar(&off, "off", false, "take the trust back")
	return cmd
}

func (inv *invocation) trustServer(cmd *cobra.Command, name string, off bool) error {
	_, store, err := inv.trusting(cmd)
	if err != nil {
		return err
	}
	path := filepath.Join(inv.app.dir, projectServers)
	list, err := mcp.Read(path, mcp.OfProject, store)
	if err != nil {
		return unusable(err, "correct the file, or take it away")
	}
	i := slices.IndexFunc(list, func(s mcp.Server) bool { return s.Name == name })
	if i < 0 {
		return unusable(errors.New("the project has no server "+name), "`quire mcp list` lists them")
	}
	s := list[i]
	if off {
		_, err = store.Revoke(mcp.TrustKind, s.Sum())
	} else {
		err = store.Grant(trust.Grant{Kind: mcp.TrustKind, Sum: s.Sum(), Note: s.Name + " of " + s.Path})
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(inv.out, "%s: %s\n  %s\n", trustWord(off), s.Name, inv.mask(s.What()))
	return err
}

func trustWord(off bool) string {
	if off {
		return "not trusted any more"
	}
	return "trusted"
}
