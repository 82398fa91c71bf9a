package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The layout of the files, from https://www.sqlite.org/fileformat2.html.
const (
	headerSize     = 100 // of the database
	pageSizeAt     = 16  // in the header: two bytes, 1 for 65,536
	versionsAt     = 18  // in the header: two bytes, the versions to write and to read
	versionJournal = 1   // a database with a rollback journal
	walHeaderSize  = 32
	frameHeader    = 24
	walMagic       = 0x377f0682 // checksums of little-endian words; one more for big-endian
)

var errNotDatabase = errors.New("not a SQLite database")

// An image is a database as its last committed transaction left it. Reading it
// is safe concurrently.
type image struct {
	main     *os.File
	wal      *os.File // nil where there is none
	pageSize int64
	size     int64           // of the image in bytes
	frames   map[int64]int64 // by page, from 1: where in the write-ahead log its youngest version begins
	opened   [2]fs.FileInfo  // of the two files
	salt     [8]byte         // of the write-ahead log
}

func openImage(path string) (*image, error) {
	// The write-ahead log lies beside the file itself, not beside links to it.
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	main, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m := &image{main: main, frames: make(map[int64]int64)}
	if err := m.load(path); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *image) load(path string) error {
	info, err := m.main.Stat()
	if err != nil {
		return err
	}
	m.opened[0], m.size = info, info.Size()
	header := make([]byte, headerSize)
	if _, err := m.main.ReadAt(header, 0); err != nil || string(header[:16]) != "SQLite format 3\x00" {
		return errNotDatabase
	}
	if m.pageSize = int64(binary.BigEndian.Uint16(header[pageSizeAt:])); m.pageSize == 1 {
		m.pageSize = 1 << 16
	}
	if m.pageSize < 512 || m.pageSize&(m.pageSize-1) != 0 {
		return errNotDatabase
	}
	switch m.wal, err = os.Open(path + "-wal"); {
	case errors.Is(err, fs.ErrNotExist):
		m.wal = nil
		return nil
	case err != nil:
		return err
	}
	return m.loadLog()
}

// loadLog finds the committed frames of the write-ahead log. It ends at the
// first frame that is not of the log's current run or was not written whole.
func (m *image) loadLog() (err error) {
	if m.opened[1], err = m.wal.Stat(); err != nil {
		return err
	}
	log, ok := newLogWalk(m.wal, m.pageSize)
	if !ok {
		return nil
	}
	m.salt = log.salt
	written := make(map[int64]int64)
	for {
		page, pages, at, ok := log.next()
		if !ok {
			return nil
		}
		written[page] = at
		if pages == 0 {
			continue
		}
		for page, at := range written {
			m.frames[page] = at
		}
		clear(written)
		m.size = pages * m.pageSize
	}
}

// changed reports whether the files are not those that were opened, or were
// written to since.
func (m *image) changed() bool {
	if differs(m.main, m.opened[0]) {
		return true
	}
	if m.wal == nil {
		return false
	}
	var salt [8]byte
	// More frames at the end do no harm; a log that began anew does.
	_, err := m.wal.ReadAt(salt[:], 16)
	return salt != m.salt && !(errors.Is(err, io.EOF) && len(m.frames) == 0)
}

func differs(f *os.File, before fs.FileInfo) bool {
	now, err := f.Stat()
	return err != nil || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())
}

// ReadAt reads from the image.
func (m *image) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		if at >= m.size {
			return n, io.EOF
		}
		page, within := at/m.pageSize+1, at%m.pageSize
		part := p[n:min(len(p), n+int(m.pageSize-within))]
		if err := m.readPage(part, page, within); err != nil {
			return n, err
		}
		hideLog(part, at)
		n += len(part)
		at += int64(len(part))
	}
	return n, nil
}

func (m *image) readPage(p []byte, page, within int64) error {
	file, at := m.main, (page-1)*m.pageSize
	if frame, ok := m.frames[page]; ok {
		file, at = m.wal, frame
	}
	n, err := file.ReadAt(p, at+within)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// hideLog makes a database that has a write-ahead log look like one that has
// none: what stood in the log is in the image.
func hideLog(p []byte, at int64) {
	for i := max(versionsAt, at); i < min(versionsAt+2, at+int64(len(p))); i++ {
		p[i-at] = versionJournal
	}
}

// Close closes the files.
func (m *image) Close() error {
	err := m.main.Close()
	if m.wal != nil {
		err = errors.Join(err, m.wal.Close())
	}
	return err
}

// A reader reads an image from front to back, as the library wants its files.
type reader struct {
	image *image
	at    int64
}

// Read reads on.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.image.ReadAt(p, r.at)
	r.at += int64(n)
	return n, err
}

// Seek goes to a place counted from the beginning.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 {
		return 0, fs.ErrInvalid
	}
	r.at = offset
	return offset, nil
}

// Stat describes the image.
func (r *reader) Stat() (fs.FileInfo, error) { return r, nil }

// Close does nothing: the image outlives its readers.
func (r *reader) Close() error { return nil }

// The description of the image.
func (r *reader) Name() string       { return databaseName }
func (r *reader) Size() int64        { return r.image.size }
func (r *reader) Mode() fs.FileMode  { return 0o444 }
func (r *reader) ModTime() time.Time { return r.image.opened[0].ModTime() }
func (r *reader) IsDir() bool        { return false }
func (r *reader) Sys() any           { return nil }
