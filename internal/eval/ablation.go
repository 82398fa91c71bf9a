package eval

import (
	"fmt"

	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Variant is a policy of Quire that differs from "quire" in one thing.
type Variant struct {
	Without string // what it lacks or does besides; "" for "quire" itself
	Policy  replay.Policy
}

// Title names the variant in a table.
func (v Variant) Title() string {
	if v.Without == "" {
		return v.Policy.Name
	}
	return v.Without
}

// Ablation lists the policies that show what each ingredient of the scheduler is
// worth. Each session is decided by a table that was fitted without it, and
// without the property in question where that is one of the table's.
func Ablation(c *Crossfit) []Variant {
	tables := c.Validating()
	out := []Variant{{Policy: replay.Scheduled("quire", free(), tables)}}
	for _, p := range schedule.Properties() {
		blind := c.Tables(func(f *schedule.Fit) *schedule.Table { return f.Blind(p, CrossValidated) })
		out = append(out, Variant{"table blind to " + p.String(), replay.Scheduled("blind "+p.String(), free(), blind)})
	}
	for _, v := range toggles() {
		policy := replay.Scheduled
		if v.away {
			policy = replay.Sparing
		}
		out = append(out, Variant{v.without, policy(v.name, v.set, tables)})
	}
	return out
}

func free() schedule.Settings { return schedule.Settings{Care: schedule.DefaultCare} }

// A toggle is one thing that is switched.
type toggle struct {
	without, name string
	set           schedule.Settings
	away          bool
}

func toggles() []toggle {
	spared := func(kinds ...schedule.Kind) schedule.Settings {
		set := free()
		set.Spared = kinds
		return set
	}
	open := free()
	open.Budget = -1
	filled := free()
	filled.Room = -1
	unforeseen := free()
	unforeseen.Blind = true
	paid := free()
	paid.Paid = true
	return []toggle{
		{"the model's old text and thinking stay", "text stays", spared(schedule.KindText, schedule.KindThinking), false},
		{"old arguments of its calls stay", "arguments stay", spared(schedule.KindArgs), false},
		{"all of the model's words stay, edits too", "own words stay", spared(schedule.KindText, schedule.KindThinking, schedule.KindArgs, schedule.KindEdit, schedule.KindWrite), false},
		{"no quality budget", "no budget", open, false},
		{"the window may be filled to its end", "no room kept", filled, false},
		{"a page that was missed does not come back", "no page-in", free(), true},
		{"nothing is brought in because it is foreseen", "unforeseen", unforeseen, false},
		{"paid epochs at the same care", "paid", paid, false},
	}
}

// Cares are the steps of the trade of cost against faults.
func Cares() []float64 { return []float64{20, 35, 50, 65, 80, 100, 140, 200} }

// Curve lists the policies along the trade of cost against faults: with free and
// forced epochs, or with paid ones besides. Names say the care.
func Curve(tables replay.Tables, paid bool) []replay.Policy {
	var out []replay.Policy
	for _, care := range Cares() {
		name := fmt.Sprintf("care %g", care)
		if paid {
			name += ", paid"
		}
		out = append(out, replay.Scheduled(name, schedule.Settings{Care: care, Paid: paid}, tables))
	}
	return out
}
