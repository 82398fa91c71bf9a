package pdf

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// A font says which letters codes stand for.
type font struct {
	wide  bool           // codes have two bytes
	known map[int]string // by code
}

// choose makes a font of the resources the one that is written in.
func (w *writer) choose(called string, resources value) {
	v := w.f.of(w.f.of(resources.dict["Font"]).dict[called])
	id := called
	if r := w.f.of(resources.dict["Font"]).dict[called]; r.kind == ref {
		id = strconv.Itoa(int(r.number))
	}
	if w.fonts[id] == nil {
		w.fonts[id] = w.f.font(v)
	}
	w.font = w.fonts[id]
}

func (f *file) font(v value) *font {
	out := &font{known: map[int]string{}, wide: v.dict["Subtype"].text == "Type0"}
	f.differences(f.of(v.dict["Encoding"]), out)
	if m := f.of(v.dict["ToUnicode"]); m.kind == dict {
		out.table(f.content(m))
	}
	return out
}

// decode is what codes show. Codes of two bytes that no table knows show nothing;
// those of one byte are letters of Windows Latin 1.
func (ft *font) decode(codes string) string {
	if ft == nil {
		ft = &font{}
	}
	var b strings.Builder
	step := 1
	if ft.wide {
		step = 2
	}
	for i := 0; i+step <= len(codes); i += step {
		code := int(codes[i])
		if step == 2 {
			code = code<<8 | int(codes[i+1])
		}
		if s, ok := ft.known[code]; ok {
			b.WriteString(s)
		} else if step == 1 && codes[i] >= ' ' {
			b.WriteRune(latin(codes[i]))
		}
	}
	return b.String()
}

// latin is a letter of Windows code page 1252.
func latin(c byte) rune {
	const upper = "€\x00‚ƒ„…†‡ˆ‰Š‹Œ\x00Ž\x00\x00‘’“”•–—˜™š›œ\x00žŸ"
	if c >= 0x80 && c < 0xa0 {
		return []rune(upper)[c-0x80]
	}
	return rune(c)
}

// table reads a table of characters (ISO 32000-1, section 9.10.3): single codes
// and ranges.
func (ft *font) table(data []byte) {
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
		switch v.text {
		case "endbfchar":
			ft.singles(args)
		case "endbfrange":
			ft.ranges(args)
		}
		args = args[:0]
	}
}

// mostCodes bounds what a table may hold.
const mostCodes = 1 << 17

func codeOf(s string) (n int) {
	for i := range min(len(s), 4) {
		n = n<<8 | int(s[i])
	}
	return n
}

// letters are those that a table gives in UTF-16.
func letters(s string) string {
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return string(utf16.Decode(units))
}

func (ft *font) singles(args []value) {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i].kind == text && args[i+1].kind == text {
			ft.known[codeOf(args[i].text)] = letters(args[i+1].text)
		}
	}
}

func (ft *font) ranges(args []value) {
	for i := 0; i+2 < len(args); i += 3 {
		if args[i].kind != text || args[i+1].kind != text {
			continue
		}
		from, to := codeOf(args[i].text), codeOf(args[i+1].text)
		for code := from; code <= min(to, from+0xffff) && len(ft.known) < mostCodes; code++ {
			ft.known[code] = inRange(args[i+2], code-from)
		}
	}
}

// inRange is the letter of a code by how far it is in its range: of a list the
// one in its place, of a text the first one counted on.
func inRange(v value, n int) string {
	if v.kind == list {
		if n < len(v.list) {
			return letters(v.list[n].text)
		}
		return ""
	}
	runes := []rune(letters(v.text))
	if len(runes) == 0 {
		return ""
	}
	runes[len(runes)-1] += rune(n)
	return string(runes)
}

// differences takes the names of letters that an encoding gives.
func (f *file) differences(encoding value, ft *font) {
	code := 0
	for _, v := range f.of(encoding.dict["Differences"]).list {
		switch v.kind {
		case number:
			code = int(v.number)
		case name:
			if s := glyph(v.text); s != "" {
				ft.known[code] = s
			}
			code++
		}
	}
}

// glyph is the letter of a name, "" where the name says none: single letters, the
// names that programs use for signs, and those that hold a code.
func glyph(called string) string {
	if len([]rune(called)) == 1 {
		return called
	}
	for _, prefix := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(called, prefix); ok && len(hex) >= 4 {
			if n, err := strconv.ParseUint(hex, 16, 21); err == nil {
				return string(rune(n))
			}
		}
	}
	const names = " space=  exclam=! quotedbl=\" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' parenleft=( parenright=) asterisk=* plus=+ comma=, hyphen=- minus=- period=. slash=/ " +
		"zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=: semicolon=; less=< equal== greater=> question=? at=@ bracketleft=[ backslash=\\ bracketright=] " +
		"asciicircum=^ underscore=_ grave=` braceleft={ bar=| braceright=} asciitilde=~ quoteleft=‘ quoteright=’ quotedblleft=“ quotedblright=” endash=– emdash=— bullet=• ellipsis=… " +
		"fi=fi fl=fl ff=ff ffi=ffi ffl=ffl germandbls=ß adieresis=ä odieresis=ö udieresis=ü Adieresis=Ä Odieresis=Ö Udieresis=Ü eacute=é egrave=è agrave=à ccedilla=ç degree=° section=§ "
	_, after, ok := strings.Cut(names, " "+called+"=")
	if !ok {
		return ""
	}
	if called == "space" {
		return " "
	}
	letter, _, _ := strings.Cut(after, " ")
	return letter
}
