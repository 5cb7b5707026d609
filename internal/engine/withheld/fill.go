package withheld

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// Missing returns the records of the withheld attributes that an object lacks and that a configuration sets.
// Computed ones cannot be had any more, and no provider needs them.
func Missing(v cty.Value, stored *state.Object) []state.Withheld {
	return slices.DeleteFunc(lacking(v, stored), func(w state.Withheld) bool { return w.Computed })
}

// lacking is Missing with computed attributes.
func lacking(v cty.Value, stored *state.Object) (out []state.Withheld) {
	if stored == nil {
		return nil
	}
	for _, w := range stored.Withheld {
		if hasPlace(v, w.Path) && part(v, w.Path) == cty.NilVal {
			out = append(out, w)
		}
	}
	return out
}

// real returns the value that a record stands for, if the configuration has it: at the same place, or at
// another one that the same pattern names, since lists shift. It returns cty.NilVal if not.
func (a *Attributes) real(w state.Withheld, cfg cty.Value) cty.Value {
	others := slices.DeleteFunc(a.Names.Find(cfg), func(p cty.Path) bool { return !a.Names.Alike(p, w.Path) || p.Equals(w.Path) })
	for _, path := range slices.Concat([]cty.Path{w.Path}, others) {
		v := part(cfg, path)
		if v != cty.NilVal && v.IsWhollyKnown() && a.compare(w, v) == fingerprint.Same {
			return v
		}
	}
	return cty.NilVal
}

// Fill returns an object as its provider is to see it: with the values that the state does not have, where
// the configuration has the same ones. Where changes are ignored, or assumed to be none, that is the value of
// the configuration, if that is known.
func (a *Attributes) Fill(v cty.Value, stored *state.Object, cfg cty.Value) cty.Value {
	for _, w := range lacking(v, stored) {
		known := a.real(w, cfg)
		if here := part(cfg, w.Path); known == cty.NilVal && here != cty.NilVal && here.IsWhollyKnown() && (a.ignored(w.Path) || a.assumed(w, here)) {
			known = here
		}
		if known != cty.NilVal {
			v = schema.Put(v, w.Path, known)
		}
	}
	if a.Assume == nil || !a.Lost || stored == nil || v.IsNull() {
		return v
	}
	for _, path := range a.Names.Find(cfg) {
		here := part(cfg, path)
		if recordAt(stored, path) == nil && part(v, path) == cty.NilVal && here.IsWhollyKnown() && a.Assume(path) {
			v, a.taken = schema.Put(v, path, here), append(a.taken, path)
		}
	}
	return v
}

// Normalized returns an object that was filled with the values as the provider has returned them before,
// where it has normalized the configuration's values in the plan. It returns false if there are none: a
// provider that compares its own form with the prior object's would see a change where there is none. A value
// that came from outside stays, since it is a change.
func (a *Attributes) Normalized(v cty.Value, stored *state.Object, planned cty.Value) (cty.Value, bool) {
	if stored == nil {
		return v, false
	}
	found := false
	for _, w := range stored.Withheld {
		now, before := part(planned, w.Path), part(v, w.Path)
		if w.Returned.IsZero() || now == cty.NilVal || before == cty.NilVal || !now.IsWhollyKnown() || now.RawEquals(before) {
			continue
		}
		returned := state.Withheld{Path: w.Path, Returned: w.Returned}
		if a.compare(returned, now) == fingerprint.Same && a.compare(w, before) == fingerprint.Same {
			v, found = schema.Put(v, w.Path, now), true
		}
	}
	return v, found
}

// Odd returns the records of attributes that may have been read differently only because the object that was
// sent lacked values: it has another value where one was missing, or one that cannot be compared with the
// assumed value.
func (a *Attributes) Odd(sent cty.Value, stored *state.Object, read cty.Value) (odd []state.Withheld) {
	for _, w := range Missing(sent, stored) {
		got := part(read, w.Path)
		if got == cty.NilVal || !got.IsWhollyKnown() || isZero(got) {
			continue
		}
		if a.compare(w, got) == fingerprint.Different || a.assumed(w, got) {
			odd = append(odd, w)
		}
	}
	return odd
}

// Read returns the object that was read, and the paths of the withheld attributes that have other values than
// the state knows of. sent is the object that the provider was sent. Where sent lacks a value, null, the zero
// value and something else mean nothing: only an answer to the value tells of a change. A computed value that
// is another one is a change in any case.
func (a *Attributes) Read(sent cty.Value, stored *state.Object, read cty.Value) (v cty.Value, drifted []cty.Path) {
	if stored == nil {
		return read, nil
	}
	for _, w := range stored.Withheld {
		if !hasPlace(read, w.Path) {
			continue
		}
		asked, got := part(sent, w.Path) != cty.NilVal, part(read, w.Path)
		switch {
		case got != cty.NilVal && a.compare(w, got) != fingerprint.Different:
		case asked || w.Computed && got != cty.NilVal && !isZero(got):
			drifted = append(drifted, w.Path)
		default:
			read = a.Block.NullAt(read, []cty.Path{w.Path})
		}
	}
	return read, drifted
}

// SameStored reports whether two forms of an object are the same as far as the state knows them: where it has
// a record in place of a value, the value makes no difference.
func (a *Attributes) SameStored(before, after cty.Value, stored *state.Object) bool {
	return a.unrecorded(before, stored).RawEquals(a.unrecorded(after, stored))
}

func (a *Attributes) unrecorded(v cty.Value, stored *state.Object) cty.Value {
	return a.Block.NullAt(v, slices.DeleteFunc(a.Names.Find(v), func(p cty.Path) bool { return recordAt(stored, p) == nil }))
}
