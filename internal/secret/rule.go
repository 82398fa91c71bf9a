package secret

import (
	"math"
	"regexp"
	"strings"
)

// A rule says how one kind of secret is found. One of its words stands where the
// secret, or what introduces it, begins; then one of form and find decides.
type rule struct {
	id    string
	words []string // lower case; looked for in any case of letters

	// form matches from the word on (from back bytes before it). Its first
	// group, or without one all of it, is the secret.
	form string
	back int

	// find does what no expression can. It gets the place of the word and its
	// length, and returns the secret; from >= to when there is none.
	find func(text string, at, length int) (from, to int)

	bits   float64 // least entropy of the secret, in bits a byte; with it, it must not be made of words
	inside bool    // the word may stand in the middle of another
	brief  bool    // the word says too little: a secret that is cut short is not known by it
	long   bool    // the form is decided by up to 4 KiB instead of 512 bytes
	value  bool    // what stands for a secret (a variable, stars, a word in brackets) is let through
}

func (r rule) compile() *regexp.Regexp { return regexp.MustCompile(`^(?:` + r.form + `)`) }

// seek looks for the secret that a word introduces.
func (s *seeker) seek(text string, at, length int) (from, to int) {
	if s.find != nil {
		return s.find(text, at, length)
	}
	begin := at - s.back
	if begin < 0 {
		return 0, 0
	}
	from, to, last := s.match(text, begin, s.window())
	if from >= to && !s.brief {
		return torn(text, at, length)
	}
	if from >= to || !s.good(text[from:to]) {
		return 0, 0
	}
	for size := 2 * s.window(); last; size *= 2 {
		from, to, last = s.match(text, begin, size)
	}
	if !closes(text, to) {
		return 0, 0
	}
	return from, to
}

// window is how much of a text decides whether there is a secret.
func (r *rule) window() int {
	if r.long {
		return 4096
	}
	return 512
}

// match applies the form to a window of the text. last says that the match ends
// with the window and may go on.
func (s *seeker) match(text string, begin, size int) (from, to int, last bool) {
	end := min(begin+size, len(text))
	m := s.form().FindStringSubmatchIndex(text[begin:end])
	if m == nil {
		return 0, 0, false
	}
	last = begin+m[1] == end && end < len(text)
	if len(m) > 2 && m[2] >= 0 {
		return begin + m[2], begin + m[3], last
	}
	return begin + m[0], begin + m[1], last
}

func (r *rule) good(secret string) bool {
	if r.value && !worth(secret) {
		return false
	}
	if r.bits == 0 {
		return r.value || entropy(secret) >= leastVaried
	}
	return !ofWords(secret) && entropy(secret) >= r.bits
}

// ofWords reports whether a text may be made of words: it has no digit, and small
// letters and capitals don't take turns as those of a long key do by chance. One
// key of 40 letters and digits in a thousand has no digit.
func ofWords(text string) bool { return !strings.ContainsAny(text, "0123456789") && !mixed(text) }

// leastVaried is the entropy below which a secret is one in an example, made of x
// or 0.
const leastVaried = 2.0

// leastTorn is how many bytes of a secret must be left after the word that says
// what it is.
const leastTorn = 6

// torn is the secret that begins with a word and is cut short: it reaches to the
// end of the text or to the sign … that something was left out.
func torn(text string, at, length int) (from, to int) {
	to = at + length
	for to < len(text) && to < at+512 && (wordly(text[to]) || strings.IndexByte("-.+/=", text[to]) >= 0) {
		to++
	}
	if to-at-length < leastTorn || !ends(text, to) {
		return 0, 0
	}
	return at, to
}

func ends(text string, at int) bool { return at == len(text) || strings.HasPrefix(text[at:], "…") }

// entropy is the mean information of a byte of the text in bits, when its bytes
// are drawn as often as they stand in it (Shannon, 1948).
func entropy(text string) float64 {
	var count [256]int
	for i := range len(text) {
		count[text[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
