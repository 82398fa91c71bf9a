package price

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A file is what a price file says, before it is put over a table.
type file struct {
	rules     []Rules
	exchange  []exchange
	models    []Model
	resellers []string
}

// parse reads a price file. Errors begin with the line and column.
func parse(text []byte) (file, error) {
	r := &reader{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	var f file
	err := r.object(f.field(r))
	if err == nil {
		err = r.end()
	}
	return f, err
}

func (f *file) field(r *reader) func(string) error {
	return func(key string) error {
		switch key {
		case "rules":
			return list(r, &f.rules, readRules)
		case "exchange":
			return list(r, &f.exchange, readExchange)
		case "models":
			return list(r, &f.models, readModel)
		case "resellers":
			return list(r, &f.resellers, readString)
		}
		return r.unknown(key)
	}
}

func readRules(r *reader) (Rules, error) {
	var rules Rules
	err := r.object(func(key string) error {
		switch key {
		case "name":
			return r.string(&rules.Name)
		case "match":
			return r.match(&rules.Match)
		case "minimum":
			return r.count(&rules.Minimum)
		case "step":
			return r.count(&rules.Step)
		case "breakpoints":
			return r.count(&rules.Breakpoints)
		case "look_back":
			return r.count(&rules.LookBack)
		case "implicit":
			return r.bool(&rules.Implicit)
		case "answers":
			return r.bool(&rules.Answers)
		case "ttl":
			return r.duration(&rules.TTL)
		case "long_ttl":
			return r.duration(&rules.LongTTL)
		case "charges_writes":
			return r.bool(&rules.ChargesWrites)
		case "guaranteed":
			return r.bool(&rules.Guaranteed)
		case "margin":
			return r.duration(&rules.Margin)
		case "note":
			return r.string(&rules.Note)
		}
		return r.unknown(key)
	})
	if err == nil && (rules.Name == "" || rules.TTL <= 0) {
		err = r.errorf("rules need a name and a ttl")
	}
	if err == nil && rules.Match == AtBreakpoints && rules.Breakpoints == 0 {
		err = r.errorf("rules %q match at breakpoints and permit none", rules.Name)
	}
	return rules, err
}

func readExchange(r *reader) (exchange, error) {
	var e exchange
	err := r.object(func(key string) error {
		switch key {
		case "currency":
			return r.string(&e.currency)
		case "from":
			return r.day(&e.from)
		case "usd":
			return r.amount(&e.usd)
		}
		return r.source(&e.source, key)
	})
	if err == nil && (e.currency == "" || e.usd <= 0) {
		err = r.errorf("an exchange rate needs a currency and what it is worth in usd")
	}
	return e, err
}

func readModel(r *reader) (Model, error) {
	var m Model
	err := r.object(func(key string) error {
		switch key {
		case "id":
			return r.string(&m.ID)
		case "provider":
			return r.string(&m.Provider)
		case "aliases":
			return list(r, &m.aliases, readString)
		case "window":
			return r.count(&m.Window)
		case "rules":
			return r.string(&m.rulesName)
		case "prices":
			return list(r, &m.prices, readRow)
		}
		return r.unknown(key)
	})
	if err == nil && m.ID == "" {
		err = r.errorf("a model needs an id")
	}
	for i := 1; err == nil && i < len(m.prices); i++ {
		if !m.prices[i].from.After(m.prices[i-1].from) {
			err = r.errorf("model %q: the prices are not in the order of their days", m.ID)
		}
	}
	return m, err
}

func readRow(r *reader) (row, error) {
	var p row
	var base, above priceFields
	err := r.object(func(key string) error {
		switch key {
		case "from":
			return r.day(&p.from)
		case "currency":
			return r.string(&p.currency)
		case "above":
			return r.object(func(key string) error {
				if key == "tokens" {
					return r.count(&p.cliff)
				}
				return r.price(&above, key)
			})
		case "peak":
			var err error
			p.peak, err = readPeak(r)
			return err
		case "grade", "source", "note":
			return r.source(&p.source, key)
		}
		return r.price(&base, key)
	})
	p.source.From = p.from
	p.prices, p.above = base.prices(), above.prices()
	if err == nil {
		err = r.checkRow(p, above)
	}
	return p, err
}

func (r *reader) checkRow(p row, above priceFields) error {
	switch {
	case p.prices.Input <= 0 || p.prices.Output <= 0:
		return r.errorf("a price needs input and output")
	case (p.cliff > 0) != (above != priceFields{}):
		return r.errorf("\"above\" needs tokens and prices")
	case p.cliff > 0 && p.peak != nil:
		return r.errorf("a price cannot have both \"above\" and \"peak\"")
	case p.source.Text == "" || p.source.Grade == "":
		return r.errorf("a price needs a source and its grade")
	}
	return nil
}

func readPeak(r *reader) (*peak, error) {
	p := new(peak)
	var fields priceFields
	err := r.object(func(key string) error {
		switch key {
		case "days":
			return list(r, &p.days, readDay)
		case "hours":
			return list(r, &p.hours, readHours)
		}
		return r.price(&fields, key)
	})
	p.prices = fields.prices()
	if err == nil && (len(p.days) == 0 || len(p.hours) == 0 || p.prices.Input <= 0) {
		err = r.errorf("a peak needs days, hours and prices")
	}
	return p, err
}

func readDay(r *reader) (time.Weekday, error) {
	var name string
	if err := r.string(&name); err != nil {
		return 0, err
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if d.String()[:3] == name {
			return d, nil
		}
	}
	return 0, r.errorf("%q is not a day (Mon, Tue …)", name)
}

func readHours(r *reader) ([2]int, error) {
	var hours []int
	if err := list(r, &hours, func(r *reader) (int, error) { var n int; return n, r.count(&n) }); err != nil {
		return [2]int{}, err
	}
	if len(hours) != 2 || hours[0] >= hours[1] || hours[1] > 24 {
		return [2]int{}, r.errorf("hours are two numbers, from and until")
	}
	return [2]int{hours[0], hours[1]}, nil
}

// priceFields are the prices that an object of the file states; zero: not stated.
type priceFields struct{ input, read, write, write1h, output float64 }

// prices fills in what is not stated: a read without a discount, a write
// without a fee, a long write at the price of a short one.
func (f priceFields) prices() Prices {
	p := Prices{Input: f.input, Read: f.input, Write: f.input, Output: f.output}
	if f.read > 0 {
		p.Read = f.read
	}
	if f.write > 0 {
		p.Write = f.write
	}
	p.Write1h = p.Write
	if f.write1h > 0 {
		p.Write1h = f.write1h
	}
	return p
}

func (r *reader) price(f *priceFields, key string) error {
	switch key {
	case "input":
		return r.amount(&f.input)
	case "read":
		return r.amount(&f.read)
	case "write":
		return r.amount(&f.write)
	case "write_1h":
		return r.amount(&f.write1h)
	case "output":
		return r.amount(&f.output)
	}
	return r.unknown(key)
}

func (r *reader) source(s *Source, key string) error {
	switch key {
	case "source":
		return r.string(&s.Text)
	case "note":
		return r.string(&s.Note)
	case "grade":
		var name string
		if err := r.string(&name); err != nil {
			return err
		}
		s.Grade = Grade(name)
		switch s.Grade {
		case Primary, Secondary, Derived, Assumed:
			return nil
		}
		return r.errorf("%q is not a grade (primary, secondary, derived, assumed)", name)
	}
	return r.unknown(key)
}

func (r *reader) match(m *Match) error {
	var name string
	if err := r.string(&name); err != nil {
		return err
	}
	switch name {
	case "breakpoint":
		*m = AtBreakpoints
	case "automatic":
		*m = Automatic
	default:
		return r.errorf("%q is not a way of matching (breakpoint, automatic)", name)
	}
	return nil
}

func readString(r *reader) (string, error) {
	var s string
	return s, r.string(&s)
}

// A reader walks a JSON text token by token, so that each error can say where
// it is and each unknown key is one.
type reader struct {
	text []byte
	dec  *json.Decoder
}

// errorf is an error at the place that was read last.
func (r *reader) errorf(format string, args ...any) error {
	before := r.text[:min(int(r.dec.InputOffset()), len(r.text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return fmt.Errorf("line %d, column %d: %s", line, max(column, 1), fmt.Sprintf(format, args...))
}

func (r *reader) unknown(key string) error { return r.errorf("unknown key %q", key) }

func (r *reader) token() (json.Token, error) {
	token, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, r.errorf("the text ends too early")
	}
	if err != nil {
		return nil, r.errorf("%v", err)
	}
	return token, nil
}

func (r *reader) delim(want json.Delim) error {
	token, err := r.token()
	if err == nil && token != want {
		err = r.errorf("%q expected", want.String())
	}
	return err
}

// object reads an object and calls field after each key, which reads the value.
func (r *reader) object(field func(key string) error) error {
	if err := r.delim('{'); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for r.dec.More() {
		token, err := r.token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return r.errorf("a key expected")
		}
		if seen[key] {
			return r.errorf("key %q stands twice", key)
		}
		seen[key] = true
		if err := field(key); err != nil {
			return err
		}
	}
	return r.delim('}')
}

// list reads an array into to.
func list[T any](r *reader, to *[]T, element func(*reader) (T, error)) error {
	if err := r.delim('['); err != nil {
		return err
	}
	*to = []T{}
	for r.dec.More() {
		e, err := element(r)
		if err != nil {
			return err
		}
		*to = append(*to, e)
	}
	return r.delim(']')
}

// end makes sure that nothing follows.
func (r *reader) end() error {
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return r.errorf("text after the end")
	}
	return nil
}

// scalar reads one value of type T.
func scalar[T any](r *reader, to *T, what string) error {
	token, err := r.token()
	if err != nil {
		return err
	}
	v, ok := token.(T)
	if !ok {
		return r.errorf("%s expected", what)
	}
	*to = v
	return nil
}

func (r *reader) string(to *string) error { return scalar(r, to, "a string") }
func (r *reader) bool(to *bool) error     { return scalar(r, to, "true or false") }

func (r *reader) amount(to *float64) error {
	if err := scalar(r, to, "a number"); err != nil {
		return err
	}
	if *to < 0 {
		return r.errorf("a number must not be negative")
	}
	return nil
}

// count reads a whole number.
func (r *reader) count(to *int) error {
	var f float64
	if err := r.amount(&f); err != nil {
		return err
	}
	if f > 1e9 || f != float64(int(f)) {
		return r.errorf("a whole number up to a thousand million expected")
	}
	*to = int(f)
	return nil
}

func (r *reader) day(to *time.Time) error {
	var text string
	if err := r.string(&text); err != nil {
		return err
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return r.errorf("%q is not a day (2026-11-30)", text)
	}
	*to = day
	return nil
}

func (r *reader) duration(to *time.Duration) error {
	var text string
	if err := r.string(&text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return r.errorf("%q is not a duration (5m, 1h)", text)
	}
	*to = d
	return nil
}
