package run

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"image/png"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/sim"
)

// judged answers what the simulator would take, and refuses the rest as it would.
type judged struct {
	api     sim.API
	limits  sim.Limits
	refused []string
	images  []int // of each call that was taken
}

func (m *judged) Call(_ context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	c.Model, c.MaxOutput = "claude-opus-4-6", 1_000
	return func(yield func(quire.Delta, error) bool) {
		err := sim.Check(m.api, c, m.limits, "")
		var refused *quire.CallError
		if errors.As(err, &refused) {
			m.refused = append(m.refused, refused.Message)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		m.images = append(m.images, imagesIn(c))
		yield(quire.ReplyBegun{ID: fmt.Sprint(len(m.images))}, nil)
		yield(quire.BlockBegun{Block: text(quire.PartText, "")}, nil)
		yield(quire.BlockGrew{Text: "I see."}, nil)
		yield(quire.BlockEnded{}, nil)
		yield(quire.ReplyEnded{Stop: quire.StopEnd}, nil)
	}
}

// withSchemas gives tools what the simulator wants of them.
func withSchemas(list []quire.ToolSpec) []quire.ToolSpec {
	list = slices.Clone(list)
	for i := range list {
		list[i].Schema = []byte(`{"type":"object"}`)
	}
	return list
}

func imagesIn(c quire.Call) (n int) {
	for _, m := range c.Messages {
		for i := range m.Blocks {
			n += assemble.LoadOf(&m.Blocks[i]).Images
		}
	}
	return n
}

// picture is an image of a size, with so many bytes of noise behind it.
func picture(t *testing.T, width, noise int) quire.Block {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 2))); err != nil {
		t.Fatal(err)
	}
	more := make([]byte, noise)
	_, _ = rand.Read(more) // never fails
	b.Write(more)
	data := b.String()
	return quire.Block{Part: quire.Part{Kind: quire.PartImage, Data: data, Media: &quire.Media{Type: "image/png", Bytes: len(data), Width: width, Height: 2, Hash: quire.Sum(data)}}}
}

// failures.md A25, A26: bytes, pixels and counts of images are limits of their own:
// an epoch is forced before the provider refuses, whatever room the window has,
// and the words of the user stay.
func TestImagesForceAnEpochBeforeTheProviderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		api    sim.API
		turns  int
		each   int // images of a turn
		width  int
		noise  int
		body   int // of the limits, 0: the vendor's
		reason string
	}{
		"many":       {sim.Messages, 30, 4, 40, 0, 0, "images, at most 100"},
		"wide":       {sim.Messages, 12, 2, 2_500, 0, 0, "wider than 2000 pixels"},
		"large":      {sim.Chat, 10, 1, 40, 60_000, 400_000, "bytes, at most"},
		"at once":    {sim.Messages, 2, 130, 40, 0, 0, ""},
		"of a turn":  {sim.Responses, 8, 3, 40, 60_000, 900_000, "bytes, at most"},
		"for gemini": {sim.Gemini, 10, 1, 40, 60_000, 400_000, "bytes, at most"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &judged{api: c.api, limits: sim.Limits{Body: c.body}}
			l, _, _ := newLoop(t, nil)
			l.Model, l.Head.Tools = m, withSchemas(l.Head.Tools)
			l.Head.Limits = assemble.Accepted(string(c.api))
			if c.body > 0 {
				l.Head.Limits.Body = c.body
			}
			var reasons []string
			l.Emit = func(e Event) {
				if p, ok := e.(Planned); ok && p.Plan.Kind == quire.EpochForced {
					reasons = append(reasons, p.Plan.Reason)
				}
			}
			for n := range c.turns {
				blocks := []quire.Block{ask(fmt.Sprintf("What is on picture number %d?", n))}
				for range c.each {
					blocks = append(blocks, picture(t, c.width, c.noise))
				}
				if out, err := l.Turn(t.Context(), blocks...); err != nil || out.Stop != StopDone {
					t.Fatalf("turn %d: %+v, %v; refused %v", n, out, err, m.refused)
				}
			}
			if len(m.refused) > 0 {
				t.Errorf("refused: %q", m.refused)
			}
			if c.reason != "" && (len(reasons) == 0 || !strings.Contains(reasons[0], c.reason)) {
				t.Errorf("forced epochs: %q, want one for %q", reasons, c.reason)
			}
			if len(reasons) > c.turns/2 {
				t.Errorf("%d forced epochs in %d turns", len(reasons), c.turns)
			}
			if last := m.images[len(m.images)-1]; last == 0 {
				t.Error("the last call shows no image at all")
			}
		})
	}
}

// failures.md A26: a body that is refused where nobody told the limit costs one
// refusal, and the session goes on with less from then on.
func TestARefusedBodyIsKnownFromThenOn(t *testing.T) {
	m := &judged{api: sim.Chat, limits: sim.Limits{Body: 400_000}}
	l, _, k := newLoop(t, nil)
	l.Model, l.Head.Tools = m, withSchemas(l.Head.Tools)
	for n := range 20 {
		if out, err := l.Turn(t.Context(), ask(fmt.Sprintf("picture %d", n)), picture(t, 40, 40_000)); err != nil || out.Stop != StopDone {
			t.Fatalf("turn %d: %+v, %v", n, out, err)
		}
	}
	if len(m.refused) != 1 {
		t.Errorf("%d refusals: %q", len(m.refused), m.refused)
	}
	second, _, _ := newLoop(t, nil)
	second.Head.Tools = l.Head.Tools
	k.restore(t, second)
	if got, want := second.bound.body, l.bound.body; got != want || got == 0 {
		t.Errorf("resumed, a request may have %d bytes, want %d", got, want)
	}
}

// What a step is held to follows from the head of each call.
func TestCapOfAHead(t *testing.T) {
	h := assemble.Head{Limits: assemble.Limits{Images: 7, Many: 3, ManySide: 50}}
	if got, want := h.Cap(), (schedule.Cap{Images: 7, Many: 3, Side: 50}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	h.Limits.Body = 10
	if got := h.Cap().Bytes; got != 1 {
		t.Errorf("a body that the head fills leaves %d bytes", got)
	}
}
