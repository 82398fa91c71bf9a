package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An OutsideError says that a path leads out of the folder.
type OutsideError struct {
	Path   string // as it was given
	Target string // absolute, what it resolves to
}

// Error says where the path leads.
func (e *OutsideError) Error() string {
	return fmt.Sprintf("%q is outside the project: it resolves to %s", e.Path, e.Target)
}

// A Fence is a folder that is not left. Its methods may be called concurrently.
type Fence struct {
	dir  string
	root *os.Root
}

// Open fences a folder that exists. Close it after use.
func Open(dir string) (*Fence, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("open project folder: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open project folder: %w", err)
	}
	return &Fence{dir: abs, root: root}, nil
}

// Close releases the folder.
func (f *Fence) Close() error { return f.root.Close() }

// Dir is the absolute path of the folder, without symbolic links in it.
func (f *Fence) Dir() string { return f.dir }

// Root gives access to the files inside. It refuses by itself what leads out,
// also when a link is put in place after Resolve; it refuses every absolute
// link, so paths go through Resolve first.
func (f *Fence) Root() *os.Root { return f.root }

// Resolve is what a path stands for: relative to the folder, with slashes,
// without symbolic links in it, "." for the folder itself. A relative path
// starts at the folder. Of what does not exist, the part that does is resolved.
// The error is an [OutsideError] for a path that leads out.
func (f *Fence) Resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q is not a path: it holds a zero byte", path)
	}
	native := filepath.FromSlash(path)
	if !filepath.IsAbs(native) {
		native = filepath.Join(f.dir, native)
	}
	target, err := resolve(filepath.Clean(native), 0)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", path, err)
	}
	rel, err := filepath.Rel(f.dir, target)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &OutsideError{Path: path, Target: target}
	}
	return filepath.ToSlash(rel), nil
}

// maxLinks bounds the dangling links that are followed, as kernels do.
const maxLinks = 40

// resolve follows links as far as the path exists. A link whose target does not
// exist is followed too: who writes to it writes to the target.
func resolve(path string, links int) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return target, err
	}
	if to, err := os.Readlink(path); err == nil {
		if links >= maxLinks {
			return "", errors.New("too many symbolic links")
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		return resolve(filepath.Clean(to), links+1)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	above, err := resolve(parent, links)
	if err != nil {
		return "", err
	}
	return filepath.Join(above, filepath.Base(path)), nil
}
