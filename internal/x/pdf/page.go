package pdf

import (
	"bytes"
	"math"
	"strings"
)

// page is the text of a page.
func (f *file) page(v value) string {
	contents := f.of(v.dict["Contents"])
	parts := []value{contents}
	if contents.kind == list {
		parts = contents.list
	}
	var data []byte
	for _, p := range parts {
		data = append(append(data, f.content(f.of(p))...), '\n')
	}
	w := &writer{f: f, fonts: map[string]*font{}}
	w.play(data, f.of(v.dict["Resources"]), 0)
	return w.out.String()
}

// A writer puts down what a content shows.
type writer struct {
	f     *file
	out   strings.Builder
	fonts map[string]*font
	font  *font

	leading float64
	x, y    float64 // where the line begins
	at      float64 // y of what was written last
	wrote   bool
	gap     bool // something stands between what was written and what comes
}

// deepForms is how many forms may stand in each other, most operators how many
// are obeyed on one page.
const (
	deepForms     = 8
	mostOperators = 2_000_000
)

// play obeys the operators of a content that have to do with text.
func (w *writer) play(data []byte, resources value, deep int) {
	r := &reader{data: data}
	var args []value
	for range mostOperators {
		v, ok := r.next()
		if !ok {
			if r.at >= len(data) {
				return
			}
			r.at++
			continue
		}
		if v.kind != operator {
			args = append(args, v)
			continue
		}
		if v.text == "BI" {
			r.image()
		}
		w.obey(v.text, args, resources, deep)
		args = args[:0]
	}
}

// image passes over an image that stands in a content.
func (r *reader) image() {
	for _, end := range []string{"\nEI", " EI", "\rEI"} {
		if i := bytes.Index(r.data[r.at:], []byte(end)); i >= 0 {
			r.at += i + len(end)
			return
		}
	}
	r.at = len(r.data)
}

func numbers(args []value, want int) []float64 {
	out := make([]float64, want)
	for i := range min(want, len(args)) {
		out[i] = args[i].number
	}
	return out
}

func (w *writer) obey(op string, args []value, resources value, deep int) {
	switch op {
	case "BT":
		w.x, w.y = 0, 0
		w.gap = true
	case "Tf":
		if len(args) > 0 {
			w.choose(args[0].text, resources)
		}
	case "TL":
		w.leading = numbers(args, 1)[0]
	case "Td":
		n := numbers(args, 2)
		w.move(n[0], n[1])
	case "TD":
		n := numbers(args, 2)
		w.leading = -n[1]
		w.move(n[0], n[1])
	case "Tm":
		n := numbers(args, 6)
		w.x, w.y, w.gap = n[4], n[5], true
	case "T*":
		w.move(0, -w.leading)
	case "'", "\"":
		w.move(0, -w.leading)
		w.show(args[max(len(args)-1, 0):])
	case "Tj", "TJ":
		w.show(args)
	case "Do":
		if len(args) > 0 && deep < deepForms {
			w.form(args[0].text, resources, deep)
		}
	}
}

func (w *writer) move(x, y float64) {
	w.x += x
	w.y += y
	w.gap = true
}

// form plays a content that is used by its name.
func (w *writer) form(called string, resources value, deep int) {
	v := w.f.of(w.f.of(resources.dict["XObject"]).dict[called])
	if v.dict["Subtype"].text != "Form" {
		return
	}
	own := resources
	if r, ok := v.dict["Resources"]; ok {
		own = w.f.of(r)
	}
	w.play(w.f.content(v), own, deep+1)
}

// wide is how far the next letter must be pushed away, in thousandths of the size
// of the font, to be that of another word.
const wide = 180

func (w *writer) show(args []value) {
	for _, a := range args {
		switch a.kind {
		case text:
			w.write(w.font.decode(a.text))
		case list:
			w.show(a.list)
		case number:
			if a.number < -wide {
				w.gap = true
			}
		}
	}
}

// write puts down letters: on a new line where they stand on another height than
// those before, and apart from them where something stood between.
func (w *writer) write(s string) {
	if s == "" {
		return
	}
	written := w.out.String()
	switch {
	case !w.wrote:
	case math.Abs(w.y-w.at) > 1.5:
		w.out.WriteByte('\n')
	case w.gap && !strings.HasSuffix(written, " ") && !strings.HasPrefix(s, " "):
		w.out.WriteByte(' ')
	}
	w.wrote, w.gap, w.at = true, false, w.y
	w.out.WriteString(s)
}
