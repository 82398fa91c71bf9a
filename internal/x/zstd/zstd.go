// Package zstd reads zstd streams. It is the one importer of the library that
// does so.
package zstd

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what a stream may ask for. Compressors use up to 8 MiB unless
// told otherwise.
const maxWindow = 32 << 20

// Match reports whether the head of a file is that of a zstd stream (RFC 8878,
// section 3.1.1).
func Match(head []byte) bool {
	return len(head) >= 4 && string(head[:4]) == "\x28\xb5\x2f\xfd"
}

// NewReader decompresses src as it is read. Memory is bounded by the window of
// the stream, and that by 32 MiB: a stream that needs more fails to read. The
// reader must be closed; src is not closed with it. It must not be used
// concurrently.
func NewReader(src io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(src,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("reading zstd: %w", err)
	}
	return d.IOReadCloser(), nil
}
