package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// mediaHead is how much of an image is looked at for its dimensions: what may
// stand in front of them (a colour profile, a thumbnail) is rarely longer.
const mediaHead = 256 << 10

// mediaPart is the image or document whose bytes stand in base64 in a JSON
// string. What is not valid base64 is described, and given, up to the fault.
func mediaPart(mime string, data value) quire.Part {
	if !data.isString() {
		return quire.Part{Kind: mediaKind(mime), Media: &quire.Media{Type: mime}}
	}
	inside := data[1 : len(data)-1]
	if bytes.IndexByte(inside, '\\') >= 0 {
		inside = []byte(unquote(inside))
	}
	return base64Part(mime, inside)
}

// linkedPart is the image or document that an address stands for. A data
// address is described by its bytes, any other by its type alone, with the
// address as its text.
func linkedPart(mime string, address value) quire.Part {
	if !address.isString() || !bytes.HasPrefix(address[1:], []byte("data:")) {
		return quire.Part{Kind: mediaKind(mime), Text: address.text(), Media: &quire.Media{Type: mime}}
	}
	head, data, _ := bytes.Cut(address[len(`"data:`):len(address)-1], []byte(","))
	declared, _, _ := strings.Cut(unquote(head), ";")
	if declared != "" {
		mime = declared
	}
	if bytes.IndexByte(data, '\\') >= 0 {
		data = []byte(unquote(data))
	}
	return base64Part(mime, data)
}

func base64Part(mime string, data []byte) quire.Part {
	m := measure{sum: sha256.New()}
	text := bytes.NewReader(bytes.TrimRight(data, "= \r\n\t"))
	// A fault in the data ends the copy; what came before it is described.
	m.data.Grow(base64.RawStdEncoding.DecodedLen(len(data)))
	_, _ = io.Copy(&m, base64.NewDecoder(base64.RawStdEncoding, text))
	return quire.Part{Kind: mediaKind(mime), Media: m.media(mime), Data: m.data.String()}
}

func mediaKind(mime string) quire.PartKind {
	if strings.HasPrefix(mime, "image/") {
		return quire.PartImage
	}
	return quire.PartDocument
}

// A measure takes the bytes of a file and works out what describes it.
type measure struct {
	sum  hash.Hash
	data strings.Builder
}

// Write takes more bytes. It never fails.
func (m *measure) Write(p []byte) (int, error) {
	m.data.Write(p)
	return m.sum.Write(p)
}

func (m *measure) media(mime string) *quire.Media {
	data := m.data.String()
	out := &quire.Media{Type: mime, Bytes: len(data)}
	m.sum.Sum(out.Hash[:0])
	if strings.HasPrefix(mime, "image/") {
		out.Width, out.Height = Dimensions(data)
	}
	return out
}

// Dimensions of an image in pixels, of its bytes; 0 where its format is not known.
func Dimensions(data string) (width, height int) {
	head := data[:min(len(data), mediaHead)]
	for _, read := range []func(io.Reader) (image.Config, error){png.DecodeConfig, jpeg.DecodeConfig, gif.DecodeConfig} {
		if c, err := read(strings.NewReader(head)); err == nil {
			return c.Width, c.Height
		}
	}
	if len(head) >= 30 && head[:4] == "RIFF" && head[8:12] == "WEBP" {
		return webpDimensions([]byte(head[12:30]))
	}
	return 0, 0
}

// webpDimensions reads the first chunk of a WebP file: lossy (RFC 6386 section
// 9.1), lossless, or extended (the container specification).
func webpDimensions(b []byte) (width, height int) {
	le := binary.LittleEndian
	switch string(b[:4]) {
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
