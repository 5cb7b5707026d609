package backend

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Argument declares one argument of a backend block.
type Argument struct {
	schema.Attribute
	env   []string // variables that stand in for it, in order of falling precedence
	where bool     // it says where states are
	solid bool     // it cannot be an empty text
}

// Arguments are the arguments of a block, by name.
type Arguments map[string]Argument

func of(ty cty.Type, env []string) Argument {
	return Argument{Attribute: schema.Attribute{Type: ty, Optional: true}, env: env}
}

// Text declares an argument that is a text, with the environment variables that stand in for it.
func Text(env ...string) Argument { return of(cty.String, env) }

// Number is Text for a number.
func Number(env ...string) Argument { return of(cty.Number, env) }

// Boolean is like Text, for a boolean value.
func Boolean(env ...string) Argument { return of(cty.Bool, env) }

// Texts is Text for a list.
func Texts(env ...string) Argument { return of(cty.List(cty.String), env) }

// TextSet is Text for a set.
func TextSet() Argument { return of(cty.Set(cty.String), nil) }

// TextMap is Text for a map.
func TextMap() Argument { return of(cty.Map(cty.String), nil) }

// Secret makes the argument a credential: its value is written to no file in clear.
func (a Argument) Secret() Argument {
	a.Sensitive = true
	return a
}

// About describes the argument for the reference, in a few words, which may be Markdown.
func (a Argument) About(text string) Argument {
	a.Description, a.DescriptionKind = text, schema.Markdown
	return a
}

// Place makes the argument one that says where states are. It is shown in messages and recorded.
func (a Argument) Place() Argument {
	a.where = true
	return a
}

// Solid makes the argument one that cannot be an empty text, which others take for no value.
func (a Argument) Solid() Argument {
	a.solid = true
	return a
}

// Required makes the argument one that Complete requires.
func (a Argument) Required() Argument {
	a.Attribute.Required, a.Attribute.Optional = true, false
	return a
}

// Deprecated names the replacement, or says that the argument has no effect.
func (a Argument) Deprecated(message string) Argument {
	a.Attribute.Deprecated, a.Attribute.DeprecationMessage = true, message
	return a
}

// ReplacedBy says which argument to use instead.
func (a Argument) ReplacedBy(name string) Argument {
	return a.Deprecated("Use \"" + name + "\" in its place.")
}

// Object is an argument whose value is one object with the given attributes.
func Object(attrs Arguments) Argument {
	return Argument{Attribute: schema.Attribute{Optional: true, Nested: &schema.Object{Attributes: attrs.attributes(), Nesting: schema.Single}}}
}

func (a Arguments) attributes() map[string]*schema.Attribute {
	out := make(map[string]*schema.Attribute, len(a))
	for name, arg := range a {
		out[name] = &arg.Attribute
	}
	return out
}

// Block is a block within a backend block, of which there may be one. about describes it, as for an argument.
func Block(nesting schema.Nesting, about string, attrs Arguments) *schema.NestedBlock {
	b := &schema.NestedBlock{Block: schema.Block{Attributes: attrs.attributes(), Description: about, DescriptionKind: schema.Markdown}, Nesting: nesting}
	if nesting != schema.Single {
		b.MaxItems = 1
	}
	return b
}

// DeprecatedBlock adds a message that names the replacement of a block.
func DeprecatedBlock(b *schema.NestedBlock, message string) *schema.NestedBlock {
	b.Deprecated, b.DeprecationMessage = true, message
	return b
}

// Declare returns a kind with its block and the service that opens it.
func Declare(name string, args Arguments, blocks map[string]*schema.NestedBlock, service Service) *Kind {
	k := &Kind{Name: name, Block: &schema.Block{Attributes: args.attributes(), Blocks: blocks}, env: map[string][]string{}, service: service}
	for arg, a := range args {
		if len(a.env) > 0 {
			k.env[arg] = a.env
		}
		if a.where {
			k.where = append(k.where, arg)
		}
		if a.solid {
			k.solid = append(k.solid, arg)
		}
	}
	slices.Sort(k.where)
	return k
}
