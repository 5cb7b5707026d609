package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// Kind tells the purpose of a schema: not every feature makes sense everywhere.
type Kind uint8

// The kinds of schemas.
const (
	ForProvider Kind = iota
	ForManaged
	ForData
	ForEphemeral
	ForList
	ForAction
	ForStateStore
)

// String names the kind as the subject of a sentence.
func (k Kind) String() string {
	return [...]string{"provider configurations", "managed resources", "data sources", "ephemeral resources", "lists", "actions", "state stores"}[k%7]
}

// InternalValidate reports all rules that the schema itself breaks, each with the place in the schema. Such
// a schema is a bug in the provider and nothing can be decoded with it reliably. The result is nil or a
// join of errors. Among the rules is E60: write-only attributes are possible in managed resources, outside
// of sets.
func (b *Block) InternalValidate(kind Kind) error {
	v := validator{kind: kind}
	v.block(b, "", false)
	return errors.Join(v.errs...)
}

// validator collects the errors in a schema. Places are names joined by dots.
type validator struct {
	kind Kind
	errs []error
}

// fail adds an error about a place in the schema.
func (v *validator) fail(at, format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

// nameSyntax is the form of names. Providers are older than the rule that identifiers may contain any
// letters.
var nameSyntax = regexp.MustCompile(`^[a-z0-9_]+$`)

// join returns the place of name within another place; "" is the schema itself.
func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// block checks a block and everything in it. inSet is true inside of a set at any depth.
func (v *validator) block(b *Block, at string, inSet bool) {
	for _, name := range b.known().attrNames {
		v.attribute(b.Attributes[name], name, join(at, name), inSet)
	}
	for _, name := range b.known().blockNames {
		if b.Attributes[name] != nil {
			v.fail(join(at, name), "is both an attribute and a block")
		}
		v.nested(b.Blocks[name], name, join(at, name), inSet)
	}
}

// nested checks a block type.
func (v *validator) nested(n *NestedBlock, name, at string, inSet bool) {
	if !nameSyntax.MatchString(name) {
		v.fail(at, "names may contain only lowercase letters, digits and underscores")
	}
	switch {
	case n.MinItems < 0 || n.MaxItems < 0:
		v.fail(at, "the limits on the number of blocks must not be negative")
	case n.MaxItems > 0 && n.MinItems > n.MaxItems:
		v.fail(at, "at least %d but at most %d blocks is impossible", n.MinItems, n.MaxItems)
	}
	switch n.Nesting {
	case Single:
		if n.MinItems > 1 || n.MaxItems > 1 {
			v.fail(at, "a single block can be required once at most")
		}
	case Set:
		if n.known().has.dynamic {
			v.fail(at, "a set of blocks must not contain attributes of dynamic type")
		}
	case List, Map, Group:
	default:
		v.fail(at, "unknown nesting mode")
	}
	v.block(&n.Block, at, inSet || n.Nesting == Set)
}

// attribute checks an attribute and the nested ones.
func (v *validator) attribute(a *Attribute, name, at string, inSet bool) {
	if !nameSyntax.MatchString(name) {
		v.fail(at, "names may contain only lowercase letters, digits and underscores")
	}
	switch {
	case a.Required && a.Optional:
		v.fail(at, "cannot be both required and optional")
	case a.Required && a.Computed:
		v.fail(at, "cannot be both required and computed")
	case !a.Required && !a.Optional && !a.Computed:
		v.fail(at, "must be required, optional or computed")
	}
	if a.WriteOnly {
		v.writeOnly(a, at, inSet)
	}
	switch {
	case a.Nested != nil && a.Type != cty.NilType:
		v.fail(at, "cannot have both a type and nested attributes")
	case a.Nested != nil:
		v.object(a.Nested, at, inSet)
	case a.Type == cty.NilType:
		v.fail(at, "has neither a type nor nested attributes")
	}
}

// writeOnly checks where a write-only attribute may be (E60).
func (v *validator) writeOnly(a *Attribute, at string, inSet bool) {
	if v.kind != ForManaged && v.kind != ForAction && !a.Extension { // the protocol has them in these only
		v.fail(at, "write-only attributes are not possible in %s", v.kind)
	}
	if a.Computed {
		v.fail(at, "cannot be both write-only and computed: write-only values are never returned")
	}
	if inSet {
		v.fail(at, "a write-only attribute cannot be inside a set, where elements have no identity but their values")
	}
}

// object checks a nested attribute.
func (v *validator) object(o *Object, at string, inSet bool) {
	if !slices.Contains([]Nesting{Single, List, Set, Map}, o.Nesting) {
		v.fail(at, "unknown nesting mode")
	}
	if o.Nesting == Set && o.Type().HasDynamicTypes() {
		v.fail(at, "a set must not contain attributes of dynamic type")
	}
	for _, name := range o.names() {
		v.attribute(o.Attributes[name], name, join(at, name), inSet || o.Nesting == Set)
	}
}
