package contract

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// withhold returns v, which was declared with the type, without the values that must not be stored. It
// reports these, and also ephemeral values that may be stored.
func (c *Checker) withhold(v cty.Value, ty cty.Type, a Answer) (cty.Value, diag.List) {
	if c.Later || !c.Leaks.Guard.Holds(v) {
		return v, nil
	}
	w := withholder{Checker: c, answer: a, whole: v.Type()}
	v, _ = w.value(v, ty, nil)
	return v, w.diags
}

// Without returns an earlier answer without the values that an answer of the kind must not store, now that
// more is known than when it was judged. It reports nothing, and later answers are judged as if it had not
// been called.
func (c *Checker) Without(v cty.Value, a Answer) cty.Value {
	quiet := *c
	quiet.public.kept = maps.Clone(c.public.kept)
	v, _ = quiet.withhold(v, c.Block.Type(), a)
	return v
}

// withholdsIdentity reports whether an identity that comes with an answer must not be stored.
func (c *Checker) withholdsIdentity(id cty.Value, of Answer) (bool, diag.List) {
	if c.Later || !c.Leaks.Guard.Holds(id) {
		return false, nil
	}
	w := withholder{Checker: c, answer: of, identity: true, whole: id.Type()}
	_, less := w.value(id, id.Type(), nil)
	return less, w.diags
}

// withholder goes through an answer.
type withholder struct {
	*Checker
	answer   Answer
	identity bool // it is the identity that comes with the answer
	whole    cty.Type
	diags    diag.List
}

// keeps reports whether a text at a path may be stored, and describes the values found in it.
func (w *withholder) keeps(text string, path cty.Path, key bool) bool {
	v, found := w.judge(text, w.answer)
	if !found {
		return true
	}
	at := place{of: w.answer, where: "the attribute " + schema.PathIn(w.whole, path), path: path.Copy()}
	switch {
	case w.identity:
		at.where, at.path = "the identity", nil
	case key:
		at.where = "a key or the name of an attribute in " + schema.PathIn(w.whole, path)
	case w.answer.exists() && path.Equals(cty.GetAttrPath("id")) && !v.keep():
		at.id, w.Exposed = true, true
	}
	w.diags = append(w.diags, w.describe(v, at))
	return v.keep() || at.id
}

// value returns the part of a value, which was declared with the type, that may be stored, and whether that
// is less.
func (w *withholder) value(v cty.Value, ty cty.Type, path cty.Path) (cty.Value, bool) {
	if !w.identity && w.Withheld.Matches(path) {
		return v, false
	}
	if !v.IsKnown() || v.IsNull() {
		return w.withoutValue(v, ty, path)
	}
	switch has := v.Type(); {
	case has == cty.String:
		if !w.keeps(v.AsString(), path, false) {
			return cty.NullVal(has), true
		}
	case has == cty.Number:
		if !w.keeps(leak.Number(v), path, false) {
			return cty.NullVal(has), true
		}
	case v.CanIterateElements():
		return w.elements(v, ty, path)
	}
	return v, false
}

// withoutValue is value for a null or unknown value, of which only the type could tell something.
func (w *withholder) withoutValue(v cty.Value, ty cty.Type, path cty.Path) (cty.Value, bool) {
	switch {
	case ty != cty.DynamicPseudoType || !w.tells(v.Type(), path):
		return v, false
	case v.IsNull():
		return cty.NullVal(ty), true
	default:
		return cty.DynamicVal, true
	}
}

// tells reports whether the names of attributes in a type contain values that must not be stored.
func (w *withholder) tells(ty cty.Type, path cty.Path) bool {
	switch {
	case ty.IsCollectionType():
		return w.tells(ty.ElementType(), path)
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), func(e cty.Type) bool { return w.tells(e, path) })
	case ty.IsObjectType():
		for name, e := range ty.AttributeTypes() {
			if !w.keeps(name, path, true) || w.tells(e, path) {
				return true
			}
		}
	}
	return false
}

// elements is value for the elements of a collection or structure. A key that must not be stored goes with
// its element. For an element of a set, the path of the set is used: its own has the element as a key.
func (w *withholder) elements(v cty.Value, ty cty.Type, path cty.Path) (cty.Value, bool) {
	has := v.Type()
	var names []string
	var elems []cty.Value
	changed := false
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		step, at := cty.PathStep(cty.IndexStep{Key: k}), path
		switch {
		case has.IsObjectType():
			step = cty.GetAttrStep{Name: k.AsString()}
			fallthrough
		case has.IsMapType():
			if !ty.IsObjectType() && !w.keeps(k.AsString(), path, true) {
				changed = true
				continue
			}
			names = append(names, k.AsString())
			fallthrough
		case !has.IsSetType():
			at = append(path, step)
		}
		kept, less := w.value(e, schema.StepType(ty, step), at)
		changed = changed || less
		elems = append(elems, kept)
	}
	if !changed {
		return v, false
	}
	return rebuilt(has, ty, names, elems), true
}

// rebuilt returns a collection or structure of a type with other elements, which was declared with the type
// ty: null if the elements of a collection no longer have one type.
func rebuilt(has, ty cty.Type, names []string, elems []cty.Value) cty.Value {
	named := map[string]cty.Value{}
	for i, name := range names {
		named[name] = elems[i]
	}
	switch {
	case has.IsObjectType():
		return cty.ObjectVal(named)
	case has.IsTupleType():
		return cty.TupleVal(elems)
	case len(elems) == 0: // only maps lose elements
		return cty.MapValEmpty(has.ElementType())
	case has.IsMapType() && cty.CanMapVal(named):
		return cty.MapVal(named)
	case has.IsListType() && cty.CanListVal(elems):
		return cty.ListVal(elems)
	case has.IsSetType() && cty.CanSetVal(elems):
		return cty.SetVal(elems)
	default:
		return cty.NullVal(ty)
	}
}
