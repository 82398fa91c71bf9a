package rendition

import "testing"

// Check holds what is promised of every shortened text, and what a reader can tell
// from its marks.
func Check(t testing.TB, s Source, c Cut, limit int) {
	t.Helper()
	checkCut(t, s, c, limit)
	if !marked(s.Text) {
		checkLines(t, s, c)
	}
}
