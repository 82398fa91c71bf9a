package quire

import (
	"fmt"
	"strconv"
	"strings"
)

// A SessionNumber numbers the sessions of one home from 1.
type SessionNumber int32

// String is the name of a session as people see it.
func (n SessionNumber) String() string { return fmt.Sprintf("s%d", int32(n)) }

// ParseSessionNumber reads the form of String.
func ParseSessionNumber(text string) (SessionNumber, error) {
	n, err := number(text, 's')
	if err != nil {
		return 0, fmt.Errorf("%q is not a session: want s and a number, like s7", text)
	}
	return SessionNumber(n), nil
}

// A PageRef names a page, or lines of it, from anywhere: p412 within its own
// session, s7/p412 from elsewhere, p412#L10-L40 a part.
type PageRef struct {
	Session SessionNumber // 0: the session at hand
	Page    PageNumber
	Lines   Range // zero: all of it
}

// String is the form that [ParsePageRef] reads.
func (r PageRef) String() string {
	var b strings.Builder
	if r.Session > 0 {
		b.WriteString(r.Session.String() + "/")
	}
	b.WriteString(r.Page.String())
	if r.Lines.First > 0 {
		fmt.Fprintf(&b, "#L%d", r.Lines.First)
		if r.Lines.Last > r.Lines.First {
			fmt.Fprintf(&b, "-L%d", r.Lines.Last)
		}
	}
	return b.String()
}

// ParsePageRef reads p412, s7/p412, p412#L10, p412#L10-L40 and s7/p412#L10-L40.
// The error says what a reference looks like.
func ParsePageRef(text string) (PageRef, error) {
	var r PageRef
	fail := fmt.Errorf("%q is not a page: want p412, s7/p412 or p412#L10-L40", text)
	rest := text
	if session, page, ok := strings.Cut(rest, "/"); ok {
		n, err := number(session, 's')
		if err != nil {
			return PageRef{}, fail
		}
		r.Session, rest = SessionNumber(n), page
	}
	rest, lines, part := strings.Cut(rest, "#")
	n, err := number(rest, 'p')
	if err != nil {
		return PageRef{}, fail
	}
	r.Page = PageNumber(n)
	if part {
		if r.Lines, err = parseLines(lines); err != nil {
			return PageRef{}, fail
		}
	}
	return r, nil
}

func parseLines(text string) (Range, error) {
	first, last, ok := strings.Cut(text, "-")
	a, err := number(first, 'L')
	if err != nil {
		return Range{}, err
	}
	b := a
	if ok {
		if b, err = number(last, 'L'); err != nil {
			return Range{}, err
		}
	}
	if b < a {
		return Range{}, fmt.Errorf("lines %d to %d", a, b)
	}
	return Range{First: a, Last: b}, nil
}

// number reads a mark and a number from 1, in the one way it is written.
func number(text string, mark byte) (int, error) {
	if len(text) < 2 || text[0] != mark || text[1] < '1' || text[1] > '9' {
		return 0, fmt.Errorf("%q is not %c and a number", text, mark)
	}
	n, err := strconv.ParseInt(text[1:], 10, 32)
	return int(n), err
}
