package page

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

type example struct {
	tool, args string
	want       Description
}

func check(t *testing.T, cases []example) {
	t.Helper()
	for _, c := range cases {
		if got := Describe(c.tool, c.args); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s\n got %#v\nwant %#v", c.tool, c.args, got, c.want)
		}
	}
}

func TestDescribeClaudeCode(t *testing.T) {
	check(t, []example{
		{"Read", `{"file_path":"/home/ann/app/main.go"}`, Description{Action: quire.ActionRead, Target: "/home/ann/app/main.go"}},
		{"Read", `{"file_path":"a.go","offset":120,"limit":40}`, Description{Action: quire.ActionRead, Target: "a.go", Lines: quire.Range{First: 120, Last: 159}}},
		{"Read", `{"file_path":"a.go","offset":"120"}`, Description{Action: quire.ActionRead, Target: "a.go", Lines: quire.Range{First: 120, Last: 2119}}},
		{"Read", `{"file_path":"a.go","limit":5}`, Description{Action: quire.ActionRead, Target: "a.go", Lines: quire.Range{First: 1, Last: 5}}},
		{"Edit", `{"file_path":"a.go","old_string":"x := 1\n","new_string":"x := 2\n"}`, Description{Action: quire.ActionEdit, Target: "a.go", Old: []string{"x := 1\n"}, New: "x := 2\n"}},
		{"MultiEdit", `{"file_path":"a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}`,
			Description{Action: quire.ActionEdit, Target: "a.go", Old: []string{"a", "c"}, New: "b\nd"}},
		{"Write", `{"file_path":"C:\\src\\new.txt","content":"zwei\nZeilen"}`, Description{Action: quire.ActionWrite, Target: `C:\src\new.txt`, New: "zwei\nZeilen"}},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"3","new_source":"print(1)"}`, Description{Action: quire.ActionEdit, Target: "n.ipynb", New: "print(1)"}},
		{"Bash", `{"command":"go test ./...","description":"Run the tests"}`, Description{Action: quire.ActionRun, Target: "go test ./..."}},
		{"BashOutput", `{"bash_id":"b1"}`, Description{Action: quire.ActionRun, Target: "b1"}},
		{"Grep", `{"pattern":"func Open","path":"internal","output_mode":"content"}`, Description{Action: quire.ActionSearch, Target: "func Open in internal"}},
		{"Glob", `{"pattern":"**/*.go"}`, Description{Action: quire.ActionList, Target: "**/*.go"}},
		{"LS", `{"path":"/srv"}`, Description{Action: quire.ActionList, Target: "/srv"}},
		{"Task", `{"description":"Find the parser","prompt":"Look for …","subagent_type":"Explore"}`, Description{Action: quire.ActionTask, Target: "Find the parser"}},
		{"TodoWrite", `{"todos":[{"content":"one","status":"pending"}]}`, Description{Action: quire.ActionPlan}},
		{"TaskUpdate", `{"taskId":"4","status":"completed"}`, Description{Action: quire.ActionPlan, Target: "4"}},
		{"WebFetch", `{"url":"https://go.dev/ref/spec","prompt":"What is a rune?"}`, Description{Action: quire.ActionFetch, Target: "https://go.dev/ref/spec"}},
		{"WebSearch", `{"query":"go 1.26 release"}`, Description{Action: quire.ActionFetch, Target: "go 1.26 release"}},
		{"Skill", `{"skill":"commit"}`, Description{Target: "commit"}},
	})
}

func TestDescribeCodex(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: src/a.py\n@@ def f():\n def f():\n-    return 1\n+    return 2\n@@\n-x\n+y\n+z\n*** Add File: src/b.py\n+pass\n*** End Patch\n"
	edit := Description{Action: quire.ActionEdit, Target: "src/a.py src/b.py", Old: []string{"def f():\n    return 1", "x"}, New: "    return 2\ny\nz\npass"}
	check(t, []example{
		{"apply_patch", patch, edit},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: n.md\n+# New\n*** End Patch"}`, Description{Action: quire.ActionWrite, Target: "n.md", New: "# New"}},
		{"shell", `{"command":["apply_patch","*** Begin Patch\n*** Delete File: old.go\n*** End Patch"]}`, Description{Action: quire.ActionEdit, Target: "old.go"}},
		{"exec_command", `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-1\n+2\n*** End Patch\nEOF"}`,
			Description{Action: quire.ActionEdit, Target: "a", Old: []string{"1"}, New: "2"}},
		{"exec_command", `{"cmd":"sed -n '1,160p' docs/plan.md","workdir":"/srv/app","yield_time_ms":10000}`, Description{Action: quire.ActionRead, Target: "docs/plan.md", Lines: quire.Range{First: 1, Last: 160}}},
		{"shell", `{"command":["bash","-lc","rg -n \"type Config\" internal cmd | head -40"],"workdir":"/srv"}`, Description{Action: quire.ActionSearch, Target: "type Config in internal cmd"}},
		{"shell", `{"command":["git","commit","-m","fix: it's done"]}`, Description{Action: quire.ActionRun, Target: `git commit -m 'fix: it'\''s done'`}},
		{"update_plan", `{"explanation":"Second step","plan":[]}`, Description{Action: quire.ActionPlan, Target: "Second step"}},
		{"view_image", `{"path":"shot.png"}`, Description{Action: quire.ActionRead, Target: "shot.png"}},
		{"write_stdin", `{"session_id":7,"chars":"y\n"}`, Description{Action: quire.ActionRun, Target: "y"}},
		{"functions.exec_command", `{"cmd":"ls -la src"}`, Description{Action: quire.ActionList, Target: "src"}},
	})
}

func TestDescribeOthers(t *testing.T) {
	check(t, []example{
		// Copilot CLI
		{"view", `{"path":"/app/x.ts","view_range":[10,-1]}`, Description{Action: quire.ActionRead, Target: "/app/x.ts", Lines: quire.Range{First: 10}}},
		{"view", `{"path":"/app/x.ts","view_range":[1,-1]}`, Description{Action: quire.ActionRead, Target: "/app/x.ts"}},
		{"edit", `{"path":"x.ts","old_str":"let","new_str":"const"}`, Description{Action: quire.ActionEdit, Target: "x.ts", Old: []string{"let"}, New: "const"}},
		{"create", `{"path":"y.ts","file_text":"export {}"}`, Description{Action: quire.ActionWrite, Target: "y.ts", New: "export {}"}},
		{"grep", `{"pattern":"TODO","path":"src"}`, Description{Action: quire.ActionSearch, Target: "TODO in src"}},
		{"report_intent", `{"intent":"Reading tests"}`, Description{Action: quire.ActionPlan, Target: "Reading tests"}},
		// OpenCode
		{"read", `{"filePath":"a.rs","offset":0,"limit":50}`, Description{Action: quire.ActionRead, Target: "a.rs", Lines: quire.Range{First: 1, Last: 50}}},
		{"read", `{"filePath":"a.rs","offset":99,"limit":1}`, Description{Action: quire.ActionRead, Target: "a.rs", Lines: quire.Range{First: 100, Last: 100}}},
		{"edit", `{"filePath":"a.rs","oldString":"1","newString":"2"}`, Description{Action: quire.ActionEdit, Target: "a.rs", Old: []string{"1"}, New: "2"}},
		{"write", `{"filePath":"a.rs","content":"fn main() {}"}`, Description{Action: quire.ActionWrite, Target: "a.rs", New: "fn main() {}"}},
		// SWE-agent and its kin
		{"str_replace_editor", `{"command":"view","path":"/r/a.py","view_range":[3,9]}`, Description{Action: quire.ActionRead, Target: "/r/a.py", Lines: quire.Range{First: 3, Last: 9}}},
		{"str_replace_editor", `{"command":"create","path":"/r/b.py","file_text":"pass\n"}`, Description{Action: quire.ActionWrite, Target: "/r/b.py", New: "pass\n"}},
		{"str_replace_editor", `{"command":"str_replace","path":"/r/a.py","old_str":"a","new_str":"b"}`, Description{Action: quire.ActionEdit, Target: "/r/a.py", Old: []string{"a"}, New: "b"}},
		{"str_replace_based_edit_tool", `{"command":"insert","path":"/r/a.py","insert_line":1,"insert_text":"import re"}`, Description{Action: quire.ActionEdit, Target: "/r/a.py", New: "import re"}},
		{"bash", "grep -rn 'def loads' src/", Description{Action: quire.ActionSearch, Target: "def loads in src/"}},
		// names nobody knows
		{"mcp__files__fetch_lines", `{"path":"/x/y.go","start_line":5,"end_line":8}`, Description{Action: quire.ActionRead, Target: "/x/y.go", Lines: quire.Range{First: 5, Last: 8}}},
		{"amend", `{"path":"y","old_text":"p","new_text":"q"}`, Description{Action: quire.ActionEdit, Target: "y", Old: []string{"p"}, New: "q"}},
		{"store", `{"path":"y","content":"c"}`, Description{Action: quire.ActionWrite, Target: "y", New: "c"}},
		{"lookup", `{"query":"page table"}`, Description{Action: quire.ActionSearch, Target: "page table"}},
		{"do_it", `{"cmd":"make"}`, Description{Action: quire.ActionRun, Target: "make"}},
		{"peek", `{"directory":"/tmp"}`, Description{Action: quire.ActionList, Target: "/tmp"}},
		{"mcp__tickets__get_issue", `{"id":"AB-12"}`, Description{Target: "AB-12"}},
		{"nothing", `{}`, Description{}},
		{"", "", Description{}},
	})
}

func TestDescribeCommands(t *testing.T) {
	read := func(target string, lines ...int) Description {
		d := Description{Action: quire.ActionRead, Target: target}
		if len(lines) > 0 {
			d.Lines = quire.Range{First: lines[0], Last: lines[1]}
		}
		return d
	}
	run := func(command string) Description { return Description{Action: quire.ActionRun, Target: command} }
	for command, want := range map[string]Description{
		"cat a.go":                                 read("a.go"),
		"cat -n 'my file.txt'":                     read("my file.txt"),
		"cat a.go b.go":                            read("a.go b.go"),
		"cd /srv/app && cat a.go":                  read("a.go"),
		"nl -ba a.go | sed -n '10,20p'":            read("a.go"),
		"sed -n 10,20p a.go":                       read("a.go", 10, 20),
		"sed -n '5p' a.go":                         read("a.go", 5, 5),
		"sed -n '5,$p' a.go":                       read("a.go", 5, 0),
		"sed -n -e '5,6p' a.go":                    read("a.go", 5, 6),
		"sed -n '1,9p' a && sed -n '20,30p' a":     read("a", 1, 30),
		"head -20 a.go":                            read("a.go", 1, 20),
		"head -n 20 a.go":                          read("a.go", 1, 20),
		"head a.go":                                read("a.go", 1, 10),
		"tail -n +40 a.go":                         read("a.go", 40, 0),
		"tail -5 a.log":                            read("a.log"),
		"cat a.go 2>/dev/null | head -50":          read("a.go"),
		"cat a.go; echo ---; cat b.go":             read("a.go b.go"),
		"LC_ALL=C cat a":                           read("a"),
		`Get-Content -Path C:\src\a.cs`:            read(`C:\src\a.cs`),
		`Get-Content src\a.cs -TotalCount 30`:      read(`src\a.cs`, 1, 30),
		`type C:\Users\ann\notes.txt`:              read(`C:\Users\ann\notes.txt`),
		"rg -n -g '*.go' 'a|b' internal":           {Action: quire.ActionSearch, Target: "a|b in internal"},
		"grep -rn --include='*.py' foo . | head":   {Action: quire.ActionSearch, Target: "foo in ."},
		"grep -A 3 -e x f":                         {Action: quire.ActionSearch, Target: "x in f"},
		"git grep -n needle":                       {Action: quire.ActionSearch, Target: "needle"},
		`Select-String -Path *.cs -Pattern "Main"`: {Action: quire.ActionSearch, Target: "Main in *.cs"},
		"ls":                                     {Action: quire.ActionList, Target: "."},
		"ls -la /srv | head":                     {Action: quire.ActionList, Target: "/srv"},
		"find . -name '*.go' -type f":            {Action: quire.ActionList, Target: "*.go in ."},
		"rg --files internal | rg test":          {Action: quire.ActionList, Target: "internal"},
		"git ls-files docs":                      {Action: quire.ActionList, Target: "docs"},
		"cat > a.txt <<'EOF'\nline 1\nEOF":       {Action: quire.ActionWrite, Target: "a.txt", New: "line 1\n"},
		"cat <<EOF > a.txt\nx $HOME\nEOF\n":      {Action: quire.ActionWrite, Target: "a.txt", New: "x $HOME\n"},
		"tee a.txt >/dev/null <<'E'\nq\nE":       {Action: quire.ActionWrite, Target: "a.txt", New: "q\n"},
		"echo hi > a.txt":                        {Action: quire.ActionWrite, Target: "a.txt", New: "hi"},
		"cat >a <<A && cat >b <<B\n1\nA\n2\nB\n": {Action: quire.ActionWrite, Target: "a b", New: "1\n\n2\n"},
		"sed -i 's/a/b/' x.py":                   {Action: quire.ActionEdit, Target: "x.py"},
		"sed -i '' s/a/b/ x.py y.py":             {Action: quire.ActionEdit, Target: "x.py y.py"},
		"cat a.go && rg b":                       run("cat a.go && rg b"),
		"find . -name x -delete":                 run("find . -name x -delete"),
		"go build ./... 2>&1 | tail -5":          run("go build ./... 2>&1 | tail -5"),
		"go test > out.txt":                      run("go test > out.txt"),
		"cat a b > c":                            run("cat a b > c"),
		"cat":                                    run("cat"),
		"git status --short":                     run("git status --short"),
		"cd /srv":                                run("cd /srv"),
		"python3 - <<'EOF'\nprint(1)\nEOF":       run("python3 - <<'EOF' print(1) EOF"),
		"# only a comment":                       run("# only a comment"),
		"echo \"$(cat a)\"; make":                run(`echo "$(cat a)"; make`),
		"echo 'unclosed":                         run("echo 'unclosed"),
	} {
		if got := describeCommand(command, newInvocation("bash", "").windows(command)); !reflect.DeepEqual(trim(got), want) {
			t.Errorf("%s\n got %#v\nwant %#v", command, got, want)
		}
	}
}

func trim(d Description) Description {
	d.Target = line(d.Target)
	return d
}

// Arguments that were cut off, or are not JSON, give what is in them.
func TestDescribeDamagedArguments(t *testing.T) {
	check(t, []example{
		{"Write", `{"file_path":"a.go","content":"package a\n\nfunc`, Description{Action: quire.ActionWrite, Target: "a.go", New: "package a\n\nfunc"}},
		{"Write", `{"file_path":"a.go","content":"tab\`, Description{Action: quire.ActionWrite, Target: "a.go", New: "tab"}},
		{"Read", `{"file_path":"a.go","offset":12,"lim`, Description{Action: quire.ActionRead, Target: "a.go", Lines: quire.Range{First: 12, Last: 2011}}},
		{"Edit", `{"file_path":"a.go" "old_string":"x"}`, Description{Action: quire.ActionEdit, Target: "a.go"}},
		{"Bash", `{"command":"echo \u4f60\ud83d\ude42 \ud83d"}`, Description{Action: quire.ActionRun, Target: "echo 你🙂 \ufffd"}},
		{"Bash", `{"command":["ls","src"`, Description{Action: quire.ActionList, Target: "src"}},
		{"Read", `not JSON`, Description{Action: quire.ActionRead, Target: "not JSON"}},
		{"Read", `["a"]`, Description{Action: quire.ActionRead, Target: `["a"]`}},
		{"Grep", `{"pattern":7}`, Description{Action: quire.ActionSearch}},
	})
}

// failures.md A48: what is too long is cut between characters.
func TestTargetIsOneShortLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\n\tb":                          "a b",
		strings.Repeat("中", 100):          strings.Repeat("中", 65) + "…",
		strings.Repeat("x", 200):          strings.Repeat("x", 200),
		"\xffbad\x1b[0m\u2028end":         "\ufffdbad [0m end",
		strings.Repeat("\n", 900) + "far": "",
	} {
		if got := line(in); got != want {
			t.Errorf("line(%.20q) = %q, want %q", in, got, want)
		}
	}
}

func seeds(f *testing.F) {
	f.Add("Bash", `{"command":"cat <<'E' > x\n1\nE\n"}`)
	f.Add("shell", `{"command":["bash","-lc","sed -n '1,2p' a | head"]}`)
	f.Add("apply_patch", "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch")
	f.Add("Edit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"`)
	f.Add("Read", `{"filePath":"\ud83d\ude42","offset":-1,"limit":99999999999999999999}`)
	f.Add("powershell", `{"command":"Get-Content 'C:\\a b.txt' -TotalCount 3"}`)
	f.Add("x", strings.Repeat(`[{"a":`, 50))
	f.Add("grep", `{"pattern":"\n`)
	f.Add("", "\xff\xfe\x00")
}

func sound(t interface{ Errorf(string, ...any) }, tool, args string) {
	d := Describe(tool, args)
	if !utf8.ValidString(d.Target) || len(d.Target) > maxTarget || strings.ContainsAny(d.Target, "\n\r\u2028\u0085") {
		t.Errorf("%s %q: target %q", tool, args, d.Target)
	}
	if d.Lines.First < 0 || d.Lines.Last < 0 || d.Lines.Last != 0 && d.Lines.Last < d.Lines.First {
		t.Errorf("%s %q: lines %v", tool, args, d.Lines)
	}
	if len(d.New) > len(args)+2 && !strings.Contains(args, "edits") {
		t.Errorf("%s %q: %d bytes written", tool, args, len(d.New))
	}
}

func FuzzDescribe(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, tool, args string) { sound(t, tool, args) })
}

func TestDescribeTakesAnything(t *testing.T) {
	words := []string{"cat", "sed", "-n", "'1,2p'", "a.go", "|", "&&", ";", "\n", "<<", "EOF", "'EOF'", ">", "2>&1", "$(", ")", `\`, `"`, "{", "rg", "find", " ", "bash -c", "C:\\x"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20).Draw(t, "words"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		sound(t, "bash", s)
		sound(t, "Write", `{"command":"`+s)
	})
}
