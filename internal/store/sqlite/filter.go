package sqlite

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

var errPages = errors.New("a filter names pages without their session")

// A condition collects what must hold of rows.
type condition struct {
	terms []string
	args  []any
}

func (c *condition) add(term string, args ...any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, args...)
}

// among asks that the key of a page is in a list, which is one argument however
// long it is.
func (c *condition) among(ids []int64) error {
	list, err := json.Marshal(ids)
	c.add("p.id in (select value from json_each(?))", string(list))
	return err
}

// within asks that a page is in the address space of the reader.
func (c *condition) within(as *quire.Reader) error {
	ids, err := json.Marshal(spaceIDs(as.Space))
	if err != nil {
		return err
	}
	scopes, err := json.Marshal(append([]quire.Scope{}, as.Scopes...))
	c.add("(p.id in (select value from json_each(?)) or p.scope in (select value from json_each(?)))", string(ids), string(scopes))
	return err
}

// selectPages makes the query for the rows that match, of which only those are
// for the reader that it sees. What the reader can never see is left out here,
// so that others' pages cost little.
func selectPages(as *quire.Reader, f quire.Filter) (string, []any, error) {
	c := &condition{}
	c.add("(p.owner = ? or length(p.acl) > 0)", string(as.Who))
	if as.Space != nil {
		if err := c.within(as); err != nil {
			return "", nil, err
		}
	}
	if err := c.filter(f); err != nil {
		return "", nil, err
	}
	return "select " + pageColumns + ", s.project from page p left join session s on s.number = p.id >> 32 where " +
		strings.Join(c.terms, " and ") + " order by p.id", c.args, nil
}

func (c *condition) filter(f quire.Filter) error {
	if f.Pages != nil {
		if f.Session == 0 {
			return errPages
		}
		if err := c.among(pageIDs(f.Session, f.Pages)); err != nil {
			return err
		}
	} else if f.Session != 0 {
		c.add("p.id >= ? and p.id < ?", pageID(f.Session, 0), pageID(f.Session+1, 0))
	}
	if f.Kind != 0 {
		c.add("p.kind = ?", int(f.Kind))
	}
	if f.Class != 0 {
		c.add("p.class = ?", int(f.Class))
	}
	if f.Target != "" {
		c.add("p.target_key = ? and p.target_key <> 0 and p.target = ?", targetKey(f.Target), f.Target)
	}
	return nil
}

func spaceIDs(space []quire.PageRef) []int64 {
	ids := make([]int64, len(space))
	for i, r := range space {
		ids[i] = pageID(r.Session, r.Page)
	}
	return ids
}

func pageIDs(session quire.SessionNumber, pages []quire.PageNumber) []int64 {
	ids := make([]int64, len(pages))
	for i, n := range pages {
		ids[i] = pageID(session, n)
	}
	return ids
}
