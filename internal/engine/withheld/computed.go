package withheld

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Show returns an object as references to it see it: without the values that a configuration gives to
// withheld attributes, which are null, and with computed ones as ephemeral values (E96). Those that are not
// in v are unknown, and belong to an earlier run if the state has a record of them (E97). cfg is the
// configuration that v is of, cty.NilVal if it is not known.
func (a *Attributes) Show(v, cfg cty.Value, records []state.Withheld) cty.Value {
	if len(a.Names) == 0 || v.IsNull() {
		return v
	}
	shown := a.Hide(v)
	if !v.IsKnown() {
		return a.showUnknown(v.Type())
	}
	for _, path := range a.computedIn(v, cfg, records) {
		c := value.Computed{By: a.Object.Instance.String() + "." + schema.PathString(path), ByPolicy: a.ByPolicy.Matches(path)}
		record := recordAt(&state.Object{Withheld: records}, path)
		now := part(v, path)
		if record != nil {
			c.Version, c.Number = record.Value(), record.Number
		}
		if now == cty.NilVal {
			c.Past = true
			old, _ := path.Apply(v) // it leads somewhere, or it would not be there
			now = cty.UnknownVal(old.Type())
		}
		if !now.IsWhollyKnown() && !c.Past {
			c.Version, c.Number = "", 0
		}
		shown = schema.Put(shown, path, now.Mark(value.Ephemeral).Mark(c))
	}
	return shown
}

// Shown returns the paths to values that references to an object see: shown is a result of Show.
func (a *Attributes) Shown(shown cty.Value, paths []cty.Path) []cty.Path {
	if len(a.Names) == 0 {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p cty.Path) bool {
		if !a.Names.Matches(p) {
			return false
		}
		v, err := p.Apply(shown)
		return err != nil || !value.Has(v, value.Ephemeral)
	})
}

// computedIn returns the paths of the computed attributes that an object has, or had in an earlier run.
func (a *Attributes) computedIn(v, cfg cty.Value, records []state.Withheld) (paths []cty.Path) {
	for _, path := range a.Names.Find(v) {
		if a.isComputed(path, cfg) {
			paths = appendNew(paths, path)
		}
	}
	for _, w := range records {
		if w.Computed && a.Names.Matches(w.Path) && hasPlace(v, w.Path) {
			paths = appendNew(paths, w.Path)
		}
	}
	return paths
}

// showUnknown is Show for an object of which nothing is known. Its attributes are unknown one by one, so that
// the computed ones among them can be ephemeral.
func (a *Attributes) showUnknown(ty cty.Type) cty.Value {
	if len(a.Computed) == 0 || !ty.IsObjectType() {
		return cty.UnknownVal(ty)
	}
	attrs := map[string]cty.Value{}
	for name, of := range ty.AttributeTypes() {
		attrs[name] = cty.UnknownVal(of)
	}
	for _, path := range a.Computed {
		name, ok := path[0].(cty.GetAttrStep)
		if _, has := attrs[name.Name]; !ok || !has || len(path) > 1 {
			continue // the elements that it is in are not known
		}
		c := value.Computed{By: a.Object.Instance.String() + "." + schema.PatternString(path), ByPolicy: a.ByPolicy.Matches(path)}
		attrs[name.Name] = attrs[name.Name].Mark(value.Ephemeral).Mark(c)
	}
	return cty.ObjectVal(attrs)
}
