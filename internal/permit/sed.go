package permit

import "strings"

// edited is sed: with -i it changes its files, and its language can run commands
// and write files too. Only scripts that surely do neither are let through.
func edited(c command) []effect {
	scripts, files, ok := sedParts(c)
	for _, text := range scripts {
		ok = ok && sedSafe(text)
	}
	if !ok || len(scripts) == 0 {
		return []effect{{kind: runs, why: "its script may run commands or write files"}}
	}
	if c.hasFlag("-i") {
		return []effect{{kind: changes, paths: files}}
	}
	return []effect{{kind: looks, paths: files}}
}

// sedParts tells scripts from files; ok is false when a script is not known.
func sedParts(c command) (scripts []string, files []word, ok bool) {
	named := false
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		switch value, glued := strings.CutPrefix(w.text, "--expression="); {
		case glued:
			scripts, named = append(scripts, value), true
		case w.text == "-e" || w.text == "--expression" || w.flag() && !strings.HasPrefix(w.text, "--") && strings.HasSuffix(w.text, "e"):
			if i++; i >= len(c.args) || !c.args[i].known {
				return nil, nil, false
			}
			scripts, named = append(scripts, c.args[i].text), true
		case w.flag() && (strings.HasPrefix(w.text, "--fi") || !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text[1:2], "fe")):
			return nil, nil, false
		case w.flag():
		case !named && len(scripts) == 0:
			if !w.known {
				return nil, nil, false
			}
			scripts = append(scripts, w.text)
		default:
			files = append(files, w)
		}
	}
	return scripts, files, true
}

// A sedReader reads as much of a script as surely does nothing but edit text.
type sedReader struct{ rest string }

func sedSafe(script string) bool {
	r := &sedReader{script}
	for {
		r.skip(" \t\n;{}")
		if r.rest == "" {
			return true
		}
		if !r.address() || !r.command() {
			return false
		}
	}
}

func (r *sedReader) skip(set string) { r.rest = strings.TrimLeft(r.rest, set) }

// address passes the lines that a command is for.
func (r *sedReader) address() bool {
	for {
		r.skip("0123456789$,~+! \t")
		if !strings.HasPrefix(r.rest, "/") {
			return true
		}
		if !r.section('/', 1) {
			return false
		}
		r.skip("I")
	}
}

// command passes one command.
func (r *sedReader) command() bool {
	if r.rest == "" {
		return false
	}
	name := r.rest[0]
	switch {
	case strings.IndexByte("}{", name) >= 0:
		return true
	case strings.IndexByte("pdqQ=nNhHgGxDPlzF", name) >= 0:
		r.rest = r.rest[1:]
		r.skip("0123456789 \t")
		return r.ended()
	case (name == 's' || name == 'y') && len(r.rest) > 1:
		r.rest = r.rest[1:]
		if !r.section(r.rest[0], 2) {
			return false
		}
		r.skip("gIip0123456789 \t")
		return r.ended()
	}
	return false
}

func (r *sedReader) ended() bool {
	return r.rest == "" || strings.IndexByte(";}\n", r.rest[0]) >= 0
}

// section passes so many texts with a mark before, between and after them.
func (r *sedReader) section(mark byte, texts int) bool {
	if mark == '\\' || mark == '\n' {
		return false
	}
	for i := 1; i < len(r.rest); i++ {
		switch r.rest[i] {
		case '\\':
			i++
		case '\n':
			return false
		case mark:
			if texts--; texts == 0 {
				r.rest = r.rest[i+1:]
				return true
			}
		}
	}
	return false
}
