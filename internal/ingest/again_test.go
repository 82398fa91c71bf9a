package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A log that is read while its last line is being written becomes one session,
// with the rows that a single import gives.
func TestALogThatIsCutWithinALineIsContinued(t *testing.T) {
	logs, err := filepath.Glob("../trace/testdata/c*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	for _, log := range append(logs, work().write(t)) {
		t.Run(filepath.Base(log), func(t *testing.T) { growsInSteps(t, log) })
	}
}

func growsInSteps(t *testing.T, log string) {
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	head := bytes.IndexByte(text, '\n') + 1
	p, whole := newPool(t), newPool(t)
	path := filepath.Join(t.TempDir(), "log.jsonl")
	const steps = 5
	for i := 1; i <= steps; i++ {
		upTo := head + (len(text)-head)*i/steps
		if i < steps && text[upTo-1] == '\n' {
			upTo += 10
		}
		if err := os.WriteFile(path, text[:upTo], 0o600); err != nil {
			t.Fatal(err)
		}
		got := imported(t, p, path)
		if i < steps && got.Cut == "" {
			t.Errorf("step %d: nothing is said of the end: %+v", i, got)
		}
		if !got.Empty {
			derived(t, p, got)
		}
	}
	want := strip(derived(t, whole, imported(t, whole, path)))
	if have := strip(rows(t, p, 0)); show(have) != show(want) {
		t.Errorf("grown\n%s\nwhole\n%s", show(have), show(want))
	}
	if got := sessions(t, p); len(got) != 1 {
		t.Errorf("%d sessions", len(got))
	}
}

// Damage that something comes after is recorded.
func TestDamageWithinALogIsRecorded(t *testing.T) {
	p := newPool(t)
	s := work()
	s.lines[2] = `{"type":`
	got := imported(t, p, s.write(t))
	notes := 0
	for r, err := range journal.Read(got.Name.Path) {
		if n, fault := journal.Decode[quire.NoteRecord](r); err == nil && fault == nil && r.Type == quire.RecordNote && n.Reason != "" {
			notes++
		}
	}
	if notes != 1 || got.Cut != "" {
		t.Errorf("%d notes, %+v", notes, got)
	}
}

// anonymous is a log without an id: a plain array of messages.
func anonymous(t *testing.T, texts ...string) string {
	t.Helper()
	var list []message
	for i, role := range []string{"system", "user", "assistant", "user", "assistant"}[:len(texts)] {
		list = append(list, message{Role: role, Content: texts[i]})
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "messages.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Logs without an id share their system prompt, and some the task too: each is
// one session, however often and in which order they come.
func TestLogsWithoutAnIDAreToldApart(t *testing.T) {
	p := newPool(t)
	logs := []string{
		anonymous(t, "You are an agent.", "Fix the clock.", "I look at it."),
		anonymous(t, "You are an agent.", "Fix the bell.", "I look at it."),
		anonymous(t, "You are an agent.", "Fix the clock.", "It is broken.", "Then mend it."),
	}
	tasks := map[quire.Hash]bool{} // those of one task are told apart by comparing them
	for i, path := range logs {
		got := imported(t, p, path)
		if !got.New || int(got.Name.Number) != i+1 {
			t.Errorf("log %d: %+v", i, got)
		}
		head, err := journal.Head(got.Name.Path)
		drop(t, err)
		tasks[head.Digest] = true
	}
	if len(tasks) != 2 {
		t.Errorf("%d digests for 2 tasks", len(tasks))
	}
	for _, i := range []int{0, 1, 2, 1, 0, 2, 2} {
		if got := imported(t, p, logs[i]); got.Changed() || got.New || int(got.Name.Number) != i+1 {
			t.Errorf("log %d again: %+v", i, got)
		}
	}
	grown := anonymous(t, "You are an agent.", "Fix the clock.", "I look at it.", "And?", "It works.")
	if got := imported(t, p, grown); got.New || got.Name.Number != 1 || got.Pages != 2 {
		t.Errorf("grown: %+v", got)
	}
}

// A log that was changed and then changed back is the one that it was.
func TestALogThatIsChangedBackIsFound(t *testing.T) {
	p := newPool(t)
	first := work().write(t)
	other := work()
	last := &other.lines[len(other.lines)-1]
	*last = strings.Replace(*last, "left out", "in doubt", 1)
	second := other.write(t)
	for i, path := range []string{first, second, first, second, first} {
		if got := imported(t, p, path); int(got.Name.Number) != i%2+1 || got.New != (i < 2) {
			t.Errorf("import %d: %+v", i, got)
		}
	}
}

// A page without text has the empty body, which no journal names: also in a pool
// in which it was never stored.
func TestAPageWithoutText(t *testing.T) {
	p := newPool(t)
	s := &script{}
	s.user("Be quiet.")
	s.call("t1", "Bash", map[string]string{"command": "true"})
	s.result("t1", "")
	got := imported(t, p, s.write(t))
	row := derived(t, p, got)[1]
	if b, err := p.Bodies.Body(t.Context(), row.Body); err != nil || len(b) > 0 {
		t.Fatalf("body %q, %v", b, err)
	}
	if h, err := p.Check(t.Context()); err != nil || len(h.Faults) > 0 || h.Orphans > 0 {
		t.Errorf("health %+v, %v", h, err)
	}
	if found, err := p.Garbage(t.Context(), true); err != nil || len(found) > 0 {
		t.Errorf("garbage %v, %v", found, err)
	}
	drop(t, p.Bodies.DropBodies(t.Context(), []quire.Hash{row.Body}))
	if h, err := p.Check(t.Context()); err != nil || len(h.Faults) != 1 || h.Faults[0].Page != "s1/p2" || h.Faults[0].What != FaultRow {
		t.Errorf("health %+v, %v", h, err)
	}
	q := derivedAnew(p)
	if _, err := q.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if h, err := q.Check(t.Context()); err != nil || len(h.Faults) > 0 {
		t.Errorf("health after the rebuild %+v, %v", h, err)
	}
}

// A body that the pool has lost comes back with its log, and what was derived
// meanwhile is derived again.
func TestALostBodyComesBackWithItsLog(t *testing.T) {
	p := newPool(t)
	path := work().write(t)
	want := show(derived(t, p, imported(t, p, path)))
	lost := []quire.Hash{quire.Sum("The file has been updated."), quire.Sum("The count was left out.")}
	drop(t, p.Bodies.DropBodies(t.Context(), lost))
	q := derivedAnew(p)
	if sum, err := q.Rebuild(t.Context(), nil); err != nil || sum.Missing != len(lost) {
		t.Fatalf("%+v, %v", sum, err)
	}
	if got := imported(t, q, path); got.Healed != len(lost) || got.Changed() || got.New {
		t.Errorf("got %+v", got)
	}
	behind, err := q.Behind(t.Context())
	if err != nil || len(behind) != 1 {
		t.Fatalf("behind %v, %v", behind, err)
	}
	if _, err := q.DeriveAll(t.Context(), behind, nil); err != nil || show(rows(t, q, 1)) != want {
		t.Errorf("%v, rows %s\nwant %s", err, show(rows(t, q, 1)), want)
	}
	if h, err := q.Check(t.Context()); err != nil || len(h.Faults) > 0 {
		t.Errorf("health %+v, %v", h, err)
	}
	if got := imported(t, q, path); got.Healed != 0 {
		t.Errorf("again: %+v", got)
	}
}

// An image that a call read is found by the path of the file.
func TestAnImageHasThePathOfItsCall(t *testing.T) {
	p := newPool(t)
	s := &script{}
	s.user("Look.")
	s.call("t1", "Read", map[string]string{"file_path": "/p/a.png"})
	s.result("t1", []block{{Type: "image", Source: map[string]string{"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}})
	images := 0
	for _, r := range derived(t, p, imported(t, p, s.write(t))) {
		if r.Kind == quire.PageImage && r.Target == "/p/a.png" {
			images++
		}
	}
	if h, err := p.Check(t.Context()); err != nil || len(h.Faults) > 0 || images != 1 {
		t.Errorf("%d images, health %+v, %v", images, h, err)
	}
}

// A journal that is damaged stops its own log and no other, and no copy of it is
// made.
func TestADamagedJournalStopsItsOwnLogOnly(t *testing.T) {
	p := newPool(t)
	path := work().write(t)
	got := imported(t, p, path)
	replace(t, got.Name.Path, `"type":"part"`, `"type";"part"`)
	m, err := p.Importer()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = m.Import(t.Context(), open(t, path))
	if d, ok := errors.AsType[*journal.Damage](err); !ok || d.Path != got.Name.Path {
		t.Errorf("got %v", err)
	}
	other := work()
	other.lines[0] = strings.Replace(other.lines[0], "Why is", "Say why", 1)
	if got, err := m.Import(t.Context(), open(t, other.write(t))); err != nil || !got.New || got.Name.Number != 2 {
		t.Errorf("another log: %+v, %v", got, err)
	}
}
