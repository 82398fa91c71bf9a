package quiz

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/shingle"
)

// The rules by which a later need becomes a question to retrieval.
const (
	newestResults = 20    // a page among so many newest results is not asked for
	longAgo       = 30    // calls since it was last quoted
	turnCalls     = 5     // calls of a turn for whose needs the user's words are the question
	hitTokens     = 2_000 // of hits, within which the needed text is looked for
	wantedHits    = 10    // asked for
	questionBytes = 2_000 // of a question: what is longer was pasted
)

// A question is what was said before a call needed pages that were long out of
// sight.
type question struct {
	kind  string // user, before, full, own
	call  int32
	text  string
	needs []int // indexes of Needs
}

// recorded is a session that is asked about.
type recorded struct{ *recording.Session }

// questions lists the questions of a session in the order of their calls: of
// each strict need whose page is not among the newest results and was last
// quoted long ago,
//
//	user    the user's words, where they began the turn a few calls ago
//	before  the arguments of the tool calls of the call before
//	full    those of the call itself; of long ones what stands around the need
//	own     the same without the lines that it quotes
func (s recorded) questions() (out []question, err error) {
	quoted := s.admitted()
	for i := 0; i < len(s.Needs); {
		j, call := i, s.Needs[i].Call
		var due []int
		for ; j < len(s.Needs) && s.Needs[j].Call == call; j++ {
			if n := &s.Needs[j]; call-quoted[n.Page] >= longAgo && !s.newest(n.Page, call) {
				due = append(due, j)
			}
		}
		for ; i < j; i++ {
			quoted[s.Needs[i].Page] = call
		}
		if len(due) == 0 {
			continue
		}
		asked, err := s.ask(call, due)
		if err != nil {
			return nil, err
		}
		out = append(out, asked...)
	}
	return out, nil
}

// admitted is the call at which each page came, by page; index 0 is no page.
func (s recorded) admitted() []int32 {
	out := make([]int32, len(s.Pages)+1)
	for i := range s.Pages {
		out[i+1] = int32(s.Pages[i].Call)
	}
	return out
}

// newest reports whether a page came with the newest results of the prompt of a
// call, or after the oldest of them.
func (s recorded) newest(n quire.PageNumber, call int32) bool {
	return int(n) > s.older(call) && int(n) <= s.known(call)
}

// inPrompt lists what came with the newest results: what a question cannot be
// after, among it the text that the question is taken from.
func (s recorded) inPrompt(call int32) (out []quire.PageRef) {
	for i := s.known(call); i > s.older(call); i-- {
		out = append(out, quire.PageRef{Session: 1, Page: quire.PageNumber(i)})
	}
	return out
}

// older is how many pages came before the newest results of the prompt of a
// call.
func (s recorded) older(call int32) int {
	n := s.known(call)
	for seen := 0; n > 0 && seen < newestResults; n-- {
		if p := &s.Pages[n-1]; p.Kind == quire.PageTool && p.Bytes > 0 {
			seen++
		}
	}
	return n
}

// known is how many pages there are before a call answers.
func (s recorded) known(call int32) int {
	n := len(s.Pages)
	for n > 0 && int32(s.Pages[n-1].Call) > call {
		n--
	}
	return n
}

func (s recorded) ask(call int32, due []int) (out []question, err error) {
	add := func(kind, text string, needs []int) {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), questionBytes)], ""))
		if text != "" {
			out = append(out, question{kind, call, text, needs})
		}
	}
	turn, since := s.Calls[call].Turn, int32(0)
	for since < turnCalls && since < call && s.Calls[call-since-1].Turn == turn {
		since++
	}
	if since < turnCalls {
		text, err := s.said(func(it *recording.Item) bool {
			return it.Kind == quire.PartUser && it.Origin == quire.OriginFirst && it.Turn == turn && it.Call <= call
		})
		if err != nil {
			return nil, err
		}
		add("user", text, due)
	}
	if call > 0 {
		text, err := s.said(func(it *recording.Item) bool { return it.Kind == quire.PartToolCall && it.By == call-1 })
		if err != nil {
			return nil, err
		}
		add("before", text, due)
	}
	text, err := s.said(func(it *recording.Item) bool { return it.Kind == quire.PartToolCall && it.By == call })
	if err != nil {
		return nil, err
	}
	for _, d := range due {
		near := nearQuotes(text, keysOf(&s.Needs[d]))
		add("full", near, []int{d})
		add("own", withoutQuotes(near, s.Needs[d].Shingles), []int{d})
	}
	return out, nil
}

// nearQuotes cuts a long question to its first line, which names the tool, the
// next one, which mostly is its target, and what stands around the first place
// where it holds one of the shingles: who writes a long text asks for what its
// parts need.
func nearQuotes(text string, shingles []uint64) string {
	if len(text) <= questionBytes {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	head := min(2, len(lines))
	at := head
	if found := recording.Locate(text, shingles); len(found) > 0 {
		at = max(found[0].First-1, head)
	}
	start, end, size := at, at, len(strings.Join(lines[:head], ""))
	for grown := true; grown; {
		grown = false
		if end < len(lines) && size+len(lines[end]) <= questionBytes {
			size, end, grown = size+len(lines[end]), end+1, true
		}
		if start > head && size+len(lines[start-1]) <= questionBytes {
			size, start, grown = size+len(lines[start-1]), start-1, true
		}
	}
	return strings.Join(lines[:head], "") + strings.Join(lines[start:end], "")
}

// said joins the bodies of items.
func (s recorded) said(want func(*recording.Item) bool) (string, error) {
	var parts []string
	for i := range s.Items {
		if !want(&s.Items[i]) {
			continue
		}
		text, err := s.Bodies.Get(s.Items[i].Body)
		if err != nil {
			return "", fmt.Errorf("read a question: %w", err)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}

// withoutQuotes takes the lines out of a text that hold given shingles.
func withoutQuotes(text string, shingles []uint64) string {
	lines := strings.Split(text, "\n")
	shingle.Scan(text, func(g shingle.Shingle) bool {
		if _, ok := slices.BinarySearch(shingles, g.Hash); ok {
			for i := g.First; i <= g.Last; i++ {
				lines[i-1] = ""
			}
		}
		return true
	})
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// A table is the page table of a session that grows as it is replayed. It
// is used by one goroutine.
type table struct {
	s     recorded
	rows  []quire.Row
	args  map[quire.PageNumber][]recording.Ref
	last  map[string]int // what a page is about → its row
	index *index.Index
	flat  *index.Index // everything in one field
}

const owner = quire.Principal("user:eval")

func newTable(s recorded) *table {
	m, flat := &index.Memory{}, &index.Memory{}
	t := &table{s: s, args: map[quire.PageNumber][]recording.Ref{}, last: map[string]int{}, index: index.New(m, m), flat: index.New(flat, flat)}
	for i := range s.Items {
		if it := &s.Items[i]; it.Kind == quire.PartToolCall && it.Page > 0 && s.Pages[it.Page-1].Kind != quire.PageWritten {
			t.args[it.Page] = append(t.args[it.Page], it.Body)
		}
	}
	return t
}

// Rows is that of [retrieve.Rows].
func (t *table) Rows(_ context.Context, _ quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		for _, n := range f.Pages {
			if int(n) <= len(t.rows) && !yield(t.rows[n-1], nil) {
				return
			}
		}
	}
}

// Text is that of [retrieve.Texts].
func (t *table) Text(_ context.Context, r *quire.Row) (string, error) {
	return t.s.PageText(r.Number)
}

// grow takes in the pages that are there before a call answers.
func (t *table) grow(ctx context.Context, call int32, held *holders) error {
	var docs, flat []index.Document
	for known := t.s.known(call); len(t.rows) < known; {
		r := t.enter(t.s.Pages[len(t.rows)])
		text, err := t.s.PageText(r.Number)
		if err != nil {
			return err
		}
		held.add(r.Number, text)
		args, err := t.arguments(r.Number)
		if err != nil {
			return err
		}
		if d, ok := retrieve.NewDocument(r, t.s.Info.Project, text, args); ok {
			docs, flat = append(docs, d), append(flat, flatten(d))
		}
	}
	if err := errors.Join(t.index.Add(ctx, docs), t.flat.Add(ctx, flat)); err != nil {
		return err
	}
	_, first := t.index.Merge(ctx)
	_, second := t.flat.Merge(ctx)
	return errors.Join(first, second)
}

// flatten puts everything into one field.
func flatten(d index.Document) index.Document {
	d.Fields[index.FieldBody] = d.Fields[index.FieldPath] + "\n" + d.Fields[index.FieldCommand] + "\n" + d.Fields[index.FieldBody]
	d.Fields[index.FieldPath], d.Fields[index.FieldCommand], d.Fields[index.FieldSymbol] = "", "", ""
	return d
}

func (t *table) arguments(n quire.PageNumber) (string, error) {
	var out []string
	for _, ref := range t.args[n] {
		text, err := t.s.Bodies.Get(ref)
		if err != nil {
			return "", err
		}
		_, text, _ = strings.Cut(text, "\n")
		out = append(out, text)
	}
	return strings.Join(out, "\n"), nil
}

// enter makes the row of a page. Of two that ask for the same the later takes
// the place of the earlier.
func (t *table) enter(p quire.Page) *quire.Row {
	r := quire.Row{Page: p, Session: 1, Outcome: quire.OutcomeUnknown, Owner: owner, Scope: quire.ScopeSession}
	if p.Call < len(t.s.Calls) {
		r.At = t.s.Calls[p.Call].At
	}
	if p.Kind == quire.PageTool && p.Target != "" {
		key := fmt.Sprintf("%s\x00%s\x00%v", p.Action, p.Target, p.Lines)
		if i, ok := t.last[key]; ok && (p.Action == quire.ActionRead || p.Action == quire.ActionRun) {
			t.rows[i].By = p.Number
			r.Replace = []quire.PageNumber{t.rows[i].Number}
		}
		t.last[key] = len(t.rows)
	}
	t.rows = append(t.rows, r)
	return &t.rows[len(t.rows)-1]
}
