// Package lockfile reads and writes the dependency lock file .terraform.lock.hcl: the selected version of
// each provider and the checksums of its packages.
//
// It may import addr, diag, HCL's packages, go-versions and the hash of Go modules. It must not know
// configuration, nor where packages come from.
package lockfile

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
)

// FileName is the name of the lock file in the root module's directory.
const FileName = ".terraform.lock.hcl"

// Hash is a checksum with its scheme: "h1:" for the content of a package, packed or not, "zh:" for the
// bytes of a zip archive. Unknown schemes are kept but never match.
type Hash string

// Archive reports whether the hash covers the bytes of an archive. Registries provide these for all platforms
// together.
func (h Hash) Archive() bool { return strings.HasPrefix(string(h), "zh:") }

// Entry is the selection of one provider.
type Entry struct {
	Provider addr.Provider
	Version  versions.Version
	// Constraints are the configuration's constraints at the time of the selection, as written by
	// constraint.Text; "" for none.
	Constraints string
	Hashes      []Hash // sorted, without repetitions
}

// Matches reports whether the entry has one of the hashes.
func (e Entry) Matches(hashes ...Hash) bool {
	return slices.ContainsFunc(hashes, func(h Hash) bool { return slices.Contains(e.Hashes, h) })
}

// HasArchives reports whether there are hashes of archives.
func (e Entry) HasArchives() bool { return slices.ContainsFunc(e.Hashes, Hash.Archive) }

func (e Entry) equal(o Entry) bool { return e.Constraints == o.Constraints && e.selects(o) }

// selects reports whether both entries, which are of one provider, accept the same packages, regardless of
// their constraints.
func (e Entry) selects(o Entry) bool {
	return e.Version == o.Version && slices.Equal(e.Hashes, o.Hashes)
}

// Lock is the content of a lock file. A nil Lock is empty and can be read. A Lock is not safe for concurrent
// changes.
type Lock struct{ entries map[addr.Provider]Entry }

// New returns an empty lock.
func New() *Lock { return &Lock{entries: map[addr.Provider]Entry{}} }

// Entry returns the selection of a provider.
func (l *Lock) Entry(p addr.Provider) (Entry, bool) {
	if l == nil {
		return Entry{}, false
	}
	e, ok := l.entries[p]
	return e, ok
}

// Set stores a selection, replacing any for the same provider. Its hashes are sorted and repetitions removed.
func (l *Lock) Set(e Entry) {
	e.Hashes = slices.Compact(slices.Sorted(slices.Values(e.Hashes)))
	l.entries[e.Provider] = e
}

// Len returns the number of providers.
func (l *Lock) Len() int {
	if l == nil {
		return 0
	}
	return len(l.entries)
}

// All yields the entries in the order of the file: by host, namespace and type.
func (l *Lock) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		if l == nil {
			return
		}
		for _, p := range slices.SortedFunc(maps.Keys(l.entries), CompareProviders) {
			if !yield(l.entries[p]) {
				return
			}
		}
	}
}

// Equal reports whether both locks would be written as the same file. Either may be nil.
func (l *Lock) Equal(o *Lock) bool { return l.matches(o, Entry.equal) }

// SameSelections reports whether both locks accept the same packages: versions and checksums. Constraints
// don't count.
func (l *Lock) SameSelections(o *Lock) bool { return l.matches(o, Entry.selects) }

// SameProviders reports whether both locks have selections of the same providers, whatever their versions.
func (l *Lock) SameProviders(o *Lock) bool {
	return l.matches(o, func(Entry, Entry) bool { return true })
}

// matches reports whether both locks have the same providers, and same is true for each pair of entries.
func (l *Lock) matches(o *Lock, same func(Entry, Entry) bool) bool {
	if l.Len() != o.Len() {
		return false
	}
	for e := range l.All() {
		if other, ok := o.Entry(e.Provider); !ok || !same(e, other) {
			return false
		}
	}
	return true
}

// CompareProviders orders providers by host, namespace and type.
func CompareProviders(a, b addr.Provider) int {
	if c := strings.Compare(a.Hostname.String(), b.Hostname.String()); c != 0 {
		return c
	}
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Type, b.Type)
}
