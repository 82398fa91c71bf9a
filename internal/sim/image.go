package sim

import (
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A form is what the bytes of an image are.
type form struct {
	mime          string
	width, height int
}

// formOf reads the head of an image. It reports false for bytes that are none of
// the four formats that vendors take.
func formOf(data string) (form, bool) {
	for _, f := range [...]struct {
		mime string
		read func(io.Reader) (image.Config, error)
	}{{"image/png", png.DecodeConfig}, {"image/jpeg", jpeg.DecodeConfig}, {"image/gif", gif.DecodeConfig}} {
		if c, err := f.read(strings.NewReader(data)); err == nil {
			return form{f.mime, c.Width, c.Height}, true
		}
	}
	if len(data) >= 30 && data[:4] == "RIFF" && data[8:12] == "WEBP" {
		w, h := webpSize(data[12:30])
		return form{"image/webp", w, h}, w > 0
	}
	return form{}, false
}

// webpSize reads the first chunk of a WebP file, one of three (RFC 9649, sections
// 2.5 to 2.7).
func webpSize(chunk string) (width, height int) {
	b, le := []byte(chunk), binary.LittleEndian
	switch chunk[:4] {
	case "VP8 ":
		return int(le.Uint16(b[14:]) & 0x3fff), int(le.Uint16(b[16:]) & 0x3fff)
	case "VP8L":
		bits := le.Uint32(b[9:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return int(le.Uint32(b[12:])&0xffffff) + 1, int(le.Uint32(b[14:])>>8) + 1
	}
	return 0, 0
}

// sized fills in the pixels of an image whose bytes are there.
func sized(m *quire.Media, data string) {
	if f, ok := formOf(data); ok && m.Width == 0 {
		m.Width, m.Height = f.width, f.height
	}
}
