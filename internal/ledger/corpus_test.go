package ledger_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
)

// corpus is the folder of recorded sessions, which is no part of this project.
func corpus(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("QUIRE_SHARED")
	for dir := "."; shared == ""; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "shared", "corpus")); err == nil {
			shared = filepath.Join(dir, "shared")
		}
		if abs, err := filepath.Abs(dir); err != nil || abs == filepath.Dir(abs) {
			break
		}
	}
	if _, err := os.Stat(filepath.Join(shared, "corpus")); err != nil || shared == "" {
		t.Skip("the recorded sessions are not there: set QUIRE_SHARED to the folder that holds corpus")
	}
	return filepath.Join(shared, "corpus")
}

// Every word of the user is kept byte for byte, and cards keep to their budgets.
func TestRecordedSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("reads recorded sessions")
	}
	counter, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(corpus(t), "bench"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		logs, err := trace.Open(path)
		for _, log := range logs {
			recorded(t, log, counter.Count)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func recorded(t *testing.T, log *trace.Log, count func(string) int) {
	var l ledger.Ledger
	var cutter page.Cutter
	var said []string
	add := func(s quire.Stamp, p quire.Part) {
		if s.Chain != "" {
			return
		}
		if p.Kind == quire.PartUser && p.Origin == quire.OriginFirst {
			said = append(said, p.Text)
		}
		l.Add(&p, cutter.Cut(p, 0))
	}
	for e := range log.Events() {
		switch e := e.(type) {
		case quire.Entered:
			add(e.Stamp, e.Part)
		case quire.Answered:
			add(e.Stamp, e.Part)
		}
	}
	for i, m := range l.Messages() {
		if i >= len(said) || m.Text != said[i] {
			t.Errorf("%s: message %d is not what was said", filepath.Base(log.Path), i)
		}
	}
	if n := len(l.Messages()); n != len(said) {
		t.Errorf("%s: %d of %d messages", filepath.Base(log.Path), n, len(said))
	}
	card, head := count(l.Card(ledger.CardBudget, count)), count(l.Head(1<<30, ledger.FoldBudget, count))
	if card > ledger.CardBudget || head > ledger.FoldBudget || card == 0 {
		t.Errorf("%s: %d tokens for the card, %d for the head", filepath.Base(log.Path), card, head)
	}
}
