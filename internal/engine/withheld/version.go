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
	if stored == nil || len(a.Versions) == 0 {
		return false
	}
	rest := a.restSet(cfg)
	return a.allAsRecorded(stored, cfg, func(w state.Withheld) bool {
		return a.version(w.Path) != cty.NilVal && a.sameVersion(w, rest)
	})
}

// Unavailable reports whether an object stays as it is although values that it withholds cannot be had,
// because they are made of computed values of an earlier run: it is made of the same ones, and so is the
// rest of the configuration (E97). missing are the paths of those values.
func (a *Attributes) Unavailable(stored *state.Object, cfg cty.Value, missing []cty.Path) bool {
	if stored == nil {
		return false
	}
	rest := a.restSet(cfg)
	return a.allAsRecorded(stored, cfg, func(w state.Withheld) bool {
		if !slices.ContainsFunc(missing, func(p cty.Path) bool { return p.HasPrefix(w.Path) }) {
			return a.ignored(w.Path) || a.compare(w, part(cfg, w.Path)) == fingerprint.Same
		}
		made := a.made(w.Path)
		return made != cty.NilVal && a.isSame(w.Made, made) && a.isOf(w.Config, rest)
	})
}

// allAsRecorded reports whether the state has records of exactly those withheld attributes that the
// configuration sets, and same holds for each.
func (a *Attributes) allAsRecorded(stored *state.Object, cfg cty.Value, same func(state.Withheld) bool) bool {
	paths, given := a.Names.Find(cfg), 0
	for _, w := range stored.Withheld {
		if w.Computed {
			continue
		}
		given++
		if !slices.ContainsFunc(paths, w.Path.Equals) || !same(w) {
			return false
		}
	}
	return given > 0 && given == len(paths)
}

// rest returns the configuration without the attributes that are not stored.
func (a *Attributes) rest(cfg cty.Value) cty.Value {
	return a.Block.NullAt(a.Block.NullWriteOnly(cfg), a.Names.Find(cfg))
}

// restSet is rest for a fingerprint: without anything that is not set, so that it stays the same if the
// provider gets more arguments.
func (a *Attributes) restSet(cfg cty.Value) cty.Value {
	if rest := a.rest(cfg); rest.IsWhollyKnown() {
		return setBlock(a.Block, rest)
	}
	return cty.DynamicVal
}

// setBlock returns a block without attributes that are null, and without blocks that are not there. It is
// wholly known.
func setBlock(b *schema.Block, v cty.Value) cty.Value {
	if v.IsNull() {
		return v
	}
	out := map[string]cty.Value{}
	for name := range b.Attributes {
		if attr := v.GetAttr(name); !attr.IsNull() {
			out[name] = setIn(attr)
		}
	}
	for name, nested := range b.Blocks {
		switch blocks := v.GetAttr(name); {
		case blocks.IsNull():
		case nested.Nesting == schema.Single || nested.Nesting == schema.Group:
			out[name] = setBlock(&nested.Block, blocks)
		case blocks.LengthInt() > 0:
			out[name] = setEach(blocks, func(block cty.Value) cty.Value { return setBlock(&nested.Block, block) })
		}
	}
	return cty.ObjectVal(out)
}

// setIn returns a value with objects in it that lack the attributes which are null.
func setIn(v cty.Value) cty.Value {
	switch ty := v.Type(); {
	case v.IsNull() || ty.IsPrimitiveType():
		return v
	case ty.IsObjectType():
		out := map[string]cty.Value{}
		for name, attr := range v.AsValueMap() {
			if !attr.IsNull() {
				out[name] = setIn(attr)
			}
		}
		return cty.ObjectVal(out)
	}
	return setEach(v, setIn)
}

// setEach returns the elements of a collection, each as set makes it. Blocks with attributes of any type are
// in tuples and objects.
func setEach(v cty.Value, set func(cty.Value) cty.Value) cty.Value {
	var list []cty.Value
	named, keyed := map[string]cty.Value{}, v.Type().IsMapType() || v.Type().IsObjectType()
	for it := v.ElementIterator(); it.Next(); {
		key, element := it.Element()
		if keyed {
			named[key.AsString()] = set(element)
		} else {
			list = append(list, set(element))
		}
	}
	if keyed {
		return cty.ObjectVal(named)
	}
	return cty.TupleVal(list)
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
