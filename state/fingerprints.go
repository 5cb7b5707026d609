package state

import (
	"encoding/base64"
	"errors"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

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
	// was no version.
	Version, Config fingerprint.Fingerprint
}

// Equal reports whether both would be stored as the same bytes.
func (w Withheld) Equal(other Withheld) bool {
	return w.Path.Equals(other.Path) && w.Sent.Equal(other.Sent) && w.Returned.Equal(other.Returned) &&
		w.Version.Equal(other.Version) && w.Config.Equal(other.Config)
}

// withheldNames are the members that hold the fingerprints of Withheld in files.
var withheldNames = [...]string{"sent", "returned", "version", "config"}

func (w *Withheld) fingerprints() [4]fingerprint.Fingerprint {
	return [...]fingerprint.Fingerprint{w.Sent, w.Returned, w.Version, w.Config}
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
}

// decode converts an attribute that is kept out of the state.
func (w withheldV4) decode() (out Withheld, err error) {
	if len(w.Path) == 0 {
		return out, errors.New("a path is empty")
	}
	if out.Path, err = parsePath(w.Path); err != nil {
		return out, err
	}
	for text, f := range map[*string]*fingerprint.Fingerprint{&w.Sent: &out.Sent, &w.Returned: &out.Returned, &w.Version: &out.Version, &w.Config: &out.Config} {
		if *f, err = fingerprint.Parse(*text); err != nil {
			return out, err
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
		b = append(b, '}')
	}
	return append(b, ']')
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
