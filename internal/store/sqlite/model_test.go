package sqlite

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/mem"
	"github.com/quire-agent/quire/internal/store/storetest"
	"pgregory.net/rapid"
)

// TestSameAsInMemory does the same at random on disk and in memory: both must look
// the same at every moment.
func TestSameAsInMemory(t *testing.T) {
	disk, memory := openTest(t, t.TempDir()), mem.New()
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			do := drawStep(t)
			if a, b := do(disk), do(memory); a != b {
				t.Fatalf("on disk %s, in memory %s", a, b)
			}
		}
		look := drawLook(t)
		if a, b := look(disk), look(memory); !reflect.DeepEqual(a, b) {
			t.Fatalf("on disk\n%+v\nin memory\n%+v", a, b)
		}
	})
}

// drawStep draws something to do with a store; what it returns is what came of it.
func drawStep(t *rapid.T) func(storetest.Store) string {
	ctx := context.Background()
	session := quire.SessionNumber(rapid.IntRange(0, 3).Draw(t, "session"))
	body := []byte(rapid.StringN(0, 3, -1).Draw(t, "body"))
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
	value := rapid.SampledFrom([]string{"", "1", "2"})
	from, next := value.Draw(t, "from"), value.Draw(t, "next")
	rows := []quire.Row{drawRow(t, session), drawRow(t, session)}
	steps := []func(storetest.Store) string{
		func(s storetest.Store) string {
			hs, err := s.PutBodies(ctx, [][]byte{body, []byte("x"), body})
			return fmt.Sprint(hs, err)
		},
		func(s storetest.Store) string { return fmt.Sprint(s.DropBodies(ctx, []quire.Hash{quire.Sum("x")})) },
		func(s storetest.Store) string { return fmt.Sprint(s.PutRows(ctx, rows)) },
		func(s storetest.Store) string {
			row := quire.SessionRow{Number: session, Owner: rows[0].Owner, SessionInfo: quire.SessionInfo{Project: name}}
			return fmt.Sprint(s.PutSession(ctx, row))
		},
		func(s storetest.Store) string { return fmt.Sprint(s.DropSession(ctx, session)) },
		func(s storetest.Store) string { return fmt.Sprint(s.Advance(ctx, name, from, next)) },
		func(s storetest.Store) string {
			return fmt.Sprint(s.PutSegment(ctx, name, strings.NewReader(string(body))))
		},
		func(s storetest.Store) string { return fmt.Sprint(s.DropSegments(ctx, []string{name})) },
	}
	return rapid.SampledFrom(steps).Draw(t, "step")
}

func drawRow(t *rapid.T, session quire.SessionNumber) quire.Row {
	principal := rapid.SampledFrom([]quire.Principal{"user:ann", "user:bob", "team:core"})
	return quire.Row{
		Page: quire.Page{
			Number: quire.PageNumber(rapid.IntRange(0, 4).Draw(t, "page")),
			Kind:   quire.PageKind(rapid.IntRange(0, 3).Draw(t, "kind")),
			Target: rapid.SampledFrom([]string{"", "a.go", "A.go"}).Draw(t, "target"),
		},
		Session: session,
		Owner:   principal.Draw(t, "owner"),
		ACL:     rapid.SliceOfN(principal, 0, 2).Draw(t, "acl"),
		Scope:   rapid.SampledFrom([]quire.Scope{quire.ScopeSession, quire.ScopeProject, quire.ScopeUser, quire.ScopeTeam}).Draw(t, "scope"),
		Tasks:   rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "tasks"),
	}
}

// A sight is what is seen of a store, with how each look at it ended.
type sight struct {
	bodies   map[quire.Hash]int
	rows     []quire.Row
	sessions []quire.SessionRow
	heads    []string
	segments []string
	part     string
	failed   []bool
}

// drawLook draws a reader and a filter to look with.
func drawLook(t *rapid.T) func(storetest.Store) sight {
	as := quire.Reader{
		Who:     rapid.SampledFrom([]quire.Principal{"user:ann", "user:bob"}).Draw(t, "who"),
		Teams:   rapid.SampledFrom([][]quire.Principal{nil, {"team:core"}}).Draw(t, "teams"),
		Project: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "project"),
		Space:   rapid.SampledFrom([][]quire.PageRef{nil, nil, {}, {{Session: 1, Page: 2}, {Session: 2, Page: 1}}}).Draw(t, "space"),
	}
	f := quire.Filter{
		Session: quire.SessionNumber(rapid.IntRange(0, 2).Draw(t, "of session")),
		Pages:   rapid.SampledFrom([][]quire.PageNumber{nil, nil, {}, {2, 1, 2}}).Draw(t, "pages"),
		Kind:    quire.PageKind(rapid.IntRange(0, 1).Draw(t, "of kind")),
		Target:  rapid.SampledFrom([]string{"", "", "a.go"}).Draw(t, "of target"),
		Limit:   rapid.IntRange(0, 3).Draw(t, "limit"),
	}
	return func(s storetest.Store) sight { return lookAt(s, as, f) }
}

func lookAt(s storetest.Store, as quire.Reader, f quire.Filter) sight {
	ctx := context.Background()
	seen := sight{bodies: map[quire.Hash]int{}}
	for _, info := range gather(&seen, s.EachBody(ctx)) {
		seen.bodies[info.Hash] = info.Bytes
	}
	seen.rows = gather(&seen, s.Rows(ctx, as, f))
	seen.sessions = gather(&seen, s.Sessions(ctx, as))
	for _, name := range []string{"a", "b"} {
		value, err := s.Head(ctx, name)
		seen.heads = append(seen.heads, value)
		seen.failed = append(seen.failed, err != nil)
	}
	names, err := s.SegmentNames(ctx)
	part, err2 := s.ReadSegment(ctx, "a", 1, 2)
	seen.segments, seen.part = append(seen.segments, names...), string(part)
	seen.failed = append(seen.failed, err != nil, err2 != nil)
	return seen
}

func gather[T any](seen *sight, seq iter.Seq2[T, error]) (list []T) {
	for v, err := range seq {
		seen.failed = append(seen.failed, err != nil)
		list = append(list, v)
	}
	return list
}
