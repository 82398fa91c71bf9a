package rendition

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/secret"
)

// A Source is a page with its body and what else a rendition is made of.
type Source struct {
	Page    quire.Page
	Text    string        // the body; bytes that are not UTF-8 are shown as "?"
	Outcome quire.Outcome // of a tool call, "" where unknown
	Media   *quire.Media  // of images and documents
	Seen    string        // of an image: what the model wrote first after it had seen it
}

// A Reader says how the reader of a prompt gets at a page or at lines of one, in
// a few words that continue a sentence: "recall p412". They must name the page.
type Reader func(quire.PageRef) string

// Recall is the Reader for prompts whose tool list holds the tool recall.
func Recall(ref quire.PageRef) string { return "recall " + ref.String() }

// A Counter counts tokens; package token has one.
type Counter interface{ Count(text string) int }

// A Maker makes renditions. Any number of goroutines may use one if they may use
// its Counter.
type Maker struct {
	secrets *secret.Finder
	counter Counter
	read    Reader
}

// NewMaker makes a maker whose cards and handles are masked by the finder, and
// whose handles are measured by the counter. A nil Reader says that whoever gets
// the prompt cannot read pages back: then there are cards, but neither excerpts
// nor handles.
func NewMaker(secrets *secret.Finder, counter Counter, read Reader) *Maker {
	return &Maker{secrets: secrets, counter: counter, read: read}
}

// readable reports whether what is left out of a page can be read back.
func (m *Maker) readable(s *Source) bool { return m.read != nil && s.Page.Number > 0 }

func (m *Maker) how(n quire.PageNumber) string { return m.read(quire.PageRef{Page: n}) }

// A Cut is a shortened text.
type Cut struct {
	Text  string
	Lines []quire.Range // the lines that stand in it whole, rising and apart from each other
}

// Bytes says how many bytes of a page make that many tokens, by the page's own
// counts, so that bounds in tokens can be given to makers, which count bytes.
// Where the counts are not known four bytes are taken for a token.
func Bytes(p quire.Page, tokens int) int {
	if p.Tokens <= 0 || p.Bytes <= 0 {
		return 4 * tokens
	}
	return int(int64(tokens) * int64(p.Bytes) / int64(p.Tokens))
}

// valid is a text with "?" for each run of bytes that are not UTF-8: no longer
// than the text, whatever is in it.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "?")
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		return strconv.Itoa(n) + " " + noun + "es"
	case strings.HasSuffix(noun, "try"):
		return strconv.Itoa(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
