package sqlite

import (
	"bufio"
	"encoding/binary"
	"io"
)

// A logWalk walks over the frames of a write-ahead log.
type logWalk struct {
	src   *bufio.Reader
	order binary.ByteOrder // of the words that checksums are made of
	sum   [2]uint32        // of everything so far
	salt  [8]byte
	frame []byte
	at    int64 // where the next frame begins
}

// newLogWalk reads the header of a log. It returns false where the log is empty,
// damaged or of another page size: then nothing in it counts.
func newLogWalk(src io.Reader, pageSize int64) (*logWalk, bool) {
	w := &logWalk{src: bufio.NewReaderSize(src, 1<<16), frame: make([]byte, frameHeader+pageSize), at: walHeaderSize}
	header := make([]byte, walHeaderSize)
	if _, err := io.ReadFull(w.src, header); err != nil {
		return nil, false
	}
	switch binary.BigEndian.Uint32(header) {
	case walMagic:
		w.order = binary.LittleEndian
	case walMagic + 1:
		w.order = binary.BigEndian
	default:
		return nil, false
	}
	w.add(header[:24])
	copy(w.salt[:], header[16:])
	return w, w.matches(header[24:]) && int64(binary.BigEndian.Uint32(header[8:])) == pageSize
}

// next reads a frame: its page, the size of the database in pages where the frame
// ends a transaction and 0 otherwise, and where in the log the page begins.
func (w *logWalk) next() (page, pages, at int64, ok bool) {
	if _, err := io.ReadFull(w.src, w.frame); err != nil {
		return 0, 0, 0, false
	}
	w.add(w.frame[:8])
	w.add(w.frame[frameHeader:])
	if string(w.frame[8:16]) != string(w.salt[:]) || !w.matches(w.frame[16:]) {
		return 0, 0, 0, false
	}
	at = w.at + frameHeader
	w.at += int64(len(w.frame))
	return int64(binary.BigEndian.Uint32(w.frame)), int64(binary.BigEndian.Uint32(w.frame[4:])), at, true
}

// add counts bytes, a multiple of eight of them, into the checksum.
func (w *logWalk) add(b []byte) {
	for i := 0; i+8 <= len(b); i += 8 {
		w.sum[0] += w.order.Uint32(b[i:]) + w.sum[1]
		w.sum[1] += w.order.Uint32(b[i+4:]) + w.sum[0]
	}
}

func (w *logWalk) matches(sum []byte) bool {
	return binary.BigEndian.Uint32(sum) == w.sum[0] && binary.BigEndian.Uint32(sum[4:]) == w.sum[1]
}
