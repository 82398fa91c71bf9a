package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/storetest"
)

// fillAll makes a home with some of everything, and returns the hashes of its
// bodies.
func fillAll(t *testing.T, home string) []quire.Hash {
	t.Helper()
	ctx := context.Background()
	s, err := Open(ctx, home, Options{})
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(5, 6))
	var rows []quire.Row
	var hs []quire.Hash
	for n := range 40 {
		put, err := s.PutBodies(ctx, [][]byte{storetest.Text(draw, 1+draw.IntN(3000)), []byte(fmt.Sprint("small ", n))})
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, put...)
		rows = append(rows, quire.Row{
			Page: quire.Page{Number: quire.PageNumber(n + 1), Body: put[0], Target: fmt.Sprintf("/src/file%d.go", n), Bytes: n * 700, Tokens: n},
			ID:   "01J00000000000000000000000", Session: 3, Owner: "user:ann", ACL: []quire.Principal{"team:core"}, Heat: float64(n) / 3,
			Stale: []quire.Range{{First: n + 1, Last: n + 9}}, From: []quire.PageRef{{Page: 1}}, Outcome: quire.OutcomeOK, Scope: quire.ScopeSession,
		})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.PutRows(ctx, rows))
	must(s.PutSession(ctx, quire.SessionRow{Number: 3, ULID: "01J00000000000000000000001", Owner: "user:ann", Pages: 40}))
	must(s.Advance(ctx, "ingest/x", "", "1"))
	must(s.Advance(ctx, "ingest/x", "1", "2"))
	must(s.PutSegment(ctx, "one", bytes.NewReader(storetest.Text(draw, 40_000))))
	must(s.PutSegment(ctx, "two", strings.NewReader("short")))
	must(s.Close())
	return hs
}

// seen is all that a reader can get out of a home.
func seen(s *Store, hs []quire.Hash) string {
	ctx := context.Background()
	var out strings.Builder
	note := func(v any, err error) { fmt.Fprintf(&out, "%+v %v\n", v, err != nil) }
	for _, h := range hs {
		body, err := s.Body(ctx, h)
		note(string(body), err)
	}
	listed(s.EachBody(ctx), note)
	listed(s.Rows(ctx, quire.Reader{Who: "user:ann"}, quire.Filter{}), note)
	listed(s.Rows(ctx, quire.Reader{Who: "user:ann"}, quire.Filter{Target: "/src/file7.go"}), note)
	listed(s.Sessions(ctx, quire.Reader{Who: "user:ann"}), note)
	for _, name := range []string{"one", "two"} {
		data, err := s.ReadSegment(ctx, name, 0, 50_000)
		note(string(data), err)
	}
	head, err := s.Head(ctx, "ingest/x")
	note(head, err)
	return out.String()
}

func listed[T any](list iter.Seq2[T, error], note func(any, error)) {
	for v, err := range list {
		note(v, err)
	}
}

// TestFlippedBits turns over single bits of both files: each is found by whoever
// opens them or by Check, or by reading the body whose hash does not fit any
// more, or nobody can see a difference.
func TestFlippedBits(t *testing.T) {
	home := t.TempDir()
	hs := fillAll(t, home)
	s := openTest(t, home)
	want := seen(s, hs)
	if err := errors.Join(s.Check(context.Background()), s.Close()); err != nil {
		t.Fatal(err)
	}
	const tries, inHeader = 200, 60
	draw := rand.New(rand.NewPCG(7, 8))
	for _, file := range []string{PoolFile, BodiesFile} {
		path := filepath.Join(home, file)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i := range tries {
			bit := draw.IntN(len(whole) * 8)
			if i < inHeader {
				bit = draw.IntN(100 * 8)
			}
			if flipFound(t, home, path, whole, bit, hs, want) {
				found++
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d of %d flipped bits were found, the others change nothing", file, found, tries)
		if found < tries/4 {
			t.Errorf("%s: only %d of %d flipped bits were found", file, found, tries)
		}
	}
}

func flipFound(t *testing.T, home, path string, whole []byte, bit int, hs []quire.Hash, want string) bool {
	t.Helper()
	broken := bytes.Clone(whole)
	broken[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), home, Options{ReadOnly: true})
	if err != nil {
		return true
	}
	defer s.Close()
	if err := s.Check(context.Background()); err != nil {
		return true
	}
	for _, h := range hs {
		if _, err := s.Body(context.Background(), h); err != nil {
			return true
		}
	}
	if is := seen(s, hs); is != want {
		t.Errorf("%s: bit %d of byte %d turned over unseen", path, bit%8, bit/8)
	}
	return false
}

// TestRowsWithoutSeals holds that what was written before there were seals is
// taken as it is.
func TestRowsWithoutSeals(t *testing.T) {
	home := t.TempDir()
	fillAll(t, home)
	s := openTest(t, home)
	for _, table := range []string{"page", "session", "head", "segment", "chunk"} {
		if err := s.pool.Exec(context.Background(), "update "+table+" set seal = -1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestChangedValues holds that a change of any value is named by its place.
func TestChangedValues(t *testing.T) {
	ctx := context.Background()
	for change, place := range map[string]string{
		"update page set heat = heat + 1e-9 where tokens = 4": "the row of page s3/p5",
		"update page set pin_by = 'user:eve' where call = 0":  "the row of page s3/p1",
		"update session set pages = 41":                       "the row of session s3",
		"update head set value = '3'":                         "head ingest/x",
		"update segment set bytes = 6 where name = 'two'":     "segment two",
		"update segment set bytes = null where name = 'two'":  "segment two",
		"update chunk set data = zeroblob(length(data))":      "a part of segment one",
		"update page set seal = 1 where tokens = 4":           "the row of page s3/p5",
	} {
		home := t.TempDir()
		fillAll(t, home)
		s := openTest(t, home)
		if err := s.pool.Exec(ctx, change); err != nil {
			t.Fatal(err)
		}
		wantErr(t, s.Check(ctx), quire.ErrDamaged, PoolFile, place)
	}
}
