package ledger

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzConstraints(f *testing.F) {
	for _, seed := range []string{"Never push. Look.", "不要改接口；好。", "Rules:\n- a\n- b", "```\nnever\n", "> must\nmust", "\x01 must\x01", "“always", "don't 'must' `only", "\xff必须"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, rule := range Constraints(text) {
			if strings.TrimSpace(rule) == "" || seen[rule] {
				t.Errorf("%q is empty or twice", rule)
			}
			seen[rule] = true
			if !strings.Contains(text, rule) && !strings.ContainsRune(text, filler) {
				t.Errorf("%q is not in the message", rule)
			}
		}
	})
}

func FuzzTodo(f *testing.F) {
	f.Add("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`)
	f.Add("update_todo", `{"todos":"- [x] a\n- [ ] b"}`)
	f.Add("TaskUpdate", `{"taskId":3,"status":"done"}`)
	f.Add("plan", `{"plan":null,"taskId":{}}`)
	f.Fuzz(func(t *testing.T, tool, args string) {
		var b board
		b.apply(parseTodo(tool, args))
		for _, i := range b.items {
			if i.text == "" || i.state == "" {
				t.Errorf("an item without text or state: %+v", i)
			}
		}
	})
}

func FuzzResult(f *testing.F) {
	for _, seed := range []string{"Exit code 1\n--- FAIL: TestA", "FAILED a.py::b - x", "[main 1a2b3c4] words", "\x1b[31m✕ a\x1b[0m\r\nb", "<status>running</status>", "running in background with ID: x"} {
		f.Add("git commit", seed)
	}
	f.Fuzz(func(t *testing.T, command, text string) {
		failing, passing := failingTests(text)
		for _, name := range append(failing, passing...) {
			if name == "" || len(name) > lineWidth || !utf8.ValidString(name) {
				t.Errorf("the name of a test: %q", name)
			}
		}
		for _, c := range commitsIn(command, text) {
			if len(c.hash) < 7 || !utf8.ValidString(c.subject) {
				t.Errorf("a commit: %+v", c)
			}
		}
		line := pick(text, faulty.MatchString)
		if len(line) > lineWidth || !utf8.ValidString(line) || strings.ContainsAny(line, "\n\r") {
			t.Errorf("a line: %q", line)
		}
		over(text)
		exitCode(text)
	})
}

func BenchmarkConstraints(b *testing.B) {
	text := strings.Repeat("Look at the parser and see why it is slow. 看看日志，然后告诉我结果。\n", 400) + "Never push.\n"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Constraints(text)
	}
}

func BenchmarkCard(b *testing.B) {
	l := benchmarked(5000)
	count := func(text string) int { return len(text) / 4 }
	for b.Loop() {
		l.Head(1<<30, FoldBudget, count)
	}
}
