package quire

import (
	"context"
	"errors"
	"iter"
)

// The errors of the pool and the journal, for errors.Is. What wraps them says
// which page, body or file it was about.
var (
	ErrNotFound = errors.New("not found")
	ErrDamaged  = errors.New("damaged")                   // bytes that do not have the hash they are stored under, or a file that cannot be read as what it is
	ErrMissing  = errors.New("named but not there")       // a journal names a body that the pool does not have
	ErrLocked   = errors.New("in use by another process") // the error says by which
	ErrConflict = errors.New("changed meanwhile")         // a compare-and-swap found another value
	ErrReadOnly = errors.New("read only")
	ErrFull     = errors.New("no room left on the disk")
)

// Bodies keeps bodies by their hash: once each, byte for byte, whatever they
// are. Bodies and journals are the truth; everything else can be made from
// them. All methods may be called concurrently.
type Bodies interface {
	// PutBodies stores bodies and returns their hashes in order. When it
	// returns without an error they are durable: they survive a crash of the
	// process and of the machine. After an error some may be stored; putting
	// them again is harmless.
	PutBodies(ctx context.Context, bodies [][]byte) ([]Hash, error)

	// Body reads one back. Its bytes are checked against the hash: ErrDamaged
	// when they differ, ErrNotFound when there is none. The result is the
	// caller's.
	Body(ctx context.Context, h Hash) ([]byte, error)

	// HasBodies reports which are stored, in order, without reading them.
	HasBodies(ctx context.Context, hs []Hash) ([]bool, error)

	// EachBody yields the hashes of all bodies with their stored sizes, in the
	// order of the hashes. Bodies put meanwhile may or may not come.
	EachBody(ctx context.Context) iter.Seq2[BodyInfo, error]

	// DropBodies deletes bodies. The caller makes sure that no journal names
	// them.
	DropBodies(ctx context.Context, hs []Hash) error
}

// BodyInfo describes a stored body.
type BodyInfo struct {
	Hash   Hash `json:"hash"`
	Bytes  int  `json:"bytes"`  // of the body
	Stored int  `json:"stored"` // of it as stored, compressed
}

// PageTable keeps rows. It is derived: it may be deleted and rebuilt. Every
// look is made as a [Reader]; what the reader may not see does not exist for
// it. All methods may be called concurrently; a reader sees all rows of a
// PutRows or none.
type PageTable interface {
	// PutSession enters a session or replaces what is known of it.
	PutSession(ctx context.Context, s SessionRow) error

	// PutRows enters rows, replacing those of the same session and number.
	PutRows(ctx context.Context, rows []Row) error

	// Rows yields the rows that match, by session and number.
	Rows(ctx context.Context, as Reader, f Filter) iter.Seq2[Row, error]

	// Sessions yields the sessions of which the reader is the owner, by number.
	Sessions(ctx context.Context, as Reader) iter.Seq2[SessionRow, error]

	// DropSession deletes a session and its rows.
	DropSession(ctx context.Context, n SessionNumber) error
}

// Heads are named values that advance by compare-and-swap.
type Heads interface {
	// Head is the value of a name, "" when it was never set.
	Head(ctx context.Context, name string) (string, error)

	// Advance sets a name to next if its value is still from, durably, and is
	// ErrConflict otherwise.
	Advance(ctx context.Context, name, from, next string) error
}

// A Filter selects rows. The zero Filter selects all.
type Filter struct {
	Session SessionNumber // 0: all
	Pages   []PageNumber  // nil: all; only with Session
	Kind    PageKind      // 0: all
	Class   Class         // 0: all
	Target  string        // exactly this target; "": all
	Limit   int           // at most so many rows; 0: all
}

// A SessionRow describes a session in the page table.
type SessionRow struct {
	SessionInfo
	Number  SessionNumber `json:"session"`
	ULID    string        `json:"ulid"`
	Owner   Principal     `json:"owner"`
	Source  string        `json:"source,omitempty"` // path of the log it was imported from
	Pages   int           `json:"pages"`
	Calls   int           `json:"calls"`
	Tokens  int64         `json:"tokens"` // of its pages
	Bytes   int64         `json:"bytes"`  // of their bodies
	Usage   Usage         `json:"usage"`
	Updated string        `json:"updated"` // time of its last record, RFC 3339
}
