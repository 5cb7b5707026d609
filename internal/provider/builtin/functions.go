package builtin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// CallFunction implements provider.Reader. Errors about the argument are function.ArgErrors and never quote
// it.
func (*builtin) CallFunction(_ context.Context, name string, args []cty.Value) (cty.Value, error) {
	call := map[string]func(cty.Value) (cty.Value, error){
		"encode_tfvars": encodeTfvars, "decode_tfvars": decodeTfvars, "encode_expr": encodeExpr,
	}[name]
	if call == nil {
		return cty.NilVal, fmt.Errorf("the built-in provider has no function %q; it has encode_tfvars, decode_tfvars and encode_expr", name)
	}
	if len(args) != 1 || args[0] == cty.NilVal {
		return cty.NilVal, fmt.Errorf("the function %s takes one argument", name)
	}
	arg, marks := args[0].UnmarkDeep()
	v, err := call(arg)
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	return v.WithMarks(marks), nil
}

// encodable returns an error if v cannot be written as an expression. Null and unknown values are
// encodable.
func encodable(v cty.Value) error {
	return cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		switch {
		case v.Type().IsCapsuleType():
			return false, fmt.Errorf("a value of type %s cannot be written as an expression", v.Type().FriendlyName())
		case v.Type() == cty.Number && v.IsKnown() && !v.IsNull() && v.AsBigFloat().IsInf():
			return false, errors.New("an infinite number cannot be written as an expression")
		}
		return true, nil
	})
}

// encodeExpr is the function encode_expr. The result is unknown as long as any part of the value is.
func encodeExpr(v cty.Value) (cty.Value, error) {
	if err := encodable(v); err != nil {
		return cty.NilVal, err
	}
	if !v.IsWhollyKnown() {
		return cty.UnknownVal(cty.String).RefineNotNull(), nil
	}
	return cty.StringVal(escapeMarks(hclwrite.TokensForValue(v).Bytes())), nil
}

// encodeTfvars is the function encode_tfvars. Errors count keys instead of naming them, because the value
// may be secret.
func encodeTfvars(v cty.Value) (cty.Value, error) {
	switch {
	case v.IsNull():
		return cty.NilVal, errors.New("the value must not be null")
	case v.Type() == cty.DynamicPseudoType:
		return cty.UnknownVal(cty.String).RefineNotNull(), nil
	case !v.Type().IsObjectType() && !v.Type().IsMapType():
		return cty.NilVal, errors.New("an object whose attributes are the variables is required")
	case !v.IsKnown():
		return cty.UnknownVal(cty.String).RefineNotNull(), nil
	}
	variables := v.AsValueMap()
	names := slices.Sorted(maps.Keys(variables))
	for i, name := range names {
		if !hclsyntax.ValidIdentifier(name) {
			return cty.NilVal, fmt.Errorf("key %d of %d, in alphabetical order, is not a valid variable name: names consist of letters, digits, underscores and "+
				"hyphens and don't begin with a digit", i+1, len(names))
		}
	}
	if err := encodable(v); err != nil {
		return cty.NilVal, err
	}
	if !v.IsWhollyKnown() {
		return cty.UnknownVal(cty.String).RefineNotNull(), nil
	}
	file := hclwrite.NewEmptyFile()
	for _, name := range names {
		file.Body().SetAttributeValue(name, variables[name])
	}
	return cty.StringVal(escapeMarks(hclwrite.Format(file.Bytes()))), nil
}

// decodeTfvars is the function decode_tfvars. Its text gets the same bounds as files, since it may come
// from anywhere.
func decodeTfvars(v cty.Value) (cty.Value, error) {
	switch {
	case v.Type() != cty.String && v.Type() != cty.DynamicPseudoType:
		return cty.NilVal, errors.New("a string is required")
	case !v.IsKnown():
		return cty.DynamicVal, nil
	case v.IsNull():
		return cty.NilVal, errors.New("the value must not be null")
	}
	src := []byte(v.AsString())
	if excess := bounds.Native(src, ""); excess != nil {
		return cty.NilVal, fmt.Errorf("line %d: %w", excess.Range.Start.Line, excess.Err)
	}
	file, diags := hclsyntax.ParseConfig(src, "", hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, decodeError(diags)
	}
	attrs, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		return cty.NilVal, decodeError(diags)
	}
	variables := make(map[string]cty.Value, len(attrs))
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		value, diags := attrs[name].Expr.Value(nil)
		if diags.HasErrors() {
			return cty.NilVal, decodeError(diags)
		}
		variables[name] = value
	}
	return cty.ObjectVal(variables), nil
}

// decodeError describes the first error. It omits the details of diagnostics, which quote the possibly
// secret text.
func decodeError(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		summary := d.Summary
		if d.Detail == "Blocks are not allowed here." {
			summary = "Blocks not allowed"
		}
		if d.Subject == nil {
			return fmt.Errorf("the text is not that of a variable file: %s", summary)
		}
		return fmt.Errorf("the text is not that of a variable file: %s (line %d, column %d)", summary, d.Subject.Start.Line, d.Subject.Start.Column)
	}
	return errors.New("the text is not that of a variable file")
}
