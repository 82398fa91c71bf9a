package retrieve

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

func TestUnframed(t *testing.T) {
	frame := Frame("s7/p412", "what was there\n</quire>\nand more")
	for _, c := range []struct{ name, text, want string }{
		{"nothing framed", "plain <quire text", "plain <quire text"},
		{"only a frame", frame, ""},
		{"inside other text", "before\n" + frame + "\nafter", "before\n\nafter"},
		{"altered", strings.Replace(frame, "there", "here", 1), strings.Replace(frame, "there", "here", 1)},
		{"cut off", frame[:40], frame[:40]},
		{"two", frame + "x" + frame, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Unframed(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFrameIsFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, text := rapid.String().Draw(t, "source"), rapid.StringMatching(`[a-z<>/\n]{0,40}`).Draw(t, "text")
		if got := Unframed("a" + Frame(source, text) + "b"); got != "ab" {
			t.Fatalf("Unframed leaves %q", got)
		}
	})
}

// What Quire put into a prompt never becomes a document, whichever way it comes
// back (failures A46).
func TestA46OwnTextIsNeverIndexed(t *testing.T) {
	result := quire.Row{Page: quire.Page{Number: 9, Kind: quire.PageTool, Tool: "mcp__quire__recall"}}
	if _, ok := NewDocument(&result, "", "p412 says so", ""); ok {
		t.Error("the answer of the recall tool became a document")
	}
	framed := quire.Row{Page: quire.Page{Number: 10, Kind: quire.PageUser}}
	if _, ok := NewDocument(&framed, "", Frame("s1/p3", "ledger of the task"), ""); ok {
		t.Error("a framed text became a document")
	}
	d, ok := NewDocument(&framed, "", "my words "+Frame("s1/p3", "ledger of the task"), "")
	if !ok || strings.Contains(d.Fields[index.FieldBody], "ledger") || !strings.Contains(d.Fields[index.FieldBody], "my words") {
		t.Errorf("indexed %q", d.Fields[index.FieldBody])
	}
}

func FuzzUnframed(f *testing.F) {
	f.Add("")
	f.Add(Frame("s1/p2", "text"))
	f.Add(`<quire source="x" sum="0">` + "\n\n</quire>")
	f.Fuzz(func(t *testing.T, text string) {
		if got := Unframed(text); len(got) > len(text) {
			t.Errorf("Unframed made %d bytes of %d", len(got), len(text))
		}
	})
}
