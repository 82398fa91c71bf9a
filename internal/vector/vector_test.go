package vector

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"pgregory.net/rapid"
)

const ann = quire.Principal("user:ann")

// concepts gives each direction of a vector the words that mean it.
func concepts() [][]string {
	return [][]string{{"car", "automobile", "vehicle"}, {"cat", "kitten", "feline"}, {"rain", "shower", "drizzle"}}
}

// meaning is the vector of a text: how often it means what.
func meaning(text string) []float32 {
	v := []float32{0, 0, 0, 0.1}
	for i, words := range concepts() {
		for _, w := range words {
			v[i] += float32(strings.Count(text, w))
		}
	}
	return v
}

// serve answers as an embeddings endpoint and counts texts.
func serve(t *testing.T, key string, texts *[]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q request
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v1/embeddings" || q.Model != "small" {
			t.Errorf("asked %s %+v, %v", r.URL.Path, q, err)
		}
		if r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		type item struct {
			Index  int       `json:"index"`
			Vector []float32 `json:"embedding"`
		}
		var out struct {
			Data []item `json:"data"`
		}
		for i, text := range slices.Backward(q.Input) { // in any order
			out.Data = append(out.Data, item{i, meaning(text)})
			*texts = append(*texts, text)
		}
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// A shelf is a page table with texts.
type shelf struct {
	rows  []quire.Row
	texts map[quire.PageRef]string
}

func (s *shelf) put(session quire.SessionNumber, page quire.PageNumber, owner quire.Principal, text string) {
	r := quire.Row{Page: quire.Page{Number: page, Kind: quire.PageTool, Body: quire.Sum(text)}, Session: session, Owner: owner, Scope: quire.ScopeSession}
	s.rows = slices.DeleteFunc(s.rows, func(o quire.Row) bool { return o.Ref() == r.Ref() })
	s.rows, s.texts[r.Ref()] = append(s.rows, r), text
}

func (s *shelf) Rows(_ context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		for _, r := range s.rows {
			if r.Session == f.Session && (f.Pages == nil || slices.Contains(f.Pages, r.Number)) && as.Sees(&r, "") && !yield(r, nil) {
				return
			}
		}
	}
}

func (s *shelf) Sessions(_ context.Context, as quire.Reader) iter.Seq2[quire.SessionRow, error] {
	return func(yield func(quire.SessionRow, error) bool) {
		for n := quire.SessionNumber(1); n < 4; n++ {
			if as.Who == ann && !yield(quire.SessionRow{Number: n, Owner: ann}, nil) {
				return
			}
		}
	}
}

func (s *shelf) Text(_ context.Context, r *quire.Row) (string, error) { return s.texts[r.Ref()], nil }

func newIndex(t *testing.T) (*Index, *shelf, *[]string) {
	t.Helper()
	s, sent, m := &shelf{texts: map[quire.PageRef]string{}}, &[]string{}, &index.Memory{}
	server := serve(t, "k", sent)
	e := &Endpoint{URL: server.URL + "/v1/", Model: "small", Key: "k", Client: server.Client()}
	return &Index{Name: "here", By: e, Sets: NewSets(m, m), Table: s, Texts: s}, s, sent
}

func nearest(t *testing.T, x *Index, text string, as quire.Reader) (names []string) {
	t.Helper()
	refs, err := x.Nearest(t.Context(), text, as, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refs {
		names = append(names, r.String())
	}
	return names
}

func make1(t *testing.T, x *Index, n quire.SessionNumber) Made {
	t.Helper()
	made, err := x.Make(t.Context(), n, quire.Reader{Who: ann})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestPagesAreFoundByMeaning(t *testing.T) {
	x, s, sent := newIndex(t)
	s.put(1, 1, ann, "the automobile is in the garage")
	s.put(1, 2, ann, "a kitten sleeps")
	s.put(1, 3, ann, retrieve.Frame("recall", "a car that was recalled"))
	s.put(2, 1, ann, "drizzle all day, then a vehicle")
	s.put(2, 2, "user:bob", "car car car")
	if got := []Made{make1(t, x, 1), make1(t, x, 2), make1(t, x, 1)}; got[0].Pages != 2 || got[1].Pages != 1 || got[2].Pages != 0 {
		t.Errorf("made %+v", got)
	}
	if slices.ContainsFunc(*sent, func(t string) bool { return strings.Contains(t, "recalled") }) {
		t.Error("what Quire itself put into a prompt was sent")
	}
	as := quire.Reader{Who: ann}
	if got := nearest(t, x, "car", as); !slices.Equal(got, []string{"s1/p1", "s2/p1"}) {
		t.Errorf("a car is near to %v", got)
	}
	as.Space = []quire.PageRef{{Session: 1, Page: 2}}
	if got := nearest(t, x, "car", as); !slices.Equal(got, []string{"s1/p2"}) {
		t.Errorf("in an address space of one page %v is found", got)
	}
	if got := nearest(t, x, "car", quire.Reader{Who: "user:eve"}); len(got) != 0 {
		t.Errorf("a stranger finds %v", got)
	}
}

// A page that holds something else gets other vectors, one that is gone has none,
// and so has a session that was removed.
func TestVectorsFollowThePages(t *testing.T) {
	x, s, _ := newIndex(t)
	s.put(1, 1, ann, "cat")
	s.put(1, 2, ann, "rain")
	s.put(2, 1, ann, "feline")
	make1(t, x, 1)
	make1(t, x, 2)
	s.put(1, 1, ann, "car")
	s.rows = slices.DeleteFunc(s.rows, func(r quire.Row) bool { return r.Number == 2 })
	if made := make1(t, x, 1); made.Pages != 1 {
		t.Errorf("made %+v", made)
	}
	if err := x.Sets.Remove(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if got := nearest(t, x, "cat", quire.Reader{Who: ann}); !slices.Equal(got, []string{"s1/p1"}) {
		t.Errorf("found %v", got)
	}
	if names, err := x.Sets.part.SegmentNames(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("kept %v, %v", names, err)
	}
}

// What was made before an endpoint failed is kept.
func TestFailureLosesNothing(t *testing.T) {
	x, s, _ := newIndex(t)
	good := x.By
	s.put(1, 1, ann, "cat")
	s.put(1, 2, ann, strings.Repeat("rain ", 10))
	make1(t, x, 1)
	s.put(1, 1, ann, "kitten")
	x.By = &Endpoint{URL: good.(*Endpoint).URL, Model: "small", Key: "wrong", Client: http.DefaultClient}
	if _, err := x.Make(t.Context(), 1, quire.Reader{Who: ann}); !errors.Is(err, ErrAnswer) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("error %v", err)
	}
	if _, err := x.Nearest(t.Context(), "rain", quire.Reader{Who: ann}, 1); !errors.Is(err, ErrAnswer) {
		t.Errorf("error %v", err)
	}
	x.By = good
	if got := nearest(t, x, "rain", quire.Reader{Who: ann}); len(got) == 0 || got[0] != "s1/p2" {
		t.Errorf("found %v", got)
	}
	if made := make1(t, x, 1); made.Pages != 1 {
		t.Errorf("made %+v", made)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "x", "too few": `{"data":[]}`, "a place twice": `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		"two lengths": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, "no place": `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`,
		"no direction": `{"data":[{"index":0,"embedding":[0]},{"index":1,"embedding":[1]}]}`,
	} {
		if got, err := parseAnswer([]byte(text), 2); !errors.Is(err, ErrAnswer) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// The direction of a vector is kept to within a degree.
func TestVectorsKeepTheirDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-100, 100), 1, 40).Filter(usable).Draw(t, "vector")
		p := newPiece(7, quire.Sum("x"), v)
		if near := p.near(unit(v)); math.Abs(near-1) > 0.02 {
			t.Errorf("%v is %v near to itself", v, near)
		}
		s := set{p, p}
		back, err := readSet(s.write())
		if err != nil || len(back) != 2 || back[1].page != 7 || back[1].scale != p.scale || !slices.Equal(back[1].bytes, p.bytes) {
			t.Errorf("read %+v, %v", back, err)
		}
	})
}

// Pieces are valid text, within their size, and lose nothing but spaces while there
// are few enough.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.String().Draw(t, "text")+"\n", rapid.IntRange(0, 300).Draw(t, "times"))
		cut := pieces(text)
		for _, p := range cut {
			if len(p) > pieceBytes+3 || strings.TrimSpace(p) == "" {
				t.Errorf("a piece of %d bytes: %q", len(p), p)
			}
		}
		if len(text) < pieceBytes && len(cut) > 1 {
			t.Errorf("%d pieces of %d bytes", len(cut), len(text))
		}
	})
}

func FuzzReadSet(f *testing.F) {
	f.Add([]byte(setMark + "\x01\x00"))
	f.Add(set{newPiece(1, quire.Sum("a"), []float32{1, -2})}.write())
	f.Add([]byte(setMark + "\x00\x00abc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := readSet(data)
		if err != nil {
			return
		}
		if again, err := readSet(s.write()); err != nil || len(again) != len(s) {
			t.Errorf("%d pieces become %d, %v", len(s), len(again), err)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[0.5,-1e9]}]}`), 1)
	f.Add([]byte(`{"data":null}`), 0)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		n = min(max(n, 0), 8)
		v, err := parseAnswer(data, n)
		if err == nil && (len(v) != n || slices.ContainsFunc(v, func(v []float32) bool { return !usable(v) })) {
			t.Errorf("%q gives %v", data, v)
		}
	})
}
