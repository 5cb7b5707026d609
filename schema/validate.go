package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// Kind tells what a schema is for: not every feature makes sense everywhere.
type Kind uint8

// The kinds of schemas.
const (
	ForProvider Kind = iota
	ForManaged
	ForData
	ForEphemeral
)

// String names the kind as the subject of a sentence.
func (k Kind) String() string {
	return [...]string{"provider configurations", "managed resources", "data sources", "ephemeral resources"}[k%4]
}

// InternalValidate reports all rules that the schema itself breaks, each with the place in the schema. Such a
// schema is a bug in the provider and nothing can be decoded with it reliably. The result is nil or a join of
// errors.
func (b *Block) InternalValidate(kind Kind) error {
	v := validator{kind: kind}
	v.block(b, "", false)
	return errors.Join(v.errs...)
}

type validator struct {
	kind Kind
	errs []error
}

func (v *validator) fail(at, format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

var nameSyntax = regexp.MustCompile(`^[a-z0-9_]+$`)

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

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

func (v *validator) writeOnly(a *Attribute, at string, inSet bool) {
	if v.kind != ForManaged {
		v.fail(at, "write-only attributes are not possible in %s", v.kind)
	}
	if a.Computed {
		v.fail(at, "cannot be both write-only and computed: write-only values are never returned")
	}
	if inSet {
		v.fail(at, "a write-only attribute cannot be inside a set, where elements have no identity but their values")
	}
}

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
