package withheld

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/state"
)

// Made is an evaluation of the configuration in which other values stand in for computed ones.
type Made struct {
	Value cty.Value // of the type of the block
	Of    []MadeOf
}

// MadeOf is a part of a configuration that is made of a computed value.
type MadeOf struct {
	Path    cty.Path
	Version string // of the value
}

// made returns a value that stays the same as long as the attribute at a path is made of the same computed
// values and of the same others; cty.NilVal if it is made of none, and an unknown value if that is not known.
// The versions of the computed values are part of it, since an expression may make the same of all that stand
// in for them.
func (a *Attributes) made(path cty.Path) cty.Value {
	var out, versions []cty.Value
	set := false
	for _, m := range a.Made {
		got, err := path.Apply(m.Value)
		if err != nil {
			return cty.NilVal
		}
		set = set || !got.IsNull()
		out = append(out, got)
		for _, of := range m.Of {
			version := cty.StringVal(of.Version)
			if (of.Path.HasPrefix(path) || path.HasPrefix(of.Path)) && !slices.ContainsFunc(versions, version.RawEquals) {
				versions = append(versions, version)
			}
		}
	}
	if !set {
		return cty.NilVal
	}
	return cty.TupleVal([]cty.Value{cty.TupleVal(out), cty.TupleVal(versions)})
}

// Remade returns the record of an attribute whose value is the same as before, with the computed values that
// it is made of now. cfg is the configuration, which need not have the attribute.
func (a *Attributes) Remade(w state.Withheld, cfg cty.Value) state.Withheld {
	if made, rest := a.made(w.Path), a.restSet(cfg); made != cty.NilVal && made.IsWhollyKnown() && rest.IsWhollyKnown() {
		w.Made = a.fingerprint(w.Path, made, a.Hasher.Of)
		if !a.isOf(w.Config, rest) {
			w.Config = a.fingerprint(w.Path, rest, a.Hasher.Quick)
		}
	}
	return w
}

// otherMade reports whether a record is to be made anew because the value, which is the same, is not known to
// be made of the computed values on record. A run that died may have recorded others.
func (a *Attributes) otherMade(w state.Withheld) bool {
	made := a.made(w.Path)
	return made != cty.NilVal && !a.isSame(w.Made, made)
}
