package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a document: bytes that all streams together may unpack to, and
// pages that are read.
const (
	maxUnpacked = 256 << 20
	maxPages    = 5000
)

// The errors, for errors.Is.
var (
	ErrNotPDF    = errors.New("not a PDF document")
	ErrEncrypted = errors.New("the document is encrypted")
	ErrDamaged   = errors.New("the document has no pages that can be read")
)

// A file is a document whose objects are known.
type file struct {
	objects  map[int]value
	trailer  map[string]value
	unpacked int
	looked   int // at nodes of the tree of pages, which may be a circle
}

// Pages is the text of each page of a document. A page whose text cannot be read,
// as that of a picture, is empty. Errors are those of this package.
func Pages(data []byte) ([]string, error) {
	if !bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) {
		return nil, ErrNotPDF
	}
	f := &file{objects: map[int]value{}, trailer: map[string]value{}}
	f.scan(data)
	if _, ok := f.trailer["Encrypt"]; ok {
		return nil, ErrEncrypted
	}
	pages := f.pages()
	if len(pages) == 0 {
		return nil, ErrDamaged
	}
	out := make([]string, len(pages))
	for i, p := range pages {
		out[i] = f.page(p)
	}
	return out, nil
}

// Text is the text of a document with a line before each page.
func Text(data []byte) (string, error) {
	pages, err := Pages(data)
	if err != nil {
		return "", fmt.Errorf("read the text: %w", err)
	}
	var b strings.Builder
	for i, p := range pages {
		fmt.Fprintf(&b, "[page %d of %d]\n%s\n", i+1, len(pages), strings.TrimRight(p, "\n "))
	}
	return b.String(), nil
}

// scan finds the objects by what they begin with: the table of where they are is
// what is most often wrong in a document. Of two of one number the later stands.
func (f *file) scan(data []byte) {
	begins := regexp.MustCompile(`(\d{1,9})[ \t\r\n\f\x00]+\d{1,5}[ \t\r\n\f\x00]+obj\b|\btrailer\b`)
	end := 0
	for _, m := range begins.FindAllSubmatchIndex(data, -1) {
		if m[0] < end {
			continue // within a stream
		}
		r := &reader{data: data, at: m[1]}
		v, _ := r.next()
		if m[2] < 0 {
			f.trails(v)
			continue
		}
		n, _ := strconv.Atoi(string(data[m[2]:m[3]]))
		if v.kind == dict {
			v.stream, end = r.stream(v)
		}
		f.objects[n] = v
		if v.dict["Type"].text == "XRef" {
			f.trails(v)
		}
	}
	for _, n := range f.numbers() {
		if v := f.objects[n]; v.dict["Type"].text == "ObjStm" {
			f.packed(v)
		}
	}
}

// numbers are those of the objects, rising.
func (f *file) numbers() []int {
	all := make([]int, 0, len(f.objects))
	for n := range f.objects {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func (f *file) trails(v value) {
	for _, key := range []string{"Root", "Encrypt"} {
		if one, ok := v.dict[key]; ok {
			f.trailer[key] = one
		}
	}
}

// stream is the bytes behind a dict that has some, and where they end.
func (r *reader) stream(v value) (data []byte, end int) {
	r.skip()
	if !r.has("stream") {
		return nil, r.at
	}
	r.at += len("stream")
	if r.has("\r") {
		r.at++
	}
	if r.has("\n") {
		r.at++
	}
	if n := v.dict["Length"]; n.kind == number && n.number >= 0 && r.at+int(min(n.number, 1<<40)) <= len(r.data) {
		if end = r.at + int(n.number); bytes.HasPrefix(bytes.TrimLeft(r.data[end:], "\r\n \t"), []byte("endstream")) {
			return r.data[r.at:end], end
		}
	}
	n := bytes.Index(r.data[r.at:], []byte("endstream"))
	if n < 0 {
		return r.data[r.at:], len(r.data)
	}
	return r.data[r.at : r.at+n], r.at + n
}

// packed takes the objects of an object stream in. Those that stand in the file
// itself are newer.
func (f *file) packed(v value) {
	data := f.content(v)
	first := int(f.of(v.dict["First"]).number)
	if first <= 0 || first > len(data) {
		return
	}
	head := &reader{data: data[:first]}
	for {
		n, ok := head.next()
		at, also := head.next()
		if !ok || !also || n.kind != number || at.kind != number {
			return
		}
		if _, known := f.objects[int(n.number)]; known || at.number < 0 || at.number >= float64(len(data)-first) {
			continue
		}
		r := &reader{data: data, at: first + int(at.number)}
		if one, ok := r.next(); ok {
			f.objects[int(n.number)] = one
		}
	}
}

// of is what a value refers to, itself if it is no reference.
func (f *file) of(v value) value {
	for range 8 {
		if v.kind != ref {
			return v
		}
		v = f.objects[int(v.number)]
	}
	return value{}
}

// content is the bytes of a stream, unpacked as far as they can be.
func (f *file) content(v value) []byte {
	filters := f.of(v.dict["Filter"])
	if filters.kind == name {
		filters = value{kind: list, list: []value{filters}}
	}
	data := v.stream
	for _, one := range filters.list {
		var ok bool
		if data, ok = f.unpack(f.of(one).text, data); !ok {
			return nil
		}
	}
	return data
}

func (f *file) unpack(filter string, data []byte) ([]byte, bool) {
	switch filter {
	case "FlateDecode", "Fl":
		return f.inflate(data)
	case "ASCIIHexDecode", "AHx":
		r := &reader{data: append([]byte("<"), data...)}
		return []byte(r.hex().text), true
	case "ASCII85Decode", "A85":
		data, _, _ = bytes.Cut(bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~")), []byte("~>"))
		out := make([]byte, 4*len(data)+8)
		n, _, err := ascii85.Decode(out, data, true)
		return out[:n], err == nil
	default:
		return nil, false
	}
}

// inflate unpacks; of data that is cut off what there is.
func (f *file) inflate(data []byte) ([]byte, bool) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	out, _ := io.ReadAll(io.LimitReader(z, int64(maxUnpacked-f.unpacked)))
	f.unpacked += len(out)
	return out, true
}

// pages lists the pages in their order, with what they inherit. Where there is no
// tree of them they come by their numbers.
func (f *file) pages() (out []value) {
	root := f.of(f.trailer["Root"])
	f.under(f.of(root.dict["Pages"]), value{}, 0, &out)
	if len(out) > 0 {
		return out
	}
	for _, n := range f.numbers() {
		if v := f.objects[n]; v.dict["Type"].text == "Page" && len(out) < maxPages {
			out = append(out, v)
		}
	}
	return out
}

func (f *file) under(v, resources value, deep int, out *[]value) {
	if own, ok := v.dict["Resources"]; ok {
		resources = own
	}
	if f.looked++; f.looked > 4*maxPages || deep > deepest || len(*out) >= maxPages || v.kind != dict {
		return
	}
	kids, ok := v.dict["Kids"]
	if !ok {
		*out = append(*out, value{kind: dict, dict: map[string]value{"Resources": resources, "Contents": v.dict["Contents"]}})
		return
	}
	for _, kid := range f.of(kids).list {
		f.under(f.of(kid), resources, deep+1, out)
	}
}
