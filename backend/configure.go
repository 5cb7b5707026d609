package backend

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// FromValue returns the configuration that an object describes, as the data source terraform_remote_state has
// it. Unknown parts stay unknown. Errors are cty.PathErrors without values.
func (k *Kind) FromValue(object cty.Value) (cty.Value, error) {
	object, _ = object.UnmarkDeep()
	if object.IsNull() {
		return k.Object(nil), nil
	}
	if !object.IsKnown() {
		return cty.UnknownVal(k.Block.Type()), nil
	}
	if ty := object.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		return cty.NilVal, cty.Path{}.NewErrorf("an object is required")
	}
	values, given := map[string]cty.Value{}, object.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if k.Block.Attributes[name] == nil && k.Block.Blocks[name] == nil {
			return cty.NilVal, cty.Path{}.NewErrorf("unexpected attribute %q", name)
		}
		v, err := k.convert(name, k.asBlocks(name, given[name]))
		if err != nil {
			return cty.NilVal, cty.GetAttrPath(name).NewErrorf("a %s is required", k.typeName(name))
		}
		values[name] = v
	}
	return k.Object(values), nil
}

// asBlocks returns the value of an argument. One object may stand for a list of blocks with one element. What
// it lacks is null.
func (k *Kind) asBlocks(name string, v cty.Value) cty.Value {
	nested := k.Block.Blocks[name]
	if nested == nil || v.IsNull() || !v.IsKnown() {
		return v
	}
	complete := func(v cty.Value) cty.Value {
		if v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
			return v
		}
		attrs := nested.Empty().AsValueMap()
		maps.Copy(attrs, v.AsValueMap())
		return cty.ObjectVal(attrs)
	}
	if ty := k.typeOf(name); !ty.IsListType() && !ty.IsSetType() {
		return complete(v)
	}
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		return cty.TupleVal([]cty.Value{complete(v)})
	}
	if !v.CanIterateElements() {
		return v
	}
	var elems []cty.Value
	for _, e := range v.AsValueSlice() {
		elems = append(elems, complete(e))
	}
	return cty.TupleVal(elems)
}

// Redact returns a text, such as that of an error, without the texts in a configuration and the place that it
// names, any of which may be secret.
func (k *Kind) Redact(text string, cfg cty.Value) string {
	hide := []string{k.Place(cfg)}
	_ = cty.Walk(cfg, func(_ cty.Path, v cty.Value) (bool, error) { // the callback returns no error
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			hide = append(hide, v.AsString())
		}
		return true, nil
	})
	slices.SortFunc(hide, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, secret := range hide {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(hidden)")
		}
	}
	return text
}
