package fence

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Write puts bytes into a file in one step: whoever reads the file sees the old
// bytes or the new ones, also after a crash. Folders on the way are made, and
// their paths returned, outermost first. A file that exists keeps its place in
// the folder but not its hard links. name is what Resolve returned.
func (f *Fence) Write(name string, data []byte, perm fs.FileMode) (made []string, err error) {
	made, err = f.Folders(path.Dir(name))
	if err != nil {
		return made, err
	}
	temp := path.Join(path.Dir(name), ".quire-"+rand.Text()[:12])
	if err := f.fill(temp, data, perm); err != nil {
		_ = f.root.Remove(temp)
		return made, fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.root.Rename(temp, name); err != nil {
		_ = f.root.Remove(temp)
		return made, fmt.Errorf("write %s: %w", name, err)
	}
	return made, nil
}

func (f *Fence) fill(temp string, data []byte, perm fs.FileMode) error {
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm.Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return f.root.Chmod(temp, perm.Perm())
}

// Folders makes a folder and those that it is in, and returns the ones it made,
// outermost first.
func (f *Fence) Folders(name string) (made []string, err error) {
	if name == "." {
		return nil, nil
	}
	info, err := f.root.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, nil
	case err == nil:
		return nil, &fs.PathError{Op: "make folder", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("make folder: %w", err)
	}
	if made, err = f.Folders(path.Dir(name)); err != nil {
		return made, err
	}
	if err := f.root.Mkdir(name, 0o755); err != nil {
		return made, fmt.Errorf("make folder: %w", err)
	}
	return append(made, name), nil
}
