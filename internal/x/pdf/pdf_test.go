package pdf

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// document writes objects, numbered from 1, as a document.
func document(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n% a comment\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Root 1 0 R %s >>\n%%%%EOF\n", trailer)
	return b.Bytes()
}

func stream(head, content string) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), head, content)
}

func packed(head, content string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(content)) // a buffer takes everything
	_ = z.Close()
	return stream("/Filter /FlateDecode "+head, b.String())
}

const catalog = "<< /Type /Catalog /Pages 2 0 R >>"

// plain is a document of one page with a content and fonts.
func plain(content, fonts string, more ...string) []byte {
	objects := []string{catalog, "<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << " + fonts + " >> /XObject << /Fm 6 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /Contents [4 0 R] >>", content}
	return document("", append(objects, more...)...)
}

func TestText(t *testing.T) {
	const helvetica = "/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
	table := stream("", "/CIDInit begincmap 1 beginbfchar <0001> <4E2D> endbfchar 2 beginbfrange <0002> <0003> <0041> <0010> <0011> [<0066006C> <20AC>] endbfrange endcmap")
	wide := "/F1 << /Subtype /Type0 /ToUnicode 5 0 R >>"
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"lines":          {plain(stream("", "BT /F1 12 Tf 72 700 Td (Hello) Tj 30 0 Td (world) Tj 0 -14 Td (next \\(line\\) \\101) Tj ET"), helvetica), "Hello world\nnext (line) A"},
		"kerned":         {plain(packed("", "BT /F1 12 Tf 1 0 0 1 72 700 Tm [(Ker) 20 (ned) -300 (words)] TJ 14 TL T* (a) ' (b) ' ET"), helvetica), "Kerned words\na\nb"},
		"table":          {plain(packed("", "BT /F1 12 Tf <000100020003001000110099> Tj ET"), wide, table), "中ABfl€"},
		"names":          {plain(stream("", "BT /F1 1 Tf (\x01\x02\x03) Tj ET"), "/F1 << /Subtype /Type1 /Encoding << /Differences [1 /fi /uni00E9 /question] >> >>"), "fié?"},
		"form":           {plain(stream("", "q /Fm Do Q"), helvetica, "null", stream("/Subtype /Form", "BT /F1 9 Tf (inside) Tj ET")), "inside"},
		"wrong length":   {plain("<< /Length 3 >>\nstream\nBT /F1 9 Tf (long) Tj ET\nendstream", helvetica), "long"},
		"picture":        {plain(stream("", "BI /W 1 ID \x00(x) Tj\nEI BT /F1 9 Tf (after) Tj ET"), helvetica), "after"},
		"latin":          {plain(stream("", "BT /F1 9 Tf (\x93\xfc\x94) Tj ET"), helvetica), "“ü”"},
		"unknown codes":  {plain(stream("", "BT /F1 9 Tf <00990098> Tj ET"), wide, table), ""},
		"unknown filter": {plain(stream("/Filter /DCTDecode", "BT (x) Tj ET"), helvetica), ""},
		"hex and 85":     {plain(stream("/Filter [/ASCIIHexDecode]", "42542028782920546A204554>"), helvetica), "x"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Text(c.data)
			if want := "[page 1 of 1]\n" + c.want + "\n"; err != nil || got != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		})
	}
}

// Objects may be packed into a stream, and the root stand in a stream of
// references; pages come in the order of their tree.
func TestPackedObjects(t *testing.T) {
	inner := []string{catalog, "<< /Type /Pages /Kids [4 0 R 3 0 R] >>", "<< /Type /Page /Contents 5 0 R >>", "<< /Type /Page /Contents 6 0 R >>"}
	var head, body strings.Builder
	for i, o := range inner {
		fmt.Fprintf(&head, "%d %d ", i+1, body.Len())
		body.WriteString(o + " ")
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	for n, o := range map[int]string{5: stream("", "BT (second) Tj ET"), 6: stream("", "BT (first) Tj ET"), 7: packed(fmt.Sprintf("/Type /ObjStm /N 4 /First %d", head.Len()), head.String()+body.String()), 8: stream("/Type /XRef /Root 1 0 R", "")} {
		fmt.Fprintf(&b, "%d 0 obj %s endobj\n", n, o)
	}
	got, err := Pages(b.Bytes())
	if err != nil || len(got) != 2 || got[0] != "first" || got[1] != "second" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	for want, data := range map[error][]byte{
		ErrNotPDF:    []byte("just text"),
		ErrEncrypted: document("/Encrypt 9 0 R", catalog, "<< /Type /Pages /Kids [] >>"),
		ErrDamaged:   []byte("%PDF-1.4\n1 0 obj << /Type /Catalog"),
	} {
		if text, err := Text(data); !errors.Is(err, want) {
			t.Errorf("%q, %v, want %v", text, err, want)
		}
	}
	lone := []byte("%PDF-1.4\n9 0 obj << /Type /Page /Contents 8 0 R >> endobj 8 0 obj " + stream("", "BT (alone) Tj ET") + " endobj")
	if got, err := Pages(lone); err != nil || len(got) != 1 || got[0] != "alone" {
		t.Errorf("a page without a tree: %q, %v", got, err)
	}
}

// FuzzText holds that whatever the bytes are, reading ends and gives whole runes.
func FuzzText(f *testing.F) {
	f.Add(plain(stream("", "BT /F1 12 Tf 72 700 Td (Hello) Tj ET"), "/F1 << /Subtype /Type0 /ToUnicode 5 0 R >>", stream("", "1 beginbfrange <00> <ffff> <0041> endbfrange")))
	f.Add(plain(packed("", "BT [(a) -200 <41>] TJ ET [[[[ << /a (b"), ""))
	f.Add([]byte("%PDF-1.4 1 0 obj << /Type /Catalog /Pages 1 0 R /Kids [1 0 R 1 0 R] >> endobj trailer << /Root 1 0 R >>"))
	f.Add([]byte("%PDF- 1 0 obj << /Type /ObjStm /First 4 >> stream\n2 0 << /Type /Page >>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		pages, err := Pages(data)
		if err == nil && len(pages) == 0 {
			t.Error("no page and no error")
		}
	})
}
