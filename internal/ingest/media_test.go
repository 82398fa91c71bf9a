package ingest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// picture is an image block of so many bytes, which do not compress.
func picture(size int) (b block, bytes string) {
	draw := rand.New(rand.NewPCG(1, 27))
	raw := make([]byte, size)
	for i := range raw {
		raw[i] = byte(draw.Uint32())
	}
	data := base64.StdEncoding.EncodeToString(raw)
	return block{Type: "image", Source: map[string]string{"type": "base64", "media_type": "image/png", "data": data}}, string(raw)
}

// compacted says that the agent threw its context away and began again with a
// summary and what it put back.
func (s *script) compacted(blocks ...block) *script {
	s.n++
	id := fmt.Sprint("c", s.n)
	s.lines = append(s.lines, fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","uuid":%q,"parentUuid":null,"logicalParentUuid":%q,`+
		`"sessionId":"hand","timestamp":"2026-11-02T10:00:%02dZ","compactMetadata":{"trigger":"auto","preTokens":9000}}`, id, *s.parent, s.n%60))
	s.parent = &id
	s.add("user", message{Role: "user", Content: append([]block{{Type: "text", Text: "Summary " + id}}, blocks...)})
	last := &s.lines[len(s.lines)-1]
	*last = strings.Replace(*last, `"isSidechain":false`, `"isSidechain":false,"isCompactSummary":true`, 1)
	return s
}

// failures.md A27: an image that every compaction puts back is stored once, as
// bytes; a journal grows by a line for each, and has no byte of it; an export has
// it once.
func TestA27ImagesAreStoredOnce(t *testing.T) {
	const size, times = 200_000, 20
	image, raw := picture(size)
	p := inFiles(t, t.TempDir())
	log := &script{}
	log.user("Look.")
	log.call("t1", "Read", map[string]string{"file_path": "/p/a.png"}).result("t1", []block{image})
	for range times {
		log.says(block{Type: "text", Text: "I see."}).compacted(image)
	}
	got := imported(t, p, log.write(t))
	derived(t, p, got)
	stored, blobs := 0, 0
	for b, err := range p.Bodies.EachBody(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if stored += b.Stored; b.Hash == quire.Sum(raw) {
			blobs++
		}
	}
	if blobs != 1 || stored > size+10_000 {
		t.Errorf("%d blobs, all bodies take %d bytes, and the image has %d", blobs, stored, size)
	}
	text, err := os.ReadFile(got.Name.Path)
	if err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString([]byte(raw))
	if bytes.Contains(text, []byte(data[:60])) || len(text) > 4000+times*2500 {
		t.Errorf("the journal has %d bytes", len(text))
	}
	if n := bytes.Count(text, []byte(`"blob":"`)); n != times+1 {
		t.Errorf("%d lines name a blob, want %d", n, times+1)
	}
	var export bytes.Buffer
	if err := journal.Export(t.Context(), &export, got.Name.Path, p.Bodies, nil); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(export.Bytes(), []byte(data[:60])); n != 1 {
		t.Errorf("the export has the image %d times", n)
	}
}

// A result of several blocks comes back block for block from the pool, and from
// an export that another pool has taken in.
func TestBlocksOfAResultComeBack(t *testing.T) {
	image, _ := picture(100)
	texts := []string{"first\n", "", "second\n\n三", "last"}
	log := &script{}
	log.user("Look.").call("t1", "Read", map[string]string{"file_path": "/p/a"})
	log.result("t1", []block{{Type: "text", Text: texts[0]}, {Type: "text", Text: texts[1]}, image, {Type: "text", Text: texts[2]}, {Type: "text", Text: texts[3]}})
	p, q := newPool(t), newPool(t)
	got := imported(t, p, log.write(t))
	wantBlocks(t, p, got.Name.Path, texts)
	var export bytes.Buffer
	if err := journal.Export(t.Context(), &export, got.Name.Path, p.Bodies, nil); err != nil {
		t.Fatal(err)
	}
	done, err := journal.Import(t.Context(), q.Home, &export, q.Bodies, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantBlocks(t, q, done.Path, texts)
}

func wantBlocks(t *testing.T, p *Pool, path string, texts []string) {
	t.Helper()
	results, images := 0, 0
	for r, err := range journal.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := journal.Decode[quire.PartRecord](r)
		switch {
		case err != nil || r.Type != quire.RecordPart:
		case rec.Part.Kind == quire.PartImage && rec.Part.After == 2:
			images++
		case rec.Part.Kind == quire.PartToolResult:
			body, err := p.Bodies.Body(t.Context(), rec.Body)
			if err != nil {
				t.Fatal(err)
			}
			rec.Part.Text = string(body)
			if got := rec.Part.Blocks(); !slices.Equal(got, texts) {
				t.Errorf("the blocks are %q, want %q", got, texts)
			}
			results++
		}
	}
	if results != 1 || images != 1 {
		t.Errorf("%d results, %d images", results, images)
	}
}

// A journal of before the blocks of a result were recorded is still that of its
// log: nothing of it is taken in again.
func TestJournalsWithoutBlocksAreKnown(t *testing.T) {
	image, _ := picture(100)
	log := &script{}
	log.user("Look.").call("t1", "Read", map[string]string{"file_path": "/p/a"})
	log.result("t1", []block{{Type: "text", Text: "a"}, image, {Type: "text", Text: "b"}})
	path := log.write(t)
	p := newPool(t)
	got := imported(t, p, path)
	withoutBlocks(t, got.Name.Path)
	if again := imported(t, p, path); again.New || again.Changed() {
		t.Errorf("%+v", again)
	}
	log.user("And?").to(t, path)
	if again := imported(t, p, path); again.New || again.Records != 1 {
		t.Errorf("grown: %+v", again)
	}
}

// withoutBlocks makes a journal one of version 1.
func withoutBlocks(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was := regexp.MustCompile(`,"crc":"[0-9a-f]{8}"|,"cuts":\[2\]|,"after":1`).ReplaceAll(text, nil)
	was = bytes.ReplaceAll(was, []byte(`{"v":2,`), []byte(`{"v":1,`))
	if bytes.Contains(was, []byte("cuts")) || len(was) >= len(text) {
		t.Fatalf("%s", was)
	}
	if err := os.WriteFile(path, was, 0o600); err != nil {
		t.Fatal(err)
	}
}
