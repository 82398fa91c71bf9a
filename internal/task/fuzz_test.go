package task

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

func FuzzTurn(f *testing.F) {
	f.Add("Look at src/a.go and 看看日志", `{"command":"go test ./a -run TestOne"}`, "a/b.go:3: loadFile")
	f.Add("/task x", `{"todos":[{"content":"write it"}]}`, "")
	f.Add("C:\\a\\b.go\xff", "{", "\x00://a.b")
	f.Add("yes", "", "继续")
	f.Fuzz(func(t *testing.T, user, args, result string) {
		var tracker Tracker
		for i, a := range []quire.Action{quire.ActionRun, quire.ActionRead, quire.ActionPlan} {
			touched := Touched{Page: quire.Page{Number: quire.PageNumber(i + 1), Action: a, Target: args[:min(len(args), 50)]}, Args: args, Result: result}
			d := tracker.Turn(i, Turn{User: user, Said: result, Touched: []Touched{touched}})
			if d.Task == "" || d.Reason == "" || d.Back > i {
				t.Errorf("%+v", d)
			}
		}
		tracker.end()
		tracker.checkIndex(t)
		if utf8.ValidString(user) {
			tracker.Find(user)
		}
	})
}

// The work for a turn is the same with few turns behind it and with many.
func BenchmarkTurn(b *testing.B) {
	for _, before := range []int{10, 1000, 5000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			var tracker Tracker
			for i := range before {
				tracker.Turn(i, synthetic(i))
			}
			for i := 0; b.Loop(); i++ {
				tracker.Turn(before+i, synthetic(before+i))
			}
		})
	}
}

// synthetic is a turn of one of many tasks.
func synthetic(i int) Turn {
	topic := i / 20
	turn := Turn{User: fmt.Sprintf("Change the widget%d so that module%d handles errors of kind %d", topic, i%7, i)}
	for j := range 8 {
		path := fmt.Sprintf("pkg%d/dir%d/file%d.go", topic, j%3, (i+j)%11)
		turn.Touched = append(turn.Touched, Touched{Page: quire.Page{Number: quire.PageNumber(i*8 + j + 1), Action: quire.ActionRead, Target: path, Call: i}, Result: fmt.Sprintf("func load_%d_%d() {}", topic, j)})
	}
	return turn
}
