package schema

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/unify"
)

// CoerceValue converts v, any object, to the block's type: missing arguments that are not required become
// null, missing blocks empty. Marks are kept. The error is a cty.PathError that names what does not fit and
// holds no values.
func (b *Block) CoerceValue(v cty.Value) (cty.Value, error) { return b.coerce(v, nil) }

func (b *Block) coerce(v cty.Value, path cty.Path) (cty.Value, error) {
	if v == cty.NilVal {
		return cty.UnknownVal(b.Type()), path.NewErrorf("an object is required")
	}
	bare, marks := v.Unmark()
	switch typ := bare.Type(); {
	case bare.IsNull():
		return cty.NullVal(b.Type()).WithMarks(marks), nil
	case typ != cty.DynamicPseudoType && !typ.IsObjectType() && !typ.IsMapType():
		return cty.UnknownVal(b.Type()), path.NewErrorf("an object is required")
	case !bare.IsKnown():
		return cty.UnknownVal(b.Type()).WithMarks(marks), nil
	}
	given := bare.AsValueMap()
	for name := range given {
		if b.Attributes[name] == nil && b.Blocks[name] == nil {
			return cty.UnknownVal(b.Type()), path.NewErrorf("unexpected attribute %q", name)
		}
	}
	values := make(map[string]cty.Value, len(b.Attributes)+len(b.Blocks))
	for _, name := range b.known().attrNames {
		value, err := b.Attributes[name].coerce(name, given, path)
		if err != nil {
			return cty.UnknownVal(b.Type()), err
		}
		values[name] = value
	}
	for _, name := range b.known().blockNames {
		value, err := b.Blocks[name].coerceAll(name, given, childAttr(path, name))
		if err != nil {
			return cty.UnknownVal(b.Type()), err
		}
		values[name] = value
	}
	return cty.ObjectVal(values).WithMarks(marks), nil
}

func (a *Attribute) coerce(name string, given map[string]cty.Value, path cty.Path) (cty.Value, error) {
	v, ok := given[name]
	if !ok {
		if a.Required {
			return cty.NilVal, path.NewErrorf("attribute %q is required", name)
		}
		return cty.NullVal(a.ValueType()), nil
	}
	v, err := unify.Convert(v, a.configType())
	if err != nil {
		return cty.NilVal, childAttr(path, name).NewError(err)
	}
	return v, nil
}

// coerceAll converts the value that stands for all blocks of one type.
func (n *NestedBlock) coerceAll(name string, given map[string]cty.Value, path cty.Path) (cty.Value, error) {
	v, ok := given[name]
	if !ok || v == cty.NilVal {
		return n.within(0, n.empty(), path)
	}
	bare, marks := v.Unmark()
	switch {
	case bare.IsNull():
		return n.within(0, n.empty().WithMarks(marks), path)
	case n.Nesting != List && n.Nesting != Set && n.Nesting != Map:
		return n.coerce(v, path)
	case !bare.IsKnown():
		return cty.UnknownVal(n.valueType()).WithMarks(marks), nil
	case !bare.CanIterateElements():
		return cty.NilVal, path.NewErrorf("must be a %s of objects", n.Nesting)
	}
	sequence, keyed, err := n.coerceEach(bare, path)
	if err != nil {
		return cty.NilVal, err
	}
	result := n.empty()
	if len(keyed) > 0 {
		result = keyedVal(n.valueType(), keyed)
	} else if len(sequence) > 0 {
		result = sequenceVal(n.valueType(), sequence)
	}
	if want := n.valueType(); len(result.Type().TestConformance(want)) > 0 {
		return cty.NilVal, path.NewErrorf("all elements must have the same type")
	}
	return n.within(bare.LengthInt(), result.WithMarks(marks), path)
}

func (n *NestedBlock) coerceEach(v cty.Value, path cty.Path) (sequence []cty.Value, keyed map[string]cty.Value, err error) {
	byKey := v.Type().IsMapType() || v.Type().IsObjectType()
	if byKey != (n.Nesting == Map) {
		return nil, nil, path.NewErrorf("must be a %s of objects", n.Nesting)
	}
	keyed = map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		key, one := it.Element()
		at := path
		if !v.Type().IsSetType() {
			at = child(path, stepTo(v.Type(), key))
		}
		if bare, _ := one.Unmark(); bare.IsNull() {
			return nil, nil, at.NewErrorf("must not be null")
		}
		one, err := n.coerce(one, at)
		if err != nil {
			return nil, nil, err
		}
		if byKey {
			keyed[key.AsString()] = one
		} else {
			sequence = append(sequence, one)
		}
	}
	return sequence, keyed, nil
}

// within checks the number of blocks.
func (n *NestedBlock) within(count int, v cty.Value, path cty.Path) (cty.Value, error) {
	switch {
	case n.Nesting == Group:
		return v, nil
	case count < n.MinItems:
		return cty.NilVal, path.NewErrorf("at least %s required", blocks(n.MinItems))
	case n.MaxItems > 0 && count > n.MaxItems:
		return cty.NilVal, path.NewErrorf("no more than %s allowed", blocks(n.MaxItems))
	}
	return v, nil
}

func blocks(n int) string {
	if n == 1 {
		return "1 block is"
	}
	return fmt.Sprintf("%d blocks are", n)
}
