package replay

import (
	"slices"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
)

// recorded makes a session whose calls come after some seconds each, with usage.
func recorded(calls ...recording.Call) *recording.Session {
	s := &recording.Session{Calls: calls}
	at := recordingtest.Morning()
	for i := range s.Calls {
		c := &s.Calls[i]
		at = at.Add(time.Duration(c.Items) * time.Second) // Items is used as the pause
		c.At, c.Items = at, 0
		if c.Model == "" {
			c.Model = "claude-opus-4-5"
		}
	}
	return s
}

// used is a call after a pause with what it read from and wrote to the cache.
func used(pause int32, read, write, long int64) recording.Call {
	return recording.Call{Items: pause, Usage: quire.Usage{
		CacheRead: read, CacheWrite: write, CacheWrite1h: long, Known: quire.KnownInput | quire.KnownCache,
	}}
}

func TestColdAsRecorded(t *testing.T) {
	cut := func(s *recording.Session, call int32) *recording.Session {
		s.Cuts = append(s.Cuts, recording.Cut{Call: call})
		return s
	}
	tests := []struct {
		name   string
		s      *recording.Session
		cold   []int
		missed []int
		life   price.Lifetime
	}{
		{"in time", recorded(used(0, 0, 1000, 0), used(300, 1000, 50, 0)), []int{0}, nil, price.Short},
		{"too late", recorded(used(0, 0, 1000, 0), used(301, 0, 1050, 0)), []int{0, 1}, nil, price.Short},
		{"written for an hour", recorded(used(0, 0, 1000, 1000), used(3600, 1000, 50, 50)), []int{0}, nil, price.Long},
		{"an hour is over", recorded(used(0, 0, 1000, 1000), used(3601, 0, 1050, 1050)), []int{0, 1}, nil, price.Long},
		{
			"the last write counts, not the last call",
			recorded(used(0, 0, 1000, 1000), used(10, 1000, 0, 0), used(3000, 1000, 50, 50)), []int{0}, nil, price.Long,
		},
		{
			"a short write after long ones",
			recorded(used(0, 0, 1000, 1000), used(10, 1000, 500, 0), used(400, 0, 1600, 0)), []int{0, 2}, nil, price.Short,
		},
		{"a miss", recorded(used(0, 0, 1000, 0), used(10, 499, 600, 0)), []int{0, 1}, []int{1}, price.Short},
		{"half of it is no miss", recorded(used(0, 0, 1000, 0), used(10, 500, 600, 0)), []int{0}, nil, price.Short},
		{"a compaction is no miss", cut(recorded(used(0, 0, 1000, 0), used(10, 100, 300, 0)), 1), []int{0}, nil, price.Short},
		{"late, then a miss", recorded(used(0, 0, 1000, 0), used(400, 0, 1050, 0), used(5, 0, 1100, 0)), []int{0, 1, 2}, []int{2}, price.Short},
		{"nothing is known of the cache", recorded(recording.Call{}, recording.Call{Items: 10}), []int{0}, nil, price.Short},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, ok := AsRecorded(tt.s, price.Default(), 7)
			if !ok {
				t.Fatal("the model has no price")
			}
			var cold []int
			for k, c := range set.Cold {
				if c {
					cold = append(cold, k)
				}
			}
			if !slices.Equal(cold, tt.cold) || !slices.Equal(set.Missed, tt.missed) || set.Life != tt.life {
				t.Errorf("cold %v, missed %v, life %v, want %v, %v, %v", cold, set.Missed, set.Life, tt.cold, tt.missed, tt.life)
			}
			if set.Budget != 7 || set.Window == 0 || set.Rates.Read == 0 || set.Name != "claude-opus-4.5" {
				t.Errorf("got %+v", set)
			}
		})
	}
}

func TestNotAsRecorded(t *testing.T) {
	silent := &recording.Session{Info: quire.SessionInfo{Model: "claude-opus-4-5"}}
	if _, ok := AsRecorded(silent, price.Default(), 0); ok {
		t.Error("a session without calls ran")
	}
	if _, ok := AsRecorded(recorded(recording.Call{Model: "nobody-knows-it"}), price.Default(), 0); ok {
		t.Error("a model without a price has one")
	}
}

func TestMainModel(t *testing.T) {
	for _, tt := range []struct {
		name  string
		info  string
		calls []string
		want  string
	}{
		{"most calls", "x", []string{"a", "b", "b"}, "b"},
		{"as many: by name", "", []string{"b", "a", "b", "a"}, "a"},
		{"none is named", "x", []string{"", ""}, "x"},
		{"no call", "x", nil, "x"},
		{"one named, two not", "", []string{"", "a", ""}, "a"},
	} {
		s := &recording.Session{Info: quire.SessionInfo{Model: tt.info}}
		for _, m := range tt.calls {
			s.Calls = append(s.Calls, recording.Call{Model: m})
		}
		if got := mainModel(s); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestColdUnderProfiles(t *testing.T) {
	s := recorded(recording.Call{}, recording.Call{Items: 300}, recording.Call{Items: 301}, recording.Call{Items: 1801}, recording.Call{Items: 6*3600 + 1})
	want := map[string]string{
		"claude": "C.CCC", "claude-1h": "C...C", "claude-new": "C.CCC", "gpt6": "C..CC", "deepseek": "C...C", "qwen": "C.CCC",
	}
	for _, p := range price.Profiles() {
		got := ""
		for _, cold := range UnderProfile(s, p, 0).Cold {
			got += map[bool]string{true: "C", false: "."}[cold]
		}
		if got != want[p.Name] {
			t.Errorf("%s: got %s, want %s", p.Name, got, want[p.Name])
		}
	}
}
