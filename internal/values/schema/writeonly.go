package schema

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// NullWriteOnly returns v, an object of the block's type, with null in place of all write-only attributes, of
// which also the type is not kept where it is part of the value. All other values keep their marks. A value
// without any write-only content is returned as it is.
func (b *Block) NullWriteOnly(v cty.Value) cty.Value {
	v, _ = b.DropWriteOnly(v)
	return v
}

// InWriteOnly reports whether the path leads to or into a write-only attribute.
func (b *Block) InWriteOnly(path cty.Path) bool {
	attrs, blocks := b.Attributes, b.Blocks
	for _, step := range path {
		name, ok := step.(cty.GetAttrStep)
		if !ok {
			continue
		}
		if a := attrs[name.Name]; a != nil {
			if a.WriteOnly {
				return true
			}
			if a.Nested == nil {
				return false
			}
			attrs, blocks = a.Nested.Attributes, nil
			continue
		}
		nested := blocks[name.Name]
		if nested == nil {
			return false
		}
		attrs, blocks = nested.Attributes, nested.Blocks
	}
	return false
}

// OutsideWriteOnly returns the paths that don't lead to or into write-only attributes: sensitivity there does
// not matter for the stored object, which has null there.
func (b *Block) OutsideWriteOnly(paths []cty.Path) []cty.Path {
	if !b.HasWriteOnly() {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), b.InWriteOnly)
}

// WriteOnlyNames returns the names of the write-only attributes at any depth. One that has several is there
// several times.
func (b *Block) WriteOnlyNames() iter.Seq[string] {
	return func(yield func(string) bool) { b.writeOnlyNames(yield) }
}

// writeOnlyNames is WriteOnlyNames for a recursion: it returns false once yield did.
func (b *Block) writeOnlyNames(yield func(string) bool) bool {
	if !b.HasWriteOnly() {
		return true
	}
	for _, nested := range b.Blocks {
		if !nested.writeOnlyNames(yield) {
			return false
		}
	}
	return writeOnlyNames(b.Attributes, yield)
}

// writeOnlyNames yields the names among nested attributes. Attributes in a write-only one need no name of
// their own.
func writeOnlyNames(attrs map[string]*Attribute, yield func(string) bool) bool {
	for name, a := range attrs {
		if a.WriteOnly && !yield(name) || !a.WriteOnly && a.Nested != nil && !writeOnlyNames(a.Nested.Attributes, yield) {
			return false
		}
	}
	return true
}

// UnversionedUses returns a warning, with its path, for each write-only attribute NAME_wo that is set in v, a
// configuration of the block, although NAME_wo_version beside it is not: providers see a change of such a
// value by its version alone. Within sets there are no paths to tell of.
func (b *Block) UnversionedUses(v cty.Value) diag.List {
	if !b.HasWriteOnly() {
		return nil
	}
	var list diag.List
	for _, path := range b.WriteOnlyPaths(v) {
		last, ok := path[len(path)-1].(cty.GetAttrStep)
		if !ok || !strings.HasSuffix(last.Name, "_wo") {
			continue
		}
		version := path[:len(path)-1].GetAttr(last.Name + "_version")
		if a := b.AttributeAt(version); a == nil || a.Computed {
			continue
		}
		if given, err := version.Apply(v); err == nil && given.IsNull() {
			list = append(list, diag.Diagnostic{
				Severity: diag.Warning, Summary: "Write-only value without a version", Path: path,
				Detail: fmt.Sprintf("The argument %q is write-only: it is kept nowhere, so a plan cannot tell that its value has changed, and a new value alone is not sent to the provider. Set %q too, and change it whenever the value changes.", last.Name, last.Name+"_version"),
			})
		}
	}
	return list
}

// WriteOnlyVersion returns the path of the version of the write-only attribute that a path leads to or into:
// NAME_version beside NAME. It returns nil if there is none.
func (b *Block) WriteOnlyVersion(path cty.Path) cty.Path {
	for i, step := range path {
		name, ok := step.(cty.GetAttrStep)
		if a := b.AttributeAt(path[:i+1]); !ok || a == nil || !a.WriteOnly {
			continue
		}
		version := slices.Clone(path[:i]).GetAttr(name.Name + "_version")
		if b.AttributeAt(version) == nil {
			return nil
		}
		return version
	}
	return nil
}

// AttributeAt returns the attribute that a path leads to, nil if there is none.
func (b *Block) AttributeAt(path cty.Path) *Attribute {
	attrs, blocks := b.Attributes, b.Blocks
	var found *Attribute
	for _, step := range path {
		name, ok := step.(cty.GetAttrStep)
		if !ok {
			continue
		}
		found = attrs[name.Name]
		switch nested := blocks[name.Name]; {
		case found != nil && found.Nested != nil:
			attrs, blocks = found.Nested.Attributes, nil
		case found != nil:
			attrs, blocks = nil, nil
		case nested != nil:
			attrs, blocks = nested.Attributes, nested.Blocks
		default:
			return nil
		}
	}
	return found
}

// WriteOnlySibling returns the path of the write-only variant of the attribute that path leads to or into:
// NAME_wo beside NAME. It returns nil if there is none.
func (b *Block) WriteOnlySibling(path cty.Path) cty.Path {
	attrs, blocks := b.Attributes, b.Blocks
	for i, step := range path {
		name, ok := step.(cty.GetAttrStep)
		if !ok {
			continue
		}
		if a := attrs[name.Name]; a != nil {
			if a.Nested != nil && i+1 < len(path) {
				attrs, blocks = a.Nested.Attributes, nil
				continue
			}
			if wo := attrs[name.Name+"_wo"]; wo != nil && wo.WriteOnly {
				return append(slices.Clone(path[:i]), cty.GetAttrStep{Name: name.Name + "_wo"})
			}
			return nil
		}
		nested := blocks[name.Name]
		if nested == nil {
			return nil
		}
		attrs, blocks = nested.Attributes, nested.Blocks
	}
	return nil
}

// DropWriteOnly is NullWriteOnly, and reports whether the result is another value.
func (b *Block) DropWriteOnly(v cty.Value) (cty.Value, bool) {
	if !b.HasWriteOnly() {
		return v, false
	}
	return rewriteObject(v, b.content().writeOnly, func(name string, v cty.Value) (cty.Value, bool) {
		if nested := b.Blocks[name]; nested != nil {
			return rewriteEach(nested.Nesting, v, nested.DropWriteOnly)
		}
		return b.Attributes[name].nullWriteOnly(v)
	})
}

// nullWriteOnly is DropWriteOnly for one attribute.
func (a *Attribute) nullWriteOnly(v cty.Value) (cty.Value, bool) {
	switch {
	case a.WriteOnly:
		bare, _ := v.Unmark()
		typ := bare.Type()
		if declared := a.ValueType(); declared.HasDynamicTypes() { // the type is the value's own then, and tells of it: names of attributes, say
			typ = declared
		}
		if bare.IsNull() && !v.IsMarked() && bare.Type().Equals(typ) {
			return v, false
		}
		return cty.NullVal(typ), true
	case a.Nested != nil && a.traits().writeOnly:
		return rewriteEach(a.Nested.Nesting, v, func(one cty.Value) (cty.Value, bool) {
			return rewriteObject(one, a.Nested.content().writeOnly, func(name string, v cty.Value) (cty.Value, bool) {
				return a.Nested.Attributes[name].nullWriteOnly(v)
			})
		})
	}
	return v, false
}

// rewriteObject replaces the named parts of v by the results of f, and reports whether that is another value.
// Values that are not known objects stay as they are. An object is built only if f reports a change, since
// building one costs more than looking at all of its parts.
func rewriteObject(v cty.Value, names []string, f func(name string, v cty.Value) (cty.Value, bool)) (cty.Value, bool) {
	bare, marks := v.Unmark()
	if !isOpen(bare) || !bare.Type().IsObjectType() {
		return v, false
	}
	var values map[string]cty.Value
	for _, name := range names {
		old := part(bare, name)
		if old == cty.NilVal {
			continue
		}
		if now, changed := f(name, old); changed {
			if values == nil {
				values = AttributesOf(bare)
			}
			values[name] = now
		}
	}
	if values == nil {
		return v, false
	}
	return cty.ObjectVal(values).WithMarks(marks), true
}

// rewriteEach replaces each of the objects in v by one of the same type, and reports whether any of them is
// another value. Elements of a collection must have one type afterwards too, though null and unknown elements
// are not rewritten.
func rewriteEach(nesting Nesting, v cty.Value, f func(cty.Value) (cty.Value, bool)) (cty.Value, bool) {
	if nesting == Single || nesting == Group {
		return f(v)
	}
	bare, marks := v.Unmark()
	if !isOpen(bare) || !bare.CanIterateElements() || bare.LengthInt() == 0 {
		return v, false
	}
	changed := false
	rewritten := func(old cty.Value) cty.Value {
		now, other := f(old)
		changed = changed || other
		return now
	}
	switch typ := bare.Type(); {
	case typ.IsObjectType(), typ.IsMapType():
		values := bare.AsValueMap()
		for key, old := range values {
			values[key] = rewritten(old)
		}
		if !changed {
			return v, false
		}
		if typ.IsMapType() {
			one := openType(maps.Values(values))
			for key, v := range values {
				values[key] = closedAs(v, one)
			}
		}
		return keyedVal(typ, values).WithMarks(marks), true
	default:
		values := bare.AsValueSlice()
		for i, old := range values {
			values[i] = rewritten(old)
		}
		if !changed {
			return v, false
		}
		if !typ.IsTupleType() {
			one := openType(slices.Values(values))
			for i, v := range values {
				values[i] = closedAs(v, one)
			}
		}
		return sequenceVal(typ, values).WithMarks(marks), true
	}
}

// openType returns the type that the known objects among the elements of a collection have after rewriting,
// cty.NilType if there are none.
func openType(values iter.Seq[cty.Value]) cty.Type {
	for v := range values {
		if bare, _ := v.Unmark(); isOpen(bare) {
			return bare.Type()
		}
	}
	return cty.NilType
}

// closedAs gives a null or unknown element, which rewriting leaves alone, the type of the others.
func closedAs(v cty.Value, one cty.Type) cty.Value {
	switch bare, marks := v.Unmark(); {
	case one == cty.NilType || bare.Type().Equals(one):
		return v
	case bare.IsNull():
		return cty.NullVal(one).WithMarks(marks)
	case !bare.IsKnown():
		return cty.UnknownVal(one).WithMarks(marks)
	}
	return v
}

// sequenceVal makes a list, set or tuple from values, according to typ. Without elements it is typ's empty
// value.
func sequenceVal(typ cty.Type, values []cty.Value) cty.Value {
	switch {
	case typ.IsListType() && len(values) == 0:
		return cty.ListValEmpty(typ.ElementType())
	case typ.IsSetType() && len(values) == 0:
		return cty.SetValEmpty(typ.ElementType())
	case typ.IsListType() && cty.CanListVal(values):
		return cty.ListVal(values)
	case typ.IsSetType() && cty.CanSetVal(values):
		return cty.SetVal(values)
	default:
		return cty.TupleVal(values)
	}
}

// keyedVal makes a map or an object from values, according to typ.
func keyedVal(typ cty.Type, values map[string]cty.Value) cty.Value {
	switch {
	case typ.IsMapType() && len(values) == 0:
		return cty.MapValEmpty(typ.ElementType())
	case typ.IsMapType() && cty.CanMapVal(values):
		return cty.MapVal(values)
	default:
		return cty.ObjectVal(values)
	}
}
