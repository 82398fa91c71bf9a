package openai

import (
	"encoding/base64"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// Media reads a data URL with base64 (RFC 2397) into what it holds. It reports
// false for another address, and for one that [DataURL] would write otherwise.
// Dimensions and hash are left to who counts and stores.
func Media(url string) (*quire.Media, string, bool) {
	after, ok := strings.CutPrefix(url, "data:")
	kind, coded, found := strings.Cut(after, ";base64,")
	if !ok || !found || kind == "" {
		return nil, "", false
	}
	data, ok := Bytes(coded)
	if !ok {
		return nil, "", false
	}
	return &quire.Media{Type: kind, Bytes: len(data)}, data, true
}

// Bytes decodes base64. It reports false for what would be encoded otherwise,
// and for nothing at all.
func Bytes(coded string) (string, bool) {
	data, err := base64.StdEncoding.Strict().DecodeString(coded)
	if err != nil || len(data) == 0 || strings.ContainsAny(coded, "\r\n") {
		return "", false
	}
	return string(data), true
}

// DataURL is media as an address.
func DataURL(m *quire.Media, data string) string {
	kind := "application/octet-stream"
	if m != nil && m.Type != "" {
		kind = m.Type
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))
}
