package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/tool"
)

// A Model answers calls. A sequence ends with an error, which is a
// [*quire.CallError] where the provider or the way to it failed, or after a
// [quire.ReplyEnded].
type Model interface {
	Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error]
}

// A Gate lets tool calls through or not.
type Gate interface {
	Check(ctx context.Context, r permit.Request, notice string) (permit.Decision, error)
}

// A Record keeps what happens. What was added is durable after Sync.
type Record interface {
	Add(e quire.Event) error
	Record(kind string, payload any) error
	Sync(ctx context.Context) error
}

// A Loop runs an agent: calls and tools until a turn is done. All fields are set
// before its first use; it belongs to one goroutine.
type Loop struct {
	Step   *Step
	Model  Model
	Tools  []tool.Tool
	Gate   Gate
	Record Record
	Head   assemble.Head    // of every call; its tools are those of Tools
	Scale  float64          // tokens that the provider counts for one that is counted here, until it has reported some; 0: 1
	Rounds int              // most calls of a turn, 0: no limit
	Budget float64          // most that the session may cost, in the unit of the account's rates, 0: no limit; see [Loop.Bill]
	Now    func() time.Time // the clock
	Emit   func(Event)      // what happens, as it happens; nil: nobody looks
	Warner Warner           // what has to be told between calls; nil: nothing

	node    int
	calls   int
	turn    int
	bill    Bill
	state   string // the latest message of state, and how many epochs had begun
	since   int
	again   repeats
	bound   bounds
	planAt  time.Time       // when the last call was planned
	sum     quire.Hash      // of the head of the last call
	renewed bool            // the next call has another
	more    SentRecord      // being restored: of the part that comes next
	reply   quire.Reply     // being restored
	open    []quire.Block   // tool calls of the last answer that was restored, without those that have a result
	uses    map[string]bool // ids of all tool calls
}

// A Stop says why a turn ended.
type Stop string

// The stops.
const (
	StopDone    Stop = "done"
	StopRounds  Stop = "round limit"
	StopBudget  Stop = "cost limit"
	StopAborted Stop = "aborted"
	StopCut     Stop = "cut off" // the model's output limit, a filter
	StopFailed  Stop = "failed"
)

// An Outcome is how a turn ended.
type Outcome struct {
	Stop   Stop
	Text   string // the model's last text
	CutOff string // why the text is not whole: max_tokens, rounds, refusal, error; "" where it is
	Rounds int
	Usage  quire.Usage
	Err    error // of StopFailed
}

// add counts a call.
func (o *Outcome) add(u quire.Usage) {
	if o.Rounds++; o.Rounds == 1 {
		o.Usage = u
		return
	}
	o.Usage = o.Usage.Add(u)
}

// An Event is something that a face may show. The set is closed.
type Event interface{ event() }

// The events.
type (
	// Planned says what a call holds, before it is sent.
	Planned struct {
		Call   int
		Plan   schedule.Plan
		Prompt int // tokens, the constant part included
	}
	// Said is a step of the model's answer.
	Said struct{ Delta quire.Delta }
	// Acting says that a tool call begins, or why it does not.
	Acting struct {
		Call   quire.Block
		Denied string
	}
	// Acted is the result of a tool call.
	Acted struct {
		Call   quire.Block
		Result tool.Result
	}
	// Answered is a whole answer: how many pages it quoted that stood in the prompt,
	// and the bill with it.
	Answered struct {
		Call  int
		Reply quire.Reply
		Hits  int
		Bill  Bill
	}
	// Faulted is a page that was needed and did not stand in the prompt.
	Faulted struct{ quire.FaultRecord }
)

func (Planned) event()  {}
func (Said) event()     {}
func (Acting) event()   {}
func (Acted) event()    {}
func (Answered) event() {}
func (Faulted) event()  {}

func (l *Loop) emit(e Event) {
	if l.Emit != nil {
		l.Emit(e)
	}
}

// Turn does what the user asks: words are what the user says, and what goes with
// it. The error is for what the record or a tool could
// not do; what the model or its provider did is in the outcome. When the context
// ends what there is is recorded, so that the session can go on.
func (l *Loop) Turn(ctx context.Context, words ...quire.Block) (Outcome, error) {
	if err := l.enter(quire.RoleUser, words...); err != nil {
		return Outcome{}, err
	}
	var out Outcome
	widened := false
	for {
		if stop := l.limit(out.Rounds); stop != "" {
			return l.close(ctx, out, stop)
		}
		if err := l.warn(ctx); err != nil {
			return out, err
		}
		reply, err := l.call(ctx)
		if err != nil {
			return l.failed(out, err)
		}
		out.add(reply.Usage)
		if reply.Stop == quire.StopWindow && !widened {
			if widened, err = true, l.widen(); err != nil {
				return out, err
			}
			continue
		}
		if done := l.judge(&out, reply); done {
			return out, l.sync()
		}
		if err := l.act(ctx, reply); err != nil {
			return l.failed(out, err)
		}
	}
}

// limit says which limit of the turn is reached.
func (l *Loop) limit(rounds int) Stop {
	switch {
	case l.Rounds > 0 && rounds >= l.Rounds:
		return StopRounds
	case l.Budget > 0 && l.Bill().Live >= l.Budget:
		return StopBudget
	default:
		return ""
	}
}

// judge takes an answer's text and reports whether the turn is over.
func (l *Loop) judge(out *Outcome, r quire.Reply) bool {
	if text := textOf(r); text != "" {
		out.Text = text
	}
	out.CutOff = cutOff(r.Stop)
	switch {
	case out.CutOff != "":
		out.Stop = StopCut
	case len(toolCalls(r)) == 0 && r.Stop != quire.StopPause:
		out.Stop = StopDone
	}
	return out.Stop != ""
}

func cutOff(s quire.Stop) string {
	switch s {
	case quire.StopLength, quire.StopWindow:
		return "max_tokens"
	case quire.StopRefusal:
		return "refusal"
	default:
		return ""
	}
}

func textOf(r quire.Reply) (text string) {
	for _, b := range r.Blocks {
		if b.Kind == quire.PartText {
			text += b.Text
		}
	}
	return text
}

func toolCalls(r quire.Reply) (calls []quire.Block) {
	for _, b := range r.Blocks {
		if b.Kind == quire.PartToolCall && b.Opaque == nil {
			calls = append(calls, b)
		}
	}
	return calls
}

// full tells a model whose answer the end of the window cut off that there is room
// again.
const full = "The context window was full and your last answer was cut off there. Older pages now stand as handles and cards, so there is room again. Go on where you stopped; what you said so far stands above."

// widen makes room behind an answer that the end of the window cut off.
func (l *Loop) widen() error {
	if err := l.shrink(quire.CallTooLong, true); err != nil {
		return err
	}
	return l.enter(quire.RoleUser, quire.Block{Part: quire.Part{Kind: quire.PartMachine, Origin: quire.OriginOwn, Text: full}})
}

// closing asks for the report when a limit is reached (design, section 5). The
// call keeps its tools, so that its prefix stays; calls in its answer are not
// run.
const closing = "The limit of this turn is reached. Write the final report of this task now; tool calls will not be run."

func (l *Loop) close(ctx context.Context, out Outcome, stop Stop) (Outcome, error) {
	out.Stop, out.CutOff = stop, "rounds"
	if err := l.enter(quire.RoleUser, quire.Block{Part: quire.Part{Kind: quire.PartMachine, Origin: quire.OriginOwn, Text: closing}}); err != nil {
		return out, err
	}
	reply, err := l.call(ctx)
	if err == nil {
		out.add(reply.Usage)
		if text := textOf(reply); text != "" {
			out.Text = text
		}
		if cutOff(reply.Stop) == "" {
			err = l.refuse(toolCalls(reply), limited)
		}
	}
	var failed *quire.CallError
	_, _, big := tooBig(err)
	switch {
	case big, errors.As(err, &failed):
		err = nil // the cut result stands
	case ended(err):
		out.Stop, err = StopAborted, nil
	}
	return out, errors.Join(err, l.sync())
}

// failed ends a turn whose call or tool did not succeed.
func (l *Loop) failed(out Outcome, err error) (Outcome, error) {
	var call *quire.CallError
	synced := l.sync()
	_, _, big := tooBig(err)
	switch {
	case ended(err):
		out.Stop, out.CutOff = StopAborted, "error"
		return out, synced
	case big, errors.As(err, &call):
		out.Stop, out.CutOff, out.Err = StopFailed, "error", err
		return out, synced
	default:
		return out, errors.Join(err, synced)
	}
}

// ended reports whether an error is that of a context that ended.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// sync makes durable what was recorded, also after an interrupt.
func (l *Loop) sync() error {
	if err := l.Record.Sync(context.Background()); err != nil {
		return fmt.Errorf("record the session: %w", err)
	}
	return nil
}
