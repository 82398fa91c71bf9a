package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// picture encodes an image of 37 by 21 pixels.
func picture(t *testing.T, encode func(io.Writer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, 37, 21), color.Palette{color.White})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp is the beginning of a WebP file of 37 by 21 pixels with one chunk.
func webp(kind string, chunk ...byte) []byte {
	return append([]byte("RIFF\x40\x00\x00\x00WEBP"+kind+"\x20\x00\x00\x00"), append(chunk, make([]byte, 32)...)...)
}

func TestMedia(t *testing.T) {
	files := map[string][]byte{
		"image/png":    picture(t, png.Encode),
		"image/jpeg":   picture(t, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }),
		"image/gif":    picture(t, func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }),
		"image/webp":   webp("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 37, 0x40, 21, 0),
		"image/webp;l": webp("VP8L", 0x2f, 36, 20<<6&0xff, 20>>2, 0),
		"image/webp;x": webp("VP8X", 0, 0, 0, 0, 36, 0, 0, 20, 0, 0),
	}
	for mime, file := range files {
		text := base64.StdEncoding.EncodeToString(file)
		for _, form := range []string{text, strings.TrimRight(text, "="), text[:8] + "\n" + text[8:], strings.ReplaceAll(text, "/", `\/`)} {
			p := mediaPart(mime, value(quoted(form)))
			want := quire.Media{Type: mime, Bytes: len(file), Width: 37, Height: 21, Hash: sha256.Sum256(file)}
			if p.Kind != quire.PartImage || *p.Media != want || p.Data != string(file) {
				t.Errorf("%s as %.20q: %v %+v, want %+v", mime, form, p.Kind, *p.Media, want)
			}
		}
	}
}

// quoted puts text into a JSON string as it is, but for newlines.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, "\n", `\n`) + `"` }

func TestLinkedMedia(t *testing.T) {
	for address, want := range map[string]quire.Part{
		`"data:text/x;base64,aGkK"`:      {Kind: quire.PartDocument, Data: "hi\n", Media: &quire.Media{Type: "text/x", Bytes: 3, Hash: sha256.Sum256([]byte("hi\n"))}},
		`"data:;base64,aGkK"`:            {Kind: quire.PartImage, Data: "hi\n", Media: &quire.Media{Type: "image/*", Bytes: 3, Hash: sha256.Sum256([]byte("hi\n"))}},
		`"https://example.org/\u0061.b"`: {Kind: quire.PartImage, Text: "https://example.org/a.b", Media: &quire.Media{Type: "image/*"}},
		`null`:                           {Kind: quire.PartImage, Media: &quire.Media{Type: "image/*"}},
	} {
		got := linkedPart("image/*", value(address))
		media := *got.Media
		got.Media = want.Media
		if !reflect.DeepEqual(got, want) || media != *want.Media {
			t.Errorf("%s: %+v with %+v, want %+v with %+v", address, got, media, want, *want.Media)
		}
	}
}

// Base64 is never kept, and what is described and given is what decodes.
func FuzzMedia(f *testing.F) {
	for _, seed := range []string{"aGkK", "aGk", "a", "!!", "UklGRiQAAABXRUJQVlA4IBgAAAA", "R0lGODlhAQABAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := mediaPart("image/x", value(strconv.Quote(text)))
		if p.Text != "" || p.Media.Bytes > len(text) || p.Media.Bytes != len(p.Data) {
			t.Fatalf("%d bytes, text %q, of %q", p.Media.Bytes, p.Text, text)
		}
	})
}
