package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/quire-agent/quire/internal/eval"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
	"github.com/spf13/cobra"
)

func (inv *invocation) evalFitCommand() *cobra.Command {
	run := &evalRun{invocation: inv}
	version := ""
	cmd := &cobra.Command{
		Use:   "fit --corpus DIR",
		Short: "Fit the table of needs on a folder of recorded sessions",
		Long: `Count how often recorded sessions needed again what stood in their prompts, and
make of it the table by which the scheduler decides. Each session counts once, also
where DIR holds a copy of it. The table depends on nothing but the sessions and the
version. It holds shares of kinds and sizes of text, and no text.`,
		Example: "  quire eval fit --corpus sessions\n  quire eval fit --corpus sessions --out internal/schedule/table.json",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run.fit(cmd.Context(), version) },
	}
	f := cmd.Flags()
	f.StringVar(&run.corpus, "corpus", "", "folder of recorded sessions (required)")
	f.StringVar(&run.file, "out", "", "file to write the table to, in the form in which it is shipped")
	f.StringVar(&version, "version", time.Now().UTC().Format(time.DateOnly), "version that the table names")
	return cmd
}

func (r *evalRun) fit(ctx context.Context, version string) error {
	return r.studied(ctx, func(st *eval.Study) error {
		c, err := eval.NewCrossfit(st.Root, st.Sessions, nil, st.Workers)
		if err != nil {
			return err
		}
		t := c.Whole().Table(version)
		fmt.Fprintf(r.out, "%.0f trials in %d sessions: table %s\n", c.Whole().Trials(), c.Fitted(), t.Version)
		if r.file == "" {
			return nil
		}
		return writeTable(r.file, t)
	})
}

// studied reads the corpus for a study.
func (r *evalRun) studied(ctx context.Context, do func(*eval.Study) error) error {
	if r.corpus == "" {
		return errNoCorpus()
	}
	logs, err := r.logs()
	if err != nil {
		return err
	}
	counter, err := token.NewCounter()
	if err != nil {
		return err
	}
	return r.study(ctx, &recording.Loader{Counter: counter}, logs, do)
}

func writeTable(path string, t *schedule.Table) error {
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return failure(fmt.Errorf("write the table: %w", err), "choose another file for --out")
	}
	return nil
}
