package token

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/tiktoken-go/tokenizer"
)

// vocabularySize is the number of o200k's ordinary tokens. Special tokens are
// not text and are never counted as such.
const vocabularySize = 199_998

const (
	slotBits = 19 // slots are filled to 0.38
	rankBits = 18
	rankMask = 1<<rankBits - 1
)

// A vocabulary finds the rank of a token: open addressing over one text that
// holds all tokens, so that it costs 4 MB and no pointer. It is not changed
// after it was made.
type vocabulary struct {
	seed    maphash.Seed
	text    string
	ends    []uint32 // of token r in text; it begins at ends[r-1]
	slots   []uint32 // tag<<rankBits | rank+1, 0 when empty
	longest int      // bytes of the longest token
}

// newVocabulary reads the library's tokens out in the order of their ranks.
func newVocabulary() (*vocabulary, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("load o200k: %w", err)
	}
	v := &vocabulary{seed: maphash.MakeSeed(), ends: make([]uint32, 0, vocabularySize), slots: make([]uint32, 1<<slotBits)}
	var text strings.Builder
	for id := range uint(vocabularySize) {
		token, err := codec.Decode([]uint{id})
		if err != nil {
			return nil, fmt.Errorf("load o200k: token %d: %w", id, err)
		}
		text.WriteString(token)
		v.longest = max(v.longest, len(token))
		v.ends = append(v.ends, uint32(text.Len()))
		v.insert(maphash.String(v.seed, token), uint32(id))
	}
	v.text = text.String()
	return v, nil
}

func (v *vocabulary) insert(hash uint64, rank uint32) {
	i := hash & (1<<slotBits - 1)
	for v.slots[i] != 0 {
		i = (i + 1) & (1<<slotBits - 1)
	}
	v.slots[i] = uint32(hash>>(32+rankBits))<<rankBits | (rank + 1)
}

// find returns the rank of piece, whose hash is hash.
func (v *vocabulary) find(piece string, hash uint64) (uint32, bool) {
	tag := uint32(hash >> (32 + rankBits))
	for i := hash & (1<<slotBits - 1); v.slots[i] != 0; i = (i + 1) & (1<<slotBits - 1) {
		if v.slots[i]>>rankBits != tag {
			continue
		}
		if rank := v.slots[i]&rankMask - 1; v.token(rank) == piece {
			return rank, true
		}
	}
	return 0, false
}

// rank returns the rank of piece, or noRank.
func (v *vocabulary) rank(piece string) uint32 {
	if len(piece) > v.longest {
		return noRank
	}
	if rank, ok := v.find(piece, maphash.String(v.seed, piece)); ok {
		return rank
	}
	return noRank
}

func (v *vocabulary) token(rank uint32) string {
	if rank == 0 {
		return v.text[:v.ends[0]]
	}
	return v.text[v.ends[rank-1]:v.ends[rank]]
}
