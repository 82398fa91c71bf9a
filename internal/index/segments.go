package index

import (
	"context"
	"io"
)

// Segments keeps the segments of an index by name. A segment is written once
// and never changed; which segments make the index is said by the manifest, a
// head of [quire.Heads] named [ManifestHead], which a store keeps too. Segments
// are derived: all of them may be deleted together with that head, and the index
// be built again. All methods may be called concurrently, and by several
// processes.
type Segments interface {
	// PutSegment stores what it reads until io.EOF under a name. It is durable
	// when PutSegment returns without an error; after an error, of the reader
	// or its own, there is no segment of that name. While it is read, the
	// reader may call ReadSegment of the same store. The reader holds all of
	// it in no memory: a segment may have hundreds of megabytes. A name that
	// is there already is replaced; equal names have equal content.
	PutSegment(ctx context.Context, name string, from io.Reader) error

	// ReadSegment reads n bytes from offset off: fewer only at the end of the
	// segment, quire.ErrNotFound where there is none of that name. The result
	// is the caller's.
	ReadSegment(ctx context.Context, name string, off int64, n int) ([]byte, error)

	// SegmentNames lists all names, sorted, also of segments that no manifest
	// names: those that a crash left behind.
	SegmentNames(ctx context.Context) ([]string, error)

	// DropSegments deletes segments. Names that are not there are passed over.
	DropSegments(ctx context.Context, names []string) error
}

// ManifestHead is the name of the head that lists the segments of the index.
const ManifestHead = "retrieve/manifest"
