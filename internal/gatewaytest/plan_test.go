package gatewaytest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"pgregory.net/rapid"
)

// labels is how many answers a walk can ask for.
const labels = 30

// A plan says what the model answers to the newest words or results that carry a
// label.
type plan struct {
	thinks bool
	says   bool
	calls  int    // tool calls in the answer
	recall string // where the tool is declared: "", alone, beside (other calls), twice
}

// drawPlans draws the plans of a walk, from one number so that they are seen at a
// glance. thinks says that the model always thinks before it calls, and faults that
// it asks for what was taken out of its prompt.
func drawPlans(t *rapid.T, thinks, faults bool) []plan {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "plans"), 1)) //nolint:gosec // it is to be repeated
	recalls := []string{"", "", "", "alone", "beside", "twice"}
	list := make([]plan, labels)
	for i := range list {
		p := plan{calls: max(0, r.IntN(6)-2), recall: recalls[r.IntN(len(recalls))]}
		p.thinks = thinks || r.IntN(3) == 0
		p.says = p.calls == 0 || r.IntN(2) == 0
		switch {
		case !faults:
			p.recall = ""
		case p.recall == "beside" && p.calls == 0:
			p.recall = "alone" // there is nothing for it to stand beside
		}
		list[i] = p
	}
	return list
}

// toolNames are what a peer declares.
func toolNames() []string { return []string{"read", "list", "grep", "shell"} }

// scriptOf is the script of plans: the newest label stands first, and so it answers
// wherever older ones are in the prompt too.
func scriptOf(plans []plan) string {
	var b strings.Builder
	for i := len(plans) - 1; i >= 0; i-- {
		plans[i].write(&b, i)
	}
	b.WriteString("turn always\n say a title\n")
	return b.String()
}

// write writes the turns of a label. Where it stands is not asked for: a notice of
// the gateway may be newer than the words of the user, and a loop that was folded
// stands in them.
func (p plan) write(b *strings.Builder, n int) {
	places := []string{fmt.Sprintf(" when prompt matches \\[[ur]%d\\]\n", n)}
	again := places
	if p.recall != "" {
		again = append(places, fmt.Sprintf(" when answered q%da\n", n))
	}
	switch p.recall {
	case "alone", "twice":
		p.asks(b, places, fmt.Sprintf(" when not answered q%da\n", n), fmt.Sprintf(" call recall as q%da {\"query\": \"zeroword\"}\n", n))
	case "beside":
		p.asks(b, places, fmt.Sprintf(" when not answered q%da\n", n), fmt.Sprintf(" call recall as q%da {\"query\": \"zeroword\"}\n%s", n, p.steps(n, false)))
		again = places
	}
	if p.recall == "twice" {
		p.asks(b, again, fmt.Sprintf(" when answered q%da\n when not answered q%db\n", n, n), fmt.Sprintf(" call recall as q%db {\"query\": \"nothing like it\"}\n", n))
	}
	for _, place := range again {
		b.WriteString("turn always\n" + place + p.steps(n, true))
	}
}

// asks writes the turns that read something back: with thinking, where the model
// always thinks.
func (p plan) asks(b *strings.Builder, places []string, when, steps string) {
	if p.thinks {
		steps = " think that it stood further up\n" + steps
	}
	for _, place := range places {
		b.WriteString("turn always\n when tool recall\n" + place + when + steps)
	}
}

// steps are the words and calls of the answer.
func (p plan) steps(n int, thinks bool) string {
	var b strings.Builder
	if p.thinks && thinks {
		fmt.Fprintf(&b, " think about %d for a while\n", n)
	}
	if p.says {
		fmt.Fprintf(&b, " say answer %d, of some length so that it comes in more than one piece, and is known again where it comes back as a summary\n", n)
	}
	for i := range p.calls {
		fmt.Fprintf(&b, " call %s as c%d%c {\"n\": %d, \"path\": \"src/file%d.go\"}\n", toolNames()[(n+i)%3], n, 'a'+i, n, n%7)
	}
	return b.String()
}
