package value

import "github.com/zclconf/go-cty/cty"

// ReplaceAt returns dst with the value at path taken from src. Both are without marks. A map element that
// src lacks is removed, one that dst lacks is added; where the path leads nowhere else, or to something that
// does not fit among the elements of a collection, dst is returned as it is.
func ReplaceAt(dst, src cty.Value, path cty.Path) cty.Value {
	if len(path) == 0 {
		return src
	}
	if dst.IsNull() || !dst.IsKnown() || src.IsNull() || !src.IsKnown() {
		return replaceWhole(dst, src)
	}
	switch step := path[0].(type) {
	case cty.GetAttrStep:
		return replaceAttr(dst, src, step.Name, path[1:])
	case cty.IndexStep:
		return replaceElement(dst, src, step.Key, path[1:])
	}
	return dst
}

// replaceWhole handles a collection that one side doesn't have at all.
func replaceWhole(dst, src cty.Value) cty.Value {
	if dst.IsNull() && !src.IsNull() && src.Type().Equals(dst.Type()) {
		return src
	}
	return dst
}

// replaceAttr is ReplaceAt for a path that begins with the name of an attribute. dst stays as it is if one
// of the two has no such attribute.
func replaceAttr(dst, src cty.Value, name string, rest cty.Path) cty.Value {
	if dst.Type().IsMapType() {
		return replaceElement(dst, src, cty.StringVal(name), rest)
	}
	if !hasAttribute(dst, name) || !hasAttribute(src, name) {
		return dst
	}
	attrs := dst.AsValueMap()
	attrs[name] = ReplaceAt(attrs[name], src.GetAttr(name), rest)
	return cty.ObjectVal(attrs)
}

func hasAttribute(v cty.Value, name string) bool {
	return v.Type().IsObjectType() && v.Type().HasAttribute(name)
}

// replaceElement is ReplaceAt for a path that begins with an index. Objects and maps accept either kind of
// step.
func replaceElement(dst, src cty.Value, key cty.Value, rest cty.Path) cty.Value {
	ty := dst.Type()
	switch {
	case ty.IsObjectType() && key.Type() == cty.String:
		return replaceAttr(dst, src, key.AsString(), rest)
	case ty.IsMapType() && key.Type() == cty.String:
		return replaceInMap(dst, src, key.AsString(), rest)
	case ty.IsListType() || ty.IsTupleType():
		return replaceInList(dst, src, key, rest)
	}
	return dst
}

// replaceInMap is ReplaceAt for an element of a map. An element that src lacks is removed from dst if the
// path ends at it.
func replaceInMap(dst, src cty.Value, key string, rest cty.Path) cty.Value {
	if !src.Type().IsMapType() {
		return dst
	}
	elems, from := dst.AsValueMap(), src.AsValueMap()
	if elems == nil {
		elems = map[string]cty.Value{}
	}
	old, inSrc := from[key]
	cur, inDst := elems[key]
	switch {
	case inSrc && inDst:
		elems[key] = ReplaceAt(cur, old, rest)
	case inSrc:
		elems[key] = old
	case inDst && len(rest) == 0:
		delete(elems, key)
	}
	switch {
	case len(elems) == 0:
		return cty.MapValEmpty(dst.Type().ElementType())
	case !cty.CanMapVal(elems):
		return dst
	}
	return cty.MapVal(elems)
}

// replaceInList replaces an element of a list or tuple, if both have it: elements are neither added nor
// removed.
func replaceInList(dst, src, key cty.Value, rest cty.Path) cty.Value {
	if key.Type() != cty.Number || !src.Type().IsListType() && !src.Type().IsTupleType() {
		return dst
	}
	n, _ := key.AsBigFloat().Int64()
	elems, from := dst.AsValueSlice(), src.AsValueSlice()
	if n < 0 || int(n) >= len(elems) || int(n) >= len(from) {
		return dst
	}
	elems[n] = ReplaceAt(elems[n], from[n], rest)
	switch {
	case dst.Type().IsTupleType():
		return cty.TupleVal(elems)
	case !cty.CanListVal(elems):
		return dst
	}
	return cty.ListVal(elems)
}
