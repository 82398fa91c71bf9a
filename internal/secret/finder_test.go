package secret_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/secret"
	"pgregory.net/rapid"
)

// settings are the surroundings in which secrets turn up in sessions.
func settings() map[string]func(string) string {
	encoded := func(text string) string {
		b, _ := json.Marshal(map[string]string{"command": "set -e\n" + text + "\necho done", "description": "–"})
		return string(b)
	}
	return map[string]func(string) string{
		"alone":         func(text string) string { return text },
		"a line":        func(text string) string { return "first line\n" + text + "\nlast line\n" },
		"a CRLF line":   func(text string) string { return "first line\r\n" + text + "\r\nlast line\r\n" },
		"JSON":          encoded,
		"JSON in JSON":  func(text string) string { return encoded(encoded(text)) },
		"a command":     func(text string) string { return "docker run -e X='" + text + "' shop:latest && ls" },
		"an assignment": func(text string) string { return "export VALUE=\"" + text + "\"; make" },
		"an address":    func(text string) string { return "GET https://example.org/hook?v=" + text + " HTTP/1.1" },
		"prose":         func(text string) string { return "我用的是 " + text + " 。别告诉别人" },
		"a color":       func(text string) string { return "\x1b[31m" + text + "\x1b[0m" },
	}
}

// fits leaves out what cannot be: a key of several lines in an address.
func (p plant) fits(where string) bool {
	lines := strings.ContainsAny(p.secret, "\r\n")
	return !lines || where != "an address"
}

func TestFindsEveryKindEverywhere(t *testing.T) {
	f := secret.NewFinder()
	for seed := range uint64(5) {
		for _, p := range plants(seed) {
			for where, put := range settings() {
				if !p.fits(where) {
					continue
				}
				text := put(p.text())
				if left := survives(p.secret, f.Mask(text)); left != "" {
					t.Errorf("%s in %s: %q survives", p.rule, where, left)
				}
			}
		}
	}
}

// survives gives a piece of a secret that is left in a text, "" for none.
func survives(planted, text string) string {
	for line := range strings.FieldsFuncSeq(planted, func(r rune) bool { return r == '\n' || r == '\r' || r == '\\' }) {
		size := min(len(line), 12)
		for i := 0; i+size <= len(line); i++ {
			if strings.Contains(text, line[i:i+size]) {
				return line[i : i+size]
			}
		}
	}
	return ""
}

// TestFindsTheSecretItself holds rule and bytes of findings.
func TestFindsTheSecretItself(t *testing.T) {
	f := secret.NewFinder()
	for _, p := range plants(7) {
		text := "before " + p.text() + "\n"
		found := f.Find(text)
		if len(found) != 1 || found[0].Rule != p.rule || text[found[0].From:found[0].To] != p.secret {
			t.Errorf("%s %q: found %v", p.rule, p.text(), found)
		}
	}
}

func TestEveryPlantedRuleExists(t *testing.T) {
	known := map[string]bool{}
	for _, id := range secret.NewFinder().Rules() {
		known[id] = true
		if strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || len(id) > 32 {
			t.Errorf("%q is no id", id)
		}
	}
	kinds := map[string]bool{}
	for _, p := range plants(0) {
		kinds[p.rule] = true
		if !known[p.rule] {
			t.Errorf("no rule %s", p.rule)
		}
	}
	if len(kinds) < 40 {
		t.Errorf("%d kinds are planted", len(kinds))
	}
}

// TestLetsThrough holds what is not a secret.
func TestLetsThrough(t *testing.T) {
	f := secret.NewFinder()
	for text := range strings.Lines(`password: string
password = os.Getenv("DB_PASSWORD")
PASSWORD=$DB_PASSWORD
PASSWORD="${DB_PASSWORD}"
"password": "********"
"password": "<your password>"
"password": "changeme"
password = config.password
PASSWORD_FILE=/run/secrets/db
PWD=/home/ann/shop
pwd && ls
"max_tokens": 16384, "tokenizer": "o200k_base"
"input_tokens":120345,"cache_read_input_tokens":99120
token := lexer.next()
tokens = tokenize(text)
key := cacheKey(a, b2)
"primary_key": "a81bc81bdead4e5dabff90865d1e13b1"
cache-key: go-linux-9c14d1f2b7a84cc8a06e6cbd5a90c1aa
commit 9c14d1f2b7a84cc8a06e6cbd5a90c1aa45dd01b2
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
id 550e8400-e29b-41d4-a716-446655440000
https://example.org:8080/path?page=2
http://localhost:3000
git push -u origin HEAD:main
docker run -u 1001:1002 shop
class="sk-toggle__label sk-container"
task-runner-with-a-very-long-name-2
secret_name = "prod-database-1"
"token_type": "bearer"
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
the secret: be kind
auth: required
"author": "Ann B. 2nd of Her Name"
-----BEGIN CERTIFICATE-----
KEY_PATTERN = re.compile(r"[a-z0-9]+")
if key == "arrow_up_2":
github_token ||= GitHub2::API3.credentials
["pwd","description"]
`) {
		if found := f.Find(text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// TestCutShort holds that a secret whose end was cut off does not survive.
func TestCutShort(t *testing.T) {
	f := secret.NewFinder()
	for _, p := range plants(3) {
		text := "run " + p.text()
		for _, sign := range []string{"", "…"} {
			for _, keep := range []int{14, 20, 31} {
				if begin := strings.Index(text, p.secret); keep < len(p.secret) && strings.HasPrefix(p.secret, "gh") {
					cut := text[:begin+keep] + sign
					if left := survives(p.secret[:keep], f.Mask(cut)); left != "" {
						t.Errorf("%s: %q survives in %q", p.rule, left, cut)
					}
				}
			}
		}
	}
}

func TestMaskKeepsLines(t *testing.T) {
	f := secret.NewFinder()
	key := plants(1)[len(plants(1))-17].secret
	text := "one\n" + key + "\nlast"
	want := "one\n‹secret:private-key›" + strings.Repeat("\n", strings.Count(key, "\n")) + "\nlast"
	if got := f.Mask(text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	crlf := "A_TOKEN=" + plants(1)[20].secret + "\r\nB=2\r\n"
	if got := f.Mask(crlf); !strings.HasSuffix(got, "›\r\nB=2\r\n") {
		t.Errorf("got %q", got)
	}
}

func TestTextWithoutSecretsIsTheSame(t *testing.T) {
	f := secret.NewFinder()
	text := strings.Repeat("go test ./... ok 0.3s\n", 100)
	if got := f.Mask(text); got != text {
		t.Error("changed")
	}
	if n := testing.AllocsPerRun(10, func() { f.Mask(text) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// drawText is text of pieces that matter to the rules, with secrets between them.
func drawText(t *rapid.T) (text string, planted []plant) {
	all := plants(rapid.Uint64Range(0, 50).Draw(t, "seed"))
	pieces := []string{
		"password", "token", "=", ": ", "\"", "'", "\\", "\\n", "\n", "\r\n", " ", "://", "user:", "@", "key", "SECRET_KEY", "‹secret:", "›", "‹secret:jwt›",
		"Authorization: Bearer ", "-----BEGIN ", "eyJ", ".", "sk-", "ghp_", "…", "的", "0123456789abcdef", "AbCd12", "&a=", "--", "<", ">", ",",
	}
	var b strings.Builder
	for range rapid.IntRange(0, 30).Draw(t, "pieces") {
		if rapid.IntRange(0, 5).Draw(t, "plant") == 0 {
			p := all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
			planted = append(planted, p)
			b.WriteString("\n" + p.text() + "\n")
			continue
		}
		b.WriteString(pieces[rapid.IntRange(0, len(pieces)-1).Draw(t, "piece")])
	}
	return b.String(), planted
}

func TestMaskedTextIsMasked(t *testing.T) {
	f := secret.NewFinder()
	rapid.Check(t, func(t *rapid.T) {
		text, planted := drawText(t)
		masked := f.Mask(text)
		if again := f.Mask(masked); again != masked {
			t.Fatalf("%q\nbecomes %q\nand then %q", text, masked, again)
		}
		if strings.Count(text, "\n") != strings.Count(masked, "\n") {
			t.Fatalf("%q has other lines than %q", masked, text)
		}
		for _, p := range planted {
			if strings.Contains(masked, p.secret) {
				t.Fatalf("%s survives in %q", p.rule, masked)
			}
		}
	})
}

func FuzzMask(f *testing.F) {
	finder := secret.NewFinder()
	for _, p := range plants(2) {
		f.Add("x "+p.text()+" y", uint64(1))
	}
	f.Add("password=‹secret:password›…", uint64(2))
	f.Add("-----BEGIN "+"PRIVATE KEY-----\xff\xfe", uint64(3))
	f.Add("https://a:b@c:d@e/", uint64(4))
	f.Add("\"token\": 'a1\\\\", uint64(5))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		last := 0
		for _, x := range finder.Find(text) {
			if x.From < last || x.To <= x.From || x.To > len(text) {
				t.Fatalf("%q: %v", text, x)
			}
			last = x.To
		}
		masked := finder.Mask(text)
		if utf8.ValidString(text) && !utf8.ValidString(masked) {
			t.Fatalf("%q is masked as %q", text, masked)
		}
		if again := finder.Mask(masked); again != masked {
			t.Fatalf("%q\nbecomes %q\nand then %q", text, masked, again)
		}
		all := plants(seed)
		p := all[seed%uint64(len(all))]
		if !strings.Contains(text, p.secret) && strings.Contains(finder.Mask(text+"\n\n"+p.text()+"\n\n"+text), p.secret) {
			t.Fatalf("%s survives within %q", p.rule, text)
		}
	})
}

func ExampleFinder_Mask() {
	fmt.Println(secret.NewFinder().Mask("curl -u ann:" + "hunter2 https://example.org"))
	// Output: curl -u ann:‹secret:command-password› https://example.org
}
