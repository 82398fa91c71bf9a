package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planted are made-up secrets by the command that uses them. They are put
// together here, so that no file holds what looks like one.
func planted() map[string]string {
	hex := strings.Repeat("8f3a91c07be5d264", 5)
	mixed := strings.Repeat("aZ3kQ9xW7rTb2LmN", 8)
	commands := map[string]string{}
	for command, secret := range map[string]string{
		"aws configure set aws_access_key_id %":                "AK" + "IA" + "QZ3KQ9XW7RTB2LMN",
		"aws_secret_access_key=% aws s3 ls":                    mixed[:40],
		"export ANTHROPIC_API_KEY=%":                           "sk-" + "ant-api03-" + mixed[:93],
		"curl -H 'Authorization: Bearer %' example.org/models": "sk-" + "proj-" + mixed[:100],
		"git clone https://ann:%@git.example.org/shop.git":     "gh" + "p_" + mixed[:36],
		"git clone https://oauth2:%@gitlab.example.org/a.git":  "gl" + "pat-" + mixed[:20],
		"npm config set //npm.example.org/:_authToken=%":       "np" + "m_" + mixed[3:39],
		"twine upload -u __token__ -p %":                       "pypi" + "-AgEIcHlwaS5vcmc" + mixed[:70],
		"curl 'https://slack.example.org/api?token=%&c=1'":     "xo" + "xb-123456789012-123456789012-" + mixed[:24],
		"curl -u %: https://api.stripe.example.org/charges":    "sk" + "_live_" + mixed[5:29],
		"SENDGRID=% node mail.js":                              "S" + "G." + mixed[:22] + "." + mixed[:43],
		"psql postgres://shop:%@db.example.org/shop":           "p7tVq" + "Lm2xR",
		"mysql -h db -u shop -p% shop":                         "Kd83" + "mvQz",
		"echo DB_PASSWORD=% >> .env":                           "wq81-" + "Zxv!4",
		"docker login -u ann --password % reg.example.org":     "h7Tq" + "92vbX",
		"vault login %":                          "hv" + "s." + mixed[:95],
		"curl 'https://maps.example.org/?key=%'": "AI" + "za" + mixed[:35],
		"deploy --token %":                       hex[:40],
		"TELEGRAM=% python bot.py":               "7123456789:A" + "A" + mixed[:33],
		"curl -H 'Cookie: s=%' example.org":      "ey" + "J" + mixed[:33] + ".ey" + "J" + mixed[:60] + "." + mixed[:43],
		"printf '%' > key.pem":                   "-----BEGIN " + "PRIVATE KEY-----\n" + mixed[:64] + "\n" + mixed[:64] + "\n-----END " + "PRIVATE KEY-----",
	} {
		commands[strings.Replace(command, "%", secret, 1)] = secret
	}
	return commands
}

// plantLog writes a session in which each command was run twice, and whose user
// and files name secrets too.
func plantLog(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	n := 0
	line := func(kind string, message map[string]json.RawMessage) {
		n++
		raw, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `{"type":%q,"isSidechain":false,"uuid":"u%d","parentUuid":"u%d","sessionId":"s1","timestamp":"2026-11-02T09:%02d:%02dZ","cwd":"/home/ann/shop","version":"2.1.0","message":%s}`+"\n",
			kind, n, n-1, n/60, n%60, raw)
	}
	text := func(v any) json.RawMessage {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	output := strings.Repeat("one line of output, the same each time\n", 40)
	for range 2 {
		commands := planted()
		for _, command := range slices.Sorted(maps.Keys(commands)) {
			secret := commands[command]
			id := fmt.Sprintf("t%d", n)
			line("user", map[string]json.RawMessage{"role": text("user"), "content": text("Use " + command)})
			line("assistant", map[string]json.RawMessage{"id": text("m" + id), "role": text("assistant"), "model": text("claude-opus-4-6"),
				"content": json.RawMessage(fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%s}}]`, id, text(command))),
				"usage":   json.RawMessage(`{"input_tokens":10,"cache_read_input_tokens":9000,"cache_creation_input_tokens":800,"output_tokens":4}`)})
			line("user", map[string]json.RawMessage{"role": text("user"),
				"content": json.RawMessage(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%s}]`, id, text(output+secret)))})
		}
	}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAuditShowsNoSecret looks for the secrets of a log in all that an audit
// writes.
func TestAuditShowsNoSecret(t *testing.T) {
	log := plantLog(t)
	page := filepath.Join(t.TempDir(), "report.html")
	terminal := invoke(t, "audit", log, "--utc", "--html", page)
	asJSON := invoke(t, "audit", log, "--json")
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"terminal": terminal.out, "standard error": terminal.err, "JSON": asJSON.out, "HTML": string(html)} {
		if name != "standard error" && strings.Count(text, "‹secret:") < 10 {
			t.Errorf("%s: few secrets are masked", name)
		}
		for _, secret := range planted() {
			for piece := range strings.FieldsSeq(secret) {
				if len(piece) > 6 && strings.Contains(text, piece[:min(len(piece), 12)]) && !strings.HasPrefix(piece, "KEY") {
					t.Errorf("%s: %.20q… is shown", name, secret)
				}
			}
		}
	}
}

// TestErrorsShowNoSecret holds the same for messages that name what was given.
func TestErrorsShowNoSecret(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("aZ3kQ9xW7rTb", 3)
	got := invoke(t, "audit", "missing-"+secret)
	if got.code != int(exitUnusable) || strings.Contains(got.err, secret) || !strings.Contains(got.err, "missing-‹secret:github-token›") {
		t.Errorf("got %+v", got)
	}
}
