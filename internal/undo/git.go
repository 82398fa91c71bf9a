package undo

import (
	"bytes"
	"context"
	"strings"

	"github.com/quire-agent/quire/internal/x/gitexec"
)

// An index is what git has of a project's files. Without git, or outside a
// repository, it is empty.
type index struct {
	names []string          // of tracked files, in git's order
	blobs map[string]string // by path, of files that git keeps bytes of
	dirty map[string]bool   // differ from it, or may
}

// clean is git's name for the bytes of a file, "" when it does not have them.
func (x index) clean(name string) string {
	if x.dirty[name] {
		return ""
	}
	return x.blobs[name]
}

func readIndex(ctx context.Context, dir string) index {
	staged, _, err := gitexec.Run(ctx, dir, 0, "ls-files", "-z", "--stage")
	if err != nil {
		return index{}
	}
	changed, _, err := gitexec.Run(ctx, dir, 0, "diff-files", "-z", "--name-only", "--relative")
	if err != nil {
		return index{}
	}
	x := index{blobs: map[string]string{}, dirty: map[string]bool{}}
	for _, line := range fields(staged) {
		x.entry(line)
	}
	for _, name := range fields(changed) {
		x.dirty[name] = true
	}
	return x
}

// entry reads "mode name stage<tab>path".
func (x *index) entry(line string) {
	about, name, ok := strings.Cut(line, "\t")
	parts := strings.Fields(about)
	if !ok || len(parts) != 3 || !strings.HasPrefix(parts[0], "1") || parts[0] == "160000" {
		return
	}
	x.names = append(x.names, name)
	if parts[0] == "120000" || parts[2] != "0" {
		x.dirty[name] = true
		return
	}
	x.blobs[name] = parts[1]
}

func fields(out []byte) []string {
	out = bytes.TrimSuffix(out, []byte{0})
	if len(out) == 0 {
		return nil
	}
	return strings.Split(string(out), "\x00")
}

// blob reads the bytes that a file had from git: as they are or, where the
// project converts them (ends of lines, filters), as they are in the folder.
// Their size must be that of the file.
func blob(ctx context.Context, dir, name string, e entry) ([]byte, bool) {
	if e.blob == "" {
		return nil, false
	}
	for _, how := range [][]string{{"blob", e.blob}, {"--filters", "--path=" + name, e.blob}} {
		data, _, err := gitexec.Run(ctx, dir, 0, append([]string{"cat-file"}, how...)...)
		if err == nil && int64(len(data)) == e.stat.size {
			return data, true
		}
	}
	return nil, false
}
