// Package typearg knows the arguments of functions that are types rather than values, such as the second one
// of convert([], list(string)). Nothing in them refers to anything: string is not a reference there.
//
// It may import HCL's and cty's packages. It must not know the results of functions.
package typearg

import (
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Constraint is a type as it is written in the configuration.
type Constraint struct {
	// Type may have optional attributes.
	Type cty.Type
	// Defaults are the values of optional attributes, nil if there are none.
	Defaults *typeexpr.Defaults
}

// Type is the type of a parameter that takes a type. HCL does not evaluate the argument but has it read as a
// type, with the syntax of a variable's type.
var Type = newType()

// newType returns the type of arguments that are types. Its decoder keeps the evaluator from looking for
// variables called string or list.
func newType() (ty cty.Type) {
	decode := func(e hcl.Expression, _ *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
		to, defaults, diags := typeexpr.TypeConstraintWithDefaults(e)
		if diags.HasErrors() {
			return cty.UnknownVal(ty), diags
		}
		return cty.CapsuleVal(ty, &Constraint{Type: to, Defaults: defaults}), nil
	}
	ty = cty.CapsuleWithOps("type", reflect.TypeFor[Constraint](), &cty.CapsuleOps{
		ExtensionData: func(key any) any {
			if key == customdecode.CustomExpressionDecoder {
				return customdecode.CustomExpressionDecoderFunc(decode)
			}
			return nil
		},
	})
	return ty
}

// Of returns the type that a known argument of type Type stands for.
func Of(v cty.Value) Constraint { return *v.EncapsulatedValue().(*Constraint) }

// Argument returns the argument of a call that is a type, or nil.
func Argument(call *hclsyntax.FunctionCallExpr) hclsyntax.Expression {
	if strings.TrimPrefix(call.Name, "core::") != "convert" || len(call.Args) < 2 {
		return nil
	}
	return call.Args[1]
}

// Variables returns the traversals of an expression like the method of the same name, without those within
// types.
func Variables(e hcl.Expression) []hcl.Traversal {
	all := e.Variables()
	if len(all) == 0 {
		return all
	}
	node, ok := e.(hclsyntax.Node)
	if !ok {
		return foreignVariables(e, all)
	}
	return outside(all, types(node))
}

// types returns the ranges of the types in an expression.
func types(node hclsyntax.Node) (found []hcl.Range) {
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			if arg := Argument(call); arg != nil {
				found = append(found, arg.Range())
			}
		}
		return nil
	})
	return found
}

// outside returns the references that are in none of the ranges, which are the ranges of arguments that are
// types.
func outside(all []hcl.Traversal, ranges []hcl.Range) []hcl.Traversal {
	if len(ranges) == 0 {
		return all
	}
	var out []hcl.Traversal
	for _, t := range all {
		at, within := t.SourceRange(), false
		for _, r := range ranges {
			within = within || r.Overlaps(at)
		}
		if !within {
			out = append(out, t)
		}
	}
	return out
}

// foreignVariables filters the traversals of an expression of JSON syntax, whose strings are templates. Where
// a template has a type, the names of primitive types, which alone are never references, are left out.
func foreignVariables(e hcl.Expression, all []hcl.Traversal) []hcl.Traversal {
	if items, diags := hcl.ExprList(e); !diags.HasErrors() {
		var out []hcl.Traversal
		for _, item := range items {
			out = append(out, Variables(item)...)
		}
		return out
	}
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		var out []hcl.Traversal
		for _, pair := range pairs {
			out = append(append(out, Variables(pair.Key)...), Variables(pair.Value)...)
		}
		return out
	}
	text, diags := e.Value(nil) // without a context, JSON strings are given as they are written
	if diags.HasErrors() || text.IsMarked() || text.Type() != cty.String || !text.IsKnown() || text.IsNull() {
		return all
	}
	template, diags := hclsyntax.ParseTemplate([]byte(text.AsString()), "", hcl.InitialPos)
	if diags.HasErrors() || len(types(template)) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(t hcl.Traversal) bool {
		_, err := typeexpr.TypeConstraint(&hclsyntax.ScopeTraversalExpr{Traversal: t})
		return len(t) == 1 && !err.HasErrors()
	})
}
