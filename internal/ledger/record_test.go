package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func TestFailingTestsOfEachRunner(t *testing.T) {
	for _, c := range []struct{ runner, text, failing, passing string }{
		{"go", "=== RUN TestA\n    a_test.go:3: bad\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\n--- PASS: TestB (0.00s)\nFAIL", "TestA|TestA/sub", "TestB"},
		{"pytest", "FAILED tests/test_a.py::test_one - AssertionError: no\nERROR tests/test_b.py - ImportError\n==== 1 failed ====", "tests/test_a.py::test_one|tests/test_b.py", ""},
		{"pytest -v", "tests/test_a.py::test_one PASSED [ 50%]\nFAILED tests/test_a.py::test_two[a b]", "tests/test_a.py::test_two[a b]", ""},
		{"unittest", "FAIL: test_sum (calc.tests.SumCase)\nERROR: test_div (calc.DivCase)", "test_sum (calc.tests.SumCase)|test_div (calc.DivCase)", ""},
		{"rust", "test parser::reads_empty ... ok\ntest parser::reads_nested ... FAILED\n", "parser::reads_nested", "parser::reads_empty"},
		{"jest", "FAIL src/sum.test.ts\n  ✓ adds (3 ms)\n  ✕ carries (5 ms)\n  ● sum › carries\n", "src/sum.test.ts|carries|sum › carries", "adds"},
		{"vitest", " FAIL  src/a.test.ts > math > divides\n × math > divides 12ms", "src/a.test.ts > math > divides|math > divides", ""},
		{"tap", "ok 1 - opens\nnot ok 2 - closes # time=3ms", "closes", "opens"},
		{"bun", "(pass) adds [0.12ms]\n(fail) carries [1.50ms]", "carries", "adds"},
		{"maven", "[ERROR] com.x.CalcTest.divides  Time elapsed: 0.01 s  <<< FAILURE!\n[ERROR]   CalcTest.carries:42 expected 1", "com.x.CalcTest.divides|CalcTest.carries", ""},
		{"gradle", "CalcTest > divides() FAILED\nCalcTest > adds() PASSED", "CalcTest > divides()", "CalcTest > adds()"},
		{"colours", "\x1b[31m--- FAIL: TestRed (0.1s)\x1b[0m\r\n", "TestRed", ""},
		{"no tests", "FAIL: build\nerror: something FAILED\n", "", ""},
	} {
		failing, passing := failingTests(c.text)
		if got := strings.Join(failing, "|"); got != c.failing {
			t.Errorf("%s: failing %q, want %q", c.runner, got, c.failing)
		}
		if got := strings.Join(passing, "|"); c.passing != "" && got != c.passing {
			t.Errorf("%s: passing %q, want %q", c.runner, got, c.passing)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for text, want := range map[string]string{
		"Exit code 1\noutput": "1", "<returncode>0</returncode>\n<output>x</output>": "0", "Chunk ID: 1\nProcess exited with code 137\nOutput:": "137",
		"output\n<exited with exit code 2>": "2", `{"output":"x","metadata":{"exit_code":3}}`: "3", "exit status 2": "2",
		"the program then prints whatever its exit code 4 was": "", "no code": "", "": "",
	} {
		if got := exitCode(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWhatRepairsAFailure(t *testing.T) {
	for _, c := range []struct {
		passed, failed string
		want           bool
	}{
		{"go test ./...", "go test ./p -run TestA", true},
		{"go test ./q", "go test ./p", false},
		{"npm test", "npm test src/a.test.ts", true},
		{"go vet ./...", "go test ./p", false},
		{"cargo test", "cargo test parser", true},
	} {
		if got := settles(c.passed, c.failed); got != c.want {
			t.Errorf("%q after %q: %v", c.passed, c.failed, got)
		}
	}
}

func TestTodoShapes(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"todowrite", `{"todos":[{"id":"1","content":"a","status":"pending"},{"content":"b","status":"cancelled"}]}`, "a=open|b=dropped"},
		{"update_plan", `{"explanation":"x","plan":[{"step":"a","status":"completed"},{"step":"b","status":"in_progress"}]}`, "a=done|b=in work"},
		{"update_todo", `{"todos":"- [x] a\n- [ ] b\n- [~] c\nwords"}`, "a=done|b=open|c=in work"},
		{"manage_todo_list", `{"todoList":[{"title":"a","completed":true}]}`, "a=done"},
		{"bash", `{"todos":[{"content":"a"}]}`, ""},
		{"TodoWrite", `{"todos":[{"content":"a","sta`, ""},
	} {
		var got []string
		for _, i := range parseTodo(c.tool, c.args).set {
			got = append(got, i.text+"="+i.state)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: %q, want %q", c.tool, s, c.want)
		}
	}
	if plan := parseTodo("ExitPlanMode", `{"plan":"first this"}`); plan.plan != "first this" {
		t.Errorf("plan: %+v", plan)
	}
}

func TestResultLineSaysMost(t *testing.T) {
	for _, c := range []struct {
		call call
		text string
		want string
	}{
		{call{action: quire.ActionRun, outcome: quire.OutcomeError}, "Exit code 2\nbuilding\na.go:3: undefined: x\nmore", "a.go:3: undefined: x"},
		{call{action: quire.ActionRun, outcome: quire.OutcomeOK}, "start\n10%\r50%\rall 12 passed\n\n---\n", "all 12 passed"},
		{call{action: quire.ActionRead, outcome: quire.OutcomeOK}, "a\nb\nc\n", "3 lines"},
		{call{action: quire.ActionSearch, outcome: quire.OutcomeOK}, "", "0 lines"},
		{call{action: quire.ActionEdit, outcome: quire.OutcomeOK}, "The file was changed", ""},
	} {
		if got := resultLine(&c.call, c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestConstraintsAreSentencesAsTheyStand(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Look at it. Never push. Thanks!", []string{"Never push."}},
		{"1. Never push.\n2) Always rebase\n- look", []string{"Never push.", "Always rebase"}},
		{"先看看。不要改接口；必须有测试！谢谢", []string{"不要改接口；", "必须有测试！"}},
		{"Rules:\n- tabs\n- short names\n\nThen go on.", []string{"Rules:\n- tabs\n- short names"}},
		{"Please never write to the folder that holds the recorded sessions\nof other people.", []string{"Please never write to the folder that holds the recorded sessions\nof other people."}},
		{"Never push. Never push.", []string{"Never push."}},
		{"Don’t touch `a.go`, e.g. its header.", []string{"Don’t touch `a.go`, e.g. its header."}},
		{"", nil},
	} {
		if got := Constraints(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
