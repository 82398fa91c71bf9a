package storetest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// samples are bodies of all sorts, no two of them equal.
func samples() [][]byte {
	noise := make([]byte, 200_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	return [][]byte{
		[]byte("a"),
		[]byte("不要删除日志。"),
		[]byte("\xff\xfe not \x80 UTF-8 \xc3"),
		[]byte("\x00\x00nul\x00"),
		[]byte("\x28\xb5\x2f\xfd looks compressed"),
		[]byte(strings.Repeat("=== RUN   TestParse\n--- PASS: TestParse (0.00s)\n", 4000)),
		noise,
		noise[:65536],
		bytes.Repeat([]byte{0}, 1<<20),
	}
}

func testBodies(t *testing.T, s Store) {
	ctx := context.Background()
	bodies := samples()
	hs, err := s.PutBodies(ctx, bodies)
	must(t, err)
	again, err := s.PutBodies(ctx, append(slices.Clone(bodies), bodies[3], bodies[3]))
	must(t, err)
	if !slices.Equal(again[:len(hs)], hs) || again[len(hs)] != hs[3] {
		t.Error("the same bodies have other hashes when they are put again")
	}
	for i, h := range hs {
		if h != quire.Sum(string(bodies[i])) {
			t.Errorf("body %d has the hash %s", i, h)
		}
		wantBody(t, s, h, bodies[i])
	}
	none := quire.Sum("no such body")
	_, err = s.Body(ctx, none)
	wantErr(t, err, quire.ErrNotFound)
	there, err := s.HasBodies(ctx, []quire.Hash{hs[1], none, hs[0], hs[0]})
	if err != nil || !slices.Equal(there, []bool{true, false, true, true}) {
		t.Errorf("HasBodies says %v, %v", there, err)
	}
	if hs, err := s.PutBodies(ctx, nil); err != nil || len(hs) != 0 {
		t.Errorf("no bodies: %v, %v", hs, err)
	}
}

func wantBody(t *testing.T, s quire.Bodies, h quire.Hash, want []byte) {
	t.Helper()
	got, err := s.Body(context.Background(), h)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("body %s comes back as %d bytes, %v, want %d bytes", h, len(got), err, len(want))
	}
}

func testEmptyBody(t *testing.T, s Store) {
	hs, err := s.PutBodies(context.Background(), [][]byte{nil, {}})
	must(t, err)
	if hs[0] != hs[1] || hs[0] != quire.Sum("") {
		t.Errorf("hashes %v", hs)
	}
	wantBody(t, s, hs[0], []byte{})
}

// What the caller does with its bytes, before or after, changes nothing.
func testBodiesAreCopies(t *testing.T, s Store) {
	ctx := context.Background()
	mine := []byte("as it was")
	hs, err := s.PutBodies(ctx, [][]byte{mine})
	must(t, err)
	copy(mine, "otherwise")
	got, err := s.Body(ctx, hs[0])
	must(t, err)
	copy(got, "something")
	wantBody(t, s, hs[0], []byte("as it was"))
}

func testEachBody(t *testing.T, s Store) {
	ctx := context.Background()
	if list := all(t, s.EachBody(ctx)); len(list) != 0 {
		t.Errorf("an empty store lists %v", list)
	}
	bodies := samples()
	hs, err := s.PutBodies(ctx, bodies)
	must(t, err)
	sizes := map[quire.Hash]int{}
	for i, h := range hs {
		sizes[h] = len(bodies[i])
	}
	list := all(t, s.EachBody(ctx))
	if len(list) != len(hs) || !slices.IsSortedFunc(list, func(a, b quire.BodyInfo) int { return bytes.Compare(a.Hash[:], b.Hash[:]) }) {
		t.Errorf("%d bodies listed, not in the order of their hashes or not %d", len(list), len(hs))
	}
	for _, info := range list {
		if info.Bytes != sizes[info.Hash] || info.Stored <= 0 || info.Stored > info.Bytes {
			t.Errorf("%+v, want %d bytes", info, sizes[info.Hash])
		}
	}
	for range s.EachBody(ctx) {
		break
	}
}

func testDropBodies(t *testing.T, s Store) {
	ctx := context.Background()
	hs, err := s.PutBodies(ctx, samples())
	must(t, err)
	must(t, s.DropBodies(ctx, []quire.Hash{hs[2], quire.Sum("no such body"), hs[0]}))
	there, err := s.HasBodies(ctx, hs)
	must(t, err)
	for i := range hs {
		if want := i != 0 && i != 2; there[i] != want {
			t.Errorf("body %d: there %v, want %v", i, there[i], want)
		}
	}
	_, err = s.Body(ctx, hs[2])
	wantErr(t, err, quire.ErrNotFound)
	_, err = s.PutBodies(ctx, samples())
	must(t, err)
	wantBody(t, s, hs[2], samples()[2])
}

// testBigBody: 100 MB that cannot be compressed, and 100 MB that can.
func testBigBody(t *testing.T, s Store) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	noise := make([]byte, 100_000_000)
	seed := rand.NewChaCha8([32]byte{7})
	if _, err := seed.Read(noise); err != nil {
		t.Fatal(err)
	}
	for _, body := range [][]byte{noise, bytes.Repeat([]byte("a line of a log\n"), 100_000_000/16)} {
		hs, err := s.PutBodies(context.Background(), [][]byte{body})
		must(t, err)
		wantBody(t, s, hs[0], body)
	}
}

// testManyBodies: more than any statement takes at once, with repetitions.
func testManyBodies(t *testing.T, s Store) {
	const n = 5000
	var bodies [][]byte
	for i := range 2 * n {
		bodies = append(bodies, fmt.Appendf(nil, "body %d", i%n))
	}
	hs, err := s.PutBodies(context.Background(), bodies)
	must(t, err)
	if list := all(t, s.EachBody(context.Background())); len(list) != n {
		t.Errorf("%d bodies, want %d", len(list), n)
	}
	there, err := s.HasBodies(context.Background(), append(hs, quire.Sum("none")))
	must(t, err)
	if there[len(hs)] || slices.Contains(there[:len(hs)], false) {
		t.Error("not all of them are there, or one too many")
	}
}
