package quire

import (
	"encoding/json"
	"time"
)

// RecordVersion is the version of journal lines that this program writes.
const RecordVersion = 2

// A Record is one line of a journal. Changes are additive: a reader keeps types
// and fields that it does not know, and passes them on.
// Since version 2 a line carries a checksum, which is the journal's business.
type Record struct {
	V    int       `json:"v"`
	T    time.Time `json:"t"`   // when it was written, RFC 3339 with nanoseconds, UTC
	Seq  int64     `json:"seq"` // from 0, without gaps
	Type string    `json:"type"`

	// Back is by how many nanoseconds the clock stood behind T when the record
	// was written: T never falls, the clock can.
	Back time.Duration `json:"back,omitempty"`

	// Line is the whole line as it stands in the journal, without its end.
	// The payload is read from it.
	Line json.RawMessage `json:"-"`
}

// The types of records and their payloads, whose fields stand beside those of
// the envelope. A session is recorded as its events, with bodies by their hash,
// so that everything in the page table follows from journal and bodies alone.
const (
	RecordSession    = "session"    // SessionRecord; the first line
	RecordInfo       = "info"       // InfoRecord
	RecordPart       = "part"       // PartRecord
	RecordCall       = "call"       // CallRecord
	RecordUsage      = "usage"      // UsageRecord
	RecordCompaction = "compaction" // CompactionRecord
	RecordRewind     = "rewind"     // RewindRecord
	RecordNote       = "note"       // NoteRecord
	RecordMark       = "mark"       // MarkRecord
)

// The records of the scheduler. Nothing of the page table follows from them but
// what the user did; they say what was sent, why, and what it cost or saved.
const (
	RecordPlan    = "plan"    // PlanRecord; before the call is sent
	RecordEpoch   = "epoch"   // EpochRecord; with the plan of its first call
	RecordPageIn  = "page_in" // PageInRecord
	RecordFault   = "fault"   // FaultRecord
	RecordAccount = "account" // AccountRecord
)

// The records of what a run did outside its stream. Package run has their
// payloads; the bodies that they name are kept like all others.
const (
	RecordEffect = "effect" // what a tool call changed in the project, or which version of a file it read
	RecordUndone = "undone" // what of that the user put back
)

// The records of a run that its stream follows from besides the parts.
const (
	RecordRefused = "refused" // a provider refused a prompt for its size
	RecordSent    = "sent"    // what of an answer or of a call its parts do not hold
)

// The records of what a user and a project bring to a session. Their packages have
// the payloads: norms.Head, mcp.Report, and hook.Outcome, whose record is named for
// the event: hook_session_start.
const (
	RecordNorms = "norms"       // which instructions stand in the head from here on
	RecordMCP   = "mcp_connect" // what became of the servers
	RecordHook  = "hook_"       // and the event; only where a hook matched
)

// The record of the gateway, which has its payload: what of a call's message list
// was known, by hashes, so that a client is known again after a restart.
const RecordView = "view"

// The record of the gateway of what entered the stream of a chain and which call
// was made of it, so that the same bytes can be made again. The gateway has its
// payload.
const RecordStream = "stream"

// A SessionRecord opens a journal.
type SessionRecord struct {
	Number SessionNumber `json:"session"`
	ULID   string        `json:"ulid"`
	Info   SessionInfo   `json:"info"`
	Owner  Principal     `json:"owner"`
	Source string        `json:"source,omitempty"` // path of the log that was imported
	Digest Hash          `json:"digest,omitzero"`  // of what identifies that log: importing it again finds this journal
}

// An InfoRecord adds to what is known of the session: a field that is not empty
// replaces the earlier value.
type InfoRecord struct {
	Stamp
	Info SessionInfo `json:"info"`
}

// A PartRecord is a part that entered the context (Call is "") or that a call
// answered. Its bodies are durable before it is written.
type PartRecord struct {
	Stamp
	Node    int          `json:"node"`
	Call    string       `json:"call,omitempty"`
	Part    Part         `json:"part"`             // without Text
	Body    Hash         `json:"body,omitzero"`    // of Text; zero where Text is empty
	Blob    Hash         `json:"blob,omitzero"`    // of the bytes of an image or document, where they are in the pool
	Written Hash         `json:"written,omitzero"` // of the content that a tool call writes to files, which is a page of its own
	Pages   []PageNumber `json:"pages,omitempty"`  // that it begins or completes
}

// A CallRecord opens a call.
type CallRecord struct {
	Stamp
	Call  string `json:"call"`
	Model string `json:"model"`
}

// A UsageRecord is what a call used.
type UsageRecord struct {
	Stamp
	Call  string `json:"call"`
	Usage Usage  `json:"usage"`
}

// A CompactionRecord says that the context was thrown away.
type CompactionRecord struct {
	Stamp
	Trigger   string `json:"trigger"`
	PreTokens int    `json:"pre_tokens,omitempty"`
}

// A RewindRecord says that the user went back.
type RewindRecord struct {
	Stamp
	Keep int `json:"keep"`
}

// A NoteRecord keeps an oddity of the log, or a record of it that could not be
// read.
type NoteRecord struct {
	Stamp
	Note   Note   `json:"note,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// A MarkRecord is something the user did to a page, to a task or to an epoch.
// What is forgotten has no row any more, and what its bodies held is named no
// longer: of all records that begin or complete the page. Of pins and drops of a
// page the last one stands.
type MarkRecord struct {
	What  string     `json:"what"`
	Page  PageNumber `json:"page,omitempty"`
	Body  Hash       `json:"body,omitzero"`   // in place of Page, to forget: of a part that is in no page
	Until int        `json:"until,omitempty"` // of a pin: the last call for which it holds, 0: until it is taken off
	Task  string     `json:"task,omitempty"`  // of a task
	Epoch int        `json:"epoch,omitempty"` // of an undo: the epoch that is undone
	By    Principal  `json:"by"`
}

// What a mark can say.
const (
	MarkForget = "forget"
	MarkPin    = "pin"
	MarkUnpin  = "unpin"
	MarkDrop   = "drop" // out of the prompt at the next epoch; it stays in the pool
	MarkTask   = "task" // Page belongs to Task; without a Page, all that is admitted from here on, "" for no task
	MarkUndo   = "undo" // the next call restores the stream that was before Epoch
)

// A PlanRecord is what was decided for one call. It holds the pages whose
// rendition changes, not those that stay as they are: a journal grows with what
// happens and not with the length of the stream.
type PlanRecord struct {
	Stamp
	Call      string     `json:"call"`   // that it is for, named as its CallRecord will
	Epoch     int        `json:"epoch"`  // of the chain, from 0
	Reason    string     `json:"reason"` // of the plan as a whole, as a person reads it
	Decisions []Decision `json:"decisions,omitempty"`
	Inputs    PlanInputs `json:"inputs"`
}

// A Decision gives a page its rendition.
type Decision struct {
	Page   PageNumber `json:"page"`
	From   Rendition  `json:"from,omitempty"` // "" for a page that is new
	To     Rendition  `json:"to"`
	Lines  []Range    `json:"lines,omitempty"` // of an excerpt, rising
	Tokens int        `json:"tokens"`          // of the page in its new form
	Was    int        `json:"was,omitempty"`   // tokens of it in the old form
	Reason string     `json:"reason"`

	// The figures behind it, 0 where none were needed: in US dollars in a
	// journal, in the unit of the prices in a plan.
	Carry  float64 `json:"carry,omitempty"`  // what going on as it was would cost until the next epoch
	Chance float64 `json:"chance,omitempty"` // that it is needed until then
	Strict float64 `json:"strict,omitempty"` // that it is needed word for word, which weighs more
	Miss   float64 `json:"miss,omitempty"`   // what missing it once costs
}

// PlanInputs are what a plan was made from besides the page table and the
// stream, by value or by version, so that it can be made again.
type PlanInputs struct {
	Now     time.Time `json:"now"`
	Model   string    `json:"model"`
	Rules   string    `json:"rules,omitempty"`  // version of prices and prefix rules
	Tables  string    `json:"tables,omitempty"` // version of the tables of needs
	Scale   float64   `json:"scale,omitempty"`  // reported tokens ÷ counted ones
	Window  int       `json:"window,omitempty"` // tokens, as all that follow
	Prefix  int       `json:"prefix,omitempty"` // constant part: tools and system
	Output  int       `json:"output,omitempty"` // reserved for the answer
	Budget  int       `json:"budget,omitempty"` // of the stream
	Stream  int       `json:"stream,omitempty"` // before the plan
	Cold    string    `json:"cold,omitempty"`   // why the cache counts as lost, "" while it does not
	Account float64   `json:"account"`          // US dollars
	Spend   float64   `json:"spend,omitempty"`  // share of the bill by which the account may go below zero
}

// An EpochRecord says that a prompt does not extend the one before it.
type EpochRecord struct {
	Stamp
	Epoch  int     `json:"epoch"` // that begins
	Call   string  `json:"call"`  // its first
	Kind   string  `json:"kind"`  // free, forced, paid, undo
	Reason string  `json:"reason"`
	Before int     `json:"before"`          // tokens of the stream
	After  int     `json:"after"`           // and of the new one
	Price  float64 `json:"price,omitempty"` // US dollars that it costs more than going on
	Saves  float64 `json:"saves,omitempty"` // and that it is expected to save before the next one
	Undoes int     `json:"undoes,omitempty"`
}

// The kinds of epochs.
const (
	EpochFree   = "free"
	EpochForced = "forced"
	EpochPaid   = "paid"
	EpochUndo   = "undo"
)

// A PageInRecord says that a page, or lines of it, were appended to the stream
// again. Whether they are used shows later: a second record with Used says so; it
// names the first by Of, or is of the same call and page.
type PageInRecord struct {
	Stamp
	Call    string        `json:"call"`              // whose prompt holds it first
	How     string        `json:"how"`               // fault, prefetch
	Session SessionNumber `json:"session,omitempty"` // 0: this one
	Page    PageNumber    `json:"page"`
	Lines   Range         `json:"lines,omitzero"`
	Tokens  int           `json:"tokens"`
	Reason  string        `json:"reason,omitempty"`
	Of      *int64        `json:"of,omitempty"`   // seq of the record that this one completes
	Used    *bool         `json:"used,omitempty"` // nil while it is not known
}

// The ways of paging in.
const (
	PageInFault    = "fault"    // the model asked
	PageInPrefetch = "prefetch" // it was foreseen
)

// A FaultRecord says that a page was needed and not resident. Within ten calls
// of the decision that took it out it is a mis-schedule.
type FaultRecord struct {
	Stamp
	Call   string     `json:"call"` // that needed it
	Page   PageNumber `json:"page"`
	Lines  Range      `json:"lines,omitzero"`
	From   Rendition  `json:"from"`            // in which it stood
	Since  int        `json:"since,omitempty"` // calls since it went there
	Strict bool       `json:"strict,omitempty"`
	Reread int        `json:"reread,omitempty"` // tokens that were read again
	Trips  int        `json:"trips,omitempty"`  // calls that were made for it
	Cost   float64    `json:"cost,omitempty"`   // US dollars
	Saved  float64    `json:"saved,omitempty"`  // what its going had saved until then
}

// An AccountRecord is the account after a call: what the same events would have
// cost without Quire, and what they did cost. Both are sums since the beginning,
// in US dollars, as the cache simulator has them, corrected by reported usage.
type AccountRecord struct {
	Stamp
	Call   string  `json:"call"`
	Shadow float64 `json:"shadow"`
	Live   float64 `json:"live"`
	Error  float64 `json:"error,omitempty"` // of Shadow − Live, ±
	Hits   int     `json:"hits,omitempty"`  // pages that the answer quoted and that stood in the prompt
}
