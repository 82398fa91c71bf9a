package page

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func TestClassify(t *testing.T) {
	none, run, read, search, list := quire.ActionNone, quire.ActionRun, quire.ActionRead, quire.ActionSearch, quire.ActionList
	for name, c := range map[string]struct {
		action       quire.Action
		target, text string
		want         quire.Class
	}{
		"go test":          {run, "go test ./...", "--- FAIL: TestOpen (0.00s)\n    open_test.go:12: got 1\nFAIL\nFAIL\texample.org/a\t0.01s\n", quire.ClassTest},
		"go test, fine":    {run, "go test ./...", "ok  \texample.org/a\t0.012s\nok  \texample.org/b\t(cached)\n", quire.ClassTest},
		"go test, no":      {run, "go test ./...", "?   \texample.org/a\t[no test files]\n", quire.ClassTest},
		"pytest":           {run, "pytest", "============================= test session starts ==============================\ncollected 3 items\n\ntests/test_a.py ..F\n", quire.ClassTest},
		"pytest, quiet":    {run, "pytest -q", "....\n========== 4 passed in 0.12s ==========\n", quire.ClassTest},
		"pytest, names":    {run, "pytest", "FAILED tests/test_a.py::test_b - assert 1 == 2\n", quire.ClassTest},
		"unittest":         {run, "python -m unittest", "..\n----\nRan 2 tests in 0.001s\n\nOK\n", quire.ClassTest},
		"jest":             {run, "npm test", "PASS src/a.test.ts\nTests:       3 passed, 3 total\n", quire.ClassTest},
		"vitest":           {run, "npx vitest", " ✓ src/a.test.ts (3)\n Test Files  1 passed (1)\n", quire.ClassTest},
		"node test":        {run, "node --test", "TAP version 13\n# tests 2\n", quire.ClassTest},
		"cargo":            {run, "cargo test", "running 2 tests\ntest a::works ... ok\ntest result: ok. 2 passed; 0 failed\n", quire.ClassTest},
		"maven":            {run, "mvn test", "[INFO] Tests run: 4, Failures: 0, Errors: 0\n", quire.ClassTest},
		"rspec":            {run, "rspec", "..F\n\n3 examples, 1 failure\n", quire.ClassTest},
		"diff":             {run, "git diff", "diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n", quire.ClassDiff},
		"diff -u":          {run, "diff -u a b", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", quire.ClassDiff},
		"patch":            {none, "", "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch", quire.ClassDiff},
		"python trace":     {run, "python a.py", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: x\n", quire.ClassTrace},
		"go panic":         {run, "./a", "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:3 +0x1d\n", quire.ClassTrace},
		"rust panic":       {run, "./a", "thread 'main' panicked at src/main.rs:2:5:\nboom\n", quire.ClassTrace},
		"java trace":       {run, "java A", "java.lang.IllegalStateException: no\n\tat a.B.c(B.java:12)\n\tat a.B.d(B.java:2)\n\tat a.Main.main(Main.java:9)\n", quire.ClassTrace},
		"node trace":       {run, "node a.js", "TypeError: x is not a function\n    at f (/a/b.js:1:2)\n    at g (/a/b.js:5:1)\n    at h (/a/c.js:7:7)\n", quire.ClassTrace},
		"grep":             {run, "grep -rn x . | grep -v y", "a/b.go:12:\tx := 1\na/c.go:7:\ty(x)\n", quire.ClassSearch},
		"grep -n":          {run, "grep -n x a | cat", "12:\tx := 1\n40:x()\n", quire.ClassSearch},
		"grep windows":     {run, "findstr", "src\\a.cs:12:x\nsrc\\b.cs:3:x\n", quire.ClassSearch},
		"search tool":      {search, "x in a", "x\n", quire.ClassSearch},
		"search, files":    {search, "x", "internal/a.go\ninternal/b.go\n", quire.ClassListing},
		"ls -l":            {run, "ls -l; true", "total 8\n-rw-r--r-- 1 ann ann  12 Jan  1 10:00 a.go\ndrwxr-xr-x 2 ann ann 4096 Jan  1 10:00 docs\n", quire.ClassListing},
		"tree":             {run, "tree", ".\n├── a.go\n├── docs\n│   └── b.md\n└── c\n", quire.ClassListing},
		"paths":            {run, "x", "internal/a.go\ncmd/b/main.go\nREADME.md\n", quire.ClassListing},
		"status":           {run, "git status -s", " M internal/a.go\nA  cmd/b.go\n?? notes.txt\n", quire.ClassListing},
		"list tool":        {list, "src", "one\ntwo\n", quire.ClassListing},
		"source by name":   {read, "/r/a.go", "     1→package a\n     2→// --- FAIL: not a test run\n", quire.ClassSource},
		"source, windows":  {read, `C:\r\A.CS`, "class A {}", quire.ClassSource},
		"source by look":   {read, "/r/script", "#!/usr/bin/env node\nconst a = require('a');\nfunction f(x) {\n  return a(x);\n}\n", quire.ClassSource},
		"go by look":       {run, "x", "func Open(name string) (*File, error) {\n\tf, err := os.Open(name)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn &File{f}, nil\n}\n", quire.ClassSource},
		"python by look":   {run, "x", "import os\nfrom re import compile\n\ndef f(a, b):\n    c = a + b\n    return c\n", quire.ClassSource},
		"read that failed": {read, "/r/a.go", "Error: no such file", quire.ClassProse},
		"markdown":         {read, "README.md", "# Title\n\nfunc main() {}\n", quire.ClassProse},
		"json":             {run, "x", `{"a": 1, "b": [2, 3]}`, quire.ClassJSON},
		"json, cut":        {run, "x", "[\n  {\n    \"id\": 7,\n    \"name\": \"x", quire.ClassJSON},
		"json by name":     {read, "package.json", "{}", quire.ClassJSON},
		"csv by look":      {run, "x", "id,name,size\n1,a,10\n2,b,20\n3,c,30\n", quire.ClassTable},
		"csv by name":      {read, "a.csv", "x\n", quire.ClassTable},
		"markdown table":   {run, "x", "| a | b |\n|---|---|\n| 1 | 2 |\n", quire.ClassTable},
		"box table":        {run, "x", "┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ 2 │\n└───┴───┘\n", quire.ClassTable},
		"log":              {run, "x", "2026-01-02T10:00:00Z INFO start\n2026-01-02T10:00:01Z WARN slow\n", quire.ClassLog},
		"log, levels":      {run, "x", "[INFO] a\n[ERROR] b\nDEBUG: c\n", quire.ClassLog},
		"log, clock":       {run, "x", "10:00:01 a\n10:00:02 b\n", quire.ClassLog},
		"prose":            {none, "", "The cache was cold, so the prompt was written again.\nThat is free.\n", quire.ClassProse},
		"chinese":          {none, "", "缓存已经过期,所以提示词必须重新写入。\n这一次不需要额外付费。\n", quire.ClassProse},
		"arabic":           {none, "", "انتهت صلاحية الذاكرة المؤقتة.\n", quire.ClassProse},
		"one path":         {run, "pwd", "/srv/app\n", quire.ClassProse},
		"empty":            {run, "true", "", quire.ClassProse},
		"binary":           {run, "x", "\x00\xff\xfe\x01", quire.ClassProse},
	} {
		if got := Classify(c.action, c.target, c.text); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A sign anywhere in the middle of a long text is not looked for.
func TestClassifyLooksAtHeadAndTailOnly(t *testing.T) {
	filler := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 500)
	mark := "--- FAIL: TestX (0.00s)\n"
	for where, c := range map[string]struct {
		text string
		want quire.Class
	}{
		"head":   {mark + filler, quire.ClassTest},
		"middle": {filler + mark + filler, quire.ClassProse},
		"tail":   {filler + mark, quire.ClassTest},
		"line":   {strings.Repeat("x", 1<<20), quire.ClassProse},
	} {
		if got := Classify(quire.ActionRun, "", c.text); got != c.want {
			t.Errorf("%s: %s, want %s", where, got, c.want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("run", "go test", "ok  \ta\t0.1s\n")
	f.Add("read", `C:\a.go`, "     1→x")
	f.Add("", "", "[1, 2")
	f.Add("search", "x", "a:1:b\n--\n")
	f.Add("", "", "12:00:00 \xff\n-rw-")
	f.Add("run", "", "│\n┼──\n\t\t\n,,,\n,,,\n")
	f.Fuzz(func(t *testing.T, action, target, text string) {
		a := quire.Action(action)
		got := Classify(a, target, text)
		if got < quire.ClassProse || got > quire.ClassImage {
			t.Errorf("class %d", got)
		}
		if again := Classify(a, target, text); again != got {
			t.Errorf("%s, then %s", got, again)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	text := strings.Repeat("\tif err := store.Commit(ctx, id); err != nil {\n", 5000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Classify(quire.ActionRun, "x", text)
	}
}

func BenchmarkDescribe(b *testing.B) {
	args := `{"file_path":"a.go","old_string":"` + strings.Repeat(`x := 1\n\t`, 400) + `","new_string":"` + strings.Repeat(`y := 2\n\t`, 400) + `"}`
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		Describe("Edit", args)
	}
}
