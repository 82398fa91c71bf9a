package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	d := Parse(Work{Text: "```json\n" + `{"decision": "Changes Requested", "confidence": 7, "summary": "it is short", "risks": ["r2", "r1"], "residualRisks": ["r1", 3],
		"findings": [{"severity": "HIGH", "issue": "it leaks", "file": "a.go", "line": 3, "suggestion": "close it"}, {"severity": "odd", "issue": "x", "line": -1}, {"line": 2}, {"issue": "y", "line": 1.5}],
		"requiredChanges": ["close it"], "coverage": [{"file": "a.go", "depth": "inspected"}, {"file": "b.go", "status": "seen"}, {"depth": "skipped"}]}` + "\n```"})
	if d.Verdict != ChangesRequested || *d.Confidence != 1 || d.Rationale != "it is short" || !slices.Equal(d.ResidualRisks, []string{"r1", "r2"}) || !slices.Equal(d.RequiredChanges, []string{"close it"}) {
		t.Errorf("%+v", d)
	}
	if got := fmt.Sprint(d.Findings); got != "[{high it leaks a.go 3  close it} {medium x  0  } {medium y  0  }]" {
		t.Errorf("%s", got)
	}
	if got := fmt.Sprint(d.Coverage); got != "[{a.go inspected} {b.go skipped}]" {
		t.Errorf("%s", got)
	}
}

// failures.md A40: a review that was cut off approves nothing, whatever it says.
func TestRepliesWithoutADecision(t *testing.T) {
	for _, c := range []struct {
		work Work
		want Verdict
		says string
	}{
		{Work{Text: "Looks good to me."}, ChangesRequested, "no decision"},
		{Work{}, ChangesRequested, "no decision"},
		{Work{Text: `{"decision": "fine"}`}, ChangesRequested, "no decision"},
		{Work{Text: "x", Failed: true}, Blocked, "did not come"},
		{Work{Text: `{"progress": {"status": "blocked"}}`}, Blocked, "did not come"},
		{Work{Text: `{"progress": 3, "decision": "approved"}`}, Approved, ""},
		{Work{Text: `{"decision": "approved"}`, CutOff: "max_tokens"}, Blocked, "cut off (max_tokens)"},
	} {
		d := Parse(c.work)
		if text := d.Text(); d.Verdict != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %s", c.work, text)
		}
	}
	if d := Parse(Work{Text: "plain text"}); d.Rationale != "plain text" {
		t.Errorf("%+v", d)
	}
}

func TestIndependence(t *testing.T) {
	for _, c := range []struct {
		author, reviewer string
		want             Level
	}{
		{"acme/large-2", "acme/large-2", None},
		{"acme/large-2", "proxy/Large-2", None},
		{"acme/large-2", "acme/large-3", Weak},
		{"acme/large-2", "other/large-3", Moderate},
		{"acme/large-2", "acme/small-1", Moderate},
		{"acme/large-2", "other/small-1", Strong},
	} {
		if got := Between(Model{ID: c.author}, Model{ID: c.reviewer}); got.Level != c.want {
			t.Errorf("%s by %s: %+v, want %s", c.author, c.reviewer, got, c.want)
		}
	}
	if got := Between(Model{ID: "large", Provider: "acme"}, Model{ID: "small", Provider: "acme"}); !got.SameProvider || got.SameModel {
		t.Errorf("%+v", got)
	}
}

// approved is an approval that looked at everything.
func approved(files ...string) Decision {
	d := Parse(Work{Text: `{"decision": "approved", "confidence": 0.9, "rationale": "fine"}`})
	for _, f := range files {
		d.Coverage = append(d.Coverage, Coverage{f, Inspected})
	}
	return d
}

func evidence(tier string, change func(*Evidence)) Evidence {
	e := Evidence{Tier: tier, Independence: Between(Model{ID: "a/x-1"}, Model{ID: "b/y-1"}), Files: []string{"a.go"}}
	if change != nil {
		change(&e)
	}
	return e
}

func TestGates(t *testing.T) {
	same, near := Between(Model{ID: "a/x"}, Model{ID: "a/x"}), Between(Model{ID: "a/x"}, Model{ID: "a/y"})
	for name, c := range map[string]struct {
		d    Decision
		e    Evidence
		want Verdict
		says string
	}{
		"as it is":                    {approved("a.go"), evidence(TierHigh, nil), Approved, "Decision: approved"},
		"failing checks":              {approved("a.go"), evidence(TierLow, func(e *Evidence) { e.Failing = []string{"go test", "lint"} }), ChangesRequested, "- high: These checks fail: go test, lint."},
		"failing checks when blocked": {Parse(Work{Failed: true}), evidence(TierLow, func(e *Evidence) { e.Failing = []string{"go test"} }), Blocked, "go test"},
		"no checks":                   {approved("a.go"), evidence(TierLow, func(e *Evidence) { e.NoChecks = "there are none" }), Approved, "No checks ran: there are none."},
		"a cut diff":                  {approved("a.go"), evidence(TierLow, func(e *Evidence) { e.Truncated = true }), Approved, "too long to be shown"},
		"missing evidence":            {approved("a.go"), evidence(TierLow, func(e *Evidence) { e.Missing = []string{"the diff"} }), ChangesRequested, "Evidence is missing: the diff."},
		"not looked at, high":         {approved(), evidence(TierHigh, nil), ChangesRequested, "Not inspected by the review: a.go."},
		"not looked at, low":          {approved(), evidence(TierLow, nil), Approved, "Not inspected by the review: a.go."},
		"self, high":                  {approved("a.go"), evidence(TierHigh, func(e *Evidence) { e.Independence = same }), ChangesRequested, "not the model that wrote it"},
		"self, medium":                {approved("a.go"), evidence(TierMedium, func(e *Evidence) { e.Independence = same }), Approved, "The reviewer is the model that wrote"},
		"one provider, critical":      {approved("a.go"), evidence(TierCritical, func(e *Evidence) { e.Independence = near }), Blocked, "another provider"},
		"one provider, high":          {approved("a.go"), evidence(TierHigh, func(e *Evidence) { e.Independence = near }), Approved, ""},
		"approved, but":               {Parse(Work{Text: `{"decision":"approved","requiredChanges":["this"]}`}), evidence(TierLow, nil), ChangesRequested, "this"},
		"approved, however":           {Parse(Work{Text: `{"decision":"approved","blockingIssues":["that"]}`}), evidence(TierLow, nil), Blocked, "that"},
	} {
		got := Gate(c.d, c.e)
		if got.Verdict != c.want || !strings.Contains(got.Text(), c.says) || got.Mode != ModeOf(c.e.Tier) {
			t.Errorf("%s: %s", name, got.Text())
		}
	}
	if got := Gate(approved("a.go"), evidence(TierMedium, func(e *Evidence) { e.Independence = same })); *got.Confidence != selfConfidence {
		t.Errorf("a model is %v sure of its own change", *got.Confidence)
	}
	if ModeOf(TierCritical) != Hostile || ModeOf(TierHigh) != Strict || ModeOf("") != Normal {
		t.Error("modes")
	}
}

// A gate makes a decision stricter or leaves it, never milder, whatever the
// evidence; and gating again changes nothing.
func TestGateProperties(t *testing.T) {
	rank := map[Verdict]int{Approved: 0, ChangesRequested: 1, Blocked: 2}
	model := rapid.SampledFrom([]string{"a/x-1", "a/x-2", "b/x-1", "b/y-1"})
	rapid.Check(t, func(t *rapid.T) {
		d := Parse(Work{Text: fmt.Sprintf(`{"decision":%q,"confidence":%v,"requiredChanges":[%q],"coverage":[{"file":"a","depth":%q}]}`,
			rapid.SampledFrom([]string{"approved", "changes_requested", "blocked", ""}).Draw(t, "decision"), rapid.Float64Range(0, 1).Draw(t, "confidence"),
			rapid.SampledFrom([]string{"", "x"}).Draw(t, "change"), rapid.SampledFrom([]string{"inspected", "skipped"}).Draw(t, "depth"))})
		e := Evidence{
			Tier: rapid.SampledFrom([]string{TierLow, TierMedium, TierHigh, TierCritical}).Draw(t, "tier"), Independence: Between(Model{ID: model.Draw(t, "author")}, Model{ID: model.Draw(t, "reviewer")}),
			Files: rapid.SliceOf(rapid.SampledFrom([]string{"a", "b"})).Draw(t, "files"), Truncated: rapid.Bool().Draw(t, "cut"),
			Failing: rapid.SliceOf(rapid.SampledFrom([]string{"go test"})).Draw(t, "failing"),
		}
		before := d.Text()
		got := Gate(d, e)
		if rank[got.Verdict] < rank[d.Verdict] {
			t.Errorf("%s became %s", d.Verdict, got.Verdict)
		}
		if d.Text() != before {
			t.Error("the decision itself was changed")
		}
		if got.Verdict == Approved && (len(e.Failing) > 0 || len(got.RequiredChanges)+len(got.BlockingIssues) > 0) {
			t.Errorf("approved: %s", got.Text())
		}
	})
}

func TestPrompt(t *testing.T) {
	m := Material{
		Request: "fix it", Result: "I fixed it", Files: []File{{"a.go", "M"}}, Before: []string{"mine.txt"}, Stat: "1 file", Diff: "-a\n+b", Cut: true,
		Checks: []Check{{Name: "vet", Passed: true, Stdout: "hidden"}, {Name: "test", Exit: 1, Stdout: strings.Repeat("ä", 1000) + "end", Stderr: "bad"}},
		New:    []Preview{{Path: "n.txt", Text: "hi\n"}, {Path: "p.png", Bytes: 9, Binary: true}, {Path: "l.txt", Bytes: 99, Cut: true, Text: "l"}},
	}
	got := Prompt(m)
	for _, want := range []string{
		"Review this change.\n", "## The request\nfix it\n", "## Changed files\nM a.go\n", "by somebody else\nmine.txt\n", "## The diff, cut: read the rest in the project\n-a\n+b\n",
		"vet: passed\n", "test: failed, exit code 1\nstdout (804 bytes before this left out):\nää", "end\nstderr:\nbad\n", "## New file n.txt\nhi\n", "9 bytes, no text", "(the beginning of 99 bytes)\nl\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt does not hold %q", want)
		}
	}
	if strings.Contains(got, "hidden") || strings.Contains(got, "## Results of other workers") {
		t.Error("the prompt holds what nobody needs")
	}
	if m.Tier = TierCritical; !strings.HasPrefix(Prompt(m), "Review this change as somebody who wants to break it") {
		t.Error("a critical change is not reviewed as one")
	}
	if m.Tier, m.Checks, m.NoChecks = TierHigh, nil, "none ran"; !strings.Contains(Prompt(m), "strictly") || !strings.Contains(Prompt(m), "## Checks\nnone ran\n") {
		t.Error("nothing says why no checks ran")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"decision":"approved","findings":[{"issue":"a","line":1e400}]}`, `{"decision":7,"coverage":"x","progress":[]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := Parse(Work{Text: text})
		if !slices.Contains([]Verdict{Approved, ChangesRequested, Blocked}, d.Verdict) || d.Confidence != nil && (*d.Confidence < 0 || *d.Confidence > 1) {
			t.Errorf("%q: %+v", text, d)
		}
		for _, f := range d.Findings {
			if f.Issue == "" || f.Line < 0 {
				t.Errorf("%q: %+v", text, f)
			}
		}
	})
}
