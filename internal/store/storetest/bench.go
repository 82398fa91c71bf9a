package storetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// Benchmark measures what a pool does all day, on text that is made up like that
// of agents' logs.
func Benchmark(b *testing.B, open Open) {
	for _, c := range []struct {
		name string
		run  func(*testing.B, Store)
	}{
		{"PutBodies64K", func(b *testing.B, s Store) { benchPutBodies(b, s, 64<<10) }},
		{"PutBodies1K", func(b *testing.B, s Store) { benchPutBodies(b, s, 1200) }},
		{"PutBodiesAgain", benchPutAgain},
		{"Body64K", func(b *testing.B, s Store) { benchBody(b, s, 64<<10) }},
		{"Body1K", func(b *testing.B, s Store) { benchBody(b, s, 1200) }},
		{"PutRows", benchPutRows},
		{"Row", benchRow},
		{"RowByTarget", benchRowByTarget},
		{"Rows1000", benchRows},
		{"Advance", benchAdvance},
		{"PutSegment", benchPutSegment},
		{"ReadSegment4K", func(b *testing.B, s Store) { benchReadSegment(b, s, 4<<10) }},
		{"ReadSegment64K", func(b *testing.B, s Store) { benchReadSegment(b, s, 64<<10) }},
	} {
		b.Run(c.name, func(b *testing.B) { c.run(b, open(b)) })
	}
}

// Text makes up text of about that many bytes: output of tools, program text and
// prose, of which a fifth is left when it is compressed.
func Text(draw *rand.Rand, bytes int) []byte {
	var b []byte
	for len(b) < bytes {
		switch n := draw.IntN(1 << 20); n % 5 {
		case 0:
			b = fmt.Appendf(b, "internal/store/file%d.go:%d:%d: undefined: quire.%s\n", n%97, n%811, n%61, name(draw))
		case 1:
			b = fmt.Appendf(b, "\tif err := s.%s(ctx, %s%d); err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n", name(draw), name(draw), n%13, name(draw))
		case 2:
			b = fmt.Appendf(b, "2026-02-%02dT10:%02d:%02d.%03dZ level=info msg=\"%s finished\" id=%x\n", n%28+1, n%60, n%59, n%1000, name(draw), n)
		case 3:
			b = fmt.Appendf(b, "=== RUN   Test%s\n--- PASS: Test%s (%d.%02ds)\n", name(draw), name(draw), n%3, n%100)
		default:
			b = fmt.Appendf(b, "In turn %d the worker did not find %s, so it looked for %s instead and %s.\n", n%300, name(draw), name(draw), name(draw))
		}
	}
	return b
}

func name(draw *rand.Rand) string {
	return oneOf(draw, "Parse", "Open", "session", "reader", "Commit", "walk", "bodies", "Hash", "index", "plan", "cursor", "Flush") +
		oneOf(draw, "", "All", "Body", "Next", "ByName", "Count", "Lines", "Range", "Table")
}

// texts makes bodies whose sizes have that mean and are spread as sizes are in
// logs: many small ones, few large ones.
func texts(draw *rand.Rand, n, mean int) (list [][]byte, total int64) {
	for range n {
		const spread = 1.0
		size := float64(mean) * math.Exp(spread*draw.NormFloat64()-spread*spread/2)
		list = append(list, Text(draw, int(size)))
		total += int64(len(list[len(list)-1]))
	}
	return list, total
}

func benchPutBodies(b *testing.B, s Store, mean int) {
	draw := rand.New(rand.NewPCG(5, 6))
	batch, total := texts(draw, 4<<20/mean, mean)
	b.SetBytes(total)
	for round := 0; b.Loop(); round++ {
		for _, body := range batch {
			copy(body, fmt.Sprintf("%8d", round))
		}
		if _, err := s.PutBodies(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

func benchPutAgain(b *testing.B, s Store) {
	batch, total := texts(rand.New(rand.NewPCG(5, 6)), 1000, 1200)
	b.SetBytes(total)
	for b.Loop() {
		if _, err := s.PutBodies(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

func benchBody(b *testing.B, s Store, mean int) {
	draw := rand.New(rand.NewPCG(5, 6))
	bodies, total := texts(draw, 32<<20/mean, mean)
	hs, err := s.PutBodies(context.Background(), bodies)
	must(b, err)
	b.SetBytes(total / int64(len(bodies)))
	for b.Loop() {
		if _, err := s.Body(context.Background(), hs[draw.IntN(len(hs))]); err != nil {
			b.Fatal(err)
		}
	}
}

// Rows makes up n rows of sessions of a thousand pages each, from a session on.
func Rows(draw *rand.Rand, from quire.SessionNumber, n int) []quire.Row {
	rows := make([]quire.Row, n)
	for i := range rows {
		r := row(from+quire.SessionNumber(i/1000), quire.PageNumber(1+i%1000))
		r.ID = fmt.Sprintf("01J%023d", draw.Int64())
		r.At = fullRow().At
		r.Kind, r.Class, r.Tool, r.Action = quire.PageTool, quire.ClassSource, "Read", quire.ActionRead
		r.Target = fmt.Sprintf("internal/%s/%s%d.go", name(draw), name(draw), draw.IntN(n))
		r.Lines = quire.Range{First: 1, Last: 200}
		r.Args, r.Version = quire.Sum(r.ID), quire.Sum(r.Target)
		r.Bytes, r.Tokens, r.Call = 1200, 400, i%1000
		r.Tasks = []string{"t1"}
		r.LastRef, r.Refs, r.Heat = i%1000+3, 2, 1.7
		r.From = []quire.PageRef{{Session: r.Session, Page: r.Number}}
		rows[i] = r
	}
	return rows
}

func benchPutRows(b *testing.B, s Store) {
	draw := rand.New(rand.NewPCG(5, 6))
	rows := Rows(draw, 1, 1000)
	for from := quire.SessionNumber(1); b.Loop(); from++ {
		for i := range rows {
			rows[i].Session = from
		}
		if err := s.PutRows(context.Background(), rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(rows)), "µs/row")
}

func benchRow(b *testing.B, s Store) {
	draw := rand.New(rand.NewPCG(5, 6))
	rows := Rows(draw, 1, 50_000)
	must(b, s.PutRows(context.Background(), rows))
	for b.Loop() {
		r := &rows[draw.IntN(len(rows))]
		benchFilter(b, s, quire.Filter{Session: r.Session, Pages: []quire.PageNumber{r.Number}}, 1)
	}
}

func benchRowByTarget(b *testing.B, s Store) {
	draw := rand.New(rand.NewPCG(5, 6))
	rows := Rows(draw, 1, 50_000)
	must(b, s.PutRows(context.Background(), rows))
	for b.Loop() {
		benchFilter(b, s, quire.Filter{Target: rows[draw.IntN(len(rows))].Target, Limit: 1}, 1)
	}
}

func benchRows(b *testing.B, s Store) {
	draw := rand.New(rand.NewPCG(5, 6))
	must(b, s.PutRows(context.Background(), Rows(draw, 1, 50_000)))
	for b.Loop() {
		benchFilter(b, s, quire.Filter{Session: quire.SessionNumber(1 + draw.IntN(50))}, 1000)
	}
}

func benchFilter(b *testing.B, s Store, f quire.Filter, want int) {
	n := 0
	for _, err := range s.Rows(context.Background(), asAnn(), f) {
		must(b, err)
		n++
	}
	if n != want {
		b.Fatalf("%d rows for %+v, want %d", n, f, want)
	}
}

func benchAdvance(b *testing.B, s Store) {
	value := ""
	for i := 0; b.Loop(); i++ {
		next := fmt.Sprint("value", i)
		must(b, s.Advance(context.Background(), "head", value, next))
		value = next
	}
}

const segmentBytes = 32 << 20

func benchPutSegment(b *testing.B, s Store) {
	content := Text(rand.New(rand.NewPCG(5, 6)), segmentBytes)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		must(b, s.PutSegment(context.Background(), "s", bytes.NewReader(content)))
	}
}

func benchReadSegment(b *testing.B, s Store, n int) {
	draw := rand.New(rand.NewPCG(5, 6))
	must(b, s.PutSegment(context.Background(), "s", bytes.NewReader(Text(draw, segmentBytes))))
	b.SetBytes(int64(n))
	for b.Loop() {
		part, err := s.ReadSegment(context.Background(), "s", draw.Int64N(segmentBytes-int64(n)), n)
		if err != nil || len(part) != n {
			b.Fatal(len(part), err)
		}
	}
}
