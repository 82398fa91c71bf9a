package gateway

import (
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A node is one canonical message at one place in a tree of views.
type node struct {
	sum      quire.Hash // of the chain up to here
	outline  quire.Hash
	results  []result
	parent   *node // nil for the first message
	children []*node
	tree     *tree
	answer   bool      // we relayed it as an answer
	parts    span      // in the journal
	at       time.Time // of an answer: when it was asked for
}

func (n *node) chain(credential quire.Hash) quire.Hash {
	if n == nil {
		return credential
	}
	return n.sum
}

// link is the hash of a chain that goes on by a message.
func link(chain, message quire.Hash) quire.Hash {
	return newSum(string(chain[:]), string(message[:])).end()
}

// A tree holds the views that begin with one message. It is kept in a session, or
// in none while it was seen in side requests only (G8).
type tree struct {
	root    *node
	session *session
	label   string
	tools   bool // a view of it declared tools
	used    time.Time
}

// A forest is all trees. It belongs to the observer.
type forest struct {
	roots map[quire.Hash][]*tree // by the sum of the first message, in the order in which they came
	trees []*tree                // in the order in which they came
}

// A place is how far a view is known.
type place struct {
	tree    *tree
	nodes   []*node // of the known messages, in their order
	implied int     // of these, those that the view does not hold: it names the answer that it goes on from
	cleared int     // tool results that the client had cleared (G3)

	compacted *stream // the stream that the view goes on from, after its client compacted it; nil for none
}

// tip is the last known node, nil where nothing is known.
func (p *place) tip() *node {
	if len(p.nodes) == 0 {
		return nil
	}
	return p.nodes[len(p.nodes)-1]
}

// find is the longest known chain that a view begins with. Trees with the same
// first messages are told apart by what follows; where that leaves a tie, by the
// label; then the one used last is taken. Where nothing of ours stands in the
// chain that is known, another label makes another session: its client only began
// with the same words.
func (f *forest) find(credential quire.Hash, v *view, label string) place {
	var best place
	if len(v.messages) == 0 {
		return best
	}
	for _, t := range f.roots[link(credential, v.messages[0].sum)] {
		p := walk(t, credential, v.messages)
		if !p.told() && t.label != label {
			continue
		}
		if better(&p, &best, label) {
			best = p
		}
	}
	return best
}

// told reports whether the known chain holds an answer of ours, which nobody else
// can have by chance.
func (p *place) told() bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.answer })
}

func better(p, best *place, label string) bool {
	switch {
	case best.tree == nil, len(p.nodes) != len(best.nodes):
		return len(p.nodes) > len(best.nodes)
	case (p.tree.label == label) != (best.tree.label == label):
		return p.tree.label == label
	}
	return !p.tree.used.Before(best.tree.used)
}

// walk follows a view down a tree.
func walk(t *tree, credential quire.Hash, messages []message) place {
	p := place{tree: t}
	if link(credential, messages[0].sum) != t.root.sum {
		return p
	}
	p.nodes = append(p.nodes, t.root)
	at := t.root
	for i := 1; i < len(messages); i++ {
		next, cleared := at.child(&messages[i])
		if next == nil {
			break
		}
		p.cleared += cleared
		p.nodes = append(p.nodes, next)
		at = next
	}
	return p
}

// child is the node behind n that a message is, with how many of its tool results
// were cleared: it has the same calls, and some results that are shorter.
func (n *node) child(m *message) (*node, int) {
	sum := link(n.sum, m.sum)
	for _, c := range n.children {
		if c.sum == sum {
			return c, 0
		}
	}
	for _, c := range slices.Backward(n.children) {
		if cleared, ok := c.clearedTo(m); ok {
			return c, cleared
		}
	}
	return nil, 0
}

func (n *node) clearedTo(m *message) (cleared int, ok bool) {
	if n.outline != m.outline || len(n.results) == 0 || len(n.results) != len(m.results) {
		return 0, false
	}
	for i, r := range m.results {
		if r.sum == n.results[i].sum {
			continue
		}
		if r.size >= n.results[i].size {
			return 0, false
		}
		cleared++
	}
	return cleared, true
}

// grow adds a message behind n, or begins a tree with it, and is its node.
func (f *forest) grow(t *tree, n *node, credential quire.Hash, m *message) *node {
	return f.put(t, &node{sum: link(n.chain(credential), m.sum), outline: m.outline, results: m.results, parent: n, tree: t})
}

// put puts a node in its place, behind its parent or at the root of the tree. Where
// there is one like it already, that one is returned.
func (f *forest) put(t *tree, n *node) *node {
	if n.parent == nil {
		if t.root == nil {
			t.root = n
			f.roots[n.sum] = append(f.roots[n.sum], t)
		}
		return t.root
	}
	for _, c := range n.parent.children {
		if c.sum == n.sum {
			return c
		}
	}
	n.parent.children = append(n.parent.children, n)
	return n
}

// plant begins a tree.
func (f *forest) plant(label string, at time.Time) *tree {
	t := &tree{label: label, used: at}
	f.trees = append(f.trees, t)
	return t
}

// fell forgets a tree.
func (f *forest) fell(t *tree) {
	f.trees = slices.DeleteFunc(f.trees, func(o *tree) bool { return o == t })
	if t.root == nil {
		return
	}
	list := slices.DeleteFunc(f.roots[t.root.sum], func(o *tree) bool { return o == t })
	if f.roots[t.root.sum] = list; len(list) == 0 {
		delete(f.roots, t.root.sum)
	}
}

// eldest is the tree that was not used for the longest time.
func (f *forest) eldest() *tree {
	return slices.MinFunc(f.trees, func(a, b *tree) int { return a.used.Compare(b.used) })
}
