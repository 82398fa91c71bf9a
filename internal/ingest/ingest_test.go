package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/store/mem"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/quire-agent/quire/internal/vector"
)

// oneCounter is shared: making one takes longer than most tests.
var oneCounter = sync.OnceValues(token.NewCounter)

// newPool makes a pool in memory, with journals in a folder of its own.
func newPool(t testing.TB) *Pool {
	t.Helper()
	store := mem.New()
	counter, err := oneCounter()
	if err != nil {
		t.Fatal(err)
	}
	return &Pool{
		Home: t.TempDir(), Bodies: store, Table: store, Heads: store, Index: index.New(store, store), Counter: counter,
		Cards: carrier.NewCards(store, store), Vectors: vector.NewSets(store, store),
		Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "‹secret›") }, Owner: "user:test", Now: time.Now,
	}
}

// derivedAnew is the pool with an empty table and an empty index.
func derivedAnew(p *Pool) *Pool {
	store := mem.New()
	q := *p
	q.Table, q.Heads, q.Index, q.Cards = store, store, index.New(store, store), carrier.NewCards(store, store)
	return &q
}

func open(t testing.TB, path string) *trace.Log {
	t.Helper()
	logs, err := trace.Open(path)
	if err != nil || len(logs) != 1 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	return logs[0]
}

func imported(t testing.TB, p *Pool, path string) Imported {
	t.Helper()
	m, err := p.Importer()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got, err := m.Import(t.Context(), open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func derived(t testing.TB, p *Pool, got Imported) []quire.Row {
	t.Helper()
	if _, err := p.Derive(t.Context(), got.Name.Path); err != nil {
		t.Fatal(err)
	}
	return rows(t, p, got.Name.Number)
}

func rows(t testing.TB, p *Pool, n quire.SessionNumber) []quire.Row {
	t.Helper()
	var out []quire.Row
	for r, err := range p.Table.Rows(t.Context(), p.as(), quire.Filter{Session: n}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func sessions(t testing.TB, p *Pool) []quire.SessionRow {
	t.Helper()
	var out []quire.SessionRow
	for s, err := range p.Table.Sessions(t.Context(), p.as()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// A block is a content block of a hand-written log of Claude Code.
type block struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`
	ID      string `json:"id,omitempty"`
	Name    string `json:"name,omitempty"`
	Input   any    `json:"input,omitempty"`
	Use     string `json:"tool_use_id,omitempty"`
	Content any    `json:"content,omitempty"`
	Error   bool   `json:"is_error,omitempty"`
	Source  any    `json:"source,omitempty"`
}

type message struct {
	ID      string `json:"id,omitempty"`
	Role    string `json:"role"`
	Model   string `json:"model,omitempty"`
	Content any    `json:"content"`
	Usage   any    `json:"usage,omitempty"`
}

type entry struct {
	Type      string  `json:"type"`
	UUID      string  `json:"uuid"`
	Parent    *string `json:"parentUuid"`
	Session   string  `json:"sessionId"`
	Time      string  `json:"timestamp"`
	CWD       string  `json:"cwd"`
	Sidechain bool    `json:"isSidechain"`
	Message   message `json:"message"`
}

// A script writes a log.
type script struct {
	session string // its id; "" is one for all
	lines   []string
	parent  *string
	n       int
}

func (s *script) add(kind string, m message) *script {
	id := fmt.Sprint("u", s.n)
	s.n++
	at := time.Date(2026, 11, 2, 9, 0, s.n, 0, time.UTC).Format(time.RFC3339)
	raw, err := json.Marshal(entry{kind, id, s.parent, cmp.Or(s.session, "hand"), at, "/p", false, m})
	if err != nil {
		panic(err) // the script is a test's own
	}
	s.lines = append(s.lines, string(raw))
	s.parent = &id
	return s
}

func (s *script) user(text string) *script {
	return s.add("user", message{Role: "user", Content: text})
}

func (s *script) says(blocks ...block) *script {
	return s.add("assistant", message{ID: fmt.Sprint("m", s.n), Role: "assistant", Model: "claude-opus-4-6", Content: blocks,
		Usage: map[string]int{"input_tokens": 10, "output_tokens": 5}})
}

func (s *script) call(use, tool string, input map[string]string) *script {
	return s.says(block{Type: "tool_use", ID: use, Name: tool, Input: input})
}

func (s *script) result(use string, content any) *script {
	return s.add("user", message{Role: "user", Content: []block{{Type: "tool_result", Use: use, Content: content}}})
}

func (s *script) write(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	s.to(t, path)
	return path
}

func (s *script) to(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(s.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// work is a session in which something is read, changed and run.
func work() *script {
	s := &script{}
	s.user("Why is the total wrong? The password is hunter2.")
	s.call("t1", "Read", map[string]string{"file_path": "/p/cart.go"})
	s.result("t1", "     1\tpackage cart\n     2\t\n     3\tfunc Total(items []Item) (sum int) {\n     4\t\tfor _, it := range items { sum += it.Price }\n     5\t\treturn sum\n     6\t}\n")
	s.call("t2", "Edit", map[string]string{"file_path": "/p/cart.go", "old_string": "\tfor _, it := range items { sum += it.Price }", "new_string": "\tfor _, it := range items { sum += it.Price * it.Count }"})
	s.result("t2", "The file has been updated.")
	s.call("t3", "Bash", map[string]string{"command": "go test ./..."})
	s.result("t3", "ok  \tcart\t0.01s")
	return s.says(block{Type: "text", Text: "The count was left out."})
}

func TestImportAndDerive(t *testing.T) {
	p := newPool(t)
	got := imported(t, p, work().write(t))
	if !got.New || got.Name.Number != 1 || got.Pages != 6 {
		t.Errorf("got %+v", got)
	}
	var lines []string
	for _, r := range derived(t, p, got) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s stale=%v from=%v refs=%d", r.Number, r.Kind, r.Class, r.Action, r.Outcome, r.Stale, r.From, r.Refs))
		if r.Tokens == 0 || len(r.ID) != 26 || r.Owner != "user:test" || r.Scope != quire.ScopeSession || r.At.IsZero() {
			t.Errorf("incomplete: %+v", r)
		}
	}
	want := []string{
		"p1 user prose  unknown stale=[] from=[] refs=0",
		"p2 tool source read ok stale=[{4 4}] from=[] refs=1",
		"p3 tool source edit ok stale=[] from=[p2] refs=0",
		"p4 written source edit ok stale=[] from=[p2] refs=0",
		"p5 tool test run ok stale=[] from=[] refs=0",
		"p6 assistant prose  unknown stale=[] from=[] refs=0",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	s := sessions(t, p)
	if len(s) != 1 || s[0].Project != "/p" || s[0].Calls != 4 || s[0].Pages != 6 || s[0].Usage.Output != 20 || s[0].Bytes == 0 || s[0].Tokens == 0 {
		t.Errorf("session %+v", s)
	}
}

func TestTheSameLogChangesNothing(t *testing.T) {
	p := newPool(t)
	path := work().write(t)
	first := imported(t, p, path)
	before, err := os.ReadFile(first.Name.Path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "elsewhere.jsonl")
	work().to(t, copied)
	for _, path := range []string{path, copied} {
		if again := imported(t, p, path); again.Changed() || again.New || again.Name.Number != 1 {
			t.Errorf("again: %+v", again)
		}
	}
	if after, err := os.ReadFile(first.Name.Path); err != nil || !bytes.Equal(before, after) {
		t.Error("the journal changed")
	}
}

func TestAShorterCopyChangesNothing(t *testing.T) {
	p := newPool(t)
	imported(t, p, work().write(t))
	short := work()
	short.lines = short.lines[:3]
	if got := imported(t, p, short.write(t)); got.Changed() || got.New {
		t.Errorf("got %+v", got)
	}
}

func TestAChangedLogIsASessionOfItsOwn(t *testing.T) {
	p := newPool(t)
	imported(t, p, work().write(t))
	other := work()
	other.lines[2] = strings.Replace(other.lines[2], "package cart", "package till", 1)
	path := other.write(t)
	if got := imported(t, p, path); !got.New || got.Name.Number != 2 {
		t.Errorf("got %+v", got)
	}
	if got := imported(t, p, path); got.New || got.Changed() || got.Name.Number != 2 {
		t.Errorf("again: %+v", got)
	}
}

// A log that grows line by line becomes one session, and what is derived from it
// is what a single import gives.
func TestAGrowingLogIsContinued(t *testing.T) {
	logs, err := filepath.Glob("../trace/testdata/c*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	for _, log := range append(logs, work().write(t)) {
		t.Run(filepath.Base(log), func(t *testing.T) { grows(t, log) })
	}
}

func grows(t *testing.T, log string) {
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	p, whole := newPool(t), newPool(t)
	path := filepath.Join(t.TempDir(), "log.jsonl")
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i := 1; i <= len(lines); i++ {
		if err := os.WriteFile(path, bytes.Join(lines[:i], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := trace.Open(path); err != nil {
			continue // too short to be known
		}
		if got := imported(t, p, path); !got.Empty {
			derived(t, p, got)
		}
	}
	got := imported(t, whole, path)
	want := strip(derived(t, whole, got))
	have := strip(rows(t, p, 1))
	if len(have) != len(want) {
		t.Fatalf("%d rows, want %d", len(have), len(want))
	}
	for i := range want {
		if show(have[i]) != show(want[i]) {
			t.Errorf("grown\n%s\nwhole\n%s", show(have[i]), show(want[i]))
		}
	}
	for _, s := range sessions(t, p) {
		if s.Number > 1 {
			t.Errorf("%s was begun", s.Number)
		}
	}
}

// strip leaves out what differs between two sessions with the same content.
func strip(rows []quire.Row) []quire.Row {
	for i := range rows {
		rows[i].ID = ""
	}
	return rows
}

func show(v any) string {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// All formats that can be read can be imported, and rows and index follow from
// journals and bodies alone.
func TestRebuild(t *testing.T) {
	p := newPool(t)
	files, err := filepath.Glob("../trace/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Importer()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, work().write(t)) {
		logs, err := trace.Open(file)
		if err != nil {
			continue
		}
		for _, log := range logs {
			got, err := m.Import(t.Context(), log)
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if !got.Empty {
				derived(t, p, got)
			}
		}
	}
	m.Close()
	q := derivedAnew(p)
	sum, err := q.Rebuild(t.Context(), nil)
	if err != nil || sum.Missing+sum.Damaged > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if a, b := show(rows(t, p, 0)), show(rows(t, q, 0)); a != b || len(rows(t, p, 0)) < 100 {
		t.Errorf("rows differ after the rebuild, or are few:\n%s\n%s", a, b)
	}
	if a, b := show(sessions(t, p)), show(sessions(t, q)); a != b {
		t.Errorf("sessions differ:\n%s\n%s", a, b)
	}
	for _, pool := range []*Pool{p, q} {
		if h, err := pool.Check(t.Context()); err != nil || len(h.Faults) > 0 || h.Rows != len(rows(t, p, 0)) {
			t.Errorf("health %+v, %v", h, err)
		}
	}
}

func TestWhatQuirePutInIsNoPage(t *testing.T) {
	p := newPool(t)
	s := &script{}
	s.user("Find it.")
	s.call("t1", "mcp__quire__recall", map[string]string{"query": "zebra"})
	s.result("t1", "zebra crossing, from p7")
	s.user(retrieve.Frame("p7", "zebra crossing"))
	s.user("And " + retrieve.Frame("p7", "zebra crossing") + " now?")
	got := derived(t, p, imported(t, p, s.write(t)))
	if len(got) != 2 || got[1].Kind != quire.PageUser {
		t.Fatalf("pages %s", show(got))
	}
	found, _, err := p.Index.Candidates(t.Context(), []index.Term{{Text: "zebra", Weight: 1}}, new(p.as()), 10)
	if err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestSecretsAreNotInTheIndex(t *testing.T) {
	p := newPool(t)
	derived(t, p, imported(t, p, work().write(t)))
	for term, want := range map[string]int{"hunter2": 0, "password": 1} {
		found, _, err := p.Index.Candidates(t.Context(), []index.Term{{Text: term, Weight: 1}}, new(p.as()), 10)
		if err != nil || len(found) != want {
			t.Errorf("%s: found %v, %v", term, found, err)
		}
	}
}

func TestImagesAreStoredOnce(t *testing.T) {
	p := newPool(t)
	image := block{Type: "image", Source: map[string]string{"type": "base64", "media_type": "image/png", "data": "aGVsbG8gaW1hZ2U="}}
	s := &script{}
	s.user("Look.")
	s.call("t1", "Read", map[string]string{"file_path": "/p/a.png"})
	s.result("t1", []block{image})
	s.call("t2", "Read", map[string]string{"file_path": "/p/a.png"})
	s.result("t2", []block{image})
	var hashes []quire.Hash
	for _, r := range derived(t, p, imported(t, p, s.write(t))) {
		if r.Kind == quire.PageImage {
			hashes = append(hashes, r.Body)
		}
	}
	want := quire.Sum("hello image")
	if len(hashes) != 2 || hashes[0] != want || hashes[1] != want {
		t.Fatalf("images %v", hashes)
	}
	if b, err := p.Bodies.Body(t.Context(), want); err != nil || string(b) != "hello image" {
		t.Errorf("body %q, %v", b, err)
	}
}

func TestForget(t *testing.T) {
	p := newPool(t)
	got := imported(t, p, work().write(t))
	all := derived(t, p, got)
	places, err := p.Holding(t.Context(), func(text string) bool { return strings.Contains(text, "it.Count") })
	if err != nil || len(places) != 1 || places[0].Page != 3 {
		t.Fatalf("places %+v, %v", places, err)
	}
	dropped, err := p.Forget(t.Context(), places, p.Owner)
	if err != nil || dropped != 3 { // the arguments, their result, what was written
		t.Fatalf("dropped %d, %v", dropped, err)
	}
	left := rows(t, p, 1)
	if len(left) != len(all)-1 || left[2].Number != 4 || left[2].Args != (quire.Hash{}) {
		t.Errorf("left %s", show(left))
	}
	if again, err := p.Holding(t.Context(), func(text string) bool { return strings.Contains(text, "it.Count") }); err != nil || len(again) > 0 {
		t.Errorf("still there: %+v, %v", again, err)
	}
	q := derivedAnew(p)
	if _, err := q.Rebuild(t.Context(), nil); err != nil || show(rows(t, q, 1)) != show(left) {
		t.Errorf("a rebuild gives other rows: %v\n%s", err, show(rows(t, q, 1)))
	}
	if h, err := p.Check(t.Context()); err != nil || len(h.Faults) > 0 {
		t.Errorf("health %+v, %v", h, err)
	}
	if again := imported(t, p, work().write(t)); again.Changed() || again.New || again.Healed > 0 {
		t.Errorf("the log brought it back: %+v", again)
	}
}

func TestGarbageIsWhatNoJournalNames(t *testing.T) {
	p := newPool(t)
	got := imported(t, p, work().write(t))
	stray, err := p.Bodies.PutBodies(t.Context(), [][]byte{[]byte("nobody names this")})
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.Garbage(t.Context(), false)
	if err != nil || len(found) != 1 || found[0].Hash != stray[0] {
		t.Fatalf("found %v, %v", found, err)
	}
	if there, err := p.Bodies.HasBodies(t.Context(), stray); err != nil || !there[0] {
		t.Error("it was dropped without being told to")
	}
	if _, err := p.Garbage(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if h, err := p.Check(t.Context()); err != nil || h.Orphans != 0 {
		t.Errorf("health %+v, %v", h, err)
	}
	if err := p.Remove(t.Context(), got.Name); err != nil {
		t.Fatal(err)
	}
	if found, err = p.Garbage(t.Context(), true); err != nil || len(found) == 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestNothingIsGarbageWhileAJournalIsDamaged(t *testing.T) {
	p := newPool(t)
	got := imported(t, p, work().write(t))
	replace(t, got.Name.Path, `"type":"part"`, `"type";"part"`)
	if _, err := p.Garbage(t.Context(), true); !errors.Is(err, quire.ErrDamaged) {
		t.Errorf("got %v", err)
	}
	m, err := p.Importer()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := p.Garbage(t.Context(), true); !errors.Is(err, quire.ErrLocked) {
		t.Errorf("while importing: %v", err)
	}
}

// replace changes the first occurrence in a file.
func replace(t *testing.T, path, old, fresh string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("no %q, %v", old, err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(fresh), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCheckNamesWhatIsDamaged(t *testing.T) {
	type damage func(t *testing.T, p *Pool, got Imported)
	for name, c := range map[string]struct {
		do   damage
		want string
	}{
		"line": {func(t *testing.T, p *Pool, got Imported) { replace(t, got.Name.Path, `"type":"part"`, `"type";"part"`) }, FaultJournal},
		"end": {func(t *testing.T, p *Pool, got Imported) {
			text, err := os.ReadFile(got.Name.Path)
			if err == nil {
				err = os.WriteFile(got.Name.Path, append(text, `{"v":1,"t":"20`...), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, FaultTorn},
		"missing": {func(t *testing.T, p *Pool, got Imported) {
			if err := p.Bodies.DropBodies(t.Context(), []quire.Hash{quire.Sum("The file has been updated.")}); err != nil {
				t.Fatal(err)
			}
		}, FaultMissing},
		"body":    {func(t *testing.T, p *Pool, got Imported) { p.Bodies = rotten{p.Bodies} }, FaultBody},
		"session": {func(t *testing.T, p *Pool, got Imported) { drop(t, p.Table.DropSession(t.Context(), 1)) }, FaultRow},
		"index":   {func(t *testing.T, p *Pool, got Imported) { drop(t, p.Index.RemoveSession(t.Context(), 1)) }, FaultIndex},
		"stranger": {func(t *testing.T, p *Pool, got Imported) {
			drop(t, p.Table.PutSession(t.Context(), quire.SessionRow{Number: 9, Owner: p.Owner, ULID: "x"}))
		}, FaultRow},
		"behind": {func(t *testing.T, p *Pool, got Imported) {
			w, err := journal.Open(got.Name.Path, time.Now)
			if err == nil {
				_, err = w.Append(quire.RecordNote, quire.NoteRecord{Reason: "later"})
			}
			drop(t, errors.Join(err, w.Close()))
		}, FaultBehind},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t)
			got := imported(t, p, work().write(t))
			derived(t, p, got)
			c.do(t, p, got)
			h, err := p.Check(t.Context())
			if err != nil || len(h.Faults) == 0 {
				t.Fatalf("%+v, %v", h, err)
			}
			for _, f := range h.Faults {
				if f.What != c.want && c.want != FaultJournal {
					t.Errorf("fault %+v, want %s", f, c.want)
				}
				if f.Reason == "" || f.Path == "" && f.Page == "" {
					t.Errorf("fault %+v says too little", f)
				}
			}
			if h.Faults[0].What != c.want {
				t.Errorf("first %+v, want %s", h.Faults[0], c.want)
			}
		})
	}
}

func drop(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rotten bodies come back damaged.
type rotten struct{ quire.Bodies }

func (r rotten) Body(context.Context, quire.Hash) ([]byte, error) {
	return nil, fmt.Errorf("body: %w", quire.ErrDamaged)
}

// full bodies have no room.
type full struct{ quire.Bodies }

func (f full) PutBodies(context.Context, [][]byte) ([]quire.Hash, error) {
	return nil, fmt.Errorf("put: %w", quire.ErrFull)
}

func TestAnImportThatFailsGoesOnLater(t *testing.T) {
	p := newPool(t)
	path := work().write(t)
	q := *p
	q.Bodies = full{p.Bodies}
	m, err := q.Importer()
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Import(t.Context(), open(t, path))
	if !errors.Is(err, quire.ErrFull) || strings.Count(err.Error(), "put: ") != 1 {
		t.Errorf("got %v", err)
	}
	m.Close()
	got := imported(t, p, path)
	if got.New || got.Name.Number != 1 || got.Pages != 6 {
		t.Errorf("got %+v", got)
	}
	if h, err := p.Check(t.Context()); err != nil || len(h.Faults) != 1 || h.Faults[0].What != FaultBehind {
		t.Errorf("health %+v, %v", h, err)
	}
	behind, err := p.Behind(t.Context())
	if err != nil || len(behind) != 1 {
		t.Fatalf("behind %v, %v", behind, err)
	}
	if _, err := p.DeriveAll(t.Context(), behind, nil); err != nil {
		t.Fatal(err)
	}
	if behind, err = p.Behind(t.Context()); err != nil || len(behind) > 0 {
		t.Errorf("behind %v, %v", behind, err)
	}
}

func TestOneImporterAtATime(t *testing.T) {
	p := newPool(t)
	m, err := p.Importer()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Importer(); !errors.Is(err, quire.ErrLocked) {
		t.Errorf("a second one: %v", err)
	}
	m.Close()
	if m, err = p.Importer(); err != nil {
		t.Fatal(err)
	}
	m.Close()
}

func TestAnInterruptStopsAnImport(t *testing.T) {
	p := newPool(t)
	m, err := p.Importer()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Import(ctx, open(t, work().write(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestOurOwnFilesAreKnown(t *testing.T) {
	p := newPool(t)
	log := work().write(t)
	got := imported(t, p, log)
	export := filepath.Join(t.TempDir(), "export.jsonl")
	var b bytes.Buffer
	if err := journal.Export(t.Context(), &b, got.Name.Path, p.Bodies, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(export, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{got.Name.Path: true, export: true, log: false, t.TempDir(): false} {
		if Ours(path) != want {
			t.Errorf("%s: ours = %v", path, !want)
		}
	}
	for _, path := range []string{export, got.Name.Path} {
		if _, err := trace.Open(path); !errors.Is(err, trace.ErrUnknown) {
			t.Errorf("%s is read as a log: %v", path, err)
		}
	}
}

func FuzzOurs(f *testing.F) {
	f.Add([]byte(`{"export":"session","v":1}`))
	f.Add([]byte(`{"v":1,"t":"2026-11-02T09:00:00Z","seq":0,"type":"session","session":1}`))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if ours(head) && head[0] != '{' {
			t.Errorf("%q is none", head)
		}
	})
}

// FuzzEachHash holds that exactly the runs of 64 digits are found.
func FuzzEachHash(f *testing.F) {
	h := quire.Sum("x").String()
	f.Add(`{"body":"` + h + `"}`)
	f.Add(h + "0")
	f.Add(h + "," + h)
	f.Fuzz(func(t *testing.T, line string) {
		want := 0
		for _, run := range strings.FieldsFunc(line, func(r rune) bool { return r > 127 || !isHex(byte(r)) }) {
			if len(run) == 64 {
				want++
			}
		}
		eachHash([]byte(line), func(h quire.Hash) {
			want--
			if !strings.Contains(line, h.String()) {
				t.Errorf("%s is not in %q", h, line)
			}
		})
		if want != 0 {
			t.Errorf("%d hashes were not seen in %q", want, line)
		}
	})
}
