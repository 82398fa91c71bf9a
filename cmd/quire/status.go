package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/spf13/cobra"
)

func (inv *invocation) statusCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Ask the running gateway what it does",
		Long: `Ask the gateway that ` + "`quire serve`" + ` runs with this home: where it relays to, what
passed, and its sessions with what they used and cost.`,
		Example: "  quire status\n  quire status --json",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return inv.status(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write all figures as one JSON object")
	return cmd
}

func (inv *invocation) status(cmd *cobra.Command, asJSON bool) error {
	dir, err := inv.homeDir(cmd)
	if err != nil {
		return err
	}
	address, err := os.ReadFile(filepath.Join(dir, gatewayFile))
	if errors.Is(err, fs.ErrNotExist) {
		return noGateway()
	}
	if err != nil {
		return failure(fmt.Errorf("read the gateway's address: %w", err), "")
	}
	secret, err := gatewaySecret(dir)
	if err != nil {
		return err
	}
	s, err := askStatus(cmd.Context(), strings.TrimSpace(string(address)), gateway.Token(secret))
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(inv.out, s)
	}
	return inv.showStatus(strings.TrimSpace(string(address)), &s)
}

func noGateway() error {
	return unusable(errors.New("no gateway runs here"), "`quire serve` starts one")
}

// askStatus asks a gateway. One that was killed left its address behind.
func askStatus(ctx context.Context, address, token string) (s gateway.Status, err error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/quire/status", nil)
	if err != nil {
		return s, failure(fmt.Errorf("ask %s: %w", address, err), "")
	}
	r.Header.Set("X-Quire-Token", token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return s, noGateway()
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return s, failure(fmt.Errorf("the gateway at %s answered %s", address, answer.Status), "it may be the gateway of another home")
	}
	if err := json.NewDecoder(answer.Body).Decode(&s); err != nil {
		return s, failure(fmt.Errorf("read what the gateway answered: %w", err), "")
	}
	return s, nil
}

func (inv *invocation) showStatus(address string, s *gateway.Status) error {
	t := &s.Totals
	fmt.Fprintf(inv.out, "%s: %d calls, %d under way, %d still to be recorded, $%.4f\n", address, t.Calls, s.Running, s.Waiting, t.Cost)
	fmt.Fprintf(inv.out, "side requests %d, errors %d, cut off %d, cold %d, not understood %d, not recorded %d\n", t.Side, t.Errors, t.Cut, t.Cold, t.Odd, t.Lost)
	if t.Curated+t.Opened > 0 {
		fmt.Fprintf(inv.out, "curated %d, epochs %d, recalled %d, sent as they came because curating failed %d\n", t.Curated, t.Epochs, t.Recalls, t.Opened)
	}
	for _, u := range s.Upstream {
		fmt.Fprintln(inv.out, "upstream", u)
	}
	if len(s.Sessions) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tMODEL\tCALLS\tCURATED\tCOLD\tPROMPT\tCACHED\tOUT\tCOST\tPROJECT")
	for i := range s.Sessions {
		r := &s.Sessions[i]
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t$%.4f\t%s\n", r.Session, inv.mask(r.Model), r.Calls, r.Curated, r.Cold, r.Prompt, r.CacheRead, r.Output, r.Cost, clip(inv.mask(inv.short(r.Project)), 60))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range s.Sessions {
		if r := &s.Sessions[i]; r.Full {
			fmt.Fprintf(inv.out, "%s: its client holds %d tokens, more than the window of %s; it goes on only through the gateway\n", r.Session, r.View, inv.mask(r.Model))
		}
	}
	return nil
}
