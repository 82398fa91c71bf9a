package secret_test

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/secret"
)

// lettersOnly are secrets that happen to have no digit, by their rule. Tokens of
// Hugging Face never have one.
func lettersOnly() []plant {
	letters := strings.Repeat("qZkXwJvBfGyHpRmTcNsLdWQzKx", 4)
	return []plant{
		{rule: "huggingface-token", secret: "hf" + "_" + letters[:34]},
		{rule: "huggingface-token", secret: "hf" + "_" + strings.ToLower(letters[:34])},
		{rule: "huggingface-token", secret: "api" + "_org_" + letters[:34]},
		{rule: "alibaba-key", secret: "LT" + "AI" + letters[:20]},
		{rule: "sk-key", secret: "sk-" + letters[:48]},
		{rule: "crates-token", secret: "ci" + "o" + letters[:32]},
		{rule: "facebook-token", secret: "EA" + "A" + letters[:100]},
		{rule: "twitter-token", secret: strings.Repeat("A", 22) + letters[:90]},
		{rule: "slack-token", secret: "xo" + "xb-" + letters[:24]},
		{rule: "url-token", secret: letters[:32], in: "https://%@git.example.org/shop.git"},
		{rule: "authorization", secret: letters[:32], in: "Authorization: %"},
		{rule: "authorization", secret: letters[:32], in: "send it as bearer %"},
		{rule: "authorization", secret: letters[:32], in: "send it as basic %"},
	}
}

func TestSecretsOfLettersOnly(t *testing.T) {
	f := secret.NewFinder()
	for _, p := range lettersOnly() {
		text := "before " + p.text() + "\n"
		found := f.Find(text)
		if len(found) != 1 || found[0].Rule != p.rule || text[found[0].From:found[0].To] != p.secret {
			t.Errorf("%s %q: found %v", p.rule, p.text(), found)
		}
	}
}

// TestWordsAreNoSecrets holds what has the form of a secret and is made of words.
func TestWordsAreNoSecrets(t *testing.T) {
	f := secret.NewFinder()
	for _, text := range []string{
		"class=\"sk" + "-estimator-documentation-link\"",
		"https://organization-of-our-project@dev.example.org/shop",
		"a bear" + "er authentication-middleware",
		"basic understandingofthings",
		"Authorization: required-for-all-users",
		"xo" + "xb-your-token-goes-here",
		"hf_hub_download_with_progress_bar_enabled",
	} {
		if found := f.Find(text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}
