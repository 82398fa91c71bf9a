package permit

import (
	"context"
	"fmt"
	"sync"
)

// An Asker puts a question to the user and waits for the answer, or until the
// context ends.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// A Question is what the user has to decide.
type Question struct {
	Tool   string
	About  []Subject
	Notice string // what could not be undone, "" for nothing
}

// An Answer is what the user decided.
type Answer uint8

// The answers.
const (
	Refuse      Answer = iota
	Once               // this call
	Session            // this call, and the same things again in this session
	SessionLike        // also things like them ([Subject.Like]), where there is a wider thing
)

// A Gate lets calls through or not, asks where the policy says so, and remembers
// the answers of a session. It may be used concurrently; questions are put one
// at a time.
type Gate struct {
	Policy *Policy
	Asker  Asker // nil: there is nobody to ask, and what would be asked is denied

	asking  sync.Mutex
	allowed memory
}

// Check decides on a request: the verdict of the decision is Allow or Deny. The
// error is that of the Asker, a context that ended above all; the call must not
// be made then. notice tells the user what could not be undone.
func (g *Gate) Check(ctx context.Context, r Request, notice string) (Decision, error) {
	d := g.Policy.Judge(r)
	if d.Verdict != Ask {
		return d, nil
	}
	g.asking.Lock()
	defer g.asking.Unlock()
	open := g.allowed.open(d.About)
	if len(open) == 0 {
		return Decision{Verdict: Allow, Network: d.Network}, nil
	}
	if g.Asker == nil {
		return Decision{Verdict: Deny, Reason: "this needs the user's leave and there is nobody to ask: " + d.Reason}, nil
	}
	answer, err := g.Asker.Ask(ctx, Question{Tool: r.Tool, About: open, Notice: notice})
	if err != nil {
		return Decision{}, fmt.Errorf("ask for leave: %w", err)
	}
	if answer == Refuse {
		return Decision{Verdict: Deny, Reason: "the user refused: " + d.Reason + ". Do not try the same by other means; go on without it or ask what to do."}, nil
	}
	g.allowed.keep(open, answer)
	return Decision{Verdict: Allow, Network: d.Network}, nil
}

// memory holds what was allowed for the session.
type memory struct {
	same map[Subject]bool
	like map[string]bool
}

// open lists what has not been allowed before.
func (m *memory) open(about []Subject) []Subject {
	var list []Subject
	for _, s := range about {
		if !m.same[s] && !(s.Like != "" && m.like[s.Like+"\x00"+s.Reason]) {
			list = append(list, s)
		}
	}
	return list
}

func (m *memory) keep(about []Subject, a Answer) {
	if a < Session {
		return
	}
	if m.same == nil {
		m.same, m.like = map[Subject]bool{}, map[string]bool{}
	}
	for _, s := range about {
		m.same[s] = true
		if a == SessionLike && s.Like != "" {
			m.like[s.Like+"\x00"+s.Reason] = true
		}
	}
}
