package zstd

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxBody bounds what a frame may unfold to, whatever it says of itself.
const maxBody = 1 << 30

var errSize = errors.New("the frame is of another size")

// A Codec compresses and decompresses bodies that are in memory as a whole. Its
// methods may be called concurrently; calls beyond the number of processors wait
// for one another.
type Codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// NewCodec makes one.
func NewCodec() (*Codec, error) {
	// Checksums are left out: whoever keeps a body knows its hash.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(4<<20))
	if err != nil {
		return nil, fmt.Errorf("preparing zstd: %w", err)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBody), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("preparing zstd: %w", errors.Join(err, e.Close()))
	}
	return &Codec{e, d}, nil
}

// Compress returns a body as one frame.
func (c *Codec) Compress(body []byte) []byte {
	return c.encoder.EncodeAll(body, make([]byte, 0, len(body)/2+64))
}

// Decompress returns the body of a frame, which must be of that size. A frame
// that says another one is refused before memory is taken for it; one that says
// none ends at 1 GiB.
func (c *Codec) Decompress(frame []byte, size int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	if size < 0 || h.HasFCS && h.FrameContentSize != uint64(size) {
		return nil, fmt.Errorf("decompressing: %w", errSize)
	}
	body, err := c.decoder.DecodeAll(frame, make([]byte, 0, min(size, maxBody)))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	if len(body) != size {
		return nil, fmt.Errorf("decompressing: %w", errSize)
	}
	return body, nil
}

// Close frees what the codec holds. It must not be used any more.
func (c *Codec) Close() error {
	c.decoder.Close()
	return c.encoder.Close()
}
