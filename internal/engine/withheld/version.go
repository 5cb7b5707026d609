package withheld

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// Unneeded reports whether nothing needs the values of the withheld attributes (E94): each has the version
// that the state has on record, and so has the rest of the configuration. cfg is the configuration as it is
// without opening anything.
func (a *Attributes) Unneeded(stored *state.Object, cfg cty.Value) bool {
	if stored == nil || len(stored.Withheld) == 0 || len(a.Versions) == 0 || slices.Contains(a.Versions, cty.NilVal) {
		return false
	}
	rest, paths := a.rest(cfg), a.Names.Find(cfg)
	if len(paths) != len(stored.Withheld) {
		return false
	}
	return !slices.ContainsFunc(paths, func(path cty.Path) bool {
		w := recordAt(stored, path)
		return w == nil || !a.sameVersion(*w, rest)
	})
}

// rest returns the configuration without the attributes that are not stored.
func (a *Attributes) rest(cfg cty.Value) cty.Value {
	return a.Block.NullAt(a.Block.NullWriteOnly(cfg), a.Names.Find(cfg))
}

// version returns the version of the attribute at a path, cty.NilVal if it has none.
func (a *Attributes) version(path cty.Path) cty.Value {
	for i, v := range a.Versions {
		if (schema.Patterns{a.Names[i]}).Matches(path) {
			return v
		}
	}
	return cty.NilVal
}

// sameVersion reports whether a record is of the version that an attribute has now, or of none if it has
// none, and of the rest of the configuration.
func (a *Attributes) sameVersion(w state.Withheld, rest cty.Value) bool {
	version := a.version(w.Path)
	if version == cty.NilVal {
		return w.Version.IsZero()
	}
	return a.isOf(w.Version, version) && a.isOf(w.Config, rest)
}

// isOf reports whether a fingerprint is known to be of a value that the state has anyway.
func (a *Attributes) isOf(f fingerprint.Fingerprint, v cty.Value) bool {
	if f.IsZero() || !v.IsWhollyKnown() {
		return false
	}
	got, err := a.Hasher.CompareQuick(f, v)
	return err == nil && got == fingerprint.Same
}

// otherVersion reports whether a record is to be made anew for the version that an attribute has now. It is
// not for an object that has drifted, which is as configured again only after an update.
func (a *Attributes) otherVersion(w state.Withheld, rest cty.Value) bool {
	if version := a.version(w.Path); w.Config.IsZero() && version != cty.NilVal && a.isOf(w.Version, version) {
		return false
	}
	return !a.sameVersion(w, rest)
}

// drifted reports whether an object is another one than its record so far, as far as that is stored.
func (a *Attributes) drifted(v cty.Value, earlier *state.Object) bool {
	if earlier == nil {
		return false
	}
	had, err := earlier.DecodeUnmarked(a.Block.Type())
	return err != nil || !a.rest(had).RawEquals(a.rest(v))
}
