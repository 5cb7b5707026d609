package simcloud

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrGone means that the cloud has no such object or lease.
var ErrGone = errors.New("there is no such object")

// Lease is the record of an open ephemeral resource. Its id is the hash of the lease secret, so that the
// record does not contain the secret. A successful close removes the record.
type Lease struct {
	ID       string        `json:"lease"`
	Type     string        `json:"type"`
	Name     string        `json:"name"`
	Parent   string        `json:"parent"`   // the lease whose secret was used to open this one
	Renewals int           `json:"renewals"` // successful ones
	Expires  time.Time     `json:"expires"`  // zero: never
	Valid    time.Duration `json:"valid"`    // how far a renewal moves Expires

	Closing bool `json:"-"` // a close was attempted; the name of the record says so
}

// Closing ends the name of the record of a lease from the attempt to close it on. To rename a file takes much
// less than to replace it.
const Closing = ".closing"

// LeasePath returns the path of a lease's record in the directory of a simulated cloud, before the attempt to
// close it.
func LeasePath(dir, id string) string { return filepath.Join(dir, ".sim", "lease-"+id) }

// WriteLease stores the record completely or not at all.
func WriteLease(dir string, l *Lease) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return replaceFile(LeasePath(dir, l.ID), text)
}

// ReadLease reads the record of a lease, by its path before the attempt to close it. The error of a missing
// one is ErrGone.
func ReadLease(path string) (*Lease, error) {
	var l Lease
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		l.Closing = true
		text, err = os.ReadFile(path + Closing)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, err
	}
	return &l, json.Unmarshal(text, &l)
}

// Extend has the lease expire as long from now as it is valid.
func (l *Lease) Extend() {
	if l.Valid > 0 {
		l.Expires = time.Now().Add(l.Valid)
	}
}

// Leases returns the open leases of the cloud in the directory.
func Leases(dir string) ([]*Lease, error) {
	paths, err := filepath.Glob(filepath.Join(dir, ".sim", "lease-*"))
	if err != nil {
		return nil, err
	}
	var out []*Lease
	for _, p := range paths {
		l, err := ReadLease(strings.TrimSuffix(p, Closing))
		if errors.Is(err, ErrGone) {
			continue // closed between the listing and the reading
		}
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// OpenLeases names the open ephemeral resources in the cloud in the directory, as "type.name", once per
// opening.
func OpenLeases(dir string) ([]string, error) {
	open, err := Leases(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, l := range open {
		out = append(out, l.Type+"."+l.Name)
	}
	return out, nil
}
