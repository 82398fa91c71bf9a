package page

import (
	"fmt"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// What a read shows anew can be taken back as if it had not been read.
func TestAnEditIsTakenBackAfterAFurtherRead(t *testing.T) {
	for name, again := range map[string]func(*told) quire.PageNumber{
		"nothing": func(*told) quire.PageNumber { return 0 },
		"read":    func(s *told) quire.PageNumber { return s.read("a", "1", "due", "3", "4") },
		"twice": func(s *told) quire.PageNumber {
			s.read("a", "1", "due", "3", "4")
			return s.read("a", "1", "due", "3", "4")
		},
		"all of it by lines": func(s *told) quire.PageNumber { return s.readFrom("a", 1, "1", "due", "3", "4") },
	} {
		t.Run(name, func(t *testing.T) {
			s := tell()
			s.read("a", "1", "2", "3", "4")
			edit := s.edit("a", "2", "due")
			page := again(s)
			back := s.edit("a", "due", "2")
			if got := s.fates[edit].Outcome; got != quire.OutcomeReverted {
				t.Errorf("the edit is %s", got)
			}
			if got := s.fates[back].Outcome; got != quire.OutcomeOK {
				t.Errorf("what takes it back is %s", got)
			}
			if got := fmt.Sprint(s.fates[page].Stale); page > 0 && got != "[{2 2}]" {
				t.Errorf("stale in what was read: %s", got)
			}
		})
	}
}

// Edits upon edits are taken back one by one, with reads of a part between.
func TestEditsOnEditsAreTakenBackAfterReads(t *testing.T) {
	s := tell()
	s.readFrom("a", 4, "4", "5", "6")
	one := s.edit("a", "5", "five\nfifth")
	two := s.edit("a", "five\nfifth\n6", "cinq\nfifth\n6")
	s.readFrom("a", 4, "4", "cinq", "fifth", "6")
	three := s.edit("a", "4\n", "")
	s.readFrom("a", 4, "cinq", "fifth", "6")
	s.edit("a", "cinq", "five")
	if got := s.fates[two].Outcome; got != quire.OutcomeReverted {
		t.Errorf("the second edit is %s", got)
	}
	s.edit("a", "five\nfifth", "5")
	if got := s.fates[one].Outcome; got != quire.OutcomeReverted {
		t.Errorf("the first edit is %s", got)
	}
	if got := s.fates[three].Outcome; got != quire.OutcomeOK {
		t.Errorf("the third edit is %s", got)
	}
}

// A place that looks the same is not the same, after a read neither.
func TestAFurtherReadKeepsPlacesApart(t *testing.T) {
	s := tell()
	s.readFrom("a", 1, "x", "1", "y", "x2", "2", "y2")
	edit := s.edit("a", "x\n1", "x\n2")
	s.readFrom("a", 1, "x", "2", "y", "x2", "2", "y2")
	s.edit("a", "x2\n2", "x2\n1")
	s.want(t, edit, "ok from [p1]")
	s.edit("a", "x\n2", "x\n1")
	s.want(t, edit, "reverted from [p1]")
}

func TestAWriteIsTakenBackByAWrite(t *testing.T) {
	s := tell()
	s.read("a", "1", "2", "3")
	write := s.do("Write", writeArgs{"a", "eins\n2\ndrei\n"}, "ok")
	s.edit("a", "2", "zwei")
	s.do("Write", writeArgs{"a", "1\n2\n3\n"}, "ok")
	s.want(t, write, "reverted from [p1]")
}

// Git that is not told a file took back what the next read shows as it was.
func TestAReadShowsWhatGitTookBack(t *testing.T) {
	for command, reverts := range map[string]bool{
		"git stash":                      true,
		"git stash push -u":              true,
		"cd /p && git reset --hard":      true,
		"git checkout main":              true,
		"git -C /p checkout -f":          true,
		"git switch --discard-changes b": true,
		"git reset HEAD~1":               false,
		"git stash pop":                  false,
		"git stash list":                 false,
		"git status":                     false,
		"make checkout":                  false,
	} {
		s := tell()
		s.read("a", "1", "2")
		edit := s.edit("a", "2", "two")
		s.read("a", "1", "two")
		s.run(command, "")
		s.want(t, edit, "ok from [p1]")
		after := s.node
		s.read("a", "1", "2")
		if got := s.fates[edit].Outcome == quire.OutcomeReverted; got != reverts {
			t.Errorf("%s: reverts %v, want %v", command, got, reverts)
		}
		later := s.edit("a", "2", "zwei")
		if got := s.fates[later].Outcome; got != quire.OutcomeOK {
			t.Errorf("%s: an edit after part %d is %s", command, after, got)
		}
	}
	s := tell()
	s.read("a", "1", "2")
	edit := s.edit("a", "2", "two")
	s.run("git stash", "")
	s.read("a", "1", "two") // it was committed
	s.want(t, edit, "ok from [p1]")
}

func TestTheUserTakesTheTurnBack(t *testing.T) {
	for text, reverts := range map[string]bool{
		"revert that": true,
		"No, that broke the build. Please undo it!": true,
		"Roll back.":                                      true,
		"can you roll that back":                          true,
		"hmm, take that back please":                      true,
		"ok undo":                                         true,
		"Undo your last two changes, then go on":          true,
		"That's worse, so revert the last edit":           true,
		"撤销刚才的修改":                                         true,
		"不对，还原":                                           true,
		"请回退吧。":                                           true,
		"可以把它撤回吗":                                         true,
		"Looks good, thanks":                              false,
		"don't revert that":                               false,
		"why did you undo it?":                            false,
		"Add an undo button":                              false,
		"the test says \"revert that\", why?":             false,
		"rename `undo`; run ```\nrevert that\n```":        false,
		"> revert that\nwho said this?":                   false,
		"what does 'undo this' do":                        false,
		"不要撤销":                                            false,
		"“撤销”这个词翻译得对吗":                                    false,
		"加一个撤销功能":                                         false,
		"Revert that." + fmt.Sprintf("%400s", "and more"): false,
	} {
		s := tell()
		s.part(quire.Part{Kind: quire.PartUser, Text: "first"})
		s.read("a", "1", "2")
		old := s.edit("a", "1", "one")
		s.part(quire.Part{Kind: quire.PartUser, Text: "second"})
		edit, other := s.edit("a", "2", "two"), s.edit("b", "x", "y")
		s.part(quire.Part{Kind: quire.PartText, Text: "done"})
		s.part(quire.Part{Kind: quire.PartUser, Text: "[image]"}) // of the same message
		s.part(quire.Part{Kind: quire.PartUser, Text: text})
		s.want(t, old, "ok from [p2]")
		for _, p := range []quire.PageNumber{edit, other} {
			if got := s.fates[p].Outcome == quire.OutcomeReverted; got != reverts {
				t.Errorf("%q: %s reverted %v, want %v", text, p, got, reverts)
			}
		}
	}
}

// Taking it back on the user's word is an edit like another: what it restores is
// no longer stale.
func TestTheUsersWordIsCarriedOut(t *testing.T) {
	s := tell()
	s.part(quire.Part{Kind: quire.PartUser, Text: "go"})
	read := s.readFrom("a", 3, "3", "4")
	edit := s.edit("a", "4", "four")
	s.part(quire.Part{Kind: quire.PartUser, Text: "undo that"})
	s.want(t, read, "ok stale [{2 2}]")
	back := s.edit("a", "four", "4")
	s.want(t, read, "ok")
	s.want(t, edit, "reverted from [p2]")
	s.want(t, back, "ok from [p2]")
	s.part(quire.Part{Kind: quire.PartUser, Text: "thanks"})
	s.part(quire.Part{Kind: quire.PartText, Text: "welcome"})
	s.part(quire.Part{Kind: quire.PartUser, Text: "undo that"}) // nothing was done meanwhile
	s.want(t, back, "ok from [p2]")
	p := quire.Part{Kind: quire.PartUser, Text: "Undo that."} // what another agent is told to do first
	if got := s.lineage.Add("side", 0, &p, s.cutter.Cut(p, 0)); len(got) != 1 {
		t.Errorf("the first words of a chain changed %v", got)
	}
}

// The number of pages of a file whose lines are followed is no small one.
func TestManyReadsOfAFileAreFollowed(t *testing.T) {
	s := tell()
	first := s.readFrom("a", 1, "line 1", "line 2", "line 3")
	for i := range 8 {
		at := 10 * (i + 1)
		s.readFrom("a", at, fmt.Sprint("line ", at), fmt.Sprint("line ", at+1))
	}
	s.edit("a", "line 2\n", "zwei\n")
	s.want(t, first, "ok stale [{2 2}]")
}

// The bound is on text: what is oldest is followed no further, and is not kept.
func TestTheTextOfAFileIsBounded(t *testing.T) {
	f := &file{}
	first := &view{text: "first"}
	f.edits = []edit{{traces: map[*view]trace{first: {}}}}
	f.add(first)
	for range 5 {
		f.add(&view{text: string(make([]byte, maxFollow))})
	}
	if len(f.views) != 6 || f.views[0] != first {
		t.Fatalf("%d views", len(f.views))
	}
	f.add(&view{text: string(make([]byte, maxFollow))})
	f.add(&view{text: "small"})
	if f.held() > maxHeld || f.views[0] == first || len(f.edits[0].traces) != 0 {
		t.Errorf("%d views hold %d bytes, %d traces", len(f.views), f.held(), len(f.edits[0].traces))
	}
	for range maxViews {
		f.add(&view{text: "small"})
	}
	if len(f.views) != maxViews {
		t.Errorf("%d views", len(f.views))
	}
}

// Reads between edits change nothing of which edits are taken back.
func TestReadsDoNotMatterToWhatIsTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain, reading := tell(), tell()
		file := []string{"a.", "b.", "c.", "d.", "e."}
		plain.readFrom("f", 3, file...)
		reading.readFrom("f", 3, file...)
		var pages [][2]quire.PageNumber
		var done []modelEdit
		for i := range rapid.IntRange(1, 10).Draw(t, "edits") {
			e := modelEdit{rapid.IntRange(0, len(file)-1).Draw(t, "line"), fmt.Sprint("new ", i, "."), ""}
			if n := len(done); n > 0 && rapid.Bool().Draw(t, "undo") {
				e = modelEdit{done[n-1].line, done[n-1].old, ""}
				done = done[:n-1]
			} else {
				done = append(done, modelEdit{e.line, e.fresh, file[e.line]})
			}
			pages = append(pages, [2]quire.PageNumber{plain.edit("f", file[e.line], e.fresh), reading.edit("f", file[e.line], e.fresh)})
			file[e.line] = e.fresh
			if rapid.Bool().Draw(t, "read") {
				reading.readFrom("f", 3, file...)
			}
		}
		for i, p := range pages {
			if a, b := plain.fates[p[0]].Outcome, reading.fates[p[1]].Outcome; a != b {
				t.Fatalf("edit %d is %s, with reads between %s", i, a, b)
			}
		}
	})
}

type modelEdit struct {
	line       int
	fresh, old string
}
