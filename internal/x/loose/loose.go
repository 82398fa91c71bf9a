package loose

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Object finds the JSON object of a reply: that of the first fenced block that
// holds one, otherwise what stands between the first opening and the last closing
// brace. ok is false where there is none.
func Object(reply string) (object json.RawMessage, ok bool) {
	for _, block := range fenced(reply) {
		if raw, ok := asObject(block); ok {
			return raw, true
		}
	}
	first, last := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
	if first < 0 || last < first {
		return nil, false
	}
	return asObject(reply[first : last+1])
}

func asObject(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(text), true
}

// fenced are the contents of the fenced blocks of a text.
func fenced(text string) (blocks []string) {
	const fence = "```"
	parts := strings.Split(text, fence)
	for i := 1; i+1 < len(parts); i += 2 {
		_, body, _ := strings.Cut(parts[i], "\n")
		blocks = append(blocks, body)
	}
	return blocks
}

// A Text is a string; a value of another type is "".
type Text string

// UnmarshalJSON never fails.
func (t *Text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = ""
	}
	*t = Text(strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD"))
	return nil
}

// A Bool is true or false; a value of another type is false.
type Bool bool

// UnmarshalJSON never fails.
func (b *Bool) UnmarshalJSON(raw []byte) error {
	*b = string(raw) == "true"
	return nil
}

// A Number may be missing. One in a string counts as one.
type Number struct {
	Value float64
	Known bool
}

// UnmarshalJSON never fails.
func (n *Number) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	var s string
	if json.Unmarshal(raw, &s) == nil {
		text = strings.TrimSpace(s)
	}
	v, err := strconv.ParseFloat(text, 64)
	*n = Number{}
	if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		*n = Number{Value: v, Known: true}
	}
	return nil
}

// Clamped is the number between two bounds, and whether it is there.
func (n Number) Clamped(low, high float64) (float64, bool) {
	return min(max(n.Value, low), high), n.Known
}

// A List is an array without the elements that cannot be read; a value of another
// type is an empty one.
type List[T any] []T

// UnmarshalJSON never fails.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	var elements []json.RawMessage
	*l = nil
	if json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	for _, e := range elements {
		var v T
		if string(e) != "null" && json.Unmarshal(e, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}

// Strings are the texts of an array, without empty ones and those of other types.
type Strings []string

// UnmarshalJSON never fails.
func (s *Strings) UnmarshalJSON(raw []byte) error {
	var list List[Text]
	*s = nil
	if err := list.UnmarshalJSON(raw); err != nil {
		return err
	}
	for _, t := range list {
		if t != "" {
			*s = append(*s, string(t))
		}
	}
	return nil
}
