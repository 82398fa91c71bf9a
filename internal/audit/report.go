package audit

import (
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/replay"
)

// A Report is everything an audit found. It is plain data: it can be
// serialised, and nothing in it changes after [Audit.Report]. Money is in US
// dollars. A pointer is nil where a figure is not recorded or has no price.
type Report struct {
	Zone      string            `json:"zone"`           // time zone of the days
	Since     time.Time         `json:"since,omitzero"` // filter: calls before it are left out
	Until     time.Time         `json:"until,omitzero"` // filter: calls at or after it are left out
	First     time.Time         `json:"first,omitzero"` // first call counted
	Last      time.Time         `json:"last,omitzero"`  // last call counted
	Sessions  []Session         `json:"sessions"`       // by path
	Totals    Totals            `json:"totals"`         // over all files, each call once
	Models    []Group           `json:"by_model"`       // dearest first; calls as in Totals
	Days      []Day             `json:"by_day"`         // in order of time; calls as in Totals
	Projects  []Group           `json:"by_project"`     // dearest first; calls as in Totals
	Agents    []Group           `json:"by_agent"`       // dearest first; calls as in Totals
	Kinds     []KindShare       `json:"by_kind"`        // in the order of Kinds(); calls as in Totals
	Tools     []ToolShare       `json:"by_tool"`        // dearest first
	Context   Context           `json:"context"`        // how the prompts were filled
	Cache     Cache             `json:"cache"`          // what the prompt cache did
	Pages     []PageCost        `json:"dearest_pages"`  // at most 20, dearest first
	Repeats   Repeats           `json:"repeated_reads"` // content that was fetched again unchanged
	Timelines []Timeline        `json:"prompt_sizes"`   // of the dearest sessions
	Policies  map[string]Policy `json:"policies"`       // by name
	Atlas     *replay.Atlas     `json:"atlas"`          // of the longest session that was replayed; nil for none
	Replayed  Replayed          `json:"replayed"`       // what the policies are to be compared with
	Notes     []Noted           `json:"notes"`          // oddities that were handled, by name
	Unpriced  Unpriced          `json:"unpriced"`       // calls without a price
	Counting  []Counting        `json:"counting"`       // how far the token counts can be trusted, by model family
	Skipped   []Skipped         `json:"skipped"`        // what could not be read
}

// Usage is recorded usage, summed. A count is nil if no call recorded it.
type Usage struct {
	Input        *int64 `json:"input"`       // uncached
	CacheRead    *int64 `json:"cache_read"`  // from the cache
	CacheWrite   *int64 `json:"cache_write"` // to the cache, all lifetimes
	CacheWrite1h *int64 `json:"cache_write_1h"`
	Output       *int64 `json:"output"`    // reasoning included
	Reasoning    int64  `json:"reasoning"` // of Output, where recorded

	// OutputEstimated stands beside Output where that is missing or known to
	// be too low for some call. It is what costs use.
	OutputEstimated *int64 `json:"output_estimated,omitempty"`

	// PromptEstimated is the size of the prompts of those calls whose prompt
	// was not recorded, as counted.
	PromptEstimated *int64 `json:"prompt_estimated,omitempty"`

	// Estimated names the counts that some call did not record.
	Estimated []string `json:"estimated,omitempty"`
}

// A Sum is the figures of a set of calls.
type Sum struct {
	Calls int      `json:"calls"`
	Usage Usage    `json:"usage"`
	Cost  *float64 `json:"cost_usd"` // of the calls with recorded prompts and a price; nil if there are none

	// CostEstimated stands beside Cost where calls with a price did not record
	// their prompt: it holds all of Cost and an estimate for those.
	CostEstimated *float64 `json:"cost_estimated_usd,omitempty"`

	Unpriced int `json:"unpriced_calls"` // calls whose model has no price
}

// Totals are the figures over all files.
type Totals struct {
	Sum
	Sessions   int      `json:"sessions"`
	Side       int      `json:"side_calls"` // of Calls, those of side chains
	Duplicates int      `json:"duplicates"` // calls found in more than one file, counted once and left out here
	Prompt     int64    `json:"prompt"`     // tokens sent, recorded or else estimated
	Completion int64    `json:"completion"` // tokens received, recorded or else estimated
	Ratio      *float64 `json:"prompt_per_completion"`
	InputCost  float64  `json:"input_cost_usd"`  // of the cost, what was paid for prompts
	OutputCost float64  `json:"output_cost_usd"` // of the cost, what was paid for answers
}

// A Session is one recorded session. Its calls are counted once within it,
// whatever other files hold.
type Session struct {
	Path string `json:"path"`

	Agent   quire.Agent `json:"agent"`
	ID      string      `json:"id"`
	Project string      `json:"project"`
	Parent  string      `json:"parent,omitempty"`
	First   time.Time   `json:"first,omitzero"`
	Last    time.Time   `json:"last,omitzero"`
	Sum
	Side        int                `json:"side_calls"`
	Duplicates  int                `json:"duplicates"` // calls that a file before it by path holds too
	Compactions int                `json:"compactions"`
	Rewinds     int                `json:"rewinds"`
	Peak        int64              `json:"peak_prompt"`
	Policies    map[string]Outcome `json:"policies"`
}

// A Group is the figures of the calls that share a name.
type Group struct {
	Name string `json:"name"`
	Sum
}

// A Day is the figures of one day in the report's time zone. Calls without a
// time are under the empty date.
type Day struct {
	Date string `json:"date"` // 2006-01-02
	Sum
	Models []Spend `json:"models"` // by name
	Agents []Spend `json:"agents"` // by name
}

// A Spend is the cost of one name, estimates included.
type Spend struct {
	Name string   `json:"name"`
	Cost *float64 `json:"cost_usd"` // nil if none of its calls has a price
}

// A KindShare says what one kind of content took.
type KindShare struct {
	Kind          Kind     `json:"kind"`
	Tokens        int64    `json:"tokens"`      // once as written, counted
	Sent          int64    `json:"sent_tokens"` // once for each call that sent it, counted
	Amplification *float64 `json:"amplification"`
	Cost          float64  `json:"cost_usd"` // its share of the cost, estimates included
}

// A ToolShare says what the pages of one tool took.
type ToolShare struct {
	Tool          string   `json:"tool"`
	Uses          int      `json:"uses"`
	Tokens        int64    `json:"tokens"`
	Sent          int64    `json:"sent_tokens"`
	Amplification *float64 `json:"amplification"`
	Cost          float64  `json:"cost_usd"`
	Unused        float64  `json:"unused_usd"` // of Cost, see Context.Unused
}

// Context says how the prompts were filled.
type Context struct {
	Tokens        int64    `json:"tokens"`      // of all content, once as written
	Sent          int64    `json:"sent_tokens"` // of all content, once for each call that sent it
	Amplification *float64 `json:"amplification"`

	// Dead is dead residency: of the token-calls of pages, the share at which
	// no need of the page was left, at this call or later. Needs are wide;
	// DeadStrict takes strict ones. Content before the first page (system
	// prompt, tool schemas that are not in the record) is not a page.
	Dead       *float64 `json:"dead_residency"`
	DeadStrict *float64 `json:"dead_residency_strict"`

	// Unused is the money for tool calls, their results and written content,
	// sent again after the last need that the replay found. The first sending
	// of each is never counted.
	Unused       float64 `json:"unused_usd"`
	UnusedTokens int64   `json:"unused_tokens"`
}

// Cache says what the prompt cache did, over the calls that recorded it.
type Cache struct {
	Calls    int       `json:"calls"`
	Prompt   int64     `json:"prompt"`
	Read     int64     `json:"read"`
	Hit      *float64  `json:"hit_share"`
	Rewrites []Rewrite `json:"cold_rewrites"` // one a cause, in the order of the causes
}

// A Rewrite is what one cause of lost cache entries cost.
type Rewrite struct {
	Cause  Cause   `json:"cause"`
	Times  int     `json:"times"`
	Tokens int64   `json:"tokens"`   // that had been in the cache and were paid for again
	Cost   float64 `json:"cost_usd"` // above what reading them from the cache would have cost
}

// A Cause says why a cached prefix was paid for again.
type Cause string

// The causes, in the order in which they are looked for.
const (
	CauseCompaction  Cause = "compaction"   // the agent replaced its context
	CauseEdit        Cause = "prefix edit"  // a rewind, cleared results, or a prompt shorter than the one before
	CauseModel       Cause = "model switch" // a cache belongs to one model
	CauseIdle        Cause = "idle"         // longer than the lifetime of the entry, as recorded
	CauseUnexplained Cause = "unexplained"  // none of these: the provider lost it, or the change is not in the record
)

// A PageCost is one of the dearest pages.
type PageCost struct {
	Session string           `json:"session"` // path
	Page    quire.PageNumber `json:"page"`
	Kind    quire.PageKind   `json:"kind"`
	Tool    string           `json:"tool,omitempty"`
	Action  quire.Action     `json:"action,omitempty"`
	Target  string           `json:"target"`
	Lines   quire.Range      `json:"lines,omitzero"`
	Tokens  int64            `json:"tokens"`
	First   int              `json:"first_call"`
	Sent    int              `json:"calls"`            // calls whose prompt held it
	Needed  int              `json:"last_needed_call"` // 0: no need was found
	Cost    float64          `json:"cost_usd"`
	Why     string           `json:"why"`
}

// Repeats is content that came again unchanged: the same target with the same
// result.
type Repeats struct {
	Times     int         `json:"times"`
	Tokens    int64       `json:"tokens"`
	Forgotten int         `json:"after_it_was_gone"` // of Times, those whose earlier copy had left the prompt
	Cost      float64     `json:"cost_usd"`          // of the copies
	Worst     []RepeatRow `json:"worst"`             // at most 20
}

// A RepeatRow is one thing that was fetched again unchanged in one session.
type RepeatRow struct {
	Session   string       `json:"session"`
	Target    string       `json:"target"`
	Action    quire.Action `json:"action,omitempty"`
	Times     int          `json:"times"`
	Tokens    int64        `json:"tokens"`
	Forgotten int          `json:"after_it_was_gone"`
	Cost      float64      `json:"cost_usd"`
}

// A Timeline is the prompt size of the calls of one session's main chain.
type Timeline struct {
	Session     string      `json:"session"` // path
	ID          string      `json:"id"`
	Project     string      `json:"project"`
	Agent       quire.Agent `json:"agent"`
	Cost        float64     `json:"cost_usd"` // of the session, estimates included
	Calls       int         `json:"calls"`
	Kinds       []Kind      `json:"kinds"`
	Points      []Point     `json:"points"`      // at most 400; of several calls the largest
	Compactions []int       `json:"compactions"` // first calls after one
	Pauses      []int       `json:"pauses"`      // first calls after the cache's lifetime had passed
}

// A Point is the prompt of one call. Tokens are by kind, scaled so that they
// add up to Prompt.
type Point struct {
	Call   int       `json:"call"`
	At     time.Time `json:"at,omitzero"`
	Prompt int64     `json:"prompt"`
	Tokens []int64   `json:"tokens"`
}

// An Outcome is what the replay of a policy makes of one whole session's main
// chain, whatever the filters left out. A cost is nil if the session could not
// be priced.
type Outcome struct {
	Cost       *float64 `json:"cost_usd"`          // output included
	Ratio      *float64 `json:"ratio_to_append"`   // of Cost
	ToRecorded *float64 `json:"ratio_to_recorded"` // of Cost, to the cost of the same replay of [Recorded]
	Faults     int      `json:"faults"`            // strict
	FaultsWide int      `json:"faults_wide"`
	MeanPrompt float64  `json:"mean_prompt"`
	PeakPrompt int      `json:"peak_prompt"`
}

// A Policy is what a policy would have made of all replayed sessions.
type Policy struct {
	Outcome
	Oracle       bool     `json:"oracle"` // it knows the future: a bound, not an offer
	Sessions     int      `json:"sessions"`
	Calls        int      `json:"calls"`
	WorstRatio   *float64 `json:"worst_ratio"` // largest Ratio of a session
	WorstSession string   `json:"worst_session"`
	TooBig       int      `json:"calls_over_window"`
}

// Replayed is the recorded side of the comparison with policies: the main
// chains of the sessions that were replayed and have a price, in full.
// What a policy would have cost instead of Cost is Cost times its ToRecorded:
// both replays have the same errors.
type Replayed struct {
	Sessions int      `json:"sessions"`
	Calls    int      `json:"calls"`
	Cost     *float64 `json:"cost_usd"`        // as it was, estimates included
	Replay   *float64 `json:"replay_cost_usd"` // what the replay of [Recorded] comes to
}

// Noted counts an oddity.
type Noted struct {
	Note  quire.Note `json:"note"`
	Times int        `json:"times"`
}

// Unpriced are the calls of Totals whose model has no price.
type Unpriced struct {
	Calls  int     `json:"calls"`
	Models []Count `json:"models"` // by name
}

// A Count counts a name.
type Count struct {
	Name  string `json:"name"`
	Times int    `json:"times"`
}

// Counting says how far counts of one family of models can be trusted.
type Counting struct {
	Family       string  `json:"family"`
	Sessions     int     `json:"sessions"`
	Uncalibrated int     `json:"uncalibrated"` // of Sessions, those that recorded no prompt size
	MeanError    float64 `json:"mean_error"`   // mean of how far the prompt sizes of the others come out from the recorded ones, as a share
}

// Skipped is something that could not be read.
type Skipped struct {
	Path   string `json:"path"`
	Line   int    `json:"line"` // 0: the file as a whole
	Reason string `json:"reason"`
}

// Location is the time zone of the days: UTC where this machine does not know
// it.
func (r Report) Location() *time.Location {
	if zone, err := time.LoadLocation(r.Zone); err == nil {
		return zone
	}
	return time.UTC
}
