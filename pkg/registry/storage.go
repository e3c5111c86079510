package registry

import (
	"context"
	"errors"
	"io"
	"time"
)

// Kind is a kind of document.
type Kind string

// The kinds of documents; docs/format-registry.md has what they hold.
const (
	KindRecord Kind = "record"
	KindKey    Kind = "key"
	KindCount  Kind = "count"
	KindSecret Kind = "secret"
)

// Doc is one state of a document.
type Doc struct {
	Kind  Kind
	ID    string
	Seq   uint64   // number of the state; set by the storage
	Blobs []string // hashes of the blobs that the state needs
	Data  []byte   // a JSON object
}

// Blob is an opened blob.
type Blob interface {
	io.ReadSeekCloser
	Size() int64
}

// Collected tells what Collect removed.
type Collected struct {
	Blobs int
	Bytes int64
}

// Errors of a storage, matched with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("changed by somebody else")
	ErrDamaged  = errors.New("damaged")
)

// Storage is where a registry keeps what must not be lost: small documents, each with a number that grows by
// every change of any of them, and blobs. It checks nothing of what documents mean. It is safe for concurrent
// use, and several programs may share one.
//
// registrytest.Run holds an implementation to all of this.
type Storage interface {
	// Put stores a new state of a document and returns its number. prev is the number of the state that it
	// follows, 0 for a document that must not exist yet; when another one is current nothing is stored and
	// the error is ErrConflict. A blob of d that is not there is ErrNotFound. When Put returns without an
	// error a crash does not lose the state.
	Put(ctx context.Context, d Doc, prev uint64) (uint64, error)

	// Get returns the current state of a document, ErrNotFound when there is none.
	Get(ctx context.Context, kind Kind, id string) (Doc, error)

	// Changes calls f for states with a number above after, in the order of numbers. The current state of
	// each document is among them; states that were overwritten may be left out. An error of f ends it and is
	// returned. d.Data is valid during the call only.
	Changes(ctx context.Context, after uint64, f func(d Doc) error) error

	// PutBlob stores a blob and returns its hash: its SHA-256 in hex. When it returns a crash does not lose
	// the blob; Collect spares it for as long as its caller said, counted from the last PutBlob of the same
	// bytes.
	PutBlob(ctx context.Context, data []byte) (hash string, err error)

	// OpenBlob opens a blob for reading, ErrNotFound when there is none. A blob may be collected while it is read.
	OpenBlob(ctx context.Context, hash string) (Blob, error)

	// Collect removes the blobs that no current state names and that were stored before a time.
	Collect(ctx context.Context, before time.Time) (Collected, error)

	// Close ends the use of the storage. Puts that have not returned fail.
	Close() error
}
