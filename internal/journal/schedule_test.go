package journal

import (
	"reflect"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// scheduled are one record of each type that the scheduler and the user's marks
// write, with every field set.
func scheduled() []struct {
	kind    string
	payload any
} {
	at := time.Date(2026, 11, 2, 9, 0, 0, 5, time.UTC)
	stamp := quire.Stamp{Line: 3, At: at, Chain: "side"}
	lines := quire.Range{First: 3, Last: 9}
	of, used := int64(4), true
	return []struct {
		kind    string
		payload any
	}{
		{quire.RecordPlan, quire.PlanRecord{
			Stamp: stamp, Call: "c1", Epoch: 2, Reason: "one page folds",
			Decisions: []quire.Decision{{
				Page: 7, From: quire.RenditionFull, To: quire.RenditionExcerpt, Lines: []quire.Range{lines}, Tokens: 40, Was: 900, Reason: "idle for 30 calls",
				Carry: .02, Chance: .1, Strict: .01, Miss: .05,
			}},
			Inputs: quire.PlanInputs{
				Now: at, Model: "m", Rules: "r1", Tables: "t1", Scale: 1.1, Window: 200_000, Prefix: 9_000, Output: 8_000,
				Budget: 80_000, Stream: 61_000, Cold: "301 s since the last request", Account: -.5, Spend: .02,
			},
		}},
		{quire.RecordEpoch, quire.EpochRecord{
			Stamp: stamp, Epoch: 2, Call: "c1", Kind: quire.EpochPaid, Reason: "a big idle tail", Before: 61_000, After: 30_000,
			Price: .2, Saves: .6, Undoes: 1,
		}},
		{quire.RecordPageIn, quire.PageInRecord{
			Stamp: stamp, Call: "c2", How: quire.PageInFault, Session: 3, Page: 7, Lines: lines, Tokens: 90, Reason: "recall p7",
			Of: &of, Used: &used,
		}},
		{quire.RecordFault, quire.FaultRecord{
			Stamp: stamp, Call: "c2", Page: 7, Lines: lines, From: quire.RenditionHandle, Since: 4, Strict: true, Reread: 90, Trips: 1,
			Cost: .01, Saved: .02,
		}},
		{quire.RecordAccount, quire.AccountRecord{Stamp: stamp, Call: "c2", Shadow: 3.5, Live: 2.25, Error: .1, Hits: 4}},
		{quire.RecordMark, quire.MarkRecord{
			What: quire.MarkTask, Page: 7, Body: quire.Sum("b"), Until: 9, Task: "parser", Epoch: 2, By: "user:ann",
		}},
	}
}

// What the scheduler writes is read back as it was.
func TestScheduledRecordsReadBack(t *testing.T) {
	path := t.TempDir() + "/s1.jsonl"
	w, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scheduled() {
		wantAllSet(t, reflect.ValueOf(s.payload), s.kind)
		if _, err := w.Append(s.kind, s.payload); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	i := 0
	for r, err := range Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		want := scheduled()[i]
		if got := decodedAs(t, r); r.Type != want.kind || !reflect.DeepEqual(got, want.payload) {
			t.Errorf("%s comes back as %s\n%+v, want\n%+v", want.kind, r.Type, got, want.payload)
		}
		i++
	}
	if i != len(scheduled()) {
		t.Errorf("%d records come back", i)
	}
}

// decodedAs decodes a record as what its type says.
func decodedAs(t *testing.T, r quire.Record) any {
	t.Helper()
	switch r.Type {
	case quire.RecordPlan:
		return decoded[quire.PlanRecord](t, r)
	case quire.RecordEpoch:
		return decoded[quire.EpochRecord](t, r)
	case quire.RecordPageIn:
		return decoded[quire.PageInRecord](t, r)
	case quire.RecordFault:
		return decoded[quire.FaultRecord](t, r)
	case quire.RecordAccount:
		return decoded[quire.AccountRecord](t, r)
	default:
		return decoded[quire.MarkRecord](t, r)
	}
}

func decoded[T any](t *testing.T, r quire.Record) T {
	t.Helper()
	v, err := Decode[T](r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wantAllSet holds that a fixture leaves no field unset, so that one that is
// added later is tested too.
func wantAllSet(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("the fixture leaves %s unset", name)
	}
	if v.Kind() == reflect.Slice {
		v = v.Index(0)
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	for i := range v.NumField() {
		wantAllSet(t, v.Field(i), name+"."+v.Type().Field(i).Name)
	}
}
