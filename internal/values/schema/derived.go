package schema

import (
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
)

// derived has the data that follow from a block alone. It is computed on first use and never changes after
// that, so goroutines may share it.
type derived struct {
	facts facts
	spec  lazy[hcldec.Spec]
	// asBlocks has, for each attribute that may also be written as blocks, the block that describes one
	// element.
	asBlocks lazy[map[string]*Block]
}

// facts are the parts that nearly every caller needs.
type facts struct {
	once       sync.Once
	typ        cty.Type
	attrNames  []string
	blockNames []string
	names      []string // of both, in one order
	attrTraits []traits // of attrNames
	has        traits
	content    content
}

// traits tells the kinds of attributes that a walk through values could find, so that useless walks can be
// left out.
type traits struct{ writeOnly, sensitive, deprecated, dynamic bool }

// add adds the traits of other.
func (t *traits) add(other traits) {
	t.writeOnly = t.writeOnly || other.writeOnly
	t.sensitive = t.sensitive || other.sensitive
	t.deprecated = t.deprecated || other.deprecated
	t.dynamic = t.dynamic || other.dynamic
}

// lazy is a value that is computed by the first call of get. The functions of all calls must be equivalent.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(compute func() T) T {
	l.once.Do(func() { l.value = compute() })
	return l.value
}

// known returns the facts derived from the schema, computed once on first use: schemas are shared by
// concurrent operations, and large ones are expensive to walk.
func (b *Block) known() *facts {
	f := &b.derived.facts
	f.once.Do(func() {
		f.attrNames = slices.Sorted(maps.Keys(b.Attributes))
		f.blockNames = slices.Sorted(maps.Keys(b.Blocks))
		f.names = slices.Sorted(slices.Values(slices.Concat(f.attrNames, f.blockNames)))
		types := make(map[string]cty.Type, len(b.Attributes)+len(b.Blocks))
		for _, name := range f.attrNames {
			attr := b.Attributes[name]
			types[name] = attr.ValueType()
			f.attrTraits = append(f.attrTraits, attr.traits())
			f.has.add(attr.traits())
		}
		for name, nested := range b.Blocks {
			types[name] = nested.valueType()
			f.has.add(nested.known().has)
			f.has.deprecated = f.has.deprecated || nested.Deprecated
		}
		f.typ = cty.Object(types)
		f.has.dynamic = f.typ.HasDynamicTypes()
		f.content = contentOf(b.Attributes, b.Blocks)
	})
	return f
}

// traits returns the traits of the attribute and of nested ones.
func (a *Attribute) traits() traits {
	t := traits{writeOnly: a.WriteOnly, sensitive: a.Sensitive, deprecated: a.Deprecated}
	if a.Nested != nil {
		for _, inner := range a.Nested.Attributes {
			t.add(inner.traits())
		}
	}
	return t
}

// Type returns the type of the objects that the block describes: one attribute for each attribute and each
// block type. A collection of blocks whose type is only known once there are values has the dynamic type: its
// values are tuples or objects.
func (b *Block) Type() cty.Type { return b.known().typ }

// Names returns the names of the attributes of the block's type, in order. The caller must not change them.
func (b *Block) Names() []string { return b.known().names }

// HasWriteOnly reports whether the block has a write-only attribute at any depth.
func (b *Block) HasWriteOnly() bool { return b.known().has.writeOnly }

// HasSensitive reports whether the block has a sensitive attribute at any depth.
func (b *Block) HasSensitive() bool { return b.known().has.sensitive }

// valueType is the type of the attribute that stands for all blocks of one type.
func (n *NestedBlock) valueType() cty.Type {
	one := n.Type()
	switch n.Nesting {
	case List:
		if n.known().has.dynamic {
			return cty.DynamicPseudoType
		}
		return cty.List(one)
	case Map:
		if n.known().has.dynamic {
			return cty.DynamicPseudoType
		}
		return cty.Map(one)
	case Set:
		return cty.Set(one)
	default:
		return one
	}
}

// ValueType returns the type of the attribute's values. An attribute without any type has the dynamic type.
func (a *Attribute) ValueType() cty.Type {
	switch {
	case a.Nested != nil:
		return a.Nested.Type()
	case a.Type == cty.NilType:
		return cty.DynamicPseudoType
	default:
		return a.Type.WithoutOptionalAttributesDeep()
	}
}

// Type returns the type of the nested attribute's values: an object or a collection of objects.
func (o *Object) Type() cty.Type {
	return o.collection(cty.Object(o.types((*Attribute).ValueType)))
}

// configType is the type that configuration is converted to: attributes that need not be set are optional in
// it.
func (a *Attribute) configType() cty.Type {
	switch {
	case a.Nested != nil:
		return a.Nested.configType()
	case a.Type == cty.NilType:
		return cty.DynamicPseudoType
	default:
		return a.Type
	}
}

// configType is Attribute.configType for a nested attribute.
func (o *Object) configType() cty.Type {
	optional := slices.DeleteFunc(o.names(), func(name string) bool { return o.Attributes[name].Required })
	return o.collection(cty.ObjectWithOptionalAttrs(o.types((*Attribute).configType), optional))
}

// types returns the types of the attributes of one object.
func (o *Object) types(of func(*Attribute) cty.Type) map[string]cty.Type {
	types := make(map[string]cty.Type, len(o.Attributes))
	for name, attr := range o.Attributes {
		types[name] = of(attr)
	}
	return types
}

// collection returns the type of all objects, given the type of one.
func (o *Object) collection(one cty.Type) cty.Type {
	switch o.Nesting {
	case List:
		return cty.List(one)
	case Set:
		return cty.Set(one)
	case Map:
		return cty.Map(one)
	default:
		return one
	}
}

// Empty returns the value of a block without content: null attributes, no blocks, and an empty object for
// each block that stands for itself.
func (b *Block) Empty() cty.Value {
	values := make(map[string]cty.Value, len(b.Attributes)+len(b.Blocks))
	for name, attr := range b.Attributes {
		values[name] = cty.NullVal(attr.ValueType())
	}
	for name, nested := range b.Blocks {
		values[name] = nested.empty()
	}
	return cty.ObjectVal(values)
}

// empty returns the value for no blocks of this type. With dynamic attributes, elements may differ in type,
// so the collection is a tuple or an object.
func (n *NestedBlock) empty() cty.Value {
	one, dynamic := n.Type(), n.known().has.dynamic
	switch {
	case n.Nesting == Group:
		return n.Empty()
	case n.Nesting == List && dynamic:
		return cty.EmptyTupleVal
	case n.Nesting == List:
		return cty.ListValEmpty(one)
	case n.Nesting == Map && dynamic:
		return cty.EmptyObjectVal
	case n.Nesting == Map:
		return cty.MapValEmpty(one)
	case n.Nesting == Set:
		return cty.SetValEmpty(one)
	default:
		return cty.NullVal(one)
	}
}

func (o *Object) names() []string { return slices.Sorted(maps.Keys(o.Attributes)) }
