package main

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A runDelta is a line of the stream: the next words of an answer. All deltas of a
// call together are its text but for white space around it.
type runDelta struct {
	Type string `json:"type"` // delta
	Call int    `json:"call"`
	Text string `json:"text"`
}

// A teller gives the words of an answer as they come, in whole lines: a secret is
// known by its line, or by all lines of a key.
type teller struct {
	mask  func(string) string
	texts map[int]bool // blocks that are words, by index
	said  string       // of the answer so far
	told  string       // of it masked
	end   int          // of the whole lines of said that were looked at
}

// keyBegins and keyEnds stand around keys of several lines.
const (
	keyBegins = "-----BEGIN"
	keyEnds   = "-----END"
)

// take takes a step of an answer and returns what is to be told now.
func (t *teller) take(d quire.Delta) string {
	switch d := d.(type) {
	case quire.ReplyBegun:
		*t = teller{mask: t.mask, texts: map[int]bool{}}
	case quire.BlockBegun:
		if d.Block.Kind == quire.PartText && t.texts != nil {
			t.texts[d.Index] = true
			t.said += d.Block.Text
		}
	case quire.BlockGrew:
		if t.texts[d.Index] {
			t.said += d.Text
		}
	case quire.BlockEnded:
		if t.texts[d.Index] {
			t.said += "\n"
		}
	}
	return t.whole()
}

// whole is what whole lines hold that was not told.
func (t *teller) whole() string {
	end := strings.LastIndexByte(t.said, '\n') + 1
	if end == t.end {
		return ""
	}
	t.end = end
	text := t.said[:end]
	if i := strings.LastIndex(text, keyBegins); i >= 0 && !strings.Contains(text[i:], keyEnds) {
		text = text[:i]
	}
	masked := t.mask(text)
	more, ok := strings.CutPrefix(masked, t.told)
	if !ok {
		return ""
	}
	t.told = masked
	return more
}
