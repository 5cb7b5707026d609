package state

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

// Withheld is an attribute of an object whose value is kept out of the state, which has null in its place.
// The fingerprints tell whether another value is the same; they are zero if there was nothing to make them
// with.
type Withheld struct {
	Path cty.Path
	// Sent is of the value that the provider was sent last; zero if that is not known. Returned is of the one
	// that it returned, unless that was the same or null.
	Sent, Returned fingerprint.Fingerprint
	// Version is of the version that the configuration gave, and Config of all other arguments; zero if there
	// was no version, and the value was not made of one that a provider has computed.
	Version, Config fingerprint.Fingerprint
	// Made is of the way in which the value was made of computed ones that are not stored (E97).
	Made fingerprint.Fingerprint
	// Computed says that the provider computes the value. Number is the result of fingerprint() for it, 0 if
	// that is not known.
	Computed bool
	Number   uint64
	// At is the time when the computed value was made, to the second; zero if that is not known. Found says
	// that it was made before, in a run that is not known, and that it is not stored since At. To are the
	// resources that were to get it, and Owed the ones that have not (E98). Created says that the object
	// was made together with it.
	At       time.Time
	Found    bool
	To, Owed []addr.ConfigResource
	Created  bool
}

// Equal reports whether both would be stored as the same bytes.
func (w Withheld) Equal(other Withheld) bool {
	return w.Path.Equals(other.Path) && w.Sent.Equal(other.Sent) && w.Returned.Equal(other.Returned) &&
		w.Version.Equal(other.Version) && w.Config.Equal(other.Config) && w.Made.Equal(other.Made) &&
		w.Computed == other.Computed && w.Number == other.Number && w.At.Equal(other.At) && slices.Equal(w.To, other.To) && slices.Equal(w.Owed, other.Owed) && w.Created == other.Created && w.Found == other.Found
}

// Value returns the text that tells the value from others of the attribute, "" if it is not known.
func (w Withheld) Value() string { return cmp.Or(w.Returned.String(), w.Sent.String()) }

// Deliver returns the records of an object once a resource has got a computed value of it, or all of them if
// to is nil. It returns false if that changes nothing.
func Deliver(list []Withheld, to *addr.ConfigResource) ([]Withheld, bool) {
	list = slices.Clone(list)
	changed := false
	for i, w := range list {
		owed := slices.DeleteFunc(slices.Clone(w.Owed), func(r addr.ConfigResource) bool { return to == nil || r == *to })
		if len(owed) != len(w.Owed) {
			list[i].Owed, changed = owed, true
		}
	}
	return list, changed
}

// RenameConsumers has the records of computed values name the resources that use them by their new addresses.
// Of each instance that was moved, moves yields the new address and the one before. A resource that still has
// instances at the old address is named by both.
func (s *State) RenameConsumers(moves iter.Seq2[addr.Instance, addr.Instance]) {
	to := map[addr.ConfigResource][]addr.ConfigResource{}
	for now, before := range moves {
		if here := before.Config(); now.Config() != here && !slices.Contains(to[here], now.Config()) {
			to[here] = append(to[here], now.Config())
		}
	}
	if len(to) == 0 {
		return
	}
	left := map[addr.ConfigResource]bool{}
	for i := range s.AllInstances() {
		left[i.Config()] = true
	}
	for a, in := range s.AllInstances() {
		if in.Current == nil {
			continue
		}
		var list []Withheld
		for k, w := range in.Current.Withheld {
			renamed := w
			renamed.To, renamed.Owed = rename(w.To, to, left), rename(w.Owed, to, left)
			if list == nil && !renamed.Equal(w) {
				list = slices.Clone(in.Current.Withheld)
			}
			if list != nil {
				list[k] = renamed
			}
		}
		if list != nil {
			n := in.Current.Clone()
			n.Withheld = list
			s.SetObject(addr.Object{Instance: a}, n, in.Provider)
		}
	}
}

// rename returns a list of resources with new addresses. Those in left keep theirs besides.
func rename(list []addr.ConfigResource, to map[addr.ConfigResource][]addr.ConfigResource, left map[addr.ConfigResource]bool) (out []addr.ConfigResource) {
	for _, r := range list {
		names := to[r]
		if len(names) == 0 || left[r] {
			names = append([]addr.ConfigResource{r}, names...)
		}
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.SortFunc(out, func(a, b addr.ConfigResource) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// withheldNames are the members that hold the fingerprints of Withheld in files.
var withheldNames = [...]string{"sent", "returned", "version", "config", "made"}

func (w *Withheld) fingerprints() [5]fingerprint.Fingerprint {
	return [...]fingerprint.Fingerprint{w.Sent, w.Returned, w.Version, w.Config, w.Made}
}

// SaltsOf returns the salts that the fingerprints of an instance's objects need, which must go along with it
// into another state.
func (s *State) SaltsOf(i *Instance) []fingerprint.Salt {
	needed := map[string]bool{}
	for _, o := range append(slices.Collect(maps.Values(i.Deposed)), i.Current) {
		if o == nil {
			continue
		}
		for _, w := range o.Withheld {
			for _, f := range w.fingerprints() {
				needed[f.Salt] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(s.Salts), func(salt fingerprint.Salt) bool { return !needed[salt.ID] })
}

// withheldV4 is an attribute that is kept out of the state, in the file, where other engines have none.
type withheldV4 struct {
	Path     []stepJSON `json:"path"`
	Sent     string     `json:"sent"`
	Returned string     `json:"returned"`
	Version  string     `json:"version"`
	Config   string     `json:"config"`
	Made     string     `json:"made"`
	Computed bool       `json:"computed"`
	Number   uint64     `json:"number"`
	At       time.Time  `json:"at"`
	To       []string   `json:"to"`
	Owed     []string   `json:"owed"`
	Created  bool       `json:"created"`
	Found    bool       `json:"found"`
}

// decode converts an attribute that is kept out of the state.
func (w withheldV4) decode() (out Withheld, err error) {
	if len(w.Path) == 0 {
		return out, errors.New("a path is empty")
	}
	if out.Path, err = parsePath(w.Path); err != nil {
		return out, err
	}
	for text, f := range map[*string]*fingerprint.Fingerprint{&w.Sent: &out.Sent, &w.Returned: &out.Returned, &w.Version: &out.Version, &w.Config: &out.Config, &w.Made: &out.Made} {
		if *f, err = fingerprint.Parse(*text); err != nil {
			return out, err
		}
	}
	out.Computed, out.Number, out.At, out.Created, out.Found = w.Computed, w.Number, w.At, w.Created, w.Found
	for _, list := range []struct {
		texts []string
		to    *[]addr.ConfigResource
	}{{w.To, &out.To}, {w.Owed, &out.Owed}} {
		for _, text := range list.texts {
			r, err := parseConfigResource(text)
			if err != nil {
				return out, fmt.Errorf("%q is not the address of a resource", text)
			}
			*list.to = append(*list.to, r)
		}
	}
	return out, nil
}

// appendWithheld appends the attributes that are kept out of the state, which must not be none.
func appendWithheld(b []byte, list []Withheld) []byte {
	for i, w := range list {
		b = append(append(b, "[,"[min(i, 1)]), `{"path":`...)
		b = appendPath(b, w.Path)
		for i, f := range w.fingerprints() {
			if !f.IsZero() {
				b = appendString(append(appendString(append(b, ','), withheldNames[i]), ':'), f.String())
			}
		}
		b = append(w.appendComputed(b), '}')
	}
	return append(b, ']')
}

// appendComputed appends the members about a computed value.
func (w *Withheld) appendComputed(b []byte) []byte {
	if w.Computed {
		b = append(b, `,"computed":true`...)
	}
	if w.Number != 0 {
		b = strconv.AppendUint(append(b, `,"number":`...), w.Number, 10)
	}
	if !w.At.IsZero() {
		b = append(w.At.UTC().AppendFormat(append(b, `,"at":"`...), time.RFC3339), '"')
	}
	b = appendResources(b, `,"to":[`, w.To)
	b = appendResources(b, `,"owed":[`, w.Owed)
	if w.Created {
		b = append(b, `,"created":true`...)
	}
	if w.Found {
		b = append(b, `,"found":true`...)
	}
	return b
}

// appendResources appends a list of resources after the text that begins it, nothing if it is empty.
func appendResources(b []byte, begin string, list []addr.ConfigResource) []byte {
	for i, r := range list {
		b = appendString(append(b, [...]string{begin, ","}[min(i, 1)]...), r.String())
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

// saltV4 is a salt of fingerprints in the file, where other engines have none.
type saltV4 struct {
	ID     string `json:"id"`
	Scheme string `json:"scheme"`
	Bytes  []byte `json:"salt"`
}

func decodeSalts(in []saltV4) []fingerprint.Salt {
	var salts []fingerprint.Salt
	for _, s := range in {
		salts = append(salts, fingerprint.Salt(s))
	}
	return salts
}

// appendSalts appends a list of salts, which must not be empty.
func appendSalts(b []byte, salts []fingerprint.Salt) []byte {
	for i, s := range salts {
		b = appendString(append(append(b, "[,"[min(i, 1)]), `{"id":`...), s.ID)
		b = appendString(append(b, `,"scheme":`...), s.Scheme)
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"salt":"`...), s.Bytes), `"}`...)
	}
	return append(b, ']')
}
