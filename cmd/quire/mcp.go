package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/mcp"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/spf13/cobra"
)

func (inv *invocation) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give the memory to other agents by the Model Context Protocol; list servers",
		Long: `Serve the tools recall and show over standard input and output, as clients of the
Model Context Protocol start them. What they return is framed as data, with secrets
masked, and is no page when a session with it is recorded.

The other way round, the agent of quire run uses the tools of the servers that
.mcp.json in the project and mcp.json in the home name: list shows them, trust lets
one of the project be started.`,
		Example: `  claude mcp add quire -- quire mcp
  codex mcp add quire -- quire mcp`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, ok := inv.in.(io.ReadCloser)
			if !ok {
				in = io.NopCloser(inv.in)
			}
			return mcp.Serve(cmd.Context(), cmd.Root().Version, memory{inv}, in, unclosed{inv.out})
		},
	}
	cmd.AddCommand(inv.mcpListCommand(), inv.mcpTrustCommand())
	return cmd
}

// A memory answers with what the commands of the same names print.
type memory struct{ inv *invocation }

var _ mcp.Memory = memory{}

// Recall finds pages.
func (m memory) Recall(ctx context.Context, query string) (string, error) {
	return m.run(ctx, "recall", "--", query)
}

// Show reads one page.
func (m memory) Show(ctx context.Context, page string) (string, error) {
	text, err := m.run(ctx, "show", "--", page)
	if err != nil {
		return "", err
	}
	return retrieve.Frame("quire show "+page, strings.TrimSuffix(text, "\n")), nil
}

// run runs a command of this program.
func (m memory) run(ctx context.Context, args ...string) (string, error) {
	var out, fault bytes.Buffer
	if code := m.inv.app.Run(ctx, args, strings.NewReader(""), &out, &fault, m.inv.env); code != int(exitOK) {
		return "", errors.New(strings.TrimSpace(fault.String()))
	}
	return out.String(), nil
}

// unclosed is an output that is not the server's to close.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
