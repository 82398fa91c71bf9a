package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// sumVersion is the version from which on every line carries its checksum. Lines
// of before have none, and nothing can be said of them.
const sumVersion = 2

// A checksum stands in its line as a member of the envelope, and is that of the
// line without this member and without its end: CRC-32C, eight lower-case
// hexadecimal digits. It finds bytes that a disk or a memory changed; it is no
// protection against people.
const (
	sumOpen   = `,"crc":"`
	sumDigits = 8
	sumBytes  = len(sumOpen) + sumDigits + 1
)

// sumOf is the checksum of a line that is given in two pieces.
func sumOf(before, after []byte) string {
	table := crc32.MakeTable(crc32.Castagnoli)
	return fmt.Sprintf("%0*x", sumDigits, crc32.Update(crc32.Checksum(before, table), table, after))
}

// withSum puts the checksum of a line, given in two pieces, between them.
func withSum(before, after []byte) []byte {
	line := make([]byte, 0, len(before)+sumBytes+len(after)+1)
	line = append(append(line, before...), sumOpen+sumOf(before, after)+`"`...)
	return append(line, after...)
}

// checkSum says what is wrong with a line whose envelope has that version and
// that checksum.
func checkSum(line []byte, version int, sum string) error {
	if sum == "" {
		if version >= sumVersion {
			return errors.New("it has lost its checksum")
		}
		return nil
	}
	at := bytes.Index(line, []byte(sumOpen+sum+`"`))
	if at < 0 || len(sum) != sumDigits || sumOf(line[:at], line[at+sumBytes:]) != sum {
		return errors.New("its checksum does not fit: the line was changed")
	}
	return nil
}

// resum gives a line that was changed the checksum that fits, where it has one.
// sum is the one that it has.
func resum(line []byte, sum string) []byte {
	at := bytes.Index(line, []byte(sumOpen+sum+`"`))
	if sum == "" || at < 0 {
		return line
	}
	return withSum(line[:at], line[at+len(sumOpen)+len(sum)+1:])
}
