package eval

import (
	"errors"
	"reflect"
	"testing"

	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
)

func trialsOf(f *schedule.Fit) *schedule.Table { return f.Table("") }

// Of a corpus of three each session is decided by what the others show, the
// joined one by those that it does not join, and a copy as its original.
func TestCrossfitDecidesByOthers(t *testing.T) {
	st := corpusOfThree(t)
	original := st.Sessions[2]
	copied := *original
	copied.Path = "corpus/bench/hand/copy.jsonl"
	sessions := append(st.Sessions, &copied)
	c, err := NewCrossfit(st.Root, sessions, st.Endless, 2)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := replay.FitAll(st.Sessions, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := func(in ...int) *schedule.Table {
		sum := &schedule.Fit{}
		for _, i := range in {
			sum.Join(fits[i])
		}
		return trialsOf(sum)
	}
	tables := c.Tables(trialsOf)
	for name, tt := range map[string]struct {
		s    *recording.Session
		want *schedule.Table
	}{
		"the first": {sessions[0], want(1)}, "the second": {sessions[1], want(0, 2)}, "the third": {sessions[2], want(1)},
		"a copy": {&copied, want(1)}, "the joined": {st.Endless, want(0)},
	} {
		if !reflect.DeepEqual(tables(tt.s), tt.want) {
			t.Errorf("%s is decided by another table", name)
		}
	}
	if c.Fitted() != 3 || c.Whole().Trials() != fits[0].Trials()+fits[1].Trials()+fits[2].Trials() {
		t.Errorf("%d sessions fitted, %v trials", c.Fitted(), c.Whole().Trials())
	}
}

func TestCrossfitOfOneJoinedSessionIsRefused(t *testing.T) {
	st := corpusOfThree(t)
	if _, err := NewCrossfit(st.Root, st.Sessions[1:], st.Endless, 1); !errors.Is(err, errNothingApart) {
		t.Errorf("got %v", err)
	}
}

// Every ingredient has a policy of its own name, and each plays.
func TestAblation(t *testing.T) {
	st := corpusOfThree(t)
	c, err := NewCrossfit(st.Root, st.Sessions, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	var policies []replay.Policy
	for _, v := range Ablation(c) {
		titles[v.Title()], titles[v.Policy.Name] = true, true
		policies = append(policies, v.Policy)
	}
	if len(policies) < 12 || len(titles) != 2*len(policies)-1 || !titles["quire"] {
		t.Errorf("%d policies, %d names", len(policies), len(titles))
	}
	for i := range 2 {
		policies = append(policies, Curve(c.Validating(), i == 1)...)
	}
	out, err := replay.Replay(st.Sessions[0], policies, []replay.Setting{replay.UnderProfile(st.Sessions[0], st.Profiles[0], 500)})
	if err != nil {
		t.Fatal(err)
	}
	costs := map[float64]bool{}
	for _, o := range out[0] {
		costs[o.Cost] = true
	}
	if len(costs) < 3 {
		t.Errorf("all ablations cost the same: %v", costs)
	}
}
