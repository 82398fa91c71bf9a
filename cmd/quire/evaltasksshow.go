package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// taskFindings is what `quire eval tasks` found.
type taskFindings struct {
	Seed     uint64                 `json:"seed"`
	Model    string                 `json:"model"`
	Policies map[string]taskSummary `json:"policies"`
	Runs     []taskResult           `json:"runs"` // by task, then by policy

	order []string // of the policies
}

// A taskResult is one task under one policy.
type taskResult struct {
	Task    string   `json:"task"`
	Title   string   `json:"title"`
	Lang    string   `json:"lang"`
	Policy  string   `json:"policy"`
	Solved  bool     `json:"solved"`
	Missing string   `json:"missing,omitempty"` // the program of the check, where it is not there: the task was not run
	Calls   int      `json:"calls"`
	Cost    *float64 `json:"cost,omitempty"` // US dollars, as the provider metered it
	Faults  int      `json:"faults"`         // recalls
	Epochs  int      `json:"epochs"`
	Prompt  int64    `json:"prompt_tokens"` // of all calls, as the provider metered them
	Peak    int      `json:"peak_prompt"`   // of one call, as we counted it
	Stops   []string `json:"stops,omitempty"`
	Check   string   `json:"check,omitempty"` // what the check said, where it was not content
}

// A taskSummary adds up the runs of a policy.
type taskSummary struct {
	Tasks   int      `json:"tasks"` // that were run
	Skipped int      `json:"skipped"`
	Solved  int      `json:"solved"`
	Calls   int      `json:"calls"`
	Cost    *float64 `json:"cost,omitempty"`
	Faults  int      `json:"faults"`
	Epochs  int      `json:"epochs"`
	Prompt  int64    `json:"prompt_tokens"`
}

// add sums the runs up.
func (f *taskFindings) add(policies []string) {
	f.order, f.Policies = policies, map[string]taskSummary{}
	for i := range f.Runs {
		s := f.Policies[f.Runs[i].Policy]
		s.add(&f.Runs[i])
		f.Policies[f.Runs[i].Policy] = s
	}
}

func (s *taskSummary) add(r *taskResult) {
	if r.Missing != "" {
		s.Skipped++
		return
	}
	s.Tasks++
	if r.Solved {
		s.Solved++
	}
	s.Calls, s.Faults, s.Epochs, s.Prompt = s.Calls+r.Calls, s.Faults+r.Faults, s.Epochs+r.Epochs, s.Prompt+r.Prompt
	if r.Cost == nil {
		return
	}
	if s.Cost == nil {
		s.Cost = new(float64)
	}
	*s.Cost += *r.Cost
}

// writeTasks shows the tasks with the policies side by side, and the sums.
func writeTasks(w io.Writer, f *taskFindings) error {
	fmt.Fprintf(w, "model %s, seed %d; of each policy: solved, calls, cost in USD, faults\n\n", f.Model, f.Seed)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "task\t")
	for _, p := range f.order {
		fmt.Fprintf(t, "%s\tcalls\tcost\tfaults\t", p)
	}
	fmt.Fprintln(t)
	for i := 0; i < len(f.Runs); i += len(f.order) {
		fmt.Fprintf(t, "%s\t", f.Runs[i].Task)
		for _, r := range f.Runs[i : i+len(f.order)] {
			fmt.Fprintf(t, "%s\t%d\t%s\t%d\t", r.verdict(), r.Calls, costOf(r.Cost), r.Faults)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprint(t, "all\t")
	for _, p := range f.order {
		s := f.Policies[p]
		fmt.Fprintf(t, "%d of %d\t%d\t%s\t%d\t", s.Solved, s.Tasks, s.Calls, costOf(s.Cost), s.Faults)
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	return writeSkipped(w, f)
}

func (r *taskResult) verdict() string {
	switch {
	case r.Missing != "":
		return "skipped"
	case r.Solved:
		return "yes"
	default:
		return "no"
	}
}

func costOf(c *float64) string {
	if c == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *c)
}

// writeSkipped says which tasks were left out, and for the want of what.
func writeSkipped(w io.Writer, f *taskFindings) error {
	for i := 0; i < len(f.Runs); i += len(f.order) {
		if r := &f.Runs[i]; r.Missing != "" {
			if _, err := fmt.Fprintf(w, "%s was left out: %s is not on the PATH\n", r.Task, r.Missing); err != nil {
				return err
			}
		}
	}
	return nil
}
