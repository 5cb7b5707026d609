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
		before := recordAt(earlier, path)
		w := a.record(path, part(v, path), part(sent, path), before)
		if w.Computed = a.isComputed(path, sent) || sent == cty.NilVal && before != nil && before.Computed; w.Computed {
			a.recordComputed(&w, part(v, path), before)
			out = append(out, w)
			continue
		}
		if rest != cty.NilVal {
			a.recordMade(&w, rest)
		}
		if version := a.version(path); rest != cty.NilVal && !a.sameVersion(w, rest) {
			w.Version = fingerprint.Fingerprint{}
			if w.Made.IsZero() {
				w.Config = fingerprint.Fingerprint{}
			}
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

// recordComputed completes the record of a computed value, which is v if there is a new one.
func (a *Attributes) recordComputed(w *state.Withheld, v cty.Value, before *state.Withheld) {
	if before != nil && before.Value() == w.Value() {
		*w = *before
	} else if a.Owed != nil {
		to := a.Owed(w.Path)
		w.To, w.Owed, w.At, w.Created = to, slices.Clone(to), a.At, a.Created
	}
	if w.Number != 0 || v == cty.NilVal || !v.IsWhollyKnown() {
		return
	}
	n, ok, err := a.Hasher.Number(v)
	if err != nil {
		a.reportUnhashed(w.Path, err)
	}
	if ok {
		w.Number = n
	}
}

// recordMade notes the computed values that a value was made of, and the rest of the configuration.
func (a *Attributes) recordMade(w *state.Withheld, rest cty.Value) {
	made := part(a.Made, w.Path)
	switch {
	case made == cty.NilVal || !made.IsWhollyKnown() || !rest.IsWhollyKnown():
		w.Made = fingerprint.Fingerprint{}
	case a.isSame(w.Made, made) && a.isOf(w.Config, rest):
	default:
		w.Made, w.Config = a.fingerprint(w.Path, made, a.Hasher.Of), a.fingerprint(w.Path, rest, a.Hasher.Quick)
	}
}

// isSame reports whether a fingerprint is known to be of a value.
func (a *Attributes) isSame(f fingerprint.Fingerprint, v cty.Value) bool {
	if f.IsZero() || !v.IsWhollyKnown() {
		return false
	}
	got, err := a.Hasher.Compare(f, v)
	return err == nil && got == fingerprint.Same
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
