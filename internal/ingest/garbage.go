package ingest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// Garbage lists the bodies that no journal names, by hash. With drop it deletes
// them.
//
// A body is named by any string of a journal that is its hash, so that what a
// newer program recorded is kept too; what was forgotten names nothing. The empty
// body is kept without a name. Where a
// journal is damaged, nothing is garbage, because nobody knows what it named:
// the error is [quire.ErrDamaged]. While somebody imports, or a session goes on of
// which bodies may wait for their name, it is [quire.ErrLocked].
func (p *Pool) Garbage(ctx context.Context, drop bool) (found []quire.BodyInfo, err error) {
	lock, err := p.hold()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	used, err := p.used(ctx)
	if err != nil {
		return nil, err
	}
	for b, err := range p.Bodies.EachBody(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list the bodies: %w", err)
		}
		if !used[b.Hash] {
			found = append(found, b)
		}
	}
	if !drop {
		return found, nil
	}
	return found, p.Bodies.DropBodies(ctx, hashes(found))
}

func hashes(list []quire.BodyInfo) []quire.Hash {
	out := make([]quire.Hash, len(list))
	for i := range list {
		out[i] = list[i].Hash
	}
	return out
}

// used are the bodies that journals name.
func (p *Pool) used(ctx context.Context) (map[quire.Hash]bool, error) {
	names, err := journal.List(p.Home)
	if err != nil {
		return nil, err
	}
	used := map[quire.Hash]bool{quire.Sum(""): true}
	for _, n := range names {
		if err := errors.Join(journal.Idle(n.Path), use(ctx, n.Path, used)); err != nil {
			return nil, fmt.Errorf("collect bodies: %w", err)
		}
	}
	return used, nil
}

func use(ctx context.Context, path string, used map[quire.Hash]bool) error {
	o, err := newOutline(path)
	if errors.Is(err, quire.ErrNotFound) {
		return nil // without a first line: it names nothing
	}
	if err != nil {
		return err
	}
	for r, err := range journal.Read(path) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if o.names(r) {
			eachHash(r.Line, func(h quire.Hash) { used[h] = true })
		}
	}
	return nil
}

// names reports whether the hashes in a record are names of bodies that are to
// be kept.
func (o *outline) names(r quire.Record) bool {
	switch r.Type {
	case quire.RecordMark:
		return false
	case quire.RecordPart:
		p, err := journal.Decode[quire.PartRecord](r)
		return err != nil || !o.forgot(&p)
	}
	return true
}

// eachHash visits the hashes in a line: runs of exactly 64 hexadecimal digits.
func eachHash(line []byte, visit func(quire.Hash)) {
	const digits = 2 * len(quire.Hash{})
	for i := 0; i < len(line); {
		n := 0
		for i+n < len(line) && isHex(line[i+n]) {
			n++
		}
		var h quire.Hash
		if n == digits {
			if _, err := hex.Decode(h[:], line[i:i+n]); err == nil {
				visit(h)
			}
		}
		i += n + 1
	}
}

func isHex(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' }
