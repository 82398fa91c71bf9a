package gatewaytest

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/sim"
)

// A habit is how some client writes its requests.
type habit struct {
	name    string
	model   string // "": that of the form
	query   string
	header  map[string]string
	mute    bool // the model calls no tools: what is long is in the words
	refused bool // a provider refuses it
	relayed bool // it is never curated
	quiet   bool // nothing is read back
	reads   bool // it is curated, and what is folded is read back in every run, not in that of `make walks` only
	body    func(n int, o object) object
	wrap    func(http.Handler) http.Handler // what stands in front of both providers
}

// What clients write, each in its own way, means the same through the gateway as
// without: it is taken or refused alike, answered with the same words and calls, and
// the bill is no higher. A model that asks for what was folded is answered in band,
// and the client sees nothing of it.
//
// design.md G7, G10, G12, G15
func TestHabits(t *testing.T) {
	for _, form := range rawForms() {
		for _, h := range append(habitsOf(form), commonHabits(form)...) {
			t.Run(fmt.Sprintf("%s %s", form.api, h.name), func(t *testing.T) {
				t.Parallel()
				habitOf(t, form, h, h.plot())
				if all := os.Getenv(everyKill) != ""; (all || h.reads && !testing.Short()) && !h.mute && !h.quiet && !h.relayed && !h.refused {
					habitOf(t, form, h, plot())
				}
			})
		}
	}
}

// plot is what the model does without reading anything back.
func (h *habit) plot() []plan {
	if h.mute {
		return mutePlot()
	}
	return quietPlot()
}

func quietPlot() []plan {
	list := plot()
	for i := range list {
		list[i].recall = ""
	}
	return list
}

func mutePlot() []plan {
	list := quietPlot()
	for i := range list {
		list[i].calls, list[i].says = 0, true
	}
	return list
}

func habitOf(t *testing.T, form rawForm, h habit, plans []plan) {
	t.Helper()
	x := newRaw(t, form, h, scriptOf(plans))
	n := x.run()
	recalls := strings.Contains(scriptOf(plans), "call recall")
	if spent := x.bill(); !recalls && spent[through] > spent[direct]*1.0000001 {
		t.Errorf("through the gateway $%.6f, without $%.6f\n%s", spent[through], spent[direct], x.books())
	}
	if n.Opened != 0 {
		t.Errorf("curation failed %d times", n.Opened)
	}
	if n.Curated > 0 && (h.relayed || h.refused) || n.Curated == 0 && h.reads {
		t.Errorf("%d of %d calls were curated", n.Curated, n.Calls)
	}
	if recalls && n.Curated > 0 && n.Recalls == 0 {
		t.Error("nothing was read back")
	}
}

func commonHabits(form rawForm) []habit {
	return []habit{
		{name: "plain", reads: true},
		{name: "without tools", mute: true, relayed: true, body: func(_ int, o object) object { return o.without("tools") }},
	}
}

func habitsOf(form rawForm) []habit {
	switch form.api {
	case sim.Messages:
		return append(messagesHabits(), messagesMarkHabits()...)
	case sim.Chat:
		return chatHabits()
	case sim.Responses:
		return responsesHabits()
	}
	return geminiHabits()
}

// members adds members to each request.
func members(text string) func(int, object) object {
	return func(_ int, o object) object {
		for _, f := range objectOf(text) {
			o = o.with(f.Name, string(f.Value))
		}
		return o
	}
}

// both does one change and then another.
func both(list ...func(int, object) object) func(int, object) object {
	return func(n int, o object) object {
		for _, f := range list {
			o = f(n, o)
		}
		return o
	}
}

// entries changes each element of the list of the conversation.
func entries(list string, change func(i int, e object) []object) func(int, object) object {
	return func(_ int, o object) object { return o.each(list, change) }
}

// same is an element in the place of another.
func same(o object) []object { return []object{o} }
