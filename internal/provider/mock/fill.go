package mock

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// filler gives values to the computed attributes of an object. Generated values depend on nothing but the
// seed and the path: an apply must return the planned values.
type filler struct {
	seed     string
	given    []Values
	planning bool // attributes without a value become unknown, except those given for planning
	nulls    bool // computed attributes that are null get values too, not only unknown ones
}

// block fills an object of a block type. Its value must not be null.
func (f filler) block(b *schema.Block, v cty.Value) cty.Value {
	return f.content(b.Attributes, b.Blocks, "", v, f.given)
}

// content fills the attributes and blocks of one object. given are the values for that object.
func (f filler) content(attrs map[string]*schema.Attribute, blocks map[string]*schema.NestedBlock, path string, v cty.Value, given []Values) cty.Value {
	if v.IsNull() || !v.IsKnown() {
		return v
	}
	out := v.AsValueMap()
	for name, a := range attrs {
		out[name] = f.attr(a, path+"."+name, out[name], within(given, name))
	}
	for name, n := range blocks {
		out[name] = f.each(n.Type(), path+"."+name, out[name], within(given, name), func(path string, elem cty.Value, given []Values) cty.Value {
			return f.content(n.Attributes, n.Blocks, path, elem, given)
		})
	}
	return cty.ObjectVal(out)
}

// attr fills one attribute. A configured value stays as it is; nested attributes of it may be computed.
func (f filler) attr(a *schema.Attribute, path string, v cty.Value, given []Values) cty.Value {
	typ := v.Type()
	switch {
	case a.WriteOnly, v.IsNull() && (!a.Computed || !f.nulls && !f.planning):
		return v
	case v.IsNull() || !v.IsKnown() && a.Computed:
		return f.value(a, path, typ, given)
	case !v.IsKnown():
		if f.planning {
			return v
		}
		return f.generate(path, typ)
	case a.Nested == nil:
		return v
	}
	return f.each(typ, path, v, given, func(path string, elem cty.Value, given []Values) cty.Value {
		return f.content(a.Nested.Attributes, nil, path, elem, given)
	})
}

// value returns the value that is given for a computed attribute, or a generated one. A nested object for
// which only some attributes are given gets all others generated.
func (f filler) value(a *schema.Attribute, path string, typ cty.Type, given []Values) cty.Value {
	for _, g := range given {
		if f.planning && !g.DuringPlan {
			continue
		}
		if v, err := convert.Convert(g.Object, typ); err == nil && !v.IsNull() {
			return v
		}
	}
	if f.planning {
		return cty.UnknownVal(typ)
	}
	if a.Nested != nil && a.Nested.Nesting == schema.Single && len(given) > 0 {
		empty := map[string]cty.Value{}
		for name, ty := range typ.AttributeTypes() {
			empty[name] = cty.NullVal(ty)
		}
		all := f
		all.nulls = true
		return all.content(a.Nested.Attributes, nil, path, cty.ObjectVal(empty), given)
	}
	return f.generate(path, typ)
}

// each fills the objects in a nested block or attribute of the given type.
func (f filler) each(typ cty.Type, path string, v cty.Value, given []Values, fill func(path string, elem cty.Value, given []Values) cty.Value) cty.Value {
	ty := v.Type()
	if v.IsNull() || !v.IsKnown() {
		return v
	}
	if ty.IsObjectType() && !typ.IsMapType() {
		return fill(path, v, given)
	}
	if v.LengthInt() == 0 {
		return v
	}
	var list []cty.Value
	keyed := map[string]cty.Value{}
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		key, elem := it.Element()
		at := fmt.Sprintf("%s[%d]", path, i)
		if ty.IsMapType() || ty.IsObjectType() {
			keyed[key.AsString()] = fill(path+"."+key.AsString(), elem, element(given, key.AsString(), i))
			continue
		}
		list = append(list, fill(at, elem, element(given, "", i)))
	}
	switch {
	case ty.IsListType():
		return cty.ListVal(list)
	case ty.IsSetType():
		return cty.SetVal(list)
	case ty.IsTupleType():
		return cty.TupleVal(list)
	case ty.IsMapType():
		return cty.MapVal(keyed)
	}
	return cty.ObjectVal(keyed)
}

// within returns the part of given values that has a name.
func within(given []Values, name string) []Values {
	var out []Values
	for _, g := range given {
		if o := g.Object; o.Type().IsObjectType() && !o.IsNull() && o.Type().HasAttribute(name) {
			out = append(out, Values{Object: o.GetAttr(name), DuringPlan: g.DuringPlan})
		}
	}
	return out
}

// element returns the given values for one element. Those for a list are by index; an object stands for all
// elements.
func element(given []Values, key string, i int) []Values {
	var out []Values
	for _, g := range given {
		o := g.Object
		switch ty := o.Type(); {
		case o.IsNull():
		case ty.IsObjectType() && key != "" && ty.HasAttribute(key):
			out = append(out, Values{Object: o.GetAttr(key), DuringPlan: g.DuringPlan})
		case ty.IsObjectType():
			out = append(out, g)
		case ty.IsTupleType() && i < o.LengthInt():
			out = append(out, Values{Object: o.Index(cty.NumberIntVal(int64(i))), DuringPlan: g.DuringPlan})
		}
	}
	return out
}

// textLength is the length of generated strings.
const textLength = 8

// generate returns a value of a type, the same for the same object and path in every run.
func (f filler) generate(path string, ty cty.Type) cty.Value {
	switch {
	case ty == cty.String:
		sum := sha256.Sum256([]byte(f.seed + path))
		return cty.StringVal(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:textLength])
	case ty == cty.Number:
		return cty.Zero
	case ty == cty.Bool:
		return cty.False
	case ty.IsListType():
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsMapType():
		return cty.MapValEmpty(ty.ElementType())
	case ty.IsObjectType():
		out := map[string]cty.Value{}
		for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
			out[name] = f.generate(path+"."+name, ty.AttributeType(name))
		}
		return cty.ObjectVal(out)
	case ty.IsTupleType():
		var out []cty.Value
		for i, elem := range ty.TupleElementTypes() {
			out = append(out, f.generate(fmt.Sprintf("%s[%d]", path, i), elem))
		}
		return cty.TupleVal(out)
	}
	return cty.NullVal(ty)
}
