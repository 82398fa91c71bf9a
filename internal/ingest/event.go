package ingest

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// A line is a record that is to be written, with the bodies that it names, in the
// order of [named].
type line struct {
	kind    string
	payload json.RawMessage
	bodies  [][]byte
	begun   int               // pages that it begins
	part    *quire.PartRecord // nil for another event
	call    bool              // it opens a call
}

// A recorder turns events into lines and cuts pages on the way.
type recorder struct {
	cut   cutter
	calls int // of the main chain
	last  quire.PageNumber
}

// line makes the record of an event.
func (r *recorder) line(e quire.Event) (line, error) {
	l, payload := r.record(e)
	raw, err := json.Marshal(payload)
	if err != nil {
		return line{}, fmt.Errorf("encode a %s: %w", l.kind, err)
	}
	l.payload = raw
	return l, nil
}

func (r *recorder) record(e quire.Event) (line, any) {
	switch e := e.(type) {
	case quire.Opened:
		return line{kind: quire.RecordInfo}, quire.InfoRecord{Stamp: e.Stamp, Info: e.Info}
	case quire.Entered:
		return r.part(quire.PartRecord{Stamp: e.Stamp, Node: e.Node, Part: e.Part})
	case quire.Answered:
		return r.part(quire.PartRecord{Stamp: e.Stamp, Node: e.Node, Call: e.Call, Part: e.Part})
	case quire.Called:
		if e.Chain == "" {
			r.calls++
		}
		return line{kind: quire.RecordCall, call: true}, quire.CallRecord{Stamp: e.Stamp, Call: e.Call, Model: e.Model}
	case quire.Metered:
		return line{kind: quire.RecordUsage}, quire.UsageRecord{Stamp: e.Stamp, Call: e.Call, Usage: e.Usage}
	case quire.Compacted:
		return line{kind: quire.RecordCompaction}, quire.CompactionRecord{Stamp: e.Stamp, Trigger: e.Trigger, PreTokens: e.PreTokens}
	case quire.Rewound:
		return line{kind: quire.RecordRewind}, quire.RewindRecord{Stamp: e.Stamp, Keep: e.Keep}
	case quire.Skipped:
		return line{kind: quire.RecordNote}, quire.NoteRecord{Stamp: e.Stamp, Reason: e.Reason}
	case quire.Noted:
		return line{kind: quire.RecordNote}, quire.NoteRecord{Stamp: e.Stamp, Note: e.Note}
	}
	return line{kind: quire.RecordNote}, quire.NoteRecord{} // unreachable: the set of events is closed
}

// part names the bodies of a part and numbers its pages.
func (r *recorder) part(rec quire.PartRecord) (line, any) {
	l := line{kind: quire.RecordPart}
	p := rec.Part
	if p.Text != "" {
		rec.Body = quire.Sum(p.Text)
		l.bodies = append(l.bodies, []byte(p.Text))
	}
	if p.Data != "" {
		rec.Blob = p.Media.Hash
		l.bodies = append(l.bodies, []byte(p.Data))
	}
	for _, pg := range r.cut.part(&p, r.calls) {
		rec.Pages = append(rec.Pages, pg.Number)
		if pg.Number > r.last {
			r.last = pg.Number
			l.begun++
		}
		if pg.Kind == quire.PageWritten {
			rec.Written = pg.Body
			l.bodies = append(l.bodies, []byte(page.Describe(p.Tool, p.Text).New))
		}
	}
	rec.Part.Text, rec.Part.Data = "", ""
	l.part = &rec
	return l, rec
}
