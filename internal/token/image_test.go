package token

import (
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func TestImage(t *testing.T) {
	for _, c := range []struct {
		model         string
		width, height int
		want          int
		why           string
	}{
		{"claude-opus-4-5", 200, 200, 64, "8 × 8 patches of 28"},
		{"claude-opus-4-5", 1000, 1000, 1296, "36 × 36"},
		{"claude-sonnet-4-5", 1092, 1092, 1521, "39 × 39"},
		{"claude-opus-4-5", 3136, 28, 56, "half as large to fit 1568: 56 × 1"},
		{"claude-opus-4-5", 2000, 2000, 1521, "39 × 39 is the largest square within 1568"},
		{"claude-opus-5", 2000, 2000, 4761, "69 × 69 is the largest square within 4784"},
		{"claude-opus-4-7", 1000, 1000, 1296, "nothing to scale"},
		{"gpt-4o", 1024, 1024, 765, "768 × 768: 4 tiles"},
		{"gpt-4o", 2048, 4096, 1105, "1024 × 2048, then 768 × 1536: 6 tiles"},
		{"gpt-5", 512, 512, 210, "1 tile"},
		{"gpt-5.1", 1024, 1024, 630, "4 tiles"},
		{"o3", 512, 512, 225, "1 tile"},
		{"gpt-4.1-nano", 32, 32, 3, "1 patch times 2.46"},
		{"gpt-5-mini", 1024, 1024, 1659, "1024 patches times 1.62"},
		{"gpt-4.1-mini", 1800, 2400, 2353, "33 × 44 patches times 1.62"},
		{"gpt-5.5", 1024, 1024, 1024, "32 × 32"},
		{"gpt-5.5", 1920, 1080, 2040, "60 × 34"},
		{"gpt-6.2-sol", 4096, 2048, 2048, "half as large to fit 2048: 64 × 32"},
		{"gpt-5.4", 2048, 2048, 2500, "50 × 50"},
		{"gemini-2.5-pro", 384, 384, 258, "small"},
		{"gemini-2.5-pro", 960, 540, 1548, "tiles of 360: 3 × 2"},
		{"gemini-2.0-flash", 3000, 3000, 4128, "tiles of 768: 4 × 4"},
		{"gemini-3-pro", 3000, 3000, 1120, "one size"},
		{"claude-opus-4-5", 0, 0, 1334, "a screen of 1280 × 800: 46 × 29"},
	} {
		if got := Image(c.model, quire.Media{Width: c.width, Height: c.height}); got != c.want {
			t.Errorf("%s %d × %d: %d tokens, want %d (%s)", c.model, c.width, c.height, got, c.want, c.why)
		}
	}
}

func TestDocument(t *testing.T) {
	for _, c := range []struct {
		model string
		media quire.Media
		want  int
	}{
		{"claude-opus-4-5", quire.Media{Pages: 3}, 3 * (33*47 + 500)},
		{"claude-opus-5", quire.Media{Pages: 1}, 33*47 + 500},
		{"gemini-2.5-flash", quire.Media{Pages: 10}, 2580},
		{"gemini-3-pro", quire.Media{Pages: 10}, 5600},
		{"gpt-5.5", quire.Media{Pages: 2}, 1000},
		{"gpt-5.5", quire.Media{Bytes: 250_000}, 2500},
		{"gpt-5.5", quire.Media{}, 500},
	} {
		if got := Document(c.model, c.media); got != c.want {
			t.Errorf("%s %+v: %d tokens, want %d", c.model, c.media, got, c.want)
		}
	}
}
