package backend

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// UnexpectedError is the error of FromValue about an argument that the kind does not have. Its text does not
// have the argument's name, which comes from a value that may be secret.
type UnexpectedError struct{ Name string }

// Error implements error.
func (*UnexpectedError) Error() string { return "there is no argument of this name" }

// FromValue returns the configuration that an object describes, as the data source terraform_remote_state has
// it. Unknown parts stay unknown. Errors are cty.PathErrors without values, or an *UnexpectedError.
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
			return cty.NilVal, &UnexpectedError{name}
		}
		v, err := k.convert(name, k.asBlocks(name, given[name]))
		if err != nil {
			return cty.NilVal, cty.GetAttrPath(name).NewErrorf("a %s is required", k.typeName(name))
		}
		values[name] = v
	}
	return k.Object(values), nil
}

// asBlocks returns the value of an argument. One object may stand for a list of blocks with one element.
// Missing attributes become null.
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

// hidden stands for the secrets that Redact takes out of a text.
const hidden = "(hidden)"

// Redact returns a text, such as an error message, without the texts in a configuration and the place that it
// names, any of which may be secret, in all usual spellings.
func (k *Kind) Redact(text string, cfg cty.Value) string {
	guard := leak.New()
	var all []string // of any length
	hide := func(secret string) {
		guard.Remember(leak.Source{Kind: leak.Other}, cty.StringVal(secret).Mark(value.Sensitive), cty.String)
		if secret != "" {
			all = append(all, leak.Escaped(secret)...)
		}
	}
	hide(k.Place(cfg))
	_ = cty.Walk(cfg, func(_ cty.Path, v cty.Value) (bool, error) { // the callback returns no error
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			hide(v.AsString())
			if address, err := url.Parse(v.AsString()); err == nil {
				hide(address.Hostname())
			}
		}
		return true, nil
	})
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, secret := range slices.Compact(all) {
		pairs = append(pairs, secret, hidden)
	}
	replacer := strings.NewReplacer(pairs...)
	pieces := strings.Split(guard.Redact(text), leak.Withheld)
	for i := range pieces {
		pieces[i] = replacer.Replace(pieces[i])
	}
	return strings.Join(pieces, hidden)
}
