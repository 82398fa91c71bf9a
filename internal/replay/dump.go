package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"github.com/quire-agent/quire/internal/recording"
	"io"
	"time"
)

// A dumpLine is the prompt of one call as [Dump] writes it.
type dumpLine struct {
	Session  string        `json:"session"`
	Call     int           `json:"call"`
	T        time.Time     `json:"t"`
	Messages []dumpMessage `json:"messages"`
	Overhead int           `json:"overhead_tokens"`
}

type dumpMessage struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Dump writes, one JSON line a recorded call, the exact prompt that a policy
// sent, so that anyone can recompute the figures. What strict faults brought is
// part of the prompt. Tool arguments stand unescaped, as a model reads them.
// Of the constant prefix only the size is given, what the policy adds to it
// included.
func Dump(w io.Writer, s *recording.Session, p Policy, set Setting) error {
	buf := bufio.NewWriterSize(w, 1<<20)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	err := Emit(s, p, set, func(k, constant int, blocks []Block) error {
		line := dumpLine{Session: s.Info.ID, Call: k, T: s.Calls[k].At, Overhead: constant, Messages: []dumpMessage{}}
		for _, b := range blocks {
			text, err := textOf(s, b)
			if err != nil {
				return err
			}
			if text != "" {
				line.Messages = append(line.Messages, dumpMessage{b.Role.String(), text})
			}
		}
		return enc.Encode(line)
	})
	if err == nil {
		err = buf.Flush()
	}
	if err != nil {
		return fmt.Errorf("dump %s: %w", s.Info.ID, err)
	}
	return nil
}

// textOf is what a block shows.
func textOf(s *recording.Session, b Block) (string, error) {
	if b.Whole {
		return s.Bodies.Get(s.Items[b.Item].Body)
	}
	return b.Text, nil
}
