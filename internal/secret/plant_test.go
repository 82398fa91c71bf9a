package secret_test

import (
	"math/rand/v2"
	"strings"
)

// A plant is a made-up secret. It is put together when the test runs, so that no
// file holds what looks like one.
type plant struct {
	rule   string
	secret string
	in     string // where it stands, with % for it; "" for by itself
}

const (
	hexDigits = "0123456789abcdef"
	lowerCase = "abcdefghijklmnopqrstuvwxyz0123456789"
	capitals  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	alphabet  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// A gardener draws the parts of secrets.
type gardener struct{ *rand.Rand }

func (g gardener) of(letters string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[g.IntN(len(letters))]
	}
	b[n/2] = '7' // a key of this length without a digit is not worth a test
	return string(b)
}

// pem is a private key in lines of 64.
func (g gardener) pem(kind, end string) string {
	line := "-----" + "BEGIN " + kind + "PRIVATE KEY" + "-----"
	for range 6 {
		line += end + g.of(alphabet+"+/", 64)
	}
	return line + end + g.of(alphabet, 20) + "==" + end + "-----" + "END " + kind + "PRIVATE KEY" + "-----"
}

// plants are secrets of more than 40 kinds, drawn from a seed.
func plants(seed uint64) []plant {
	g := gardener{rand.New(rand.NewPCG(seed, 1))}
	return append(append(append(g.clouds(), g.developers()...), g.services()...), g.generic()...)
}

func (g gardener) clouds() []plant {
	return []plant{
		{rule: "aws-access-key", secret: "AK" + "IA" + g.of(capitals[:26], 16)},
		{rule: "aws-secret-key", secret: g.of(alphabet+"/+", 40), in: "aws_secret_access_key = %"},
		{rule: "aws-bedrock-key", secret: "AB" + "SK" + g.of(alphabet, 128)},
		{rule: "google-api-key", secret: "AI" + "za" + g.of(alphabet+"_-", 34) + "A"},
		{rule: "google-oauth-secret", secret: "GOC" + "SPX-" + g.of(alphabet+"_-", 27) + "a"},
		{rule: "azure-storage-key", secret: g.of(alphabet+"/+", 86) + "==", in: "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=%;EndpointSuffix=core"},
		{rule: "azure-client-secret", secret: g.of(alphabet, 3) + "8" + "Q~" + g.of(alphabet, 34)},
		{rule: "digitalocean-token", secret: "dop" + "_v1_" + g.of(hexDigits, 64)},
		{rule: "databricks-token", secret: "da" + "pi" + g.of(hexDigits, 32)},
		{rule: "vault-token", secret: "hv" + "s." + g.of(alphabet, 95)},
		{rule: "terraform-token", secret: g.of(alphabet, 14) + ".atlas" + "v1." + g.of(alphabet, 67)},
		{rule: "grafana-token", secret: "gl" + "sa_" + g.of(alphabet, 32) + "_" + g.of(hexDigits, 8)},
		{rule: "tailscale-key", secret: "ts" + "key-auth-" + g.of(alphabet, 12) + "-" + g.of(alphabet, 32)},
		{rule: "dynatrace-token", secret: "dt0" + "c01." + g.of(capitals, 24) + "." + g.of(capitals, 64)},
	}
}

func (g gardener) developers() []plant {
	return []plant{
		{rule: "anthropic-key", secret: "sk-" + "ant-api03-" + g.of(alphabet+"_-", 93) + "AA"},
		{rule: "openai-key", secret: "sk-" + "proj-" + g.of(alphabet+"_-", 120) + "A"},
		{rule: "sk-key", secret: "sk-" + g.of(alphabet, 48)},
		{rule: "huggingface-token", secret: "hf" + "_" + g.of(alphabet, 34)},
		{rule: "groq-key", secret: "gs" + "k_" + g.of(alphabet, 52)},
		{rule: "github-token", secret: "gh" + "p_" + g.of(alphabet, 36)},
		{rule: "github-token", secret: "github" + "_pat_" + g.of(alphabet, 22) + "_" + g.of(alphabet, 59)},
		{rule: "gitlab-token", secret: "gl" + "pat-" + g.of(alphabet+"_-", 19) + "a"},
		{rule: "npm-token", secret: "np" + "m_" + g.of(alphabet, 36)},
		{rule: "pypi-token", secret: "pypi" + "-AgEIcHlwaS5vcmc" + g.of(alphabet+"_-", 80) + "a"},
		{rule: "rubygems-key", secret: "ruby" + "gems_" + g.of(hexDigits, 48)},
		{rule: "docker-token", secret: "dckr" + "_pat_" + g.of(alphabet+"_-", 26) + "a"},
		{rule: "linear-key", secret: "lin" + "_api_" + g.of(alphabet, 40)},
		{rule: "notion-token", secret: "nt" + "n_" + g.of(alphabet, 46)},
		{rule: "postman-key", secret: "PM" + "AK-" + g.of(hexDigits, 24) + "-" + g.of(hexDigits, 34)},
		{rule: "age-key", secret: "AGE-" + "SECRET-KEY-1" + g.of(capitals, 58)},
	}
}

func (g gardener) services() []plant {
	return []plant{
		{rule: "slack-token", secret: "xo" + "xb-" + g.of(hexDigits[:10], 12) + "-" + g.of(hexDigits[:10], 12) + "-" + g.of(alphabet, 24)},
		{rule: "slack-webhook", secret: "T" + g.of(capitals, 9) + "/B" + g.of(capitals, 9) + "/" + g.of(alphabet, 24), in: "https://hooks.slack.com/services/%"},
		{rule: "discord-webhook", secret: g.of(alphabet+"_-", 67) + "a", in: "https://discord.com/api/webhooks/1234567890123/%"},
		{rule: "telegram-token", secret: g.of(hexDigits[1:10], 10) + ":A" + "A" + g.of(alphabet, 33)},
		{rule: "stripe-key", secret: "sk" + "_live_" + g.of(alphabet, 24)},
		{rule: "stripe-key", secret: "whs" + "ec_" + g.of(alphabet, 32)},
		{rule: "square-token", secret: "sq0" + "atp-" + g.of(alphabet, 22)},
		{rule: "shopify-token", secret: "shp" + "at_" + g.of(hexDigits, 32)},
		{rule: "twilio-key", secret: "S" + "K" + g.of(hexDigits, 32)},
		{rule: "sendgrid-key", secret: "S" + "G." + g.of(alphabet+"_-", 22) + "." + g.of(alphabet, 43)},
		{rule: "mailgun-key", secret: "ke" + "y-" + g.of(hexDigits, 32)},
		{rule: "mailchimp-key", secret: g.of(hexDigits, 32) + "-us" + "12"},
		{rule: "brevo-key", secret: "xkey" + "sib-" + g.of(hexDigits, 64) + "-" + g.of(alphabet, 16)},
		{rule: "hubspot-token", secret: "pat" + "-na1-" + g.of(hexDigits, 8) + "-" + g.of(hexDigits, 4) + "-" + g.of(hexDigits, 4) + "-" + g.of(hexDigits, 4) + "-" + g.of(hexDigits, 12)},
		{rule: "airtable-token", secret: "pa" + "t" + g.of(alphabet, 14) + "." + g.of(hexDigits, 64)},
	}
}

func (g gardener) generic() []plant {
	claim := "ey" + "J" + g.of(alphabet, 40)
	return []plant{
		{rule: "private-key", secret: g.pem("RSA ", "\n")},
		{rule: "private-key", secret: g.pem("OPENSSH ", "\r\n")},
		{rule: "private-key", secret: g.pem("", `\n`)},
		{rule: "jwt", secret: "ey" + "J" + g.of(alphabet, 33) + "." + claim + "." + g.of(alphabet+"_-", 42) + "a"},
		{rule: "url-password", secret: g.of(alphabet+"!-_", 18) + "a", in: "postgres://shop:%@db.example.org:5432/shop"},
		{rule: "url-token", secret: g.of(hexDigits, 32), in: "https://%@git.example.org/shop.git"},
		{rule: "authorization", secret: g.of(alphabet+"-_", 39) + "a", in: "Authorization: Bearer %"},
		{rule: "authorization", secret: g.of(alphabet, 30) + "==", in: "Authorization: Basic %"},
		{rule: "command-password", secret: g.of(lowerCase, 12), in: "curl -s -u shop:% https://example.org"},
		{rule: "command-password", secret: g.of(lowerCase, 12), in: "mysql -h db -u shop -p% shop"},
		{rule: "netrc-password", secret: g.of(lowerCase, 12), in: "machine example.org login shop password %"},
		{rule: "password", secret: g.of(lowerCase, 14), in: "DB_PASSWORD=%"},
		{rule: "password", secret: "hunter" + "2", in: "password: %"},
		{rule: "secret", secret: g.of(alphabet, 32), in: "SESSION_SECRET=%"},
		{rule: "secret", secret: g.of(hexDigits, 40), in: "export DEPLOY_TOKEN=%"},
		{rule: "secret", secret: g.of(alphabet+"+/", 43) + "=", in: "ENCRYPTION_KEY=%"},
		{rule: "secret", secret: g.of(hexDigits, 32), in: "X-Api-Key: %"},
	}
}

// text is the secret where it stands.
func (p plant) text() string {
	if p.in == "" {
		return p.secret
	}
	return strings.Replace(p.in, "%", p.secret, 1)
}
