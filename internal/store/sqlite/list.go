package sqlite

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/quire-agent/quire/internal/quire"
)

// Lists in columns are written as numbers, each as encoding/binary writes
// unsigned varints; a text is its length in bytes and its bytes. An empty list
// is an empty blob.

var errList = errors.New("a list cannot be read")

func appendTexts[T ~string](b []byte, list []T) []byte {
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

func readTexts[T ~string](b []byte) (list []T, err error) {
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, errList
		}
		end := size + int(n)
		list = append(list, T(b[size:end]))
		b = b[end:]
	}
	return list, nil
}

// appendNumbers writes numbers of 32 bits, negative ones as unsigned.
func appendNumbers(b []byte, numbers ...int32) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(uint32(n)))
	}
	return b
}

// readNumbers reads groups of as many numbers.
func readNumbers(b []byte, group int) (numbers []int32, err error) {
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > math.MaxUint32 {
			return nil, errList
		}
		numbers = append(numbers, int32(uint32(n)))
		b = b[size:]
	}
	if len(numbers)%group != 0 {
		return nil, errList
	}
	return numbers, nil
}

func appendPages(list []quire.PageNumber) []byte {
	b := []byte{}
	for _, n := range list {
		b = appendNumbers(b, int32(n))
	}
	return b
}

func readPages(b []byte) ([]quire.PageNumber, error) {
	numbers, err := readNumbers(b, 1)
	var list []quire.PageNumber
	for _, n := range numbers {
		list = append(list, quire.PageNumber(n))
	}
	return list, err
}

func appendRanges(list []quire.Range) []byte {
	b := []byte{}
	for _, r := range list {
		b = appendNumbers(b, int32(r.First), int32(r.Last))
	}
	return b
}

func readRanges(b []byte) ([]quire.Range, error) {
	n, err := readNumbers(b, 2)
	var list []quire.Range
	for ; len(n) > 0; n = n[2:] {
		list = append(list, quire.Range{First: int(n[0]), Last: int(n[1])})
	}
	return list, err
}

func appendRefs(list []quire.PageRef) []byte {
	b := []byte{}
	for _, r := range list {
		b = appendNumbers(b, int32(r.Session), int32(r.Page), int32(r.Lines.First), int32(r.Lines.Last))
	}
	return b
}

func readRefs(b []byte) ([]quire.PageRef, error) {
	n, err := readNumbers(b, 4)
	var list []quire.PageRef
	for ; len(n) > 0; n = n[4:] {
		list = append(list, quire.PageRef{
			Session: quire.SessionNumber(n[0]), Page: quire.PageNumber(n[1]),
			Lines: quire.Range{First: int(n[2]), Last: int(n[3])},
		})
	}
	return list, err
}
