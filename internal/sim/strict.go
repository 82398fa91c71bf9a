package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A judge looks at one request as its vendor does.
type judge struct {
	api     API
	call    *quire.Call
	limits  Limits
	signer  signer
	dropped int  // blocks of thinking that were dropped, as the request wants
	count   bool // the request asks for its size only, and needs no limit of the answer
}

// Limits bound requests, beside what follows from the API. A zero is the vendor's.
type Limits struct {
	Body       int // bytes of a request
	Window     int // tokens of a prompt
	Images     int // in a request
	ImageBytes int // of one image
	ImageSide  int // pixels

	// BoundThinking binds thinking to its prefix for every model of Messages, not
	// only for those whose vendor does.
	BoundThinking bool
}

// refuse is the first thing for which a request is refused, nil for none.
func (j *judge) refuse() *refusal {
	if j.limits.Images == 0 {
		j.limits.Images = map[API]int{Messages: 100, Chat: 500, Responses: 500, Gemini: 3600}[j.api]
	}
	switch j.api {
	case Messages:
		return firstOf(j.messagesSettings, j.messagesTools, j.messagesRoles, j.messagesBlocks, j.messagesPairs, j.messagesServerPairs, j.messagesMarks, j.messagesThinking, j.images)
	case Chat:
		return firstOf(j.chatSettings, j.chatTools, j.chatMessages, j.chatPairs, j.openaiMarks, j.images)
	case Responses:
		return firstOf(j.responsesSettings, j.responsesTools, j.responsesItems, j.responsesPairs, j.responsesReasoning, j.openaiMarks, j.images)
	}
	return firstOf(j.geminiSettings, j.geminiTools, j.geminiContents, j.geminiPairs, j.geminiSignatures, j.images)
}

func firstOf(rules ...func() *refusal) *refusal {
	for _, rule := range rules {
		if r := rule(); r != nil {
			return r
		}
	}
	return nil
}

// tooLong refuses a prompt that does not fit into the window.
func (j *judge) tooLong(tokens, window int) *refusal {
	if tokens <= window {
		return nil
	}
	switch j.api {
	case Messages:
		return invalid("prompt is too long: %d tokens > %d maximum", tokens, window)
	case Chat:
		return invalid("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", window, tokens).
			at("messages").called("context_length_exceeded")
	case Responses:
		return invalid("Your input exceeds the context window of this model. Please adjust your input and try again.").
			at("input").called("context_length_exceeded")
	}
	return invalid("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", tokens, window)
}

// tooLargeFor refuses a body that is over the limit, nil for one that is not.
func tooLargeFor(api API, size int, l Limits) *refusal {
	limit := or(l.Body, api.maxBody())
	if size <= limit {
		return nil
	}
	return tooLarge(api, limit)
}

// tooLarge refuses a body.
func tooLarge(api API, limit int) *refusal {
	switch api {
	case Messages:
		return &refusal{status: 413, message: "Request exceeds the maximum size"}
	case Gemini:
		return invalid("Request payload size exceeds the limit: %d bytes.", limit)
	}
	return &refusal{status: 413, name: "request_too_large", message: fmt.Sprintf("Request body too large. The limit is %d bytes.", limit)}
}

// unknown is the first member that nobody knows.
func unknown(fields []quire.Field, known ...string) string {
	for _, f := range fields {
		if !slices.Contains(known, f.Name) {
			return f.Name
		}
	}
	return ""
}

// has reports whether a member is there and not null.
func has(fields []quire.Field, name string) bool {
	raw := rawjson.Get(fields, name)
	return raw != nil && string(raw) != "null"
}

// named matches what vendors take for the name of a tool or the id of a call.
func named(text string, most int) bool {
	odd := func(r rune) bool {
		return r > 'z' || !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
	}
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, odd)
}

// eachBlock calls for each block of the messages with its address, and for the
// pieces in it, until one is refused.
func (j *judge) eachBlock(do func(message, block int, role quire.Role, b quire.Block) *refusal) *refusal {
	for i, m := range j.call.Messages {
		for k, b := range m.Blocks {
			if r := do(i, k, m.Role, b); r != nil {
				return r
			}
		}
	}
	return nil
}

// images looks at all images of a request.
func (j *judge) images() *refusal {
	var all []placed
	_ = j.eachBlock(func(i, k int, _ quire.Role, b quire.Block) *refusal {
		all = appendImages(all, fmt.Sprintf("messages.%d.content.%d", i, k), b)
		return nil
	})
	if len(all) > j.limits.Images {
		return j.manyImages(len(all))
	}
	for _, p := range all {
		if r := j.image(p, len(all)); r != nil {
			return r
		}
	}
	return nil
}

// A placed is an image with its address.
type placed struct {
	at    string
	block quire.Block
}

func appendImages(list []placed, at string, b quire.Block) []placed {
	if b.Kind == quire.PartImage && b.Opaque == nil {
		list = append(list, placed{at, b})
	}
	for i, inner := range b.Content {
		step := ".content"
		if b.Kind == quire.PartToolResult {
			step = ".tool_result.content"
		}
		list = appendImages(list, fmt.Sprintf("%s%s.%d", at, step, i), inner)
	}
	return list
}

func (j *judge) manyImages(n int) *refusal {
	switch j.api {
	case Messages:
		return invalid("messages: too many images: %d > %d", n, j.limits.Images)
	case Gemini:
		return invalid("Please use fewer images: %d are more than the limit of %d.", n, j.limits.Images)
	}
	return invalid("Too many images in request. Max is %d, got %d.", j.limits.Images, n).called("too_many_images")
}

// image looks at one image whose bytes are there; one behind an address is taken.
func (j *judge) image(p placed, among int) *refusal {
	data := p.block.Data
	if data == "" {
		return nil
	}
	f, ok := formOf(data)
	if !ok {
		return j.unreadable(p)
	}
	if j.api != Messages {
		return j.plainImage(p, f)
	}
	if said := p.block.Media.Type; said != f.mime {
		return invalid("%s.image.source.base64.media_type: Image does not match the provided media type %s", p.at, said)
	}
	if most := or(j.limits.ImageBytes, 5<<20); len(data) > most {
		return invalid("%s.image.source.base64: image exceeds %d MB maximum: %d bytes > %d bytes", p.at, most>>20, len(data), most)
	}
	// Source: the vendor's page on vision. Above 20 images the bound is lower.
	side := or(j.limits.ImageSide, 8000)
	if among > 20 {
		side = min(side, 2000)
	}
	if max(f.width, f.height) > side {
		return invalid("%s.image.source.base64.data: At least one of the image dimensions exceed max allowed size: %d pixels", p.at, side)
	}
	return nil
}

func (j *judge) plainImage(p placed, f form) *refusal {
	if most := or(j.limits.ImageBytes, 20<<20); len(p.block.Data) > most {
		return invalid("Image is too large: %d bytes are more than the limit of %d.", len(p.block.Data), most).called("image_too_large")
	}
	if side := j.limits.ImageSide; side > 0 && max(f.width, f.height) > side {
		return invalid("Image is too large: at most %d pixels a side are accepted.", side).called("image_too_large")
	}
	return nil
}

func (j *judge) unreadable(p placed) *refusal {
	switch j.api {
	case Messages:
		return invalid("%s.image.source.base64.data: Could not process image", p.at)
	case Gemini:
		return invalid("Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting")
	}
	return invalid("You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].").called("invalid_image_format")
}

func or(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
