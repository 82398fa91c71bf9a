package token

import (
	_ "embed"
	"fmt"
	"math/bits"
)

// vocabularySize is the number of o200k's ordinary tokens. Special tokens are
// not text and are never counted as such.
const vocabularySize = 199_998

// longestToken is the length in bytes of o200k's longest token.
const longestToken = 128

const (
	bucketBits = 16
	rankBits   = 18
	rankMask   = 1<<rankBits - 1
	printMask  = 1<<(64-rankBits) - 1
)

// packed is the vocabulary as it is searched, in place: nothing is built when the
// program starts, and what is not looked at is not read from disk. It holds no
// text. For each of 1<<bucketBits buckets, and one more, stands in 4 bytes the
// place of its first entry; behind them stand the entries, 8 bytes each: the low
// bits of the token's hash over its rank. The highest bits of the hash are the
// bucket. All is little-endian. Entries of a bucket are in ascending order.
//
//go:generate go test -run ^TestPacked$ . -update
//go:embed o200k.bin
var packed string

// whole reports a vocabulary that has not the size it is made with, as of a file
// in which a tool changed the ends of lines.
func whole(packed string) error {
	if want := entriesAt + 8*vocabularySize; len(packed) != want {
		return fmt.Errorf("the vocabulary has %d bytes in place of %d", len(packed), want)
	}
	return nil
}

const entriesAt = (1<<bucketBits + 1) * 4

// rankOf returns the rank of a piece, and whether it is a token. Of pieces that are
// none, one in 10^13 is taken for one: 62 bits of the hash stand for the text.
func rankOf(piece string) (uint32, bool) {
	if len(piece) > longestToken {
		return noRank, false
	}
	h := hash(piece)
	bucket := int(h >> (64 - bucketBits))
	for i, end := firstOf(bucket), firstOf(bucket+1); i < end; i++ {
		if e := word(packed[entriesAt+8*i:]); e>>rankBits == h&printMask {
			return uint32(e & rankMask), true
		}
	}
	return noRank, false
}

// firstOf is the place of a bucket's first entry.
func firstOf(bucket int) int { return int(half(packed[4*bucket:])) }

// hash is a fixed hash: the packed vocabulary is made with it. It folds 128-bit
// products; the multipliers are the fractions of the roots of 2, 3 and 5. Whoever
// wants to can find two pieces of one hash.
func hash(s string) uint64 {
	h := uint64(len(s)) * 0x6a09e667f3bcc909
	for ; len(s) >= 8; s = s[8:] {
		h = fold(h^word(s), 0xbb67ae8584caa73b)
	}
	switch n := len(s); {
	case n >= 4:
		h ^= uint64(half(s))<<32 | uint64(half(s[n-4:]))
	case n > 0:
		h ^= uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1])
	}
	return fold(h^0x3c6ef372fe94f82b, 0x6a09e667f3bcc909)
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// word is the first 8 bytes of s, half the first 4.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func half(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
