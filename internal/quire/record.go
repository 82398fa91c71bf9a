package quire

import (
	"encoding/json"
	"time"
)

// RecordVersion is the version of journal lines that this program writes.
const RecordVersion = 1

// A Record is one line of a journal. Changes are additive: a reader keeps types
// and fields that it does not know, and passes them on.
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

// A MarkRecord is something the user did to a page. What is forgotten has no row
// any more, and what its bodies held is named no longer: of all records that
// begin or complete the page.
type MarkRecord struct {
	What  string     `json:"what"` // pin, unpin, forget
	Page  PageNumber `json:"page,omitempty"`
	Body  Hash       `json:"body,omitzero"`   // in place of Page, to forget: of a part that is in no page
	Until int        `json:"until,omitempty"` // of a pin
	By    Principal  `json:"by"`
}
