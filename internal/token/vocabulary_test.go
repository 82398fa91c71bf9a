package token

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the vocabulary anew from the library's")

// tokens are the library's, in the order of their ranks.
func tokens(t *testing.T) []string {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]string, vocabularySize)
	for id := range list {
		if list[id], err = codec.Decode([]uint{uint(id)}); err != nil {
			t.Fatalf("token %d: %v", id, err)
		}
	}
	return list
}

// pack makes a vocabulary of tokens in the order of their ranks.
func pack(tokens []string) []byte {
	entries := make([][2]uint64, len(tokens)) // bucket, entry
	for rank, s := range tokens {
		h := hash(s)
		entries[rank] = [2]uint64{h >> (64 - bucketBits), h&printMask<<rankBits | uint64(rank)}
	}
	slices.SortFunc(entries, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	var out bytes.Buffer
	next := 0
	for bucket := range uint64(1<<bucketBits + 1) {
		for next < len(entries) && entries[next][0] < bucket {
			next++
		}
		out.Write(binary.LittleEndian.AppendUint32(nil, uint32(next)))
	}
	for _, e := range entries {
		out.Write(binary.LittleEndian.AppendUint64(nil, e[1]))
	}
	return out.Bytes()
}

// The file is what pack makes of the library's tokens, and each of them is found.
func TestPacked(t *testing.T) {
	list := tokens(t)
	want := pack(list)
	if *update {
		if err := os.WriteFile("o200k.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(want) != packed {
		t.Fatal("o200k.bin is not what the library's tokens make: go generate ./internal/token")
	}
	for rank, s := range list {
		if got, ok := rankOf(s); !ok || got != uint32(rank) {
			t.Fatalf("the rank of %q is %d, want %d", s, got, rank)
		}
	}
}

func TestOnlyTokensHaveARank(t *testing.T) {
	list := tokens(t)
	known := make(map[string]bool, len(list))
	longest := 0
	for _, s := range list {
		known[s] = true
		longest = max(longest, len(s))
	}
	if longest != longestToken {
		t.Errorf("the longest token has %d bytes, longestToken is %d", longest, longestToken)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(list).Draw(t, "token")
		at := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		near := []byte(s)
		near[at] = rapid.Byte().Draw(t, "byte")
		for _, s := range []string{string(near), s[:at], s[at:], s + s} {
			if _, ok := rankOf(s); ok != known[s] {
				t.Fatalf("%q is taken for a token: %t, want %t", s, ok, known[s])
			}
		}
	})
}

func TestACutVocabularyIsRefused(t *testing.T) {
	for _, s := range []string{"", packed[:len(packed)-1], packed + "\r"} {
		if whole(s) == nil {
			t.Errorf("a vocabulary of %d bytes is taken", len(s))
		}
	}
}
