package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/store/sqlite"
)

// A toolPlant is a call of a tool with secrets in what it was asked about or in
// what it gave. They are put together when the test runs.
type toolPlant struct {
	tool, argument string // the name of the tool and of its main argument
	target, result string
	secrets        []string
}

// draw gives letters drawn by chance, with digits or without.
func draw(r *rand.Rand, n int, digits bool) string {
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if !digits {
		letters = letters[:52]
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

func toolPlants() (plants []toolPlant) {
	r := rand.New(rand.NewPCG(7, 7))
	add := func(tool, argument, target, secret string) {
		plants = append(plants, toolPlant{tool, argument, strings.Replace(target, "%", secret, 1), "it went well", []string{secret}})
	}
	add("Bash", "command", "curl -H 'Authorization: Bearer %' https://example.org/cart", draw(r, 40, true))
	add("Bash", "command", "curl -H \"Authorization: Basic %\" https://example.org/cart", draw(r, 28, true))
	add("Bash", "command", "curl -u shop:% https://example.org/cart", draw(r, 14, true))
	add("Bash", "command", "curl 'https://slack.example.org/api/cart?token=%&c=1'", "xo"+"xb-123456789012-"+draw(r, 24, true))
	add("WebFetch", "url", "https://example.org/cart?token=%", "xo"+"xp-210987654321-"+draw(r, 24, true))
	add("Read", "file_path", "/home/ann/shop/%/cart.go", "gh"+"p_"+draw(r, 36, true))
	add("Read", "file_path", "/home/ann/shop/backup/%.txt", "gl"+"pat-"+draw(r, 20, true))
	add("Write", "file_path", "/home/ann/shop/%/total.go", "hf"+"_"+draw(r, 34, false))
	add("Grep", "pattern", "cart.*%", "sk-"+draw(r, 48, false))
	add("Bash", "command", "huggingface-cli login --cart --token %", "hf"+"_"+draw(r, 34, false))
	for i, form := range []string{"%6d→", "%d\t", "%d: "} {
		plants = append(plants, numberedKey(r, fmt.Sprintf("/home/ann/shop/cart-%d.pem", i), form))
	}
	commands := planted()
	for _, command := range slices.Sorted(maps.Keys(commands)) {
		lines := slices.DeleteFunc(strings.Split(commands[command], "\n"), func(l string) bool { return strings.HasPrefix(l, "-----") })
		plants = append(plants, toolPlant{"Bash", "command", command + " # cart", "it went well", lines})
	}
	return plants
}

// numberedKey is a private key as a tool prints it that numbers lines.
func numberedKey(r *rand.Rand, path, form string) toolPlant {
	p := toolPlant{tool: "Read", argument: "file_path", target: path}
	lines := []string{"-----BEGIN " + "PRIVATE KEY-----"}
	for range 24 {
		lines = append(lines, draw(r, 64, true))
	}
	p.secrets = lines[1:]
	for i, line := range append(lines, "-----END "+"PRIVATE KEY-----") {
		p.result += fmt.Sprintf(form, i+1) + line + "\n"
	}
	return p
}

// plantTools writes a log in which each of the tools was called in a folder.
func plantTools(t *testing.T, cwd string, plants []toolPlant) string {
	t.Helper()
	var b strings.Builder
	n := 0
	line := func(kind string, message map[string]any) {
		n++
		raw, err := json.Marshal(map[string]any{
			"type": kind, "isSidechain": false, "uuid": fmt.Sprint("u", n), "parentUuid": fmt.Sprint("u", n-1), "sessionId": "s1", "version": "2.1.0",
			"timestamp": fmt.Sprintf("2026-11-02T09:%02d:%02dZ", n/60, n%60), "cwd": cwd, "message": message,
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	line("user", map[string]any{"role": "user", "content": "Look at the cart."})
	for i, p := range plants {
		id := fmt.Sprint("t", i)
		line("user", map[string]any{"role": "user", "content": "Now for the cart: " + p.target})
		line("assistant", map[string]any{"id": "m" + id, "role": "assistant", "model": "claude-opus-4-6",
			"content": []any{map[string]any{"type": "tool_use", "id": id, "name": p.tool, "input": map[string]any{p.argument: p.target, "content": "package cart"}}},
			"usage":   map[string]any{"input_tokens": 10, "output_tokens": 4}})
		line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": p.result}}})
	}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runAt runs a command over a home and gives all that it wrote.
func runAt(t *testing.T, home string, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	a := app{dir: t.TempDir(), goos: "linux", build: builtFrom("v1.2.3", "")}
	env := newEnvironment([]string{"HOME=" + t.TempDir(), "QUIRE_HOME=" + home})
	if code := a.Run(t.Context(), args, strings.NewReader(""), &out, &errOut, env); code != 0 {
		t.Fatalf("quire %v: code %d, %s", args, code, errOut.String())
	}
	return out.String() + errOut.String()
}

// TestPoolShowsNoSecret plants secrets in the calls and results of tools and looks
// for them in all that is shown of a pool, and in what is derived from it.
func TestPoolShowsNoSecret(t *testing.T) {
	home, plants := t.TempDir(), toolPlants()
	shown := map[string]string{"import": runAt(t, home, "import", plantTools(t, "/home/ann/shop", plants))}
	damageJournal(t, home, plants[5].secrets[0])
	for _, args := range [][]string{{"pages"}, {"session", "list"}, {"session", "show", "s1"}, {"recall", "--limit", "50", "--explain", "cart"}, {"recall", "--limit", "50", "shop cart.go"}} {
		shown[strings.Join(args, " ")] = runAt(t, home, args...)
		shown[strings.Join(args, " ")+" --json"] = runAt(t, home, append(args, "--json")...)
	}
	for i, p := range plants {
		shown[fmt.Sprint("recall of plant ", i)] = runAt(t, home, "recall", "--json", "--explain", p.target)
	}
	showPages(t, home, shown)
	shown["export"] = runAt(t, home, "session", "export", "s1")
	shown["table and index"] = derivedBytes(t, home)
	for where, text := range shown {
		lookFor(t, plants, where, text)
	}
	if got := strings.Count(shown["table and index"], "folded by Quire"); got < len(plants) {
		t.Errorf("%d cards are kept for %d turns", got, len(plants))
	}
	if got := strings.Count(shown["pages"], "‹secret:"); got < 8 {
		t.Errorf("pages: %d secrets are masked", got)
	}
	if !strings.Contains(shown["session show s1"], "‹secret:github-token›") {
		t.Errorf("no damage in %s", shown["session show s1"])
	}
}

// TestSecretsInTheProject holds that the path of a project, and that of the log,
// are masked where they are shown and in what is derived.
func TestSecretsInTheProject(t *testing.T) {
	home, plants := t.TempDir(), toolPlants()[5:6]
	runAt(t, home, "import", plantTools(t, "/home/ann/"+plants[0].secrets[0], plants))
	for _, args := range [][]string{{"pages"}, {"pages", "--json"}, {"session", "list", "--json"}, {"session", "show", "s1"}, {"recall", "cart", "--json"}, {"pool", "--json"}} {
		lookFor(t, plants, strings.Join(args, " "), runAt(t, home, args...))
	}
	lookFor(t, plants, "table and index", derivedBytes(t, home))
}

// TestPathsWithSecretsAreFound holds what a masked target means for who looks for
// a path: the whole path finds its page first, and so does the file's name.
func TestPathsWithSecretsAreFound(t *testing.T) {
	home, plants := t.TempDir(), toolPlants()
	runAt(t, home, "import", plantTools(t, "/home/ann/shop", plants))
	for _, query := range []string{plants[7].target, "total.go"} {
		var got recallReport
		if err := json.Unmarshal([]byte(runAt(t, home, "recall", "--json", query)), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Hits) == 0 || !strings.Contains(got.Hits[0].Source, "shop/‹secret:huggingface-token›/total.go") {
			t.Errorf("%s: got %+v", got.Query, got.Hits)
		}
	}
}

// damageJournal adds a line that cannot be read and quotes a secret.
func damageJournal(t *testing.T, home, secret string) {
	t.Helper()
	all, err := journal.List(home)
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	f, err := os.OpenFile(all[0].Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, `{"v":1,"seq":900,"t":"at %s","type":"text"}`+"\n", secret); err != nil {
		t.Fatal(err)
	}
}

// showPages shows every page, as text and as JSON.
func showPages(t *testing.T, home string, shown map[string]string) {
	t.Helper()
	var list pageList
	if err := json.Unmarshal([]byte(runAt(t, home, "pages", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Pages) < len(toolPlants()) {
		t.Fatalf("%d pages", len(list.Pages))
	}
	for _, p := range list.Pages {
		shown["show "+p.Name] = runAt(t, home, "show", p.Name)
		shown["show --json "+p.Name] = runAt(t, home, "show", "--json", p.Name)
	}
}

// derivedBytes are the bytes of the file with the page table and the index.
func derivedBytes(t *testing.T, home string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, sqlite.PoolFile+"*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	all := ""
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	return all
}

// lookFor finds pieces of secrets in a text, in any case of letters: terms of the
// index are in lower case.
func lookFor(t *testing.T, plants []toolPlant, where, text string) {
	t.Helper()
	text = strings.ToLower(text)
	for _, p := range plants {
		for _, secret := range p.secrets {
			piece := strings.ToLower(secret[max(len(secret)-12, 0):])
			if at := strings.Index(text, piece); at >= 0 {
				t.Errorf("%s: %s %.60q is shown: %q", where, p.tool, p.target, text[max(0, at-60):at+12])
				break
			}
		}
	}
}
