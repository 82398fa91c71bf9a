package secret

import (
	"regexp"
	"strings"
)

// The bounds of an assignment, in bytes.
const (
	longestName   = 64  // of a name on either side of its word
	longestGap    = 8   // of spaces around the sign
	decisive      = 256 // of a value by which it is judged
	leastSecret   = 10  // of a value that must look random
	leastPassword = 4   // of a password
	leastBits     = 3.0 // of a value that must look random, a byte
)

// An assignment gives a value to a name: NAME=value, "name": "value", name:
// value, name := `value`, <name>value</name>, --name value. Quotes may be
// escaped.
type assignment struct {
	text          string
	before, after string // of the name, what stands on either side of the word
	begin         int    // of the name
	flag          bool   // it is an option of a command
	tight         bool   // the sign follows the name at once
	quote         byte   // of the value, 0 for none
	escaped       bool   // the quote is
	from, to      int    // the value, or as much of it as decides
}

// assigned reads the assignment to a name that has a word in it.
func assigned(text string, at, length int) (a assignment, ok bool) {
	begin, end := at, at+length
	for begin > 0 && at-begin < longestName && named(text[begin-1]) {
		begin--
	}
	for end < len(text) && end-at-length < longestName && named(text[end]) {
		end++
	}
	a = assignment{text: text, begin: begin, before: text[begin:at], after: text[at+length : end]}
	a.flag = strings.HasPrefix(text[begin:], "-")
	next := a.sign(end)
	if next < 0 {
		return a, false
	}
	a.value(next)
	return a, a.from < a.to
}

func named(b byte) bool { return wordly(b) || b == '-' }

// sign is the place after what stands between a name and its value; -1 if the
// name is not assigned to.
func (a *assignment) sign(end int) int {
	closed := skip(a.text, end, "\\\"'`]", 4)
	i := a.typed(skip(a.text, closed, " \t", longestGap))
	equal := skip(a.text, i, ":?.|+&", 3)
	rest := a.text[i:]
	switch {
	case strings.HasPrefix(a.text[equal:], "="):
		a.tight = i == end && equal == i
		i = skip(a.text, equal+1, "=>", 1)
	case strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::"):
		a.tight = i == end
		i++
	case strings.HasPrefix(rest, ">") && strings.HasSuffix(a.text[:a.begin], "<"):
		return skip(a.text, i+1, " \t\r\n", longestName)
	case strings.HasPrefix(rest, ",") && closed > end && a.argument():
		i++
	case strings.HasPrefix(rest, "value=") && closed > end:
		i += len("value=")
	case a.flag && i > closed:
	default:
		return -1
	}
	return skip(a.text, i, " \t", longestGap)
}

// typed passes over a type: token string = "…", token: str = "…".
func (a *assignment) typed(at int) int {
	i := skip(a.text, skip(a.text, at, ":", 1), " *", 2)
	for _, name := range []string{"string", "String", "str"} {
		if rest, ok := strings.CutPrefix(a.text[i:], name); ok {
			if gap := skip(rest, 0, " \t?", longestGap); strings.HasPrefix(rest[gap:], "=") {
				return i + len(name) + gap
			}
		}
	}
	return at
}

// argument reports whether the name is the first argument of a call.
func (a *assignment) argument() bool {
	return strings.HasSuffix(strings.TrimRight(a.text[max(0, a.begin-longestGap):a.begin], "\\\"'`"), "(")
}

// skip passes over some of the given bytes.
func skip(text string, at int, bytes string, most int) int {
	for n := 0; n < most && at < len(text) && strings.IndexByte(bytes, text[at]) >= 0; n++ {
		at++
	}
	return at
}

// value finds where a value begins and ends. Without quotes it ends at what
// cannot be part of it; in a file of variables only at a space.
func (a *assignment) value(at int) {
	if at+1 < len(a.text) && strings.IndexByte("bfru@", a.text[at]) >= 0 && strings.IndexByte("\"'`", a.text[at+1]) >= 0 {
		at++
	}
	i := skip(a.text, at, `\`, 4)
	if i < len(a.text) && strings.IndexByte("\"'`", a.text[i]) >= 0 {
		a.quote, a.escaped = a.text[i], i > at
		at = i + 1
	}
	a.from, a.to = at, a.end(at, at+decisive)
}

// end is where a value ends that goes on at a place, or the limit.
func (a *assignment) end(at, limit int) int {
	if a.quote != 0 {
		return a.quoted(at, min(limit, len(a.text)))
	}
	return a.bare(at, min(limit, len(a.text)))
}

// whole is all of the value, which is looked at only when it is a secret.
func (a *assignment) whole() (from, to int) {
	if a.to == a.from+decisive {
		a.to = a.end(a.to, len(a.text))
	}
	return a.from, a.to
}

// quoted is the end of a quoted value. Where the quote that opens it is escaped,
// so is the one that closes it; else an escaped one is part of the value.
func (a *assignment) quoted(at, limit int) int {
	for i := at; i < limit; i++ {
		switch c := a.text[i]; {
		case c == '\n' || c == '\r':
			return i
		case c != a.quote:
		case a.escaped:
			return at + len(strings.TrimRight(a.text[at:i], `\`))
		case a.text[i-1] != '\\' || i == a.from:
			return i
		}
	}
	return limit
}

func (a *assignment) bare(at, limit int) int {
	stop := "\"'`\\,;)]}<>|"
	if a.variable() {
		stop = stop[:4]
	}
	for at < limit && !a.parameter(at) {
		switch c := a.text[at]; {
		case c == open[0] && strings.HasPrefix(a.text[at:], open):
			return at + len(open)
		case c <= ' ' || c >= 0x7f || strings.IndexByte(stop, c) >= 0:
			return at
		default:
			at++
		}
	}
	return at
}

// variable reports whether this is a line of a file of variables or of a shell
// that sets one.
func (a *assignment) variable() bool {
	return a.tight && !a.flag && a.upper()
}

// upper reports whether the name is in capitals.
func (a *assignment) upper() bool {
	c := a.text[a.begin+len(a.before)]
	return 'A' <= c && c <= 'Z' && strings.ToUpper(a.before+a.after) == a.before+a.after
}

// parameter reports whether the next parameter of an address begins here.
func (a *assignment) parameter(at int) bool {
	if a.text[at] != '&' {
		return false
	}
	end := at + 1
	for end < len(a.text) && end-at < longestName && named(a.text[end]) {
		end++
	}
	return end > at+1 && end < len(a.text) && a.text[end] == '='
}

// torn reports whether the value is cut short.
func (a *assignment) torn() bool { return a.quote == 0 && ends(a.text, a.to) || a.to == len(a.text) }

// told reports whether the name tells that its value is a secret, and not, say,
// where one is found or how long it lasts.
func (a *assignment) told() bool {
	if a.after != "" && wordly(a.after[0]) && a.after[0] != '_' && !startsWord(a.after) {
		return false
	}
	return !aboutSecret.MatchString(a.after) && !notSecret.MatchString(a.before)
}

// startsWord reports whether what follows a word within a name is a word of its
// own and not the end of another: tokenValue, but neither tokens nor tokenizer.
func startsWord(after string) bool {
	if lower(after[0]) == 's' && (len(after) == 1 || !letter(after[1])) {
		return false
	}
	return after[0] < 'a' || strings.HasPrefix(after, "key") || strings.HasPrefix(after, "value")
}

var (
	aboutSecret = regexp.MustCompile(`(?i)(?:ids?|names?|files?|dirs?|paths?|ur[il]s?|endpoints?|types?|counts?|limits?|budget|usage|len|length|size|expir\w*|ttl|alg\w*|version|[_-](?:at|in|ref|arn)|fields?|labels?|prefix|headers?|env|status|policy|provider|store|manager|strength|prompt|reset|input|rules?|min|max|class|count\w*)$`)
	notSecret   = regexp.MustCompile(`(?i)public|cache|primary|foreign|partition|sort|idempoten|(?:^|[_-])(?:num|max|min|n)[_-]|total|page|next|continuation|prompt|completion|input|output|csrf[_-]?param`)
	keyNames    = regexp.MustCompile(`(?i)api|access|secret|private|crypt|sign|auth|master|account|licen[sc]e|service|storage|shared|webhook|jwt|client|admin|deploy|session|hmac|aes|token`)
)

// password finds the value of a name for passwords. It need not look random.
func password(text string, at, length int) (from, to int) {
	a, ok := assigned(text, at, length)
	if !ok || !a.told() || !a.secretive(length) || !worth(a.text[a.from:a.to]) {
		return 0, 0
	}
	return a.whole()
}

// secretive reports whether a value can be a password: in quotes or set as a
// variable anything of one word, else what cannot be an identifier.
func (a *assignment) secretive(length int) bool {
	v := a.text[a.from:a.to]
	phrase := strings.EqualFold(a.text[a.begin+len(a.before):][:length], "passphrase")
	switch {
	case len(v) < leastPassword && !a.torn():
		return false
	case strings.ContainsAny(v, " \t"):
		return phrase && a.quote != 0
	case a.quote != 0 || a.variable() || a.flag:
		return !strings.HasPrefix(v, "/")
	default:
		return strings.ContainsAny(v, "0123456789!#$%^&*+?@~") && !strings.ContainsAny(v, "(/")
	}
}

// assignedSecret finds the value of a name for secrets, if it looks random.
func assignedSecret(text string, at, length int) (from, to int) {
	a, ok := assigned(text, at, length)
	if !ok || !a.told() || !a.random() {
		return 0, 0
	}
	return a.whole()
}

// assignedKey is the same for names of keys: a name that ends in key is one for
// secrets only if it says of what kind, or if it is a variable.
func assignedKey(text string, at, length int) (from, to int) {
	a, ok := assigned(text, at, length)
	if !ok || a.after != "" || !a.told() || !a.random() {
		return 0, 0
	}
	if !keyNames.MatchString(a.before) && !a.variable() && !(a.upper() && a.before != "") {
		return 0, 0
	}
	return a.whole()
}

// random reports whether a value looks as if it had been drawn by chance: not
// short, of a kind with digits and letters in turn, and of high entropy. Of a
// value that is cut short less is demanded.
func (a *assignment) random() bool {
	v := a.text[a.from:a.to]
	least, bits := leastSecret, leastBits
	if a.torn() {
		least, bits = leastPassword, 0
	}
	return len(v) >= least && plain(v) && (mixed(v) || uuid.MatchString(v)) && entropy(v) >= bits && worth(v)
}

// plain reports whether a value is one word of ASCII that is no path, address or
// piece of a program.
func plain(v string) bool {
	for i := range len(v) {
		if v[i] <= ' ' || v[i] >= 0x7f || strings.IndexByte("(){}<>", v[i]) >= 0 {
			return false
		}
	}
	return !strings.Contains(v, "::") && !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, ".") && !strings.HasPrefix(v, "~") && !strings.Contains(v, "://")
}

// mixed reports whether small letters, capitals and digits take turns at least at
// every fifth byte: names made of words do less often, chance does more often.
func mixed(v string) bool {
	turns, digits, letters, last := 0, 0, 0, 0
	for i := range len(v) {
		kind := 0
		switch c := v[i]; {
		case digit(c):
			kind, digits = 1, digits+1
		case 'a' <= c && c <= 'z':
			kind, letters = 2, letters+1
		case 'A' <= c && c <= 'Z':
			kind, letters = 3, letters+1
		default:
			continue
		}
		if last != 0 && kind != last {
			turns++
		}
		last = kind
	}
	return letters > 0 && turns*5 >= len(v) && (digits > 0 || len(v) >= 20)
}

var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$`)

// standIn matches what is written where a secret would stand.
var standIn = regexp.MustCompile(`(?i)^(?:\$\w+|[?+][^}]*}?|%\w+%?|%\(.*|[$@#]?[{(\[<].*|[*.x•#_-]+|null|none|nil|true|false|undefined|string|str|text|bytes|required|optional|password|passwd|secret|token|(?:process\.|import\.meta\.)?env\..*|os\.(?:environ|getenv).*|\[?redacted.*|hidden|masked|your[-_ ].*|change[-_]?me.*|placeholder.*)$`)

// worth reports whether a value is a secret and not what stands for one: a
// variable, a word in brackets, stars, a word like changeme.
func worth(v string) bool {
	return v != "" && !standIn.MatchString(v[:min(len(v), longestName)]) && !strings.Contains(v, "${") && !strings.Contains(v, "$(") && !strings.Contains(v, "{{")
}
