package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// stampForm is RFC 3339 with all nine digits, so that times of one journal sort
// as text.
const stampForm = "2006-01-02T15:04:05.000000000Z"

// Decode reads the payload of a record. Fields that T does not have are passed
// over; they stay in the record's Line.
func Decode[T any](r quire.Record) (T, error) {
	var v T
	if err := json.Unmarshal(r.Line, &v); err != nil {
		return v, fmt.Errorf("decode record %d (%s): %w", r.Seq, r.Type, err)
	}
	return v, nil
}

// parse reads the envelope of a line. The record keeps the line.
func parse(line []byte) (quire.Record, error) {
	e := envelope{Record: quire.Record{Seq: -1}}
	if err := json.Unmarshal(line, &e); err != nil {
		return quire.Record{Line: line}, fmt.Errorf("not a JSON object: %w", err)
	}
	r := e.Record
	r.Line = line
	switch {
	case r.V < 1:
		return r, errors.New("no v")
	case r.Seq < 0:
		return r, errors.New("no seq")
	case r.Type == "":
		return r, errors.New("no type")
	case r.T.IsZero():
		return r, errors.New("no t")
	}
	return r, checkSum(line, r.V, e.Sum)
}

// An envelope is what every line has.
type envelope struct {
	quire.Record
	Sum string `json:"crc"`
}

// encode makes the line of a record, with its end: the envelope, and beside it
// the fields of the payload, which must be a JSON object.
func encode(r quire.Record, payload any) ([]byte, error) {
	if r.Type == "" {
		return nil, errors.New("it has no type")
	}
	fields, err := object(payload)
	if err != nil {
		return nil, err
	}
	if err := checkFields(fields); err != nil {
		return nil, err
	}
	line := fmt.Appendf(make([]byte, 0, len(fields)+120), `{"v":%d,"t":"`, r.V)
	line = append(r.T.AppendFormat(line, stampForm), `","seq":`...)
	line = append(strconv.AppendInt(line, r.Seq, 10), `,"type":`...)
	line = append(line, quote(r.Type)...)
	if r.Back > 0 {
		line = fmt.Appendf(line, `,"back":%d`, r.Back)
	}
	if fields[0] = ','; len(fields) == len("{}") {
		fields = fields[1:]
	}
	return append(withSum(line, fields), '\n'), nil
}

// object encodes a payload in one line, without an end.
func object(payload any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(payload); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if text[0] != '{' {
		return nil, fmt.Errorf("the payload is %.20s, not an object", text)
	}
	return text, nil
}

// checkFields makes sure that no field of the payload, an object as [object]
// makes it, is read in place of one of the envelope.
func checkFields(payload []byte) error {
	depth, at := 0, 0
	for start, end := range literals(payload) {
		depth += nesting(payload[at:start])
		at = end
		if depth != 1 || end >= len(payload) || payload[end] != ':' {
			continue
		}
		if name := unquote(payload[start:end]); envelopeHas(name) {
			return fmt.Errorf("the payload has a field %q, which is one of the envelope", name)
		}
	}
	return nil
}

// nesting is by how much a piece of JSON without strings opens more than it
// closes.
func nesting(piece []byte) int {
	depth := 0
	for _, b := range piece {
		switch b {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return depth
}

// envelopeHas reports whether a name is read as one of the envelope: upper and
// lower case are the same to the decoder.
func envelopeHas(name string) bool {
	return slices.ContainsFunc([]string{"v", "t", "seq", "type", "back", "crc"}, func(own string) bool { return strings.EqualFold(own, name) })
}

// stamp is the time of the next record: now, or that of the last one while the
// clock stands behind it.
func stamp(now, last time.Time) (t time.Time, back time.Duration) {
	now = now.UTC().Round(0)
	if now.Before(last) {
		return last, last.Sub(now)
	}
	return now, 0
}
