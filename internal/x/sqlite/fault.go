package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/quire-agent/quire/internal/quire"
)

// Result codes, from https://www.sqlite.org/rescode.html. The low byte is the
// kind, the rest says more.
const (
	codeBusy      = 5
	codeLocked    = 6
	codeReadOnly  = 8
	codeCorrupt   = 11
	codeFull      = 13
	codeNotADB    = 26
	codeShortRead = 10 | 2<<8
	codeLogIndex  = 10 | 19<<8 // the index of the log cannot grow
)

// Explain adds to an error of the library which error of the words it is, where
// it is one of them. Errors that say so already, and nil, come back as they are.
func Explain(err error) error {
	kind := kindOf(err)
	if kind == nil || errors.Is(err, kind) {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

func kindOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return quire.ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return quire.ErrReadOnly
	}
	code := codeOf(err)
	switch {
	case code == codeShortRead:
		return quire.ErrDamaged
	case code == codeLogIndex:
		return quire.ErrFull
	}
	switch code & 0xff {
	case codeBusy, codeLocked:
		return quire.ErrLocked
	case codeReadOnly:
		return quire.ErrReadOnly
	case codeCorrupt, codeNotADB:
		return quire.ErrDamaged
	case codeFull:
		return quire.ErrFull
	}
	return nil
}

func errReadOnly(path string) error {
	return fmt.Errorf("%s was opened to be read: %w", path, quire.ErrReadOnly)
}
