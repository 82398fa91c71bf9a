package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A viewRecord is what is written down of the view of a call (record type "view"),
// so that a gateway that starts knows the trees of the one before it. It names no
// content: hashes and sizes only.
type viewRecord struct {
	quire.Stamp
	Call       string       `json:"call"`
	Credential string       `json:"credential"` // keyed hash
	Label      string       `json:"label,omitempty"`
	Tree       int          `json:"tree"`            // of the session, from 0
	Keep       int          `json:"keep"`            // steps of the stream that stay
	Steps      []stepRecord `json:"steps,omitempty"` // behind them
	Dangling   bool         `json:"dangling,omitempty"`
	Cleared    int          `json:"cleared,omitempty"` // tool results that the client had cleared
	Reply      string       `json:"reply,omitempty"`   // id of the answer, as the provider gave it
	System     quire.Hash   `json:"system,omitzero"`
	Tools      quire.Hash   `json:"tools,omitzero"`
	Offers     bool         `json:"offers,omitempty"` // it declared tools
	Model      string       `json:"model,omitempty"`
	Relayed    bool         `json:"relayed,omitempty"` // from here on the client's own view goes up again
	Intent     bool         `json:"intent,omitempty"`  // what entered before a call; its answer has a record of its own
}

type stepRecord struct {
	Sum     quire.Hash     `json:"sum"`
	Outline quire.Hash     `json:"outline,omitzero"`
	Results []resultRecord `json:"results,omitempty"`
	Last    int            `json:"last"` // number of its last part
	Answer  bool           `json:"answer,omitempty"`
	Parts   span           `json:"parts,omitzero"`
	Asked   time.Time      `json:"asked,omitzero"` // of an answer: when
}

type resultRecord struct {
	Sum  quire.Hash `json:"sum"`
	Size int        `json:"size"`
}

func stepOf(s step) stepRecord {
	r := stepRecord{Sum: s.node.sum, Outline: s.node.outline, Last: s.last, Answer: s.node.answer, Parts: s.node.parts, Asked: s.node.at}
	for _, one := range s.node.results {
		r.Results = append(r.Results, resultRecord{one.sum, one.size})
	}
	return r
}

// restored is how many journals, the latest first, a gateway reads when it starts.
const restored = 256

// restore builds the trees of the sessions that were recorded last. A journal that
// cannot be read is passed over: its client begins a new session.
func (o *observer) restore(ctx context.Context) error {
	names, err := journal.List(o.gateway.options.Pool.Home)
	if err != nil {
		return fmt.Errorf("list the sessions: %w", err)
	}
	slices.SortStableFunc(names, func(a, b journal.Name) int { return b.Changed.Compare(a.Changed) })
	names = names[:min(len(names), restored)]
	slices.Reverse(names)
	derived := o.derivedTo(ctx)
	for _, n := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.restoreOne(n, derived[n.Number])
	}
	return nil
}

// derivedTo says of each session up to which record rows were made of it, by its time.
func (o *observer) derivedTo(ctx context.Context) map[quire.SessionNumber]string {
	out := map[quire.SessionNumber]string{}
	pool := o.gateway.options.Pool
	for row, err := range pool.Table.Sessions(ctx, quire.Reader{Who: pool.Owner}) {
		if err != nil {
			break // what is not known to be derived is derived again
		}
		out[row.Number] = row.Updated
	}
	return out
}

func (o *observer) restoreOne(n journal.Name, derived string) {
	head, err := journal.Head(n.Path)
	if err != nil || head.Info.Agent != quire.AgentQuire {
		return
	}
	s := &session{name: n, heads: map[quire.Hash]bool{}, names: map[string]int{}, used: n.Changed,
		row: Row{Session: n.Number, Project: head.Info.Project, Started: head.Info.Started}}
	for r, err := range journal.Read(n.Path) {
		if err == nil {
			s.behind = r.T.Format(time.RFC3339Nano) != derived
			err = o.again(s, r)
		}
		if err != nil {
			break
		}
	}
	if len(s.trees) > 0 {
		o.sessions = append(o.sessions, s)
		o.publish(s)
	}
}

// again takes one record of a session that was recorded before.
func (o *observer) again(s *session, r quire.Record) error {
	switch r.Type {
	case quire.RecordView:
		v, err := journal.Decode[viewRecord](r)
		if err != nil {
			return err
		}
		return o.viewAgain(s, &v)
	case quire.RecordCall:
		c, err := journal.Decode[quire.CallRecord](r)
		name, _, _ := strings.Cut(c.Call, "#")
		s.names[name]++
		return err
	case quire.RecordStream:
		r, err := journal.Decode[streamRecord](r)
		if err != nil {
			return err
		}
		return s.streamOf(r.Chain).streamAgain(&r)
	case quire.RecordAccount:
		a, err := journal.Decode[quire.AccountRecord](r)
		s.shadow, s.paid = a.Shadow, a.Live
		s.row.Cost = a.Live
		return err
	case quire.RecordPart:
		p, err := journal.Decode[quire.PartRecord](r)
		st := s.streamOf(p.Chain)
		st.next = max(st.next, p.Node+1)
		return err
	case quire.RecordUsage:
		u, err := journal.Decode[quire.UsageRecord](r)
		s.row.usage(u.Usage)
		return err
	}
	return nil
}

// streamOf is the stream of a chain, which begins where it is not known.
func (s *session) streamOf(chain string) *stream {
	for _, st := range s.streams {
		if st.chain == chain {
			return st
		}
	}
	st := &stream{chain: chain}
	s.streams = append(s.streams, st)
	return st
}

func (o *observer) viewAgain(s *session, v *viewRecord) error {
	st := s.streamOf(v.Chain)
	if v.Tree < 0 || v.Tree > len(s.trees) || v.Keep < 0 || v.Keep > len(st.path) {
		return fmt.Errorf("call %s: the view does not fit to those before it", v.Call)
	}
	if v.Tree == len(s.trees) {
		t := o.forest.plant(v.Label, v.At)
		t.session, s.trees = s, append(s.trees, t)
	}
	t := s.trees[v.Tree]
	t.used, t.tools = v.At, t.tools || v.Offers
	s.heads[v.System], s.heads[v.Tools], s.cred = true, true, v.Credential
	st.path = st.path[:v.Keep]
	st.curatedTo(v.Keep)
	if v.Relayed {
		st.uncurate()
	}
	for i := range v.Steps {
		st.path = append(st.path, step{o.stepAgain(t, st, &v.Steps[i]), v.Steps[i].Last})
	}
	if v.Intent {
		return nil
	}
	if n := len(st.path); n > 0 && v.Reply != "" && st.path[n-1].node.answer {
		o.replies.Put(v.Credential+v.Reply, st.path[n-1].node)
	}
	st.dangling = v.Dangling
	s.row.Calls++
	s.row.Last = v.At
	st.last = state{v.At, terms{v.Model, v.System, v.Tools}}
	st.note(st.last.terms, v.At)
	return nil
}

func (o *observer) stepAgain(t *tree, st *stream, r *stepRecord) *node {
	n := &node{sum: r.Sum, outline: r.Outline, tree: t, answer: r.Answer, parts: r.Parts, at: r.Asked}
	for _, one := range r.Results {
		n.results = append(n.results, result{one.Sum, one.Size})
	}
	if len(st.path) > 0 {
		n.parent = st.path[len(st.path)-1].node
	}
	return o.forest.put(t, n)
}
