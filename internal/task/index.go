package task

import (
	"cmp"
	"slices"
)

// An index says which tasks know a feature, by rising number.
type index [kinds]map[string][]mention

// A mention is a task that knows a feature.
type mention struct {
	task int
	own  bool
}

func (x *index) add(k kind, name string, task int, own bool) {
	if x[k] == nil {
		x[k] = map[string][]mention{}
	}
	all := x[k][name]
	at, ok := find(all, task)
	if ok {
		all[at].own = all[at].own || own
		return
	}
	x[k][name] = slices.Insert(all, at, mention{task, own})
}

func (x *index) drop(k kind, name string, task int) {
	all := x[k][name]
	at, ok := find(all, task)
	switch {
	case !ok:
	case len(all) == 1:
		delete(x[k], name)
	default:
		x[k][name] = slices.Delete(all, at, at+1)
	}
}

func find(all []mention, task int) (at int, ok bool) {
	return slices.BinarySearchFunc(all, task, func(m mention, task int) int { return cmp.Compare(m.task, task) })
}
