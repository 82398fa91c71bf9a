package run

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
)

// A SentRecord keeps what the parts of a record do not hold and the bytes of a
// stream follow from: before a part, what its block has besides (the signature
// that binds thinking, what only the provider understands); and before a call,
// the sum of its head, where it is another than that of the call before.
type SentRecord struct {
	quire.Stamp
	Node      int             `json:"node,omitempty"` // of the part that follows
	Signature string          `json:"signature,omitempty"`
	Opaque    json.RawMessage `json:"opaque,omitempty"`
	Plain     bool            `json:"plain,omitempty"`
	Content   []quire.Block   `json:"content,omitempty"`
	Rest      []quire.Field   `json:"rest,omitempty"`
	Head      quire.Hash      `json:"head,omitzero"`
}

// kept records what of a block its part does not hold.
func (l *Loop) kept(stamp quire.Stamp, node int, b *quire.Block) error {
	if b.Signature == "" && b.Opaque == nil && !b.Plain && len(b.Content)+len(b.Rest) == 0 {
		return nil
	}
	return l.Record.Record(quire.RecordSent, SentRecord{
		Stamp: stamp, Node: node, Signature: b.Signature, Opaque: b.Opaque, Plain: b.Plain, Content: b.Content, Rest: b.Rest,
	})
}

// block is a part that is restored, with what was recorded of it besides.
func (l *Loop) block(node int, p quire.Part) quire.Block {
	m := l.more
	l.more = SentRecord{}
	if m.Node != node {
		return quire.Block{Part: p}
	}
	return quire.Block{Part: p, Signature: m.Signature, Opaque: m.Opaque, Plain: m.Plain, Content: m.Content, Rest: m.Rest}
}

// head is that of the next call, with the bounds as they are known by now.
// Another head than that of the call before is recorded, and the prompt made
// anew: nothing of it is in a cache, and what was signed was signed under another
// one (A10, A35).
func (l *Loop) head(at time.Time) (assemble.Head, error) {
	head, sum := l.Head, assemble.Sum(&l.Head)
	if sum != l.sum {
		if err := l.Record.Record(quire.RecordSent, SentRecord{Stamp: quire.Stamp{At: at}, Head: sum}); err != nil {
			return head, fmt.Errorf("record the head: %w", err)
		}
		l.renew(sum)
	}
	return l.headed(head), nil
}

// renew takes over the sum of another head.
func (l *Loop) renew(sum quire.Hash) {
	l.sum, l.bound = sum, bounds{}
	if l.calls > 0 {
		l.renewed = true
		l.Step.Context().Lost("the model, its tools or its settings changed")
	}
}

// headed is a head with the bounds as they are known by now, renewed where the
// one before was another.
func (l *Loop) headed(head assemble.Head) assemble.Head {
	head = l.resize(head)
	head.Renewed = head.Renewed || l.renewed
	l.renewed = false
	return head
}

// Recorded takes a record that is no event, in its place among the events of
// [Loop.Restore]: what the stream follows from besides them. Others change
// nothing.
func (l *Loop) Recorded(r quire.Record) error {
	switch r.Type {
	case quire.RecordSent:
		var s SentRecord
		if err := json.Unmarshal(r.Line, &s); err != nil {
			return fmt.Errorf("record %d, %s: %w", r.Seq, r.Type, err)
		}
		l.sent(s)
	case quire.RecordRefused:
		var f RefusedRecord
		if err := json.Unmarshal(r.Line, &f); err != nil {
			return fmt.Errorf("record %d, %s: %w", r.Seq, r.Type, err)
		}
		return l.refused(f)
	case quire.RecordMark:
		var m quire.MarkRecord
		if err := json.Unmarshal(r.Line, &m); err != nil {
			return fmt.Errorf("record %d, %s: %w", r.Seq, r.Type, err)
		}
		l.Step.Mark(m)
	}
	return nil
}

func (l *Loop) sent(s SentRecord) {
	if s.Head == (quire.Hash{}) {
		l.more = s
		return
	}
	l.settle()
	if s.Head != l.sum {
		l.renew(s.Head)
	}
}
