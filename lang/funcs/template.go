package funcs

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/bounds"
)

const (
	// maxTemplateDepth is how deep templates may render templates.
	maxTemplateDepth = 1024
	// maxTemplateLevels bounds the levels of syntax in all templates that are being rendered within each other, so that
	// none exhausts the stack together with the others.
	maxTemplateLevels = 200_000
)

// renderer renders templates. The functions that a template can call are the same everywhere, except that its template functions are
// bound to a renderer one level deeper.
type renderer struct {
	files     files
	functions map[string]function.Function // without the template functions; never changed once rendering may start
	depth     int
	levels    int // of syntax in the templates around
}

// nested returns the template functions, guarded, under both names.
func (r *renderer) nested() map[string]function.Function {
	file := guard("templatefile", r.fileFunc())
	str := guard("templatestring", r.stringFunc())
	return map[string]function.Function{
		"templatefile": file, CorePrefix + "templatefile": file,
		"templatestring": str, CorePrefix + "templatestring": str,
	}
}

func (r *renderer) fileFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{stringParam("path"), {Name: "vars", Type: cty.DynamicPseudoType}},
		Type:   templateType,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			src, err := r.files.text(name)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return r.render(src, name, args[1])
		},
	})
}

func (r *renderer) stringFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{stringParam("data"), {Name: "vars", Type: cty.DynamicPseudoType}},
		Type:   templateType,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return r.render(args[0].AsString(), "<templatestring argument>", args[1])
		},
	})
}

// templateType predicts nothing: a template of a single interpolation has the type of that value, which only rendering can tell. But it
// refuses variables of the wrong type, known or not.
func templateType(args []cty.Value) (cty.Type, error) {
	if ty := args[1].Type(); ty != cty.DynamicPseudoType && !ty.IsMapType() && !ty.IsObjectType() {
		return cty.NilType, function.NewArgErrorf(1, "invalid vars value: must be a map")
	}
	return cty.DynamicPseudoType, nil
}

// tooDeepError travels up through all levels unchanged: wrapped at each, it would grow to a thousand lines.
type tooDeepError struct{ template string }

func (e tooDeepError) Error() string {
	return fmt.Sprintf("maximum recursion depth %d reached in %s; a template must not render itself without end",
		maxTemplateDepth, e.template)
}

func (r *renderer) render(src, name string, vars cty.Value) (cty.Value, error) {
	text := []byte(src)
	levels := r.levels + bounds.Levels(text)
	switch excess := bounds.Template(text, name); {
	case excess != nil:
		return cty.NilVal, function.NewArgErrorf(0, "%s: %w", excess.Range, excess.Err)
	case r.depth >= maxTemplateDepth || levels > maxTemplateLevels:
		return cty.NilVal, tooDeepError{name}
	}
	scope, err := templateScope(vars)
	if err != nil {
		return cty.NilVal, function.NewArgError(1, err)
	}
	expr, diags := hclsyntax.ParseTemplate(text, name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, function.NewArgError(0, diagError(diags))
	}
	for _, t := range expr.Variables() {
		if _, ok := scope[t.RootName()]; !ok {
			return cty.NilVal, function.NewArgErrorf(1, "vars map does not contain key %q, referenced at %s", t.RootName(), t[0].SourceRange())
		}
	}
	deeper := &renderer{files: r.files, functions: r.functions, depth: r.depth + 1, levels: levels}
	ctx := (&hcl.EvalContext{Functions: r.functions}).NewChild()
	ctx.Variables = scope
	ctx.Functions = deeper.nested()
	v, diags := expr.Value(ctx)
	if diags.HasErrors() {
		return cty.NilVal, diagError(diags)
	}
	return v, nil
}

// templateScope returns the variables of a template, from a map or object.
func templateScope(vars cty.Value) (map[string]cty.Value, error) {
	scope := vars.AsValueMap()
	for name := range scope {
		if !hclsyntax.ValidIdentifier(name) {
			return nil, fmt.Errorf("invalid template variable name %q: must start with a letter, followed by zero or more letters, digits, "+
				"and underscores", name)
		}
	}
	return scope, nil
}

// diagError returns the first error of a template, as one sentence that names its place.
func diagError(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok {
			if deep, ok := errors.AsType[tooDeepError](call.FunctionCallError()); ok {
				return deep
			}
		}
		return d
	}
	return diags
}
