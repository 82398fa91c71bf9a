package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // registers the format
	_ "image/jpeg" // registers the format
	_ "image/png"  // registers the format
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

// content collects the parts of a result.
type content struct {
	texts  []string
	images []tool.Image
}

// result is a server's result as a tool's: texts joined, images kept as
// images, and of what cannot be shown a line that says so.
func result(got *sdk.CallToolResult) tool.Result {
	var c content
	for _, part := range got.Content {
		c.add(part)
	}
	if len(c.texts) == 0 && len(c.images) == 0 && got.StructuredContent != nil {
		if text, err := json.Marshal(got.StructuredContent); err == nil {
			c.text("%s", text)
		}
	}
	r := c.result()
	r.Error = got.IsError
	return r
}

func (c *content) result() tool.Result {
	text := strings.Join(c.texts, "\n")
	if text == "" && len(c.images) == 0 {
		text = "(no output)"
	}
	return tool.Result{Text: tool.Bound(tool.Valid(text), tool.MaxText), Images: c.images}
}

func (c *content) text(format string, args ...any) {
	c.texts = append(c.texts, fmt.Sprintf(format, args...))
}

func (c *content) add(part sdk.Content) {
	switch p := part.(type) {
	case *sdk.TextContent:
		c.text("%s", p.Text)
	case *sdk.ImageContent:
		c.image(p.Data, "an image")
	case *sdk.AudioContent:
		c.text("[sound, %s, %d bytes: it cannot be shown]", p.MIMEType, len(p.Data))
	case *sdk.EmbeddedResource:
		c.resource(p.Resource)
	case *sdk.ResourceLink:
		c.text("[resource %s, %s %s: %s reads it]", p.URI, p.Name, p.MIMEType, ReadName)
	default:
		c.text("[a part of a kind that is not known]")
	}
}

func (c *content) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case len(r.Blob) == 0:
		c.text("[resource %s]\n%s", r.URI, r.Text)
	case strings.HasPrefix(r.MIMEType, "image/"):
		c.image(r.Blob, r.URI)
	default:
		c.text("[resource %s, %s, %d bytes: it is no text]", r.URI, r.MIMEType, len(r.Blob))
	}
}

// The bounds of images: those of the strictest provider, and of one result.
const (
	mostImages = 8
	maxImage   = 5 << 20 // bytes
	maxPixels  = 8000    // of a side
)

// image keeps an image, where it can be shown.
func (c *content) image(data []byte, named string) {
	kind := http.DetectContentType(data)
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		config = image.Config{}
	}
	switch {
	case kind != "image/png" && kind != "image/jpeg" && kind != "image/gif" && kind != "image/webp":
		c.text("[%s, %d bytes: it is no image of a kind that can be shown]", named, len(data))
	case len(data) > maxImage || config.Width > maxPixels || config.Height > maxPixels:
		c.text("[%s, %d bytes, %d×%d pixels: it is too large to be shown]", named, len(data), config.Width, config.Height)
	case len(c.images) == mostImages:
		c.text("[%s, %s, %d bytes: a result shows %d images]", named, kind, len(data), mostImages)
	default:
		c.text("%s: %s, %d bytes, %d×%d pixels", named, kind, len(data), config.Width, config.Height)
		media := quire.Media{Type: kind, Bytes: len(data), Width: config.Width, Height: config.Height, Hash: quire.Sum(string(data))}
		c.images = append(c.images, tool.Image{Media: media, Data: string(data)})
	}
}
