package route

import (
	"fmt"
	"strings"
	"unicode"
)

// The numbers of options that a question has, or none at all.
const (
	fewestOptions = 2
	mostOptions   = 3
)

// question takes over a clarification, nil where none is required or nothing is
// asked. One option alone is no choice and is left out.
func question(got *replyQuestion) *Clarification {
	if got == nil || !bool(got.Required) || got.Question == "" {
		return nil
	}
	c := &Clarification{Required: true, Reason: string(got.Reason), Question: string(got.Question), Missing: []string(got.Missing), Options: []Option{}}
	for _, o := range got.Options {
		if o.Label == "" || len(c.Options) == mostOptions {
			continue
		}
		id := slug(string(o.ID))
		if id == "" || c.has(id) {
			id = fmt.Sprintf("option-%d", len(c.Options)+1)
		}
		c.Options = append(c.Options, Option{ID: id, Label: string(o.Label), Description: string(o.Description)})
	}
	if len(c.Options) < fewestOptions {
		c.Options = []Option{}
	}
	return c
}

func (c *Clarification) has(id string) bool {
	for _, o := range c.Options {
		if o.ID == id {
			return true
		}
	}
	return false
}

// Text is the question as the user reads it, its options numbered, in Chinese where
// the user's words or the question are.
func (c *Clarification) Text(words string) string {
	choose, missing := "Answer with a number or in your own words:", "Missing: "
	if chinese(words + c.Question) {
		choose, missing = "请回答序号，或用自己的话说明：", "缺少："
	}
	var b strings.Builder
	b.WriteString(c.Question + "\n")
	if len(c.Missing) > 0 {
		b.WriteString(missing + strings.Join(c.Missing, ", ") + "\n")
	}
	if len(c.Options) > 0 {
		b.WriteString(choose + "\n")
	}
	for i, o := range c.Options {
		fmt.Fprintf(&b, "%d. %s", i+1, o.Label)
		if o.Description != "" {
			b.WriteString(" — " + o.Description)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// chinese reports whether a text holds Chinese characters.
func chinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
