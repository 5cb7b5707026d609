package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
)

// typeForms maps the words of type constraints to their usage.
var typeForms = map[string]string{
	"string": "string", "number": "number", "bool": "bool", "any": "any", "list": "list(TYPE)", "set": "set(TYPE)", "map": "map(TYPE)",
	"object": "object({ NAME = TYPE })", "tuple": "tuple([TYPE])", "optional": "optional(TYPE)",
}

var typeNames = []string{"string", "number", "bool", "any", "list", "set", "map", "object", "tuple"}

// foreignTypes maps type names of other languages to type names of this one.
var foreignTypes = map[string]string{
	"str": "string", "text": "string", "int": "number", "integer": "number", "float": "number", "double": "number", "num": "number", "boolean": "bool",
	"array": "list", "slice": "list", "dict": "map", "hash": "map", "struct": "object", "dynamic": "any",
}

// typeErrors rewords errors about a type constraint: errors about unknown words suggest the type that may
// have been meant. The parser's error at the same position is dropped, so there is one error per word.
func typeErrors(expr hcl.Expression, diags diag.List) diag.List {
	unknown := unknownTypes(expr)
	diags = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool {
		return d.Subject != nil && slices.ContainsFunc(unknown, func(u diag.Diagnostic) bool { return u.Subject.Start == d.Subject.Start })
	})
	return append(unknown, diags...).Sorted()
}

// unknownTypes reports the words in a type constraint that are not types.
func unknownTypes(expr hcl.Expression) diag.List {
	if word := hcl.ExprAsKeyword(expr); word != "" {
		return unknownType(word, expr.Range(), typeNames)
	}
	if index, ok := expr.(*hclsyntax.IndexExpr); ok {
		if of, element := hcl.ExprAsKeyword(index.Collection), hcl.ExprAsKeyword(index.Key); of != "" && element != "" {
			return diag.At(expr.Range(), "Invalid type specification", "The type of the elements is written in parentheses: %s(%s).", of, element)
		}
	}
	call, hd := hcl.ExprCall(expr)
	if hd.HasErrors() {
		return nil
	}
	diags := unknownType(call.Name, call.NameRange, append(slices.Clone(typeNames), "optional"))
	parts := call.Arguments
	if len(parts) > 0 && call.Name == "optional" {
		parts = parts[:1]
	}
	for _, part := range parts {
		for _, element := range typeElements(part) {
			diags = append(diags, unknownTypes(element)...)
		}
	}
	return diags
}

// typeElements returns the types in an argument of a type constructor.
func typeElements(expr hcl.Expression) []hcl.Expression {
	if list, hd := hcl.ExprList(expr); !hd.HasErrors() {
		return list
	}
	pairs, hd := hcl.ExprMap(expr)
	if hd.HasErrors() {
		return []hcl.Expression{expr}
	}
	var out []hcl.Expression
	for _, p := range pairs {
		out = append(out, p.Value)
	}
	return out
}

// unknownType reports a word unless it is one of known, with the word most likely meant.
func unknownType(word string, at hcl.Range, known []string) diag.List {
	if slices.Contains(known, word) {
		return nil
	}
	meant := foreignTypes[word]
	if meant == "" {
		meant = diag.Nearest(word, known)
	}
	hint := "The types are string, number, bool, any, list(TYPE), set(TYPE), map(TYPE), object({ NAME = TYPE }), and tuple([TYPE])."
	if meant != "" {
		hint = fmt.Sprintf("Did you mean %s?", typeForms[meant])
	}
	return diag.At(at, "Invalid type specification", "%q is not a type. %s", word, hint)
}
