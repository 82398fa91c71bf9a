package quire

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// ParseHash reads the form of [Hash.String]: 64 lower-case hexadecimal digits.
func ParseHash(text string) (Hash, error) {
	var h Hash
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) || hex.EncodeToString(raw) != text {
		return Hash{}, fmt.Errorf("%.80q is not a hash: want %d lower-case hexadecimal digits", text, 2*len(h))
	}
	copy(h[:], raw)
	return h, nil
}

// UnmarshalText reads the form of MarshalText.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	if err == nil {
		*h = parsed
	}
	return err
}

// UnmarshalText reads the form of MarshalText.
func (k *PartKind) UnmarshalText(text []byte) error {
	i, err := named("kind of part", partKindNames[:], text)
	*k = PartKind(i)
	return err
}

// UnmarshalText reads the form of MarshalText.
func (k *PageKind) UnmarshalText(text []byte) error {
	i, err := named("kind of page", pageKindNames[:], text)
	*k = PageKind(i)
	return err
}

// UnmarshalText reads the form of MarshalText.
func (c *Class) UnmarshalText(text []byte) error {
	i, err := named("class", classNames[:], text)
	*c = Class(i)
	return err
}

// named finds a name. Zero values have the empty one.
func named(what string, names []string, text []byte) (int, error) {
	i := slices.Index(names, string(text))
	if i < 0 {
		return 0, fmt.Errorf("%.80q is not a %s", text, what)
	}
	return i, nil
}
