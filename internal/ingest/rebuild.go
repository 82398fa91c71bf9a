package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// Rebuild makes rows and index from journals and bodies alone, for a table and
// an index that are empty. It calls each, if not nil, before a journal is read.
// A journal that cannot be read at all is left out: a check names it, and so
// does the error in the end.
func (p *Pool) Rebuild(ctx context.Context, each func(journal.Name)) (Derived, error) {
	names, err := journal.List(p.Home)
	if err != nil {
		return Derived{}, err
	}
	return p.DeriveAll(ctx, names, each)
}

// DeriveAll derives from several journals, in order, and then merges what is due
// in the index. What is derived already, perhaps by somebody else meanwhile, is
// passed over. A journal that fails does not keep the others from being read;
// their errors are joined.
func (p *Pool) DeriveAll(ctx context.Context, names []journal.Name, each func(journal.Name)) (Derived, error) {
	var sum Derived
	var failed []error
	for _, n := range names {
		if each != nil {
			each(n)
		}
		d, err := p.locked(ctx, n.Path, false)
		sum = sum.plus(d)
		if ctx.Err() != nil {
			return sum, ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return sum, errors.Join(append(failed, p.merge(ctx))...)
}

func (d Derived) plus(e Derived) Derived {
	return Derived{d.Pages + e.Pages, d.Indexed + e.Indexed, d.Missing + e.Missing, d.Damaged + e.Damaged}
}

// merge merges what is due in the index, and waits while somebody else derives.
func (p *Pool) merge(ctx context.Context) (err error) {
	lock, err := journal.LockDerived(ctx, p.Home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	err = mergeAll(ctx, p.Index.Merge)
	if err == nil && p.Cards != nil {
		err = mergeAll(ctx, p.Cards.Merge)
	}
	if err != nil {
		return fmt.Errorf("merge the index: %w", err)
	}
	return nil
}

func mergeAll(ctx context.Context, one func(context.Context) (bool, error)) error {
	for {
		if again, err := one(ctx); err != nil || !again {
			return err
		}
	}
}

// Behind lists the journals that hold more than was derived from them: what an
// import that was interrupted left, or another writer appended.
func (p *Pool) Behind(ctx context.Context) ([]journal.Name, error) {
	names, err := journal.List(p.Home)
	if err != nil {
		return nil, err
	}
	return p.BehindOf(ctx, names)
}

// BehindOf lists those of the journals that are behind. It reads nothing of them
// but their last records.
func (p *Pool) BehindOf(ctx context.Context, names []journal.Name) ([]journal.Name, error) {
	var out []journal.Name
	for _, n := range names {
		last, err := journal.Last(n.Path)
		if err != nil {
			continue // a check says why
		}
		head, err := p.Heads.Head(ctx, headName(n.ULID))
		if err != nil {
			return nil, err
		}
		if head != strconv.FormatInt(last.Seq, 10) {
			out = append(out, n)
		}
	}
	return out, nil
}

// Remove deletes a session: its journal, its rows, its part of the index. Its
// bodies stay until they are collected, because other sessions may name them.
//
// While somebody derives in that home it waits.
func (p *Pool) Remove(ctx context.Context, n journal.Name) (err error) {
	lock, err := journal.LockDerived(ctx, p.Home)
	if err != nil {
		return fmt.Errorf("remove %s: %w", n.Number, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := journal.Remove(n.Path); err != nil && !errors.Is(err, quire.ErrNotFound) {
		return err
	}
	err = errors.Join(p.Index.RemoveSession(ctx, n.Number), p.Table.DropSession(ctx, n.Number))
	if p.Cards != nil {
		err = errors.Join(err, p.Cards.Remove(ctx, n.Number))
	}
	if p.Vectors != nil {
		err = errors.Join(err, p.Vectors.Remove(ctx, n.Number))
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", n.Number, err)
	}
	return nil
}
