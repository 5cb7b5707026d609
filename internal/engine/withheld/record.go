package withheld

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/state"
)

// Records returns the state's records of the withheld attributes of an object: for each, the earlier record,
// or fingerprints of the value in v, which the provider has returned, and of the value that it was sent. sent
// is the configuration, cty.NilVal if nothing was sent; earlier is the record so far, which may be nil.
func (a *Attributes) Records(v, sent cty.Value, earlier *state.Object) []state.Withheld {
	paths := a.Names.Find(v)
	if sent != cty.NilVal {
		paths = appendNew(paths, slices.DeleteFunc(a.Names.Find(sent), func(p cty.Path) bool { return !hasPlace(v, p) })...)
	}
	if earlier != nil {
		for _, w := range earlier.Withheld {
			if a.Names.Matches(w.Path) && hasPlace(v, w.Path) {
				paths = appendNew(paths, w.Path)
			}
		}
	}
	drifted := sent == cty.NilVal && a.drifted(v, earlier)
	rest := cty.NilVal
	if sent != cty.NilVal {
		rest = a.rest(sent)
	}
	var out []state.Withheld
	for _, path := range paths {
		w := a.record(path, part(v, path), part(sent, path), recordAt(earlier, path))
		if version := a.version(path); rest != cty.NilVal && !a.sameVersion(w, rest) {
			w.Version, w.Config = fingerprint.Fingerprint{}, fingerprint.Fingerprint{}
			if version != cty.NilVal && version.IsWhollyKnown() && rest.IsWhollyKnown() {
				w.Version, w.Config = a.fingerprint(path, version, a.Hasher.Quick), a.fingerprint(path, rest, a.Hasher.Quick)
			}
		}
		if drifted {
			w.Config = fingerprint.Fingerprint{} // a plan has to ask the provider, although the configuration stays
		}
		out = append(out, w)
	}
	return out
}

// record is Records for one attribute.
func (a *Attributes) record(path cty.Path, returned, sent cty.Value, earlier *state.Withheld) state.Withheld {
	if returned != cty.NilVal && (!returned.IsWhollyKnown() || sent != cty.NilVal && isZero(returned)) {
		returned = cty.NilVal // the zero value stands for null
	}
	if earlier != nil {
		known := func(v cty.Value) bool { return v == cty.NilVal || a.compare(*earlier, v) == fingerprint.Same }
		if a.ignored(path) || known(sent) && known(returned) {
			return *earlier
		}
	}
	w := state.Withheld{Path: path}
	if sent != cty.NilVal && sent.IsWhollyKnown() {
		w.Sent = a.fingerprint(path, sent, a.Hasher.Of)
	}
	if returned != cty.NilVal && (sent == cty.NilVal || !returned.RawEquals(sent)) {
		w.Returned = a.fingerprint(path, returned, a.Hasher.Of)
	}
	return w
}

// fingerprint returns a fingerprint of a value as of makes it; the zero one if that fails, which is reported.
func (a *Attributes) fingerprint(path cty.Path, v cty.Value, of func(cty.Value) (fingerprint.Fingerprint, error)) fingerprint.Fingerprint {
	f, err := of(v)
	if err != nil {
		a.reportUnhashed(path, err)
	}
	return f
}
