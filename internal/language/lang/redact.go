package lang

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Redact takes out of errors every possible part of a sensitive or ephemeral value: a key, an element, a
// text. The errors come from an evaluation in ctx. On errors that may depend on a secret, it evaluates once
// more with again, in a context in which secrets are unknown: an error that comes back word for word depends
// on none and is kept. So are errors of functions about arguments that carry their marks. Any other error
// keeps its summary and its place, and loses its detail.
//
// It is the one place where errors of evaluation lose secrets; everything that evaluates hands its errors
// through here. It changes the list and returns it.
func Redact(diags diag.List, ctx *hcl.EvalContext, again func(*hcl.EvalContext) diag.List) diag.List {
	if !diags.HasErrors() {
		return diags
	}
	public, secrets := withoutSecrets(ctx)
	kept := map[diagnosticKey]struct{}{}
	for _, d := range again(public) {
		kept[keyOf(d)] = struct{}{}
	}
	word, secret := value.Redacted(secrets)
	if !secret {
		return diags
	}
	for i := range diags {
		d := &diags[i]
		if d.Severity != diag.Error {
			continue
		}
		inLoop := d.EvalContext != ctx
		d.EvalContext = mask(d.EvalContext, ctx, secrets)
		if _, ok := kept[keyOf(*d)]; ok {
			continue
		}
		if call, ok := d.Extra.(hclsyntax.FunctionCallDiagExtra); ok && call.FunctionCallError() != nil && !inLoop {
			continue
		}
		d.Detail = requirement(*d) + "The details are not shown here, because they could reveal a part of a value: " + word + "."
		if _, ok := d.Extra.(hclsyntax.FunctionCallDiagExtra); ok && inLoop {
			d.Extra = nil // it has the error of the function, which saw an element without its marks
		}
	}
	return diags
}

// requirement says which argument of a function has the wrong type, and which type is needed; it returns ""
// for other errors.
func requirement(d diag.Diagnostic) string {
	call, ok := d.Extra.(hclsyntax.FunctionCallDiagExtra)
	name, _, found := strings.Cut(strings.TrimPrefix(d.Detail, "Invalid value for \""), "\" parameter: ")
	if !ok || !found {
		return ""
	}
	f, ok := FunctionsIn(d.EvalContext)[call.CalledFunctionName()]
	if !ok {
		return ""
	}
	params := f.Params()
	if rest := f.VarParam(); rest != nil {
		params = append(params, *rest)
	}
	for _, p := range params {
		if p.Name == name {
			return fmt.Sprintf("Invalid value for %q parameter: %s required. ", name, p.Type.FriendlyNameForConstraint())
		}
	}
	return ""
}

// mask returns a context like c, an inner context of root, in which all variables of loops have marks:
// elements have lost their collection's.
func mask(c, root *hcl.EvalContext, marks cty.ValueMarks) *hcl.EvalContext {
	if c == nil || c == root {
		return c
	}
	masked := mask(c.Parent(), root, marks).NewChild()
	masked.Functions = c.Functions
	masked.Variables = make(map[string]cty.Value, len(c.Variables))
	for name, v := range c.Variables {
		masked.Variables[name] = v.WithMarks(marks)
	}
	return masked
}

// diagnosticKey is the visible part of an error.
type diagnosticKey struct {
	summary, detail string
	subject         hcl.Range
}

// keyOf returns the key of a diagnostic. Two evaluations of one expression report the same error with equal
// keys.
func keyOf(d diag.Diagnostic) diagnosticKey {
	k := diagnosticKey{summary: d.Summary, detail: d.Detail}
	if d.Subject != nil {
		k.subject = *d.Subject
	}
	return k
}

// withoutSecrets returns a context like ctx in which secrets are unknown, and the marks of these secrets. An
// evaluation in the new context adds to these marks when it calls a function that makes a value sensitive.
func withoutSecrets(ctx *hcl.EvalContext) (*hcl.EvalContext, cty.ValueMarks) {
	marks := cty.ValueMarks{}
	public := &hcl.EvalContext{Variables: make(map[string]cty.Value, len(ctx.Variables)), Functions: FunctionsIn(ctx)}
	for name, v := range ctx.Variables {
		public.Variables[name] = unknownSecrets(v, marks)
	}
	for _, name := range []string{"sensitive", "core::sensitive"} {
		if f, ok := public.Functions[name]; ok {
			public.Functions[name] = unknownResult(f, marks)
		}
	}
	return public, marks
}

// FunctionsIn returns the functions that can be called in a context, and in the contexts around it. The map
// is the caller's own.
func FunctionsIn(ctx *hcl.EvalContext) map[string]function.Function {
	all := map[string]function.Function{}
	for ; ctx != nil; ctx = ctx.Parent() {
		for name, f := range ctx.Functions {
			if _, hidden := all[name]; !hidden {
				all[name] = f
			}
		}
	}
	return all
}

// unknownSecrets returns v with every sensitive or ephemeral part replaced by an unknown value of its type,
// and adds the marks of those parts.
func unknownSecrets(v cty.Value, marks cty.ValueMarks) cty.Value {
	if !value.IsMarked(v) {
		return v
	}
	bare, own := v.Unmark()
	bare = unknownWithin(bare, marks)
	secret := false
	for _, m := range []value.Mark{value.Sensitive, value.Ephemeral} {
		if value.Has(v, m) {
			marks[m], secret = struct{}{}, true
		}
	}
	if !secret {
		return bare.WithMarks(own)
	}
	ty := v.Type()
	if value.HasKeys(ty) || value.Has(v, value.EphemeralType) {
		ty = cty.DynamicPseudoType // names of attributes may be secret too
	}
	return cty.UnknownVal(ty).WithMarks(own)
}

// unknownWithin is unknownSecrets for the parts of a value that has no mark itself. A collection in which not
// all elements have one type any more is unknown.
func unknownWithin(v cty.Value, marks cty.ValueMarks) cty.Value {
	if !value.IsMarked(v) {
		return v
	}
	switch ty := v.Type(); {
	case ty.IsObjectType():
		return cty.ObjectVal(unknownElements(v, marks))
	case ty.IsMapType():
		if parts := unknownElements(v, marks); alike(maps.Values(parts)) {
			return cty.MapVal(parts)
		}
	default:
		parts := v.AsValueSlice()
		for i, part := range parts {
			parts[i] = unknownSecrets(part, marks)
		}
		if ty.IsTupleType() {
			return cty.TupleVal(parts)
		}
		if alike(slices.Values(parts)) { // of a list: elements of a set have no marks
			return cty.ListVal(parts)
		}
	}
	return cty.DynamicVal
}

// unknownElements is unknownSecrets for the elements of a map or an object.
func unknownElements(v cty.Value, marks cty.ValueMarks) map[string]cty.Value {
	parts := v.AsValueMap()
	for name, part := range parts {
		parts[name] = unknownSecrets(part, marks)
	}
	return parts
}

// alike reports whether values may be the elements of one collection.
func alike(values iter.Seq[cty.Value]) bool {
	common := cty.DynamicPseudoType
	for v := range values {
		switch ty := v.Type(); {
		case common == cty.DynamicPseudoType:
			common = ty
		case ty != cty.DynamicPseudoType && !ty.Equals(common):
			return false
		}
	}
	return true
}

// unknownResult returns a function with the parameters of f, the function "sensitive", whose result is
// unknown.
func unknownResult(f function.Function, marks cty.ValueMarks) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(), Type: function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			marks[value.Sensitive] = struct{}{}
			return cty.DynamicVal.Mark(value.Sensitive), nil
		},
	})
}
