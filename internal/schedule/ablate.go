package schedule

import "slices"

// A Property is one of the things that a [Table] looks at in a [Case].
type Property uint8

// The properties, each with its factor.
const (
	PropertyKind Property = iota // of kinds, only source reads stay apart: they age differently
	PropertyQuoted
	PropertySize
	PropertyIdle
	PropertyEdit
	PropertyTurn
	PropertyHeat
	PropertyTask
	properties
)

var propertyNames = [properties]string{"kind", "times quoted", "size", "idle calls", "edits of the file", "turns", "heat", "task"}

// String names the property.
func (p Property) String() string { return propertyNames[p] }

// Properties lists all properties in their order.
func Properties() []Property {
	out := make([]Property, properties)
	for i := range out {
		out[i] = Property(i)
	}
	return out
}

// Blind makes the table that [Fit.Table] would make if nothing were known of
// one property. It serves to show what the property is worth.
func (f *Fit) Blind(p Property, version string) *Table {
	merged := &Fit{trials: map[Case]*outcome{}, hints: f.hints}
	for c, o := range f.trials {
		merged.add(c.without(p), o)
	}
	t := merged.Table(version)
	t.Strict.level(p)
	t.Wide.level(p)
	return t
}

// without is the case with the property as if it were the first of its steps.
func (c Case) without(p Property) Case {
	switch p {
	case PropertyKind:
		if c.Kind != KindSource {
			c.Kind = KindResult
		}
	case PropertyQuoted:
		c.Quoted = 0
	case PropertySize:
		c.Size = 0
	case PropertyIdle:
		c.Idle = 0
	case PropertyEdit:
		c.Edit = 0
	case PropertyTurn:
		c.Turn = 0
	case PropertyHeat:
		c.Heat = 0
	case PropertyTask:
		c.Task = 0
	}
	return c
}

// level gives all steps of a property the factor of the one that without leaves.
func (f *Factors) level(p Property) {
	switch p {
	case PropertyKind:
		for k := range f.Kind {
			if Kind(k) != KindSource {
				f.Kind[k] = f.Kind[KindResult]
			}
		}
	case PropertyQuoted:
		for k := range f.Kind {
			fill(f.Kind[k][:])
		}
	case PropertySize:
		for g := range f.Size {
			fill(f.Size[g][:])
		}
	case PropertyIdle:
		for g := range f.Idle {
			fill(f.Idle[g][:])
		}
	case PropertyEdit:
		fill(f.Edit[:])
	case PropertyTurn:
		fill(f.Turn[:])
	case PropertyHeat:
		fill(f.Heat[:])
	case PropertyTask:
		fill(f.Task[:])
	}
}

func fill(steps []float64) { copy(steps, slices.Repeat(steps[:1], len(steps))) }
