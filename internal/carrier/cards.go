package carrier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

// A Card stands for pages of a session: what was asked, done and claimed there.
// It is extracted from the record and masked.
type Card struct {
	Title string           `json:"title"` // turn 3; task NAME; ledger
	First quire.PageNumber `json:"first"`
	Last  quire.PageNumber `json:"last"` // of the pages that it stands for; others may lie between
	Text  string           `json:"text"`
}

// Cards keeps the cards of sessions in a store, in parts of their own, and finds
// them again. All of it is derived and may be deleted with the store. Searches may
// run concurrently with everything; Put and Remove of one session may not run at
// the same time.
type Cards struct {
	index *index.Index
	found *retrieve.Collection
	texts *index.Part // the cards of a session as JSON, by its number
}

var _ retrieve.Carrier = (*Cards)(nil)

// NewCards are the cards that a store keeps.
func NewCards(store index.Segments, heads quire.Heads) *Cards {
	part := index.NewPart("cards", store, heads)
	c := &Cards{index: index.New(part, part), texts: index.NewPart("cardtexts", store, heads)}
	c.found = retrieve.NewKept("cards", c.index, c.entries)
	return c
}

// Name is that of [retrieve.Carrier].
func (c *Cards) Name() string { return "cards" }

// Search is that of [retrieve.Carrier]. A card is in no address space, and is seen
// by the owner of its session.
func (c *Cards) Search(ctx context.Context, q retrieve.Query) ([]retrieve.Hit, error) {
	return c.found.Search(ctx, q)
}

// cardSet is the cards of a session with who may see them, as they are kept.
type cardSet struct {
	Access index.Access `json:"access"`
	Cards  []Card       `json:"cards"`
}

// Put takes the place of the cards of a session. Equal ones change nothing. After
// an error, or a crash, some may be missing until it is called again.
func (c *Cards) Put(ctx context.Context, n quire.SessionNumber, access index.Access, cards []Card) error {
	set := cardSet{access, cards}
	text, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("write the cards of %v: %w", n, err)
	}
	before, err := c.texts.Kept(ctx, n.String())
	if err == nil && bytes.Equal(before, text) {
		return nil
	}
	if err == nil {
		err = c.index.RemoveSession(ctx, n)
	}
	if err == nil {
		err = c.index.Add(ctx, set.documents(n))
	}
	if err == nil {
		err = c.texts.Keep(ctx, n.String(), text)
	}
	if err != nil {
		return fmt.Errorf("keep the cards of %v: %w", n, err)
	}
	return nil
}

// Remove deletes the cards of a session.
func (c *Cards) Remove(ctx context.Context, n quire.SessionNumber) error {
	if err := errors.Join(c.index.RemoveSession(ctx, n), c.texts.Discard(ctx, n.String())); err != nil {
		return fmt.Errorf("remove the cards of %v: %w", n, err)
	}
	return nil
}

// Merge does one merge of the index of cards if one is due; see
// [index.Index.Merge].
func (c *Cards) Merge(ctx context.Context) (bool, error) { return c.index.Merge(ctx) }

// Rewrite leaves nothing in the store of cards that are gone; see
// [index.Index.Rewrite].
func (c *Cards) Rewrite(ctx context.Context) error { return c.index.Rewrite(ctx) }

func (s *cardSet) documents(n quire.SessionNumber) (docs []index.Document) {
	for i := range s.Cards {
		docs = append(docs, s.entry(n, i).Document(quire.PageRef{Session: n, Page: quire.PageNumber(i + 1)}))
	}
	return docs
}

// entry is a card as the surface shows it. It is read by the name of its first
// page.
func (s *cardSet) entry(n quire.SessionNumber, i int) *retrieve.Entry {
	card := &s.Cards[i]
	first, last := quire.PageRef{Session: n, Page: card.First}, quire.PageRef{Session: n, Page: card.Last}
	return &retrieve.Entry{
		Kind: retrieve.HitCard, Name: first.String(), Title: card.Title, Text: card.Text, Access: s.Access,
		Source: fmt.Sprintf("card of session %v, %s, pages %v–%v", n, card.Title, first, last),
	}
}

// entries is [retrieve.Entries]. Cards that were replaced since are gone.
func (c *Cards) entries(ctx context.Context, refs []quire.PageRef) ([]*retrieve.Entry, error) {
	sets := map[quire.SessionNumber]*cardSet{}
	out := make([]*retrieve.Entry, len(refs))
	for i, ref := range refs {
		set, ok := sets[ref.Session]
		if !ok {
			var err error
			if set, err = c.read(ctx, ref.Session); err != nil {
				return nil, err
			}
			sets[ref.Session] = set
		}
		if k := int(ref.Page) - 1; k < len(set.Cards) {
			out[i] = set.entry(ref.Session, k)
		}
	}
	return out, nil
}

func (c *Cards) read(ctx context.Context, n quire.SessionNumber) (*cardSet, error) {
	set := &cardSet{}
	text, err := c.texts.Kept(ctx, n.String())
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, set)
	}
	if err != nil {
		return nil, fmt.Errorf("read the cards of %v: %w", n, err)
	}
	return set, nil
}
