package probe

import (
	"context"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/run"
)

// A Way is how the line of a probe is asked for.
type Way string

// The ways.
const (
	Words  Way = "words"  // by some words of the line and of those beside it
	Around Way = "around" // by words of what stands around them
)

// Ways are all of them, in the order in which they are shown.
func Ways() []Way { return []Way{Words, Around} }

// A Result is what became of a probe.
type Result struct {
	Probe
	Resident bool         // the line stood in the prompt
	Recalled map[Way]bool // one recall brought it back; asked whether it stood there or not
	Tokens   map[Way]int  // of that recall's answer
}

// Lost reports whether the line neither stood in the prompt nor came back.
func (r *Result) Lost(w Way) bool { return !r.Resident && !r.Recalled[w] }

// Ask plays a policy over a session and asks the probes, which rise by call.
func Ask(ctx context.Context, s *recording.Session, p replay.Policy, set replay.Setting, probes []Probe, count retrieve.Counter) ([]Result, error) {
	a := newAsking(s, count)
	out := make([]Result, 0, len(probes))
	err := replay.Emit(s, p, set, func(k, _ int, blocks []replay.Block) error {
		for len(out) < len(probes) && probes[len(out)].Call == int32(k) {
			r, err := a.ask(ctx, probes[len(out)], blocks)
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", s.Info.ID, err)
	}
	return out, nil
}

// An asking is a session whose pages become findable as it goes on.
type asking struct {
	choose  *chooser
	s       *recording.Session
	count   retrieve.Counter
	index   *index.Index
	entries []retrieve.Entry
	pages   int // taken in
	surface retrieve.Surface
}

func newAsking(s *recording.Session, count retrieve.Counter) *asking {
	m := &index.Memory{}
	a := &asking{choose: newChooser(s, 0), s: s, count: count, index: index.New(m, m)}
	a.surface.Register(retrieve.NewKept("session", a.index, func(_ context.Context, refs []quire.PageRef) (out []*retrieve.Entry, _ error) {
		for _, ref := range refs {
			out = append(out, &a.entries[ref.Page-1])
		}
		return out, nil
	}))
	return a
}

func (a *asking) ask(ctx context.Context, p Probe, blocks []replay.Block) (Result, error) {
	r := Result{Probe: p, Recalled: map[Way]bool{}, Tokens: map[Way]int{}}
	var err error
	if r.Resident, err = a.stands(p.Answer, blocks); err != nil {
		return r, err
	}
	if err := a.grow(ctx, p.Call); err != nil {
		return r, err
	}
	for way, query := range map[Way]string{Words: p.Words, Around: p.Around} {
		if query == "" {
			continue
		}
		found, err := a.surface.Answer(ctx, retrieve.Query{Text: query}, retrieve.Quota{Tokens: run.RecallAnswer, Reads: true}, a.count)
		if err != nil {
			return r, err
		}
		r.Recalled[way], r.Tokens[way] = strings.Contains(found.Text, p.Answer), found.Tokens
	}
	return r, nil
}

// stands reports whether a line stands in a prompt.
func (a *asking) stands(line string, blocks []replay.Block) (bool, error) {
	for _, b := range blocks {
		text := b.Text
		if b.Whole {
			var err error
			if text, err = a.s.Bodies.Get(a.s.Items[b.Item].Body); err != nil {
				return false, err
			}
		}
		if strings.Contains(text, line) {
			return true, nil
		}
	}
	return false, nil
}

// grow takes in the pages that are there before a call answers.
func (a *asking) grow(ctx context.Context, call int32) error {
	var docs []index.Document
	for ; a.pages < len(a.s.Pages) && int32(a.s.Pages[a.pages].Call) <= call; a.pages++ {
		pg := &a.s.Pages[a.pages]
		text, err := a.choose.body(pg.Number)
		if err != nil {
			return err
		}
		e := retrieve.Entry{Kind: "page", Name: pg.Number.String(), Source: source(pg), Title: pg.Target, Text: text}
		a.entries = append(a.entries, e)
		if text != "" {
			docs = append(docs, e.Document(quire.PageRef{Page: pg.Number}))
		}
	}
	if err := a.index.Add(ctx, docs); err != nil {
		return err
	}
	_, err := a.index.Merge(ctx)
	return err
}

// source says where a page is from, as the recall of a live session does.
func source(pg *quire.Page) string {
	return strings.TrimSpace(fmt.Sprintf("this session, call %d, %s %s", pg.Call+1, pg.Tool, pg.Target))
}
