// Package withheld decides about the attributes of an object whose values are kept out of the state, which
// ephemeral_attributes names (ADR 033): which value a provider is sent in place of one that the state does
// not have, how to read its answers, and which records of the values are stored.
//
// It may import values and the model. It must not know how a provider is asked, or how a configuration is
// evaluated: both come as values without marks.
package withheld

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// Attributes are the withheld attributes of one object. Values of the object are of the type of the block,
// and stored is its record in the state, which may be nil. Attributes belongs to one goroutine.
type Attributes struct {
	Names schema.Patterns // of the attributes; none if nothing is withheld
	// Versions are those that the configuration gives the attributes, in the order of Names; cty.NilVal
	// stands for none. Empty if there are none.
	Versions []cty.Value
	// Computed are the Names that the configuration does not set, as far as that is known without
	// evaluating it. ByPolicy are the ones that a policy of the root module names.
	Computed, ByPolicy schema.Patterns
	Object             addr.Object // for messages
	Block              *schema.Block
	Hasher             *fingerprint.Hasher
	// Ignored reports whether changes of the attribute at a path are ignored. Nil for none.
	Ignored func(cty.Path) bool
	// Assume reports whether the attribute at a path counts as unchanged if it cannot be compared. Nil for
	// none.
	Assume func(cty.Path) bool
	// Lost is set if the state may have lost its records: another engine drops them.
	Lost bool
	// Imported is set if the prior object was imported just now, so that it has the values.
	Imported bool
	Report   func(diag.List)

	// Upgraded is the stored object under the schema of now, if that is another one; else cty.NilVal.
	Upgraded cty.Value

	// Made are evaluations of the configuration with others in place of computed values; none if no attribute
	// is made of such values.
	Made   []Made
	Making Making // of computed values, for their records

	taken []cty.Path // attributes without a record whose values count as unchanged
}

// Ignores reports whether changes of an ephemeral attribute are ignored.
func Ignores(a *Attributes, path cty.Path) bool {
	return a.Ignored != nil && a.Names.Matches(path) && a.Ignored(path)
}

// Hide returns an object without the values that are withheld.
func (a *Attributes) Hide(v cty.Value) cty.Value {
	return a.Block.NullAt(v, a.Names.Find(v))
}

// HideStored is Hide for an object to be stored. As long as there is no salt to make fingerprints with, which
// the first apply makes, values in the earlier record stay: without a fingerprint and without the value,
// nothing could be compared any more. A computed value that the state still has stays for the apply to take
// it out: consumers may need it there, and nothing else has it.
func (a *Attributes) HideStored(v cty.Value, earlier *state.Object) cty.Value {
	paths := a.Names.Find(v)
	if len(paths) > 0 && earlier != nil {
		if had, err := a.storedBy(earlier); err == nil {
			paths = slices.DeleteFunc(paths, func(p cty.Path) bool {
				return part(had, p) != cty.NilVal && (!a.Hasher.Ready() || isComputed(a, p, cty.NilVal))
			})
		}
	}
	return a.Block.NullAt(v, paths)
}

// storedBy returns the object of an earlier record under the schema of now.
func (a *Attributes) storedBy(earlier *state.Object) (cty.Value, error) {
	if a.Upgraded != cty.NilVal {
		return a.Upgraded, nil
	}
	return earlier.DecodeUnmarked(a.Block.Type())
}

// Outside returns the paths that lead to stored attributes.
func (a *Attributes) Outside(paths []cty.Path) []cty.Path {
	return a.Names.Outside(a.Block.OutsideWriteOnly(paths))
}

// NameRecorded adds the attributes that the state withholds already, for an object without a block, which
// cannot name them any more.
func (a *Attributes) NameRecorded(stored *state.Object) {
	for _, w := range stored.Withheld {
		if !a.Names.Matches(w.Path) {
			a.Names = append(slices.Clip(a.Names), w.Path)
		}
		if w.Computed {
			a.Computed = append(slices.Clip(a.Computed), w.Path)
		}
	}
}

func (a *Attributes) ignored(path cty.Path) bool { return a.Ignored != nil && a.Ignored(path) }

// assumed reports whether a value counts as the one that a record stands for although that is not known.
func (a *Attributes) assumed(w state.Withheld, v cty.Value) bool {
	return a.Assume != nil && a.Assume(w.Path) && a.compare(w, v) == fingerprint.Incomparable
}

// compare compares a value with the one that a record of the state stands for, which was sent or returned. A
// value that cannot be compared is reported.
func (a *Attributes) compare(w state.Withheld, v cty.Value) fingerprint.Comparison {
	result := fingerprint.Incomparable
	for _, f := range []fingerprint.Fingerprint{w.Sent, w.Returned} {
		got, err := a.Hasher.Compare(f, v)
		switch {
		case err != nil:
			a.reportUnhashed(w.Path, err)
			return fingerprint.Incomparable
		case got == fingerprint.Same:
			return got
		case got == fingerprint.Different:
			result = got
		}
	}
	return result
}

func (a *Attributes) reportUnhashed(path cty.Path, err error) {
	a.Report(diag.List{{
		Summary: "Value cannot be compared", Path: path,
		Detail: fmt.Sprintf("The fingerprint of %s of %s cannot be made: %s.", schema.PathString(path), a.Object, err),
	}})
}

// part returns the part of a value at a path, cty.NilVal if there is none or it is null.
func part(v cty.Value, path cty.Path) cty.Value {
	if v == cty.NilVal {
		return v
	}
	got, err := path.Apply(v)
	if err != nil || got.IsNull() {
		return cty.NilVal
	}
	return got
}

// hasPlace reports whether a value could have something at a path: all that the path leads through is there.
func hasPlace(v cty.Value, path cty.Path) bool {
	_, err := path.Apply(v)
	return err == nil
}

// isZero reports whether a value is one that providers of the legacy type system return for null.
func isZero(v cty.Value) bool {
	switch ty := v.Type(); {
	case !v.IsWhollyKnown() || v.IsNull():
		return false
	case ty == cty.String:
		return v.AsString() == ""
	case ty == cty.Number:
		return v.RawEquals(cty.Zero)
	case ty == cty.Bool:
		return v.False()
	case v.CanIterateElements():
		return v.LengthInt() == 0
	}
	return false
}

// recordAt returns the record of a withheld attribute, nil if there is none.
func recordAt(o *state.Object, path cty.Path) *state.Withheld {
	if o == nil {
		return nil
	}
	if i := slices.IndexFunc(o.Withheld, func(w state.Withheld) bool { return w.Path.Equals(path) }); i >= 0 {
		return &o.Withheld[i]
	}
	return nil
}
