package withheld

import (
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/state"
)

// Making is about the making of computed values, for the records of new ones.
type Making struct {
	At time.Time // zero if the time of new values is not known
	// Prior is the object before, cty.NilVal if there was none. The values that it has are not made now.
	Prior cty.Value
	// To returns the resources that are to get the value at a path; nil for none.
	To      func(cty.Path) []addr.ConfigResource
	Created bool // the object is created with the value
}

// recorder makes the records of one object.
type recorder struct {
	*Attributes
	v, sent, rest cty.Value
	earlier       *state.Object
}

// Records returns the state's records of the withheld attributes of an object: for each, the earlier record,
// or fingerprints of the value in v, which the provider has returned, and of the value that it was sent. sent
// is the configuration, cty.NilVal if nothing was sent; earlier is the record so far, which may be nil.
func (a *Attributes) Records(v, sent cty.Value, earlier *state.Object) (out []state.Withheld) {
	r := recorder{Attributes: a, v: v, sent: sent, earlier: earlier}
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
	} else if sent == cty.NilVal { // an imported object: null may mean that its provider cannot read the value
		for _, path := range a.Computed {
			if len(path) == 1 && hasPlace(v, path) {
				paths = appendNew(paths, path)
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	if sent != cty.NilVal {
		r.rest = a.restSet(sent)
	}
	drifted := sent == cty.NilVal && a.drifted(v, earlier)
	for _, path := range paths {
		before := recordAt(earlier, path)
		w := r.values(path, before)
		w.Computed = isComputed(a, path, sent) || sent == cty.NilVal && before != nil && before.Computed
		if r.stays(path) {
			w.Computed = before.Computed // the configuration may set it, and it was sent as null
		}
		if w.Computed {
			r.completeComputed(&w, before)
		} else if sent != cty.NilVal {
			r.completeGiven(&w)
		}
		if drifted {
			w.Config = fingerprint.Fingerprint{} // a plan has to ask the provider, although the configuration stays
		}
		out = append(out, w)
	}
	return out
}

// stays reports whether an attribute keeps its record, since its changes are ignored.
func (r *recorder) stays(path cty.Path) bool {
	return r.ignored(path) && recordAt(r.earlier, path) != nil
}

// values returns the earlier record of an attribute if it is of the same values, and else one with
// fingerprints of them.
func (r *recorder) values(path cty.Path, earlier *state.Withheld) state.Withheld {
	returned, sent := part(r.v, path), part(r.sent, path)
	if returned != cty.NilVal && (!returned.IsWhollyKnown() || sent != cty.NilVal && isZero(returned)) {
		returned = cty.NilVal // the zero value stands for null
	}
	if earlier != nil {
		known := func(v cty.Value) bool { return v == cty.NilVal || r.compare(*earlier, v) == fingerprint.Same }
		assumed := sent != cty.NilVal && sent.IsWhollyKnown() && r.assumed(*earlier, sent)
		if r.stays(path) && !assumed || known(sent) && known(returned) {
			return *earlier
		}
	}
	w := state.Withheld{Path: path}
	if sent != cty.NilVal && sent.IsWhollyKnown() {
		w.Sent = r.fingerprint(path, sent, r.Hasher.Of)
	}
	if returned != cty.NilVal && (sent == cty.NilVal || !returned.RawEquals(sent)) {
		w.Returned = r.fingerprint(path, returned, r.Hasher.Of)
	}
	return w
}

// completeComputed adds to the record of a computed value its number and those who are to get a new one.
func (r *recorder) completeComputed(w *state.Withheld, before *state.Withheld) {
	if before != nil && before.Value() == w.Value() {
		*w = *before
		w.Computed = true
	} else if r.Making.To != nil {
		to := r.Making.To(w.Path)
		w.To, w.Owed, w.At, w.Created = to, slices.Clone(to), r.Making.At, r.Making.Created
	}
	v := part(r.v, w.Path)
	if had := part(r.Making.Prior, w.Path); had != cty.NilVal && v != cty.NilVal && had.RawEquals(v) && (before == nil || before.At.IsZero()) {
		w.At, w.Found = r.Making.At, true
	}
	if w.Number != 0 || v == cty.NilVal || !v.IsWhollyKnown() {
		return
	}
	n, ok, err := r.Hasher.Number(v)
	if err != nil {
		r.reportUnhashed(w.Path, err)
	}
	if ok {
		w.Number = n
	}
}

// completeGiven adds to the record of a value its version, the computed values that it is made of, and the
// rest of the configuration.
func (r *recorder) completeGiven(w *state.Withheld) {
	switch made := r.made(w.Path); {
	case r.stays(w.Path) && (made == cty.NilVal || !r.isSame(w.Made, made)):
		// The value on record is made of others.
	case made == cty.NilVal || !made.IsWhollyKnown() || !r.rest.IsWhollyKnown():
		if w.Made = (fingerprint.Fingerprint{}); w.Version.IsZero() {
			w.Config = fingerprint.Fingerprint{}
		}
	case !r.isSame(w.Made, made) || !r.isOf(w.Config, r.rest):
		w.Made, w.Config = r.fingerprint(w.Path, made, r.Hasher.Of), r.fingerprint(w.Path, r.rest, r.Hasher.Quick)
	}
	if r.sameVersion(*w, r.rest) {
		return
	}
	version := r.version(w.Path)
	w.Version = fingerprint.Fingerprint{}
	if w.Made.IsZero() {
		w.Config = fingerprint.Fingerprint{}
	}
	if version != cty.NilVal && version.IsWhollyKnown() && r.rest.IsWhollyKnown() {
		w.Version, w.Config = r.fingerprint(w.Path, version, r.Hasher.Quick), r.fingerprint(w.Path, r.rest, r.Hasher.Quick)
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

// fingerprint returns a fingerprint of a value as of makes it; the zero one if that fails, which is reported.
func (a *Attributes) fingerprint(path cty.Path, v cty.Value, of func(cty.Value) (fingerprint.Fingerprint, error)) fingerprint.Fingerprint {
	f, err := of(v)
	if err != nil {
		a.reportUnhashed(path, err)
	}
	return f
}
