package run

import (
	"fmt"
	"hash/fnv"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Counter counts tokens; package token has one.
type Counter interface{ Count(text string) int }

// foldBudget is how many tokens a card for turns may take: for one turn, and for
// several together. The rules that the user stated in them have room of their own:
// a fold that takes a rule away is work that is done wrong.
const (
	foldBudget   = 120
	foldTogether = 240
	foldRules    = 1500
)

// texts knows the blocks of a live stream in all forms. It is what the scheduler
// asks for sizes and the assembler for texts.
type texts struct {
	count  Counter
	maker  *rendition.Maker
	ledger *ledger.Ledger
	blocks []held
	lower  map[lowered]string
	sizes  map[lowered]int
	folds  map[schedule.Span]string
}

type held struct {
	piece  assemble.Piece
	text   string // of the page, whole, where the piece is an excerpt of it
	page   quire.Page
	tokens int
	node   int // by which its lineage knows it, below 0: none
}

// whole is the text of the page.
func (h *held) whole() string {
	if h.text != "" {
		return h.text
	}
	return h.piece.Text
}

type lowered struct {
	block int
	form  quire.Rendition
}

func newTexts(count Counter, maker *rendition.Maker, l *ledger.Ledger) *texts {
	return &texts{count: count, maker: maker, ledger: l, lower: map[lowered]string{}, sizes: map[lowered]int{}, folds: map[schedule.Span]string{}}
}

// Block is block i in full.
func (t *texts) Block(i int) (assemble.Piece, error) {
	if i < 0 || i >= len(t.blocks) {
		return assemble.Piece{}, fmt.Errorf("block %d of the stream: %w", i, quire.ErrNotFound)
	}
	return t.blocks[i].piece, nil
}

// Lowered is block i in a form below full.
func (t *texts) Lowered(i int, form quire.Rendition) (string, error) {
	if _, err := t.Block(i); err != nil {
		return "", err
	}
	key := lowered{i, form}
	text, ok := t.lower[key]
	if !ok {
		text = t.make(&t.blocks[i], form)
		t.lower[key] = text
	}
	return text, nil
}

func (t *texts) make(h *held, form quire.Rendition) string {
	src := rendition.Source{Page: h.page, Text: h.whole(), Media: h.piece.Media}
	switch {
	case h.piece.Kind == quire.PartToolCall:
		return assemble.Arguments(h.piece.Text, h.page.Number, RecallName)
	case form == quire.RenditionCard:
		return t.maker.Card(src)
	default:
		return t.maker.Handle(src)
	}
}

// RecallName is the name of the tool that reads pages back.
const RecallName = "recall"

// Size is the tokens of block i in a form below full. Where nothing shorter can
// be made it is that of the block.
func (t *texts) Size(i int, form quire.Rendition) int {
	key := lowered{i, form}
	if n, ok := t.sizes[key]; ok {
		return n
	}
	text, err := t.Lowered(i, form)
	n := t.blocks[i].tokens
	if err == nil && text != "" {
		n = t.count.Count(text)
	}
	t.sizes[key] = n
	return n
}

// Fold is the text that stands for a span: the card of its turn, or of all its
// turns. The ledger is asked once, so that a card stays as it was made.
func (t *texts) text(s schedule.Span) string {
	if text, ok := t.folds[s]; ok {
		return text
	}
	text := FoldText(t.ledger, s, t.count.Count)
	t.folds[s] = text
	return text
}

// FoldText is the text that stands for a span: which turns and pages it is, the rules
// that the user stated there, verbatim, and as many of the turns' cards as have room,
// the youngest first.
func FoldText(l *ledger.Ledger, s schedule.Span, count func(string) int) string {
	text := fmt.Sprintf("[%v–%v, turns %d to %d: recall reads them]", s.FirstPage, s.LastPage, s.First+1, s.Last+1)
	if rules := l.Rules(s.FirstPage, s.LastPage, foldRules, count); rules != "" {
		text += "\n" + rules
	}
	budget, lines := foldBudget, 0
	if s.Last > s.First {
		budget = foldTogether
	}
	for turn := s.Last; turn >= s.First && lines < budget; turn-- {
		card := l.TurnCard(turn, budget-lines, count)
		if card == "" {
			break
		}
		lines += count(card)
		text += "\n" + card
	}
	return text
}

// folded answers the two askers of folds.
type folded struct{ *texts }

// Fold is the size of the text that stands for a span.
func (t folded) Fold(s schedule.Span) int { return t.count.Count(t.text(s)) }

// Hash is that of a placed block's text as it stands.
func (t folded) Hash(p schedule.Placed) uint64 {
	h := fnv.New64a()
	switch {
	case p.Block < 0:
		fmt.Fprint(h, t.text(p.Span))
	case p.Form == quire.RenditionFull:
		b := &t.blocks[p.Block].piece
		fmt.Fprintf(h, "%d %s %s", b.Kind, b.ToolUse, b.Text)
		if b.Media != nil {
			fmt.Fprint(h, b.Media.Hash)
		}
	default:
		fmt.Fprint(h, t.lower[lowered{p.Block, p.Form}])
	}
	return h.Sum64()
}

// shown answers the assembler.
type shown struct{ *texts }

// Fold is the text that stands for a span.
func (t shown) Fold(s schedule.Span) (string, error) { return t.text(s), nil }
