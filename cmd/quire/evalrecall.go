package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/quire-agent/quire/internal/eval"
	"github.com/quire-agent/quire/internal/quiz"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/spf13/cobra"
)

func (inv *invocation) evalRecallCommand() *cobra.Command {
	run := &evalRun{invocation: inv, joined: true}
	cmd := &cobra.Command{
		Use:   "recall [--corpus DIR]",
		Short: "Measure how well pages are found again",
		Long: `Ask for pages that recorded sessions needed long after they had last used them, at
the time when they did, and show how often the page was among what was found.

A need counts if its page was last quoted 30 or more calls before and did not come
with the newest 20 results, which stand in the prompt: nor can what did be an answer.
The question is what the user had said (user), the arguments of the call before
(before), those of the call that needed it (full), of long ones the 2,000 bytes around
the need, or those without the lines that it quotes (own);
"names path" and "names symbol" are the questions that name the path of the page or an
identifier in the needed lines. Needs that are not strict ones are counted apart, as wide.
R@5 is the share of needs that had an answer among the first five, text the share
whose needed text stood in 2,000 tokens of hits. An answer is the page that the text
was taken from, or another one that holds at least 80 % of it.

The row "limit" is the best rank of all ways and of one that is told which words of
the question stand in the needed lines; "any word" is the share of needs whose lines
have a word in common with the question.

Questions that were written for this, in English, in Chinese, in Chinese with names
of code and in other words than the pages', are asked with and without a corpus: 240
of each, over 360 pages.`,
		Example: "  quire eval recall\n  quire eval recall --corpus sessions --json",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run.recall(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&run.corpus, "corpus", "", "folder of recorded sessions")
	f.BoolVar(&run.asJSON, "json", false, "write all figures as one JSON object")
	return cmd
}

// recallFindings is what `quire eval recall` found, by group of the corpus.
type recallFindings struct {
	Groups  map[string]quiz.Scores `json:"groups,omitempty"`
	Written quiz.Scores            `json:"written"`
}

func (r *evalRun) recall(ctx context.Context) error {
	written, err := quiz.Written(ctx)
	if err != nil {
		return err
	}
	found := recallFindings{Written: written.Shares()}
	if r.corpus != "" {
		if found.Groups, err = r.recallCorpus(ctx); err != nil {
			return err
		}
	}
	if r.asJSON {
		return writeJSON(r.out, found)
	}
	return writeRecall(r.out, &found)
}

// recallCorpus asks the sessions of the corpus, and those of the endless folder
// as one.
func (r *evalRun) recallCorpus(ctx context.Context) (groups map[string]quiz.Scores, err error) {
	logs, err := r.logs()
	if err != nil {
		return nil, err
	}
	counter, err := token.NewCounter()
	if err != nil {
		return nil, err
	}
	load := recording.Loader{Counter: counter}
	sessions, err := r.load(ctx, &load, logs)
	defer closeAll(sessions, &err)
	if err != nil {
		return nil, err
	}
	found, err := r.recallAll(ctx, sessions)
	if err != nil {
		return nil, err
	}
	groups = map[string]quiz.Scores{}
	for _, g := range eval.Groups(r.corpus, sessions) {
		sum := quiz.Scores{}
		for _, i := range g.Sessions {
			sum.Add(found[i])
		}
		groups[g.Name] = sum.Shares()
	}
	return groups, r.recallEndless(ctx, &load, logs, groups)
}

func (r *evalRun) recallAll(ctx context.Context, sessions []*recording.Session) ([]quiz.Scores, error) {
	found := make([]quiz.Scores, len(sessions))
	p := r.progress("asking", len(sessions))
	err := inParallel(len(sessions), func(i int) (err error) {
		found[i], err = quiz.Ask(ctx, sessions[i])
		p.step()
		return err
	})
	p.end()
	return found, err
}

func (r *evalRun) recallEndless(ctx context.Context, load *recording.Loader, logs []*trace.Log, groups map[string]quiz.Scores) (err error) {
	joined := r.endless(logs)
	if len(joined) == 0 {
		return nil
	}
	s, err := load.Join(ctx, joined)
	if err != nil {
		return err
	}
	defer closing(s, &err)
	found, err := quiz.Ask(ctx, s)
	if err != nil {
		return err
	}
	groups["endless"] = found.Shares()
	return nil
}

func writeRecall(w io.Writer, f *recallFindings) error {
	for _, group := range sortedKeys(f.Groups) {
		fmt.Fprintf(w, "%s\n", group)
		if err := writeRecallTable(w, f.Groups[group]); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "written questions")
	return writeRecallTable(w, f.Written)
}

func writeRecallTable(w io.Writer, r quiz.Scores) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "way\tquestion\tasked\tR@1\tR@5\tR@10\tMRR\ttext\t")
	for _, way := range sortedKeys(r) {
		for _, kind := range sortedKeys(r[way]) {
			s := r[way][kind]
			fmt.Fprintf(t, "%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%s\t\n", way, kind, s.Asked, s.At1, s.At5, s.At10, s.Rank, ratio(s.Text))
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}
