package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/quire-agent/quire/internal/config"
)

// isTerminal reports whether a stream is a character device. The null device is
// one too; what is written there for a terminal does no harm.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// colour reports whether the output is to be coloured.
func (inv *invocation) colour(s *config.Settings) bool {
	switch s.Text(config.Color) {
	case "always":
		return true
	case "never":
		return false
	default:
		return inv.terminal && inv.env.get("NO_COLOR") == "" && inv.understandsEscapes()
	}
}

// understandsEscapes tells terminals with escape codes from those without. On
// Windows only a terminal that names itself is known to have them.
func (inv *invocation) understandsEscapes() bool {
	term := inv.env.get("TERM")
	if inv.app.goos == "windows" {
		return inv.env.get("WT_SESSION") != "" || (term != "" && term != "dumb")
	}
	return term != "dumb"
}

// zone is the zone in which times and days are shown.
func zone(s *config.Settings) *time.Location {
	if s.Bool(config.UTC) {
		return time.UTC
	}
	return time.Local
}

// A pen writes emphasis, or plain text where colour is off.
type pen bool

func (p pen) bold(text string) string {
	if !p {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// writeJSON writes one indented JSON value and a line end.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
