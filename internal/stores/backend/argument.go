package backend

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// argument declares one argument of a backend block.
type argument struct {
	schema.Attribute
	env   []string // variables that stand in for it, in order of falling precedence
	where bool     // it says where states are
}

// arguments are those of a block, by name.
type arguments map[string]argument

func of(ty cty.Type, env []string) argument {
	return argument{Attribute: schema.Attribute{Type: ty, Optional: true}, env: env}
}

func text(env ...string) argument    { return of(cty.String, env) }
func number(env ...string) argument  { return of(cty.Number, env) }
func boolean(env ...string) argument { return of(cty.Bool, env) }
func texts(env ...string) argument   { return of(cty.List(cty.String), env) }
func textSet() argument              { return of(cty.Set(cty.String), nil) }
func textMap() argument              { return of(cty.Map(cty.String), nil) }

// secret makes the argument a credential: its value is written to no file in clear.
func (a argument) secret() argument {
	a.Sensitive = true
	return a
}

// about says what the argument is for, for the reference: in a few words, which may be Markdown.
func (a argument) about(text string) argument {
	a.Description, a.DescriptionKind = text, schema.Markdown
	return a
}

// place makes the argument one that says where states are. It is shown in messages and recorded.
func (a argument) place() argument {
	a.where = true
	return a
}

func (a argument) required() argument {
	a.Required, a.Optional = true, false
	return a
}

// deprecated says what to use instead, or that the argument has no effect.
func (a argument) deprecated(message string) argument {
	a.Deprecated, a.DeprecationMessage = true, message
	return a
}

// replacedBy says which argument to use instead.
func (a argument) replacedBy(name string) argument {
	return a.deprecated("Use \"" + name + "\" in its place.")
}

// object is an argument whose value is one object with the given attributes.
func object(attrs arguments) argument {
	return argument{Attribute: schema.Attribute{Optional: true, Nested: &schema.Object{Attributes: attrs.attributes(), Nesting: schema.Single}}}
}

func (a arguments) attributes() map[string]*schema.Attribute {
	out := make(map[string]*schema.Attribute, len(a))
	for name, arg := range a {
		out[name] = &arg.Attribute
	}
	return out
}

// block is a block within a backend block, of which there may be one. about says what it is for, as for an
// argument.
func block(nesting schema.Nesting, about string, attrs arguments) *schema.NestedBlock {
	b := &schema.NestedBlock{Block: schema.Block{Attributes: attrs.attributes(), Description: about, DescriptionKind: schema.Markdown}, Nesting: nesting}
	if nesting != schema.Single {
		b.MaxItems = 1
	}
	return b
}

// deprecatedBlock says what to use instead of a block.
func deprecatedBlock(b *schema.NestedBlock, message string) *schema.NestedBlock {
	b.Deprecated, b.DeprecationMessage = true, message
	return b
}

// declare returns a kind by its block. The file that opens its stores, if it is part of the program, adds the
// service.
func declare(name string, args arguments, blocks map[string]*schema.NestedBlock) *Kind {
	k := &Kind{Name: name, Block: &schema.Block{Attributes: args.attributes(), Blocks: blocks}, env: map[string][]string{}}
	for arg, a := range args {
		if len(a.env) > 0 {
			k.env[arg] = a.env
		}
		if a.where {
			k.where = append(k.where, arg)
		}
	}
	slices.Sort(k.where)
	return k
}
