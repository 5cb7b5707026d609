package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"
)

const (
	formatName    = "mayfly-keep"
	formatVersion = 1

	maxFile   = 64 << 20
	maxValue  = 1 << 20
	maxLeases = 4096
)

// document is the decrypted content of the file, as specified by the package comment.
type document struct {
	Format  string                   `json:"format"`
	Version int                      `json:"version"`
	Secrets map[string]*secretRecord `json:"secrets"`
	Notes   map[string]*noteRecord   `json:"notes"`
	Leases  map[string]*leaseRecord  `json:"leases"`

	absent bool // the file does not exist; it has the content of an empty store
}

// secretRecord is a secret in the document. Its value is a byte slice so that wipe can clear it.
type secretRecord struct {
	Value       []byte  `json:"value"`
	Version     int64   `json:"version"`
	Description *string `json:"description,omitempty"`
}

// noteRecord is a note in the document.
type noteRecord struct {
	Text string `json:"text"`
}

// leaseRecord is a lease in the document. It has a hash instead of the token, so that reading the store
// does not reveal tokens.
type leaseRecord struct {
	TokenSHA256 []byte    `json:"token_sha256"`
	TTLMillis   int64     `json:"ttl_ms"`
	ExpiresAt   time.Time `json:"expires_at"`
	Purpose     string    `json:"purpose,omitempty"`
}

func newDocument() *document {
	return &document{
		Format: formatName, Version: formatVersion,
		Secrets: map[string]*secretRecord{}, Notes: map[string]*noteRecord{}, Leases: map[string]*leaseRecord{},
	}
}

var (
	errNotOurs = errors.New("the decrypted content is not a keep store")
	errNewer   = errors.New("written by a newer version")
)

// parse reads plaintext. Its errors contain nothing of the content, which a JSON error would quote.
func parse(plain []byte) (*document, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if json.Unmarshal(plain, &head) != nil || head.Format != formatName || head.Version < 1 {
		return nil, errNotOurs
	}
	if head.Version > formatVersion {
		return nil, fmt.Errorf("%w: format %d, known up to %d", errNewer, head.Version, formatVersion)
	}
	doc := newDocument()
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.DisallowUnknownFields()
	if dec.Decode(doc) != nil {
		return nil, errNotOurs
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errNotOurs
	}
	if !doc.whole() {
		return nil, errNotOurs
	}
	return doc, nil
}

// whole reports whether no map or record is null, which the rest of the package relies on.
func (d *document) whole() bool {
	return allThere(d.Secrets) && allThere(d.Notes) && allThere(d.Leases)
}

// allThere reports whether there is a table, with a record under each name.
func allThere[R any](table map[string]*R) bool {
	for _, r := range table {
		if r == nil {
			return false
		}
	}
	return table != nil
}

// empty reports whether nothing is kept.
func (d *document) empty() bool { return len(d.Secrets)+len(d.Notes)+len(d.Leases) == 0 }

// wipe clears the secret bytes. The document must not be used afterwards.
func (d *document) wipe() {
	for _, r := range d.Secrets {
		clear(r.Value)
	}
}

// dropExpired removes expired leases.
func (d *document) dropExpired(now time.Time) {
	for id, l := range d.Leases {
		if !now.Before(l.ExpiresAt) {
			delete(d.Leases, id)
		}
	}
}

var namePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@/-]{0,254}$`)
})

// CheckName returns an error if name is invalid for a secret or note. Names contain no colon, so they never
// look like an id. No error of this package shows a name, since it may come from an ephemeral value.
func CheckName(name string) error {
	if namePattern().MatchString(name) {
		return nil
	}
	return &Problem{Kind: ErrInvalid, Summary: "Invalid name", Detail: "A secret or note is named with 1 to 255 letters, digits and . _ - @ /, beginning with a letter or digit."}
}

func checkSize(what string, n int) error {
	if n <= maxValue {
		return nil
	}
	return &Problem{Kind: ErrTooLarge, Summary: "Too large to keep", Detail: fmt.Sprintf(
		"The %s has more than %d bytes. Keep large data elsewhere and a key to it here.", what, maxValue)}
}
