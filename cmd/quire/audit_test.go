package main

import (
	"testing"
	"time"
)

func TestMoments(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	east := time.FixedZone("east", 2*60*60)
	cases := []struct {
		text string
		days int
		want string // "" for an error
	}{
		{"2026-11-01", 0, "2026-11-01T00:00:00+02:00"},
		{"2026-11-01", 1, "2026-11-02T00:00:00+02:00"},
		{"2026-11-01T15:04:05Z", 1, "2026-11-01T15:04:05Z"},
		{"24h", 0, "2026-11-19T12:00:00Z"},
		{"7d", 1, "2026-11-13T12:00:00Z"},
		{"2w", 0, "2026-11-06T12:00:00Z"},
		{"-7d", 0, ""}, {"7", 0, ""}, {"d", 0, ""}, {"1.5d", 0, ""}, {"2026-13-01", 0, ""}, {"999999d", 0, ""},
	}
	for _, c := range cases {
		got, err := moment("since", c.text, now, east, c.days)
		if (err != nil) != (c.want == "") {
			t.Errorf("%q: %v", c.text, err)
		} else if err == nil && got.Format(time.RFC3339) != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got.Format(time.RFC3339), c.want)
		}
	}
}

// FuzzMoment holds that what is so long ago is never in the future, nor before
// a hundred years.
func FuzzMoment(f *testing.F) {
	for _, text := range []string{"7d", "0h", "5000w", "99999999999999999999d", "2026-11-01", "é"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if back, ok := ago(text); ok && (back < 0 || back > 100*366*24*time.Hour) {
			t.Errorf("%q is %v ago", text, back)
		}
		if at, err := moment("since", text, now, time.UTC, 0); err != nil && !at.IsZero() {
			t.Errorf("%q: %v and an error", text, at)
		}
	})
}
