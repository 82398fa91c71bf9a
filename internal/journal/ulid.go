package journal

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"time"
)

// crockford is the alphabet of ULIDs: base 32 without I, L, O and U.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const ulidLength = 26

// newULID makes an id that sorts by its time: 48 bits of milliseconds since 1970
// and 80 bits of chance, as the ULID specification has it.
func newULID(at time.Time, chance io.Reader) (string, error) {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(at.UnixMilli())<<16)
	if _, err := io.ReadFull(chance, raw[6:]); err != nil {
		return "", fmt.Errorf("make a ULID: %w", err)
	}
	high, low := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	var text [ulidLength]byte
	for i := ulidLength - 1; i >= 0; i-- {
		text[i] = crockford[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return string(text[:]), nil
}

// isULID reports whether a text is a ULID in its one form, upper case. It is then
// safe in a file name.
func isULID(text string) bool {
	if len(text) != ulidLength || text[0] > '7' {
		return false
	}
	for i := range len(text) {
		if strings.IndexByte(crockford, text[i]) < 0 {
			return false
		}
	}
	return true
}
