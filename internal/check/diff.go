package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/x/gitexec"
)

// The bounds of what is shown of a patch, in bytes, and of how many new files are.
const (
	MaxDiff     = 96_000
	maxPreview  = 8_000
	mostPreview = 20
)

// A Diff is a patch as text.
type Diff struct {
	Stat      string `json:"stat"`
	Text      string `json:"diff"`
	Truncated bool   `json:"truncated"`
}

// A Preview is the beginning of a file that git does not know yet.
type Preview struct {
	Path      string `json:"path"`
	Size      int64  `json:"size"`
	Binary    bool   `json:"binary"`
	Truncated bool   `json:"truncated"`
	Text      string `json:"text"`
}

// Diff is the text of a patch against the baseline, up to a number of bytes; whole
// lines where it is cut.
func (b *Baseline) Diff(ctx context.Context, dir string, p *Patch, most int) (Diff, error) {
	var tracked []string
	for _, f := range p.Changed {
		if f.Status != "??" {
			tracked = append(tracked, f.Path)
		}
	}
	if !b.Repo || len(tracked) == 0 {
		return Diff{}, nil
	}
	stat, _, err := gitexec.Run(ctx, dir, maxStatus, b.diff(tracked, "--stat")...)
	if err != nil {
		return Diff{}, fmt.Errorf("show the change: %w", err)
	}
	text, cut, err := gitexec.Run(ctx, dir, most, b.diff(tracked)...)
	if err != nil {
		return Diff{}, fmt.Errorf("show the change: %w", err)
	}
	if cut {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	return Diff{Stat: string(stat), Text: strings.ToValidUTF8(string(text), "\uFFFD"), Truncated: cut}, nil
}

// Previews are the beginnings of the new files of a patch. A file that cannot be
// read is left out; more than a few are cut off, which is reported.
func Previews(dir string, p *Patch) (list []Preview, more bool, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false, fmt.Errorf("show the new files: %w", err)
	}
	defer root.Close()
	for _, f := range p.Changed {
		if f.Status != "??" {
			continue
		}
		if len(list) == mostPreview {
			return list, true, nil
		}
		if one, ok := preview(root, f.Path); ok {
			list = append(list, one)
		}
	}
	return list, false, nil
}

func preview(root *os.Root, path string) (Preview, bool) {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Preview{}, false
	}
	f, err := root.Open(path)
	if err != nil {
		return Preview{}, false
	}
	defer f.Close()
	text := make([]byte, maxPreview)
	n, err := io.ReadFull(f, text)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Preview{}, false
	}
	out := Preview{Path: path, Size: info.Size(), Truncated: info.Size() > int64(n)}
	text = text[:n]
	if out.Truncated {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	if out.Binary = !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0; !out.Binary {
		out.Text = string(text)
	}
	return out, true
}
