package fs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif"  // registers the format
	_ "image/jpeg" // registers the format
	_ "image/png"  // registers the format
	"net/http"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

// The bounds of an image: those of the strictest provider.
const (
	maxImage  = 5 << 20 // bytes
	maxPixels = 8000    // of a side
)

// picture is the result for an image, if the bytes are one.
func picture(named string, data []byte) (tool.Result, bool) {
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return tool.Result{}, false
	}
	width, height := size(kind, data)
	if len(data) > maxImage || width > maxPixels || height > maxPixels {
		return tool.Failed("%s is an image of %d bytes, %d×%d pixels; at most %d bytes and %d pixels a side can be shown. Make a smaller copy with bash and read that.", named, len(data), width, height, maxImage, maxPixels), true
	}
	return tool.Result{
		Text:  fmt.Sprintf("%s: %s, %d bytes, %d×%d pixels", named, kind, len(data), width, height),
		Media: &quire.Media{Type: kind, Bytes: len(data), Width: width, Height: height, Hash: quire.Sum(string(data))},
		Data:  string(data),
		Read:  quire.Sum(string(data)),
	}, true
}

// size gives the pixels of an image, 0 where they cannot be read.
func size(kind string, data []byte) (width, height int) {
	if kind == "image/webp" {
		return webpSize(data)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0
	}
	return config.Width, config.Height
}

// webpSize reads the three forms of a WebP header (RFC 9649, sections 2.5 to 2.7).
func webpSize(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	le := binary.LittleEndian
	switch string(data[12:16]) {
	case "VP8 ":
		return int(le.Uint16(data[26:]) & 0x3fff), int(le.Uint16(data[28:]) & 0x3fff)
	case "VP8L":
		bits := le.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return int(le.Uint32(append(data[24:27:27], 0))) + 1, int(le.Uint32(append(data[27:30:30], 0))) + 1
	}
	return 0, 0
}
