package token

import (
	"math"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A screen stands for an image whose size is not recorded: most images in
// sessions of coding agents are screenshots.
const (
	screenWidth  = 1280
	screenHeight = 800
)

// Image returns how many tokens an image costs with a model, by the rule that
// its vendor publishes. Models of other vendors are counted by OpenAI's patch
// rule, which is an estimate. Detail settings are taken to be the default.
func Image(model string, m quire.Media) int {
	w, h := float64(m.Width), float64(m.Height)
	if w <= 0 || h <= 0 {
		w, h = screenWidth, screenHeight
	}
	model = strings.ToLower(model)
	switch FamilyOf(model) {
	case FamilyClaude:
		return claudeImage(model, w, h)
	case FamilyGemini:
		return geminiImage(model, w, h)
	}
	return openAIImage(model, w, h)
}

// claudeImage: one token for each 28 × 28 pixels begun, after the image was
// scaled to fit a longest edge and a number of tokens. (platform.claude.com,
// "Images and vision"; the older form of the rule, width × height / 750, is
// within 5 % of it.)
func claudeImage(model string, w, h float64) int {
	edge, most := 1568.0, 1568.0
	if containsAny(model, "opus-4-7", "opus-4-8", "opus-5", "sonnet-5", "haiku-5", "fable", "mythos") {
		edge, most = 2576, 4784
	}
	return patches(w, h, 28, edge, most)
}

// patches counts the squares of side pixels that cover an image which was
// scaled down, if needed, so that its longer edge and their number stay within
// the limits.
func patches(w, h, side, edge, most float64) int {
	if s := edge / max(w, h); s < 1 {
		w, h = w*s, h*s
	}
	cover := func(s float64) float64 { return math.Ceil(w*s/side) * math.Ceil(h*s/side) }
	if cover(1) <= most {
		return int(cover(1))
	}
	low, high := 0.0, 1.0
	for range 40 {
		if mid := (low + high) / 2; cover(mid) <= most {
			low = mid
		} else {
			high = mid
		}
	}
	return int(max(1, cover(low)))
}

// geminiImage: up to Gemini 2.5, 258 tokens for an image of at most 384 × 384
// and for each tile of a larger one, where the side of a tile is two thirds of
// the shorter edge but at least 256 and at most 768; from Gemini 3, 1120 tokens
// an image. (ai.google.dev, "Token counting" and "Media resolution")
func geminiImage(model string, w, h float64) int {
	if !containsAny(model, "gemini-1", "gemini-2", "gemma") {
		return 1120
	}
	if w <= 384 && h <= 384 {
		return 258
	}
	tile := min(max(math.Floor(min(w, h)/1.5), 256), 768)
	return 258 * int(math.Ceil(w/tile)*math.Ceil(h/tile))
}

// openAIImage: tiles of 512 × 512 pixels for older models, patches of 32 × 32
// for small and for newer ones. (platform.openai.com, "Images and vision")
func openAIImage(model string, w, h float64) int {
	for _, r := range openAIRules() {
		if r.covers(model) {
			return r.tokens(w, h)
		}
	}
	return openAIPatches(w, h, 2048, 2500)
}

// An openAIRule counts an image by tiles if each is not 0, and else by at most
// 1536 patches times factor.
type openAIRule struct {
	name       string // of the model; what follows it in a longer name is not a dot
	base, each int
	factor     float64
}

// openAIRules are the rules that differ from that of the newest models, longer
// names first.
func openAIRules() []openAIRule {
	return []openAIRule{
		{name: "gpt-4.1-mini", factor: 1.62}, {name: "gpt-4.1-nano", factor: 2.46}, {name: "o4-mini", factor: 1.72},
		{name: "gpt-5-mini", factor: 1.62}, {name: "gpt-5-nano", factor: 2.46},
		{name: "gpt-4o-mini", base: 2833, each: 5667}, {name: "gpt-4o", base: 85, each: 170},
		{name: "gpt-4.1", base: 85, each: 170}, {name: "gpt-4", base: 85, each: 170},
		{name: "gpt-5.1", base: 70, each: 140}, {name: "gpt-5", base: 70, each: 140},
		{name: "o1", base: 75, each: 150}, {name: "o3", base: 75, each: 150},
	}
}

func (r openAIRule) covers(model string) bool {
	i := strings.Index(model, r.name)
	return i >= 0 && !strings.HasPrefix(model[i+len(r.name):], ".")
}

func (r openAIRule) tokens(w, h float64) int {
	if r.each == 0 {
		return int(math.Ceil(r.factor * float64(openAIPatches(w, h, math.Inf(1), 1536))))
	}
	s := min(1, 2048/max(w, h))
	s *= min(1, 768/(s*min(w, h)))
	return r.base + r.each*int(math.Ceil(w*s/512)*math.Ceil(h*s/512))
}

// openAIPatches scales an image that needs more than most patches down to their
// area, and then so far that one of its edges is a whole number of them.
func openAIPatches(w, h, edge, most float64) int {
	const side = 32
	s := min(1, edge/max(w, h))
	w, h = w*s/side, h*s/side
	if math.Ceil(w)*math.Ceil(h) > most {
		s = math.Sqrt(most / (w * h))
		s *= min(math.Floor(w*s)/(w*s), math.Floor(h*s)/(h*s))
		w, h = w*s, h*s
	}
	const slack = 1e-9 // of a product that should be whole
	return int(max(1, math.Ceil(w-slack)) * max(1, math.Ceil(h-slack)))
}

// Document returns how many tokens a document (PDF) costs with a model. Claude
// sees each page as an image and as text ("PDF support"), Gemini takes 258
// tokens a page (up to 2.5) or 560, the others are given its text. How much text
// a page has is not known without the document: a page of prose is assumed.
func Document(model string, m quire.Media) int {
	pages := m.Pages
	if pages <= 0 {
		pages = max(1, m.Bytes/pageBytes)
	}
	return pages * pageTokens(strings.ToLower(model))
}

const (
	pageBytes = 50_000 // of a PDF whose pages are not recorded; a guess
	pageText  = 500    // o200k tokens of a page of plain text
)

func pageTokens(model string) int {
	switch FamilyOf(model) {
	case FamilyClaude:
		return patches(1191, 1684, 28, 1568, 1568) + pageText // pages are not shown in high resolution
	case FamilyGemini:
		if containsAny(model, "gemini-1", "gemini-2", "gemma") {
			return 258
		}
		return 560
	}
	return pageText
}

func containsAny(s string, marks ...string) bool {
	for _, m := range marks {
		if strings.Contains(s, m) {
			return true
		}
	}
	return false
}
