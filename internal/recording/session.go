package recording

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
)

// A Session is a recorded session made ready for replay: what entered its
// prompts, in order, the calls that were made, and what each call needed. It
// holds no bodies; Bodies reads them back. It is not changed after [Loader.Load], so
// any number of goroutines may replay it.
type Session struct {
	Path     string
	Info     quire.SessionInfo
	Items    []Item       // main chain, in prompt order; origin summary and re-injected ones included
	Pages    []quire.Page // Pages[n-1] is page p<n>
	Calls    []Call       // main chain, in order
	Side     []Call       // calls of side chains; only Call, Model, At, Usage and Output are set
	Cuts     []Cut        // compactions and rewinds of the recorded agent, rising by Call
	Needs    []Need       // rising by Call
	Overhead int          // constant prefix in tokens: system prompt and tool schemas not in the record
	Measured bool         // Overhead comes from recorded usage (otherwise it is the default)
	Counted  Counting     // how tokens were counted
	Skips    []Skip
	Notes    map[quire.Note]int
	Bodies   *Bodies
	Sampled  int     // the needs index kept one shingle in 2^Sampled
	TooLong  bool    // it is too long to be replayed: nothing is known of its needs
	Density  float64 // mean calibrated tokens per byte
	Starts   []Start // where the recorded sessions begin that this one joins, rising

	index    *keyIndex
	forms    forms             // empty where it is too long
	Hints    [][]schedule.Hint // by call: the pages that the words new to it point to; none where it is too long
	Work     [][]schedule.Work // by call: what is known newly of the task at hand; none where it is too long
	Edits    []LineNeed        // rising by call
	Rereads  []LineNeed        // rising by call
	PageItem []int32           // by page, from 0: the item that shows its body, -1 for none
}

// An Item is one block of a prompt.
type Item struct {
	Page   quire.PageNumber // page it belongs to; a tool call and its result share one, but a call that writes a file shows that of the content; 0 for thinking
	Kind   quire.PartKind
	Origin quire.Origin
	Error  bool   // of a tool result: the tool failed
	Call   int32  // first call whose prompt holds it
	By     int32  // call that produced it, -1 for what entered from outside
	Turn   int32  // from 0
	Tokens int32  // calibrated
	Bytes  int32  // of the body
	Hash   uint64 // of kind and body: equal items have equal hashes
	Body   Ref
	Use    int32        // the tool call that it makes or answers, by a number from 1; 0: none that is known
	Raw    Ref          // of a tool call: its arguments as they were sent
	Media  *quire.Media // of an image or document
}

// A Call is one recorded model request.
type Call struct {
	ID     string
	Model  string
	At     time.Time // of the request; never before the call in front of it
	Items  int32     // its prompt in an append-only session is Items[:Items], less what a rewind took out
	Turn   int32
	Usage  quire.Usage // as recorded, Known says which counts
	Output int         // output tokens: recorded where reliable, otherwise estimated from the text
	Hint   string      // first line of the user's words that began the turn, only on its first call, at most 120 bytes
}

// A Cut is a place where the recorded agent's context lost parts.
type Cut struct {
	Call    int32 // first call after it
	Item    int32 // index of the first item after it
	Keep    int32 // a rewind: items below this index stay, those between Keep and Item are gone. A compaction: 0
	Rewind  bool
	Trigger string // of a compaction
}

// A Need is text of call Call that it took from page Page: a reference that a
// policy serves if the text is in its prompt, and that costs a fault otherwise.
// The definitions are those of section 3 of the evaluation document.
type Need struct {
	Call    int32
	Page    quire.PageNumber
	Wide    bool // it is a wide need event
	Strict  bool // it is a strict need event
	Written bool // the page is content that the agent wrote itself

	Shingles       []uint64 // of the wide event, sorted
	StrictShingles []uint64 // of the strict event, sorted
}

// A Start is where a recorded session begins.
type Start struct {
	Call int32 // its first call
	Item int32 // its first item
}

// StartAt finds the recorded session whose first call is call k.
func (s *Session) StartAt(k int) (Start, bool) {
	i := sort.Search(len(s.Starts), func(i int) bool { return s.Starts[i].Call > int32(k) }) - 1
	if i < 0 || s.Starts[i].Call != int32(k) {
		return Start{}, false
	}
	return s.Starts[i], true
}

// A Skip is a record of the log that could not be read.
type Skip struct {
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

// Counting says how far the token counts of a session can be trusted.
type Counting struct {
	Family      token.Family // of models whose tokenizer was approximated
	Samples     int          // recorded prompt sizes that the fit used; 0: uncalibrated
	MeanError   float64      // mean absolute error of the fit on the growth between calls, as a share of it
	PromptError float64      // mean absolute error of counted prompt sizes, as a share of the recorded ones
}

// Constant reports whether item i is part of the constant prefix: system text
// in front of the first call is counted in Overhead.
func (s *Session) Constant(i int32) bool {
	k := s.Items[i].Kind
	return (k == quire.PartSystem || k == quire.PartTools) && s.Items[i].Call == 0
}

// Unsent reports whether the item is thinking that its harness drops.
func (it *Item) Unsent() bool { return it.Kind == quire.PartThinking && it.Tokens == 0 }

// CutAt reports whether the recorded context lost parts just before call k.
func (s *Session) CutAt(k int) bool {
	_, ok := slices.BinarySearchFunc(s.Cuts, int32(k), func(c Cut, k int32) int { return int(c.Call - k) })
	return ok
}

func (s *Session) TokensOf(n int) int32 {
	return int32(math.Ceil(float64(n) * s.Density))
}

// Restored is the share of pages whose body, read back, has the SHA-256 that it
// had when it entered.
func (s *Session) Restored() (float64, error) {
	good, all := 0, 0
	for i := range s.Pages {
		at, pg := s.PageItem[i], &s.Pages[i]
		if pg.Kind == quire.PageWritten || pg.Class == quire.ClassImage || pg.Kind == quire.PageDocument || pg.Body == (quire.Hash{}) {
			continue // its body is part of an item's, or not in the record
		}
		text, err := s.Bodies.Get(s.Items[at].Body)
		if err != nil {
			return 0, fmt.Errorf("restore %v: %w", s.Pages[i].Number, err)
		}
		all++
		if quire.Sum(text) == pg.Body {
			good++
		}
	}
	if all == 0 {
		return 1, nil
	}
	return float64(good) / float64(all), nil
}
