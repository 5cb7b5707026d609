package schema

import "github.com/zclconf/go-cty/cty"

// Put returns v with another value at path. Both are without marks. Where the path leads nowhere, or into a
// set, v is returned as it is. If the value has another type than the elements beside it, a list becomes a
// tuple and a map an object, as blocks with attributes of any type are.
func Put(v cty.Value, path cty.Path, to cty.Value) cty.Value {
	if len(path) == 0 {
		return to
	}
	if v.IsNull() || !v.IsKnown() || v.Type().IsSetType() {
		return v
	}
	old, err := path[0].Apply(v)
	if err != nil {
		return v
	}
	now := Put(old, path[1:], to)
	switch step := path[0].(type) {
	case cty.GetAttrStep:
		return putAt(v, step.Name, now)
	case cty.IndexStep:
		if step.Key.Type() == cty.String {
			return putAt(v, step.Key.AsString(), now)
		}
		return putIn(v, step.Key, now)
	}
	return v
}

// putAt replaces an attribute of an object or an element of a map.
func putAt(v cty.Value, name string, to cty.Value) cty.Value {
	parts := v.AsValueMap()
	parts[name] = to
	if v.Type().IsMapType() && cty.CanMapVal(parts) {
		return cty.MapVal(parts)
	}
	return cty.ObjectVal(parts)
}

// putIn replaces an element of a list or tuple.
func putIn(v, key, to cty.Value) cty.Value {
	n, _ := key.AsBigFloat().Int64()
	elems := v.AsValueSlice()
	elems[n] = to
	if v.Type().IsListType() && cty.CanListVal(elems) {
		return cty.ListVal(elems)
	}
	return cty.TupleVal(elems)
}
