package state

import (
	"fmt"
	"io"

	"github.com/google/uuid"
)

// formatVersion is the version of the file format that Encode writes.
const formatVersion = 4

// File is a state with the metadata of its file.
type File struct {
	Meta
	State *State

	extra fields
}

// NewFile returns a file with an empty state, serial 0 and a new lineage. version is the program's version;
// 16 bytes are read from random.
func NewFile(version string, random io.Reader) (*File, error) {
	id, err := uuid.NewRandomFromReader(random)
	if err != nil {
		return nil, fmt.Errorf("choosing the lineage of a new state: %w", err)
	}
	return &File{Meta: Meta{Lineage: id.String(), Version: version}, State: New()}, nil
}

// Next returns the successor of f in its lineage: the next serial, with the state s, written by the given
// program version. Unknown members are kept. f is not changed.
func (f *File) Next(s *State, version string) *File {
	next := *f
	next.State, next.Version = s, version
	next.Serial++
	return &next
}

// Unchanged reports whether both files contain the same state of the same lineage, so that b need not be
// written over a. Either may be nil. Serials and program versions are not compared.
func Unchanged(a, b *File) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || a.Lineage == b.Lineage && string(a.extra) == string(b.extra) && a.State.Equal(b.State)
}
