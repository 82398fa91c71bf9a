package rendition_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/shingle"
	"github.com/quire-agent/quire/internal/trace"
)

// BenchmarkCoverage measures on recorded sessions what excerpts are worth: the
// share of the shingles that later calls quoted from a page of more than 6 KB which
// stand in an excerpt of a third of the page, beside head + tail of the same size,
// as the mean over the pages of a class. A shingle is quoted when it is one of four
// in a row of what a call wrote; the next 40 calls count.
//
// At admission only the query is known. At demotion, five calls later, the lines
// that those calls quoted are known too, and what the calls after them quote is to
// be covered.
func BenchmarkCoverage(b *testing.B) {
	logs := corpus(b)
	for _, moment := range []struct {
		name  string
		early int
	}{{"admission", 0}, {"demotion", 5}} {
		b.Run(moment.name, func(b *testing.B) {
			t := tally{}
			for b.Loop() {
				t = tally{}
				for _, l := range logs {
					t.session(b, l, moment.early)
				}
			}
			t.report(b)
		})
	}
}

func (t tally) report(b *testing.B) {
	for _, class := range t.classes() {
		c := t[class]
		b.ReportMetric(c.share(c.excerpt), class+"-excerpt-%")
		b.ReportMetric(c.share(c.headTail), class+"-headtail-%")
		b.Logf("%-8s %4d pages: excerpt %.1f %%, head + tail %.1f %% of what was quoted", class, c.pages, c.share(c.excerpt), c.share(c.headTail))
	}
}

// corpus opens the recorded sessions, or skips.
func corpus(t testing.TB) (logs []*trace.Log) {
	t.Helper()
	root := os.Getenv("QUIRE_SHARED")
	for dir, _ := os.Getwd(); root == "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "shared", "corpus")); err == nil {
			root = filepath.Join(dir, "shared")
		}
	}
	if root == "" {
		t.Skip("no recorded sessions: set QUIRE_SHARED to the folder that holds corpus")
	}
	err := filepath.WalkDir(filepath.Join(root, "corpus"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(filepath.Ext(path), ".json") {
			return err
		}
		found, err := trace.Open(path)
		logs = append(logs, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

type covered struct {
	pages             int
	excerpt, headTail float64
}

func (c *covered) share(n float64) float64 { return 100 * n / float64(max(1, c.pages)) }

// noCounter is for makers of excerpts, which count bytes.
type noCounter struct{}

func (noCounter) Count(text string) int { return len(text) / 4 }

type tally map[string]*covered

func (t tally) classes() (out []string) {
	for class := range t {
		out = append(out, class)
	}
	slices.Sort(out)
	return out
}

// A watched page is one whose lines the next calls may quote.
type watched struct {
	source rendition.Source
	query  string
	call   int
	lines  map[uint64]quire.Range
	early  []quire.Range   // passages that the next calls quoted
	quoted map[uint64]bool // shingles that later calls quoted
}

// A watcher follows a session.
type watcher struct {
	tally   tally
	early   int // calls whose quotations are known
	call    int
	user    string            // the last message
	said    []string          // texts of the model
	wrote   []string          // arguments of its calls
	queries map[string]string // by tool use
	calls   map[string]page.Description
	open    []*watched
	maker   *rendition.Maker
}

func (t tally) session(b testing.TB, log *trace.Log, early int) {
	w := watcher{tally: t, early: early, queries: map[string]string{}, calls: map[string]page.Description{}, maker: rendition.NewMaker(secret.NewFinder(), noCounter{}, rendition.Recall)}
	for e, err := range log.Events() {
		if err != nil {
			b.Fatal(err)
		}
		switch e := e.(type) {
		case quire.Called:
			w.call++
			w.retire(40)
		case quire.Answered:
			if e.Chain == "" {
				w.answered(e.Part)
			}
		case quire.Entered:
			if e.Chain == "" && e.Part.Kind == quire.PartUser {
				w.user = e.Part.Text
			}
			if e.Chain == "" && e.Part.Kind == quire.PartToolResult && len(e.Part.Text) > 6000 {
				w.watch(e.Part)
			}
		}
	}
	w.retire(-1)
}

func (w *watcher) answered(p quire.Part) {
	switch p.Kind {
	case quire.PartText:
		w.said = append(w.said, p.Text)
		w.quote(p.Text)
	case quire.PartToolCall:
		texts := page.Texts(p.Text)
		w.wrote = append(w.wrote, strings.Join(texts, "\n"))
		w.queries[p.ToolUse] = w.query()
		w.calls[p.ToolUse] = page.Describe(p.Tool, p.Text)
		for _, text := range texts {
			w.quote(text)
		}
	}
}

func (w *watcher) watch(p quire.Part) {
	d := w.calls[p.ToolUse]
	x := &watched{call: w.call, query: w.queries[p.ToolUse], lines: map[uint64]quire.Range{}, quoted: map[uint64]bool{}}
	x.source = rendition.Source{Text: p.Text, Page: quire.Page{Number: 412, Kind: quire.PageTool, Action: d.Action, Target: d.Target,
		Class: page.Classify(d.Action, d.Target, p.Text), Bytes: len(p.Text)}}
	shingle.Scan(p.Text, func(s shingle.Shingle) bool {
		if !s.Path {
			x.lines[s.Hash] = quire.Range{First: int(s.First), Last: int(s.Last)}
		}
		return true
	})
	w.open = append(w.open, x)
}

// quote marks the lines of the youngest page that holds each run of shingles.
func (w *watcher) quote(text string) {
	for _, x := range slices.Backward(w.open) {
		var run []quire.Range
		var hashes []uint64
		flush := func() {
			if len(run) >= 4 {
				x.take(run, hashes, w.call-x.call <= w.early)
			}
			run, hashes = run[:0], hashes[:0]
		}
		shingle.Scan(text, func(s shingle.Shingle) bool {
			r, ok := x.lines[s.Hash]
			if !ok || len(run) > 0 && (r.First < run[len(run)-1].First || r.First > run[len(run)-1].Last+1) {
				flush()
			}
			if ok {
				run, hashes = append(run, r), append(hashes, s.Hash)
			}
			return true
		})
		flush()
	}
}

// retire judges the pages that are older than that many calls.
func (w *watcher) retire(age int) {
	w.open = slices.DeleteFunc(w.open, func(x *watched) bool {
		if w.call-x.call <= age {
			return false
		}
		w.judge(x)
		return true
	})
}

func (w *watcher) judge(x *watched) {
	budget := len(x.source.Text) / 3
	e, ok := w.maker.Excerpt(x.source, rendition.Want{Query: x.query, Lines: x.early, Around: 4}, budget)
	h, also := w.maker.HeadTail(x.source, budget)
	if !ok || !also || len(x.quoted) == 0 {
		return
	}
	class := fmt.Sprint(x.source.Page.Class)
	if w.tally[class] == nil {
		w.tally[class] = &covered{}
	}
	c := w.tally[class]
	c.pages++
	c.excerpt += inside(e.Text, x.quoted)
	c.headTail += inside(h.Text, x.quoted)
}

// take books a passage that a call quoted.
func (x *watched) take(lines []quire.Range, hashes []uint64, early bool) {
	if early {
		x.early = append(x.early, hull(lines))
		return
	}
	for _, h := range hashes {
		x.quoted[h] = true
	}
}

// inside is the share of some shingles that a text has.
func inside(text string, wanted map[uint64]bool) float64 {
	found := map[uint64]bool{}
	shingle.Scan(text, func(s shingle.Shingle) bool {
		if wanted[s.Hash] {
			found[s.Hash] = true
		}
		return true
	})
	return float64(len(found)) / float64(len(wanted))
}

func hull(ranges []quire.Range) quire.Range {
	out := ranges[0]
	for _, r := range ranges {
		out = quire.Range{First: min(out.First, r.First), Last: max(out.Last, r.Last)}
	}
	return out
}

// query is what is known of what a call is for: the user's last message, what the
// model said and wrote last.
func (w *watcher) query() string {
	last := func(of []string) []string { return of[max(0, len(of)-4):] }
	return w.user + "\n" + strings.Join(slices.Concat(last(w.said), last(w.wrote)), "\n")
}
