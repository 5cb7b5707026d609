// Package schema models schemas that providers declare for their configuration and their resource types, and
// data that follow from a schema alone: value types, decoder specs, write-only and sensitive paths, and the
// comparisons of the provider contract.
//
// It may import hcl, cty, addr and diag. It must not know providers, configuration files, state or plans.
package schema

import "github.com/zclconf/go-cty/cty"

// Schema is a block with the version that objects are stored under.
type Schema struct {
	Version int64
	Block   *Block
}

// Block describes the content of a configuration block and the object value made from it. A Block is
// immutable once built; its derived forms (type, spec) are computed once and shared between goroutines. The
// maps must not be changed once a method was called.
type Block struct {
	Attributes         map[string]*Attribute
	Blocks             map[string]*NestedBlock
	Description        string
	DescriptionKind    DescriptionKind
	Deprecated         bool
	DeprecationMessage string

	derived derived
}

// Attribute describes one argument or result of a block. Required, Optional and Computed follow the
// protocol: required, optional, computed, or both of the last two, which means that the provider chooses a
// value if none is configured. A write-only attribute is null in everything that is stored (E61).
type Attribute struct {
	Type               cty.Type // cty.NilType if Nested is set
	Nested             *Object  // protocol 6 nested attributes
	Description        string
	DescriptionKind    DescriptionKind
	Required           bool
	Optional           bool
	Computed           bool
	Sensitive          bool
	WriteOnly          bool
	Extension          bool // other engines' versions of the type lack it: it is shown and stored only if it is used
	Deprecated         bool
	DeprecationMessage string
}

// Object describes a nested attribute: an object or a collection of objects.
type Object struct {
	Attributes map[string]*Attribute
	Nesting    Nesting // Single, List, Set or Map
}

// NestedBlock describes a block type within a block. MinItems and MaxItems are 0 for no limit.
type NestedBlock struct {
	Block
	Nesting  Nesting
	MinItems int
	MaxItems int
}

// Nesting tells how many nested objects there may be and how they are kept.
type Nesting uint8

// The nesting modes, with the numbers of the provider protocol. A Group is like Single, but is never null:
// without a block, it is an object with null attributes.
const (
	NestingInvalid Nesting = iota
	Single
	List
	Set
	Map
	Group
)

// String returns the name used in schema documents: "single", "list", ...
func (n Nesting) String() string {
	return [...]string{"invalid", "single", "list", "set", "map", "group"}[min(int(n), 6)%6]
}

// DescriptionKind is the format of a description.
type DescriptionKind uint8

// The description formats.
const (
	Plain DescriptionKind = iota
	Markdown
)

// Identity is the schema of a resource type's identity. An identity names an object within its provider, as
// an id does, with several attributes. It is stored beside the object and can be imported by.
type Identity struct {
	Version    int64
	Attributes map[string]*IdentityAttribute
}

// IdentityAttribute describes one part of an identity.
type IdentityAttribute struct {
	Type              cty.Type
	Description       string
	RequiredForImport bool
	OptionalForImport bool
}

// Function is the signature of a provider-defined function. Variadic describes the arguments after Params;
// nil if there can't be any.
type Function struct {
	Params             []FunctionParam
	Variadic           *FunctionParam
	Return             cty.Type
	Summary            string
	Description        string
	DescriptionKind    DescriptionKind
	DeprecationMessage string
}

// FunctionParam describes one parameter.
type FunctionParam struct {
	Name            string
	Type            cty.Type
	AllowNull       bool
	AllowUnknown    bool
	Description     string
	DescriptionKind DescriptionKind
}
