package price

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

//go:embed prices.json
var embedded []byte

// A Table holds models with their prices and prefix rules. It is not changed
// after it was made, so any number of goroutines may use it.
type Table struct {
	rules     []Rules
	exchange  []exchange
	models    []Model
	resellers []string
	names     map[string]int // canonical name to index in models
}

// An exchange is what one unit of a currency is worth from a day on.
type exchange struct {
	currency string
	from     time.Time
	usd      float64
	source   Source
}

// Default returns the table that is embedded in the program. It is parsed anew
// on each call: a caller keeps it.
func Default() *Table {
	t, err := (&Table{}).Merge(bytes.NewReader(embedded))
	if err != nil {
		panic(fmt.Sprintf("price: the embedded table: %v", err))
	}
	return t
}

// Merge returns the table with those of r, in the form of the embedded file,
// put over it. Of a model that is known, the fields that r states are replaced,
// its list of prices as a whole; aliases and resellers are added. Rules of a
// known name are replaced as a whole, and so is the exchange rate of a day. The
// receiver is not changed. Unknown keys, wrong types and impossible values are
// errors that say in which line and column they stand.
func (t *Table) Merge(r io.Reader) (*Table, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	f, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	merged := t.over(f)
	if err := merged.link(); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	return merged, nil
}

// over lays the parsed file over a copy of the table.
func (t *Table) over(f file) *Table {
	n := &Table{
		rules:     append([]Rules(nil), t.rules...),
		exchange:  append([]exchange(nil), t.exchange...),
		models:    append([]Model(nil), t.models...),
		resellers: append(append([]string(nil), t.resellers...), f.resellers...),
	}
	for _, r := range f.rules {
		n.rules = replace(n.rules, r, func(a Rules) bool { return a.Name == r.Name })
	}
	for _, e := range f.exchange {
		n.exchange = replace(n.exchange, e, func(a exchange) bool { return a.currency == e.currency && a.from.Equal(e.from) })
	}
	for _, m := range f.models {
		n.addModel(m)
	}
	return n
}

// addModel adds a model, or gives a known one the fields that m states.
func (t *Table) addModel(m Model) {
	for i := range t.models {
		if t.models[i].called(m.ID) {
			t.models[i] = m.over(t.models[i])
			return
		}
	}
	t.models = append(t.models, m)
}

func replace[T any](list []T, with T, same func(T) bool) []T {
	for i := range list {
		if same(list[i]) {
			list[i] = with
			return list
		}
	}
	return append(list, with)
}

// link checks that everything named exists and indexes the names.
func (t *Table) link() error {
	t.names = make(map[string]int, 2*len(t.models))
	for i := range t.models {
		m := &t.models[i]
		rules, ok := t.ruleByName(m.rulesName)
		if !ok {
			return fmt.Errorf("model %q: there are no rules %q", m.ID, m.rulesName)
		}
		if len(m.prices) == 0 {
			return fmt.Errorf("model %q: no prices", m.ID)
		}
		m.rules = rules
		if err := t.convert(m); err != nil {
			return err
		}
		if err := t.index(i); err != nil {
			return err
		}
	}
	return nil
}

// index enters the names of a model. Two models may not share one.
func (t *Table) index(i int) error {
	for _, name := range append([]string{t.models[i].ID}, t.models[i].aliases...) {
		key := canonical(name)
		if other, taken := t.names[key]; taken && other != i {
			return fmt.Errorf("model %q: the name %q belongs to %q", t.models[i].ID, name, t.models[other].ID)
		}
		t.names[key] = i
	}
	return nil
}

// convert gives each price of the model the worth of its currency.
func (t *Table) convert(m *Model) error {
	m.prices = append([]row(nil), m.prices...)
	for i := range m.prices {
		p := &m.prices[i]
		p.usd = 1
		if p.currency == "" || p.currency == "USD" {
			continue
		}
		e, ok := t.worth(p.currency, p.from)
		if !ok {
			return fmt.Errorf("model %q: no exchange rate for %s", m.ID, p.currency)
		}
		p.usd = e.usd
	}
	return nil
}

// worth finds the exchange rate of a day: the last one from that day or
// before, or else the first one after it.
func (t *Table) worth(currency string, day time.Time) (exchange, bool) {
	var best exchange
	found := false
	for _, e := range t.exchange {
		if e.currency != currency {
			continue
		}
		nearer := e.from.After(best.from) && !e.from.After(day) || best.from.After(day) && e.from.Before(best.from)
		if !found || nearer {
			best, found = e, true
		}
	}
	return best, found
}

func (t *Table) ruleByName(name string) (Rules, bool) {
	for _, r := range t.rules {
		if r.Name == name {
			return r, true
		}
	}
	return Rules{}, false
}

// rule finds rules that the embedded table is known to have.
func (t *Table) rule(name string) Rules {
	r, ok := t.ruleByName(name)
	if !ok {
		panic(fmt.Sprintf("price: the embedded table has no rules %q", name))
	}
	return r
}

// Model finds a model by its name as agents record it: id or alias, with a
// dated suffix, under the names of vendors and resellers, in the notation of a
// cloud platform, with dots or dashes in the version. A name that is not in the
// table is not found; there is no nearest match.
func (t *Table) Model(name string) (Model, bool) {
	for _, key := range t.candidates(name) {
		if i, ok := t.names[key]; ok {
			return t.models[i], true
		}
	}
	return Model{}, false
}

// Models returns all models in the order of the table.
func (t *Table) Models() []Model { return append([]Model(nil), t.models...) }

// A Model is a model of a provider with its prices and rules.
type Model struct {
	ID        string
	Provider  string
	Window    int // context window in tokens; 0: not known
	aliases   []string
	rulesName string
	rules     Rules
	prices    []row // rising by from
}

// over returns the base with the fields that m states.
func (m Model) over(base Model) Model {
	if m.Provider != "" {
		base.Provider = m.Provider
	}
	if m.Window != 0 {
		base.Window = m.Window
	}
	if m.rulesName != "" {
		base.rulesName = m.rulesName
	}
	if m.prices != nil {
		base.prices = m.prices
	}
	base.aliases = append(append([]string(nil), base.aliases...), m.aliases...)
	return base
}

// called reports whether name is the id or an alias of the model.
func (m Model) called(name string) bool {
	key := canonical(name)
	return canonical(m.ID) == key || slices.ContainsFunc(m.aliases, func(a string) bool { return canonical(a) == key })
}

// Rules are the prefix rules of the model.
func (m Model) Rules() Rules { return m.rules }

// Rates are the prices at that time, in US dollars per token. Before the first
// day that the table knows, the prices of that first day are used.
func (m Model) Rates(at time.Time) Rates { return m.row(at).rates(at) }

// Source says where the prices of that time come from.
func (m Model) Source(at time.Time) Source { return m.row(at).source }

// Cost is the price of a call in US dollars as its usage was reported.
func (m Model) Cost(u quire.Usage, at time.Time) float64 {
	return m.Rates(at).Cost(Recorded(u), int(u.Output))
}

// row is the one that counts at that time.
func (m Model) row(at time.Time) row {
	current := m.prices[0]
	for _, r := range m.prices[1:] {
		if !r.from.After(at) {
			current = r
		}
	}
	return current
}

// A Source says where a figure comes from.
type Source struct {
	Grade Grade
	Text  string
	From  time.Time // since when it counts; zero: since before the table begins
	Note  string    // what of it is assumed or disputed
}

// A Grade says how good a source is.
type Grade string

// The grades.
const (
	Primary   Grade = "primary"   // the vendor's own page or documentation
	Secondary Grade = "secondary" // somebody who copied it
	Derived   Grade = "derived"   // computed from recorded costs
	Assumed   Grade = "assumed"   // of something near, for the reason that the note gives
)

// A row is what a model costs from a day on, per million tokens.
type row struct {
	from     time.Time
	source   Source
	currency string
	usd      float64 // worth of one unit of the currency
	prices   Prices
	cliff    int // tokens; 0: none
	above    Prices
	peak     *peak
}

// A peak is a time of the week with prices of its own, in UTC.
type peak struct {
	days   []time.Weekday
	hours  [][2]int // from, until (not included)
	prices Prices
}

// rates are the prices per token in US dollars. A row with a peak has no cliff.
func (r row) rates(at time.Time) Rates {
	perToken := r.usd / 1e6
	if r.peak != nil && r.peak.holds(at) {
		return Rates{Prices: r.peak.prices.times(perToken)}
	}
	return Rates{Prices: r.prices.times(perToken), CliffAt: r.cliff, Above: r.above.times(perToken)}
}

func (p *peak) holds(at time.Time) bool {
	at = at.UTC()
	day := false
	for _, d := range p.days {
		day = day || d == at.Weekday()
	}
	if !day {
		return false
	}
	for _, h := range p.hours {
		if at.Hour() >= h[0] && at.Hour() < h[1] {
			return true
		}
	}
	return false
}
