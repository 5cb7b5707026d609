package funcs

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang/typearg"
)

const (
	// maxTemplateDepth is how deep templates may render templates.
	maxTemplateDepth = 1024
	// maxTemplateLevels bounds the levels of syntax in all templates that are being rendered within each
	// other, so that none exhausts the stack together with the others.
	maxTemplateLevels = 200_000
)

// renderer renders templates. The functions that a template can call are the same everywhere, except that its
// template functions are bound to a renderer one level deeper.
type renderer struct {
	files     files
	functions map[string]function.Function        // without the template functions; never changed once rendering may start
	rewrite   func(hcl.Expression) hcl.Expression // nil to render templates as HCL does
	budget    *bounds.Budget
	depth     int
	levels    int // of syntax in the templates around
}

// Rendering says how the template functions of one evaluation render templates.
type Rendering struct {
	BaseDir   string                              // as in [Options]
	Functions map[string]function.Function        // functions for templates; the map is not changed
	Rewrite   func(hcl.Expression) hcl.Expression // returns the expression to evaluate in place of a template
	Budget    *bounds.Budget                      // of the evaluation, whose part the templates are
}

// Table returns the template functions, to be called in place of their namesakes in [Table].
func (o Rendering) Table() map[string]function.Function {
	r := &renderer{files: files{base: o.BaseDir}, functions: o.Functions, rewrite: o.Rewrite, budget: o.Budget}
	return r.nested()
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

// fileFunc returns templatefile. Its result has the type of the template: a template that is one expression
// gives a value of any type.
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

// stringFunc returns templatestring, which is templatefile for text that the configuration has already.
func (r *renderer) stringFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{stringParam("data"), {Name: "vars", Type: cty.DynamicPseudoType}},
		Type:   templateType,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return r.render(args[0].AsString(), "<templatestring argument>", args[1])
		},
	})
}

// templateType predicts nothing: a template of a single interpolation has the type of that value, which only
// rendering can tell. But it refuses variables of the wrong type, known or not.
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

// render parses and evaluates a template. Size and nesting are checked before parsing, since the parser
// recurses: a deep enough template would exhaust the stack, which cannot be recovered from.
func (r *renderer) render(src, name string, vars cty.Value) (cty.Value, error) {
	text := []byte(src)
	levels := r.levels + bounds.Levels(text)
	switch excess := bounds.Template(text, name); {
	case excess != nil:
		return cty.NilVal, templateError(diag.At(excess.Range, "Invalid template", "%s", diag.Sentence(excess.Err)), text, excess.Err)
	case r.depth >= maxTemplateDepth || levels > maxTemplateLevels:
		return cty.NilVal, tooDeepError{name}
	}
	scope, err := templateScope(vars)
	if err != nil {
		return cty.NilVal, function.NewArgError(1, err)
	}
	expr, hd := hclsyntax.ParseTemplate(text, name, hcl.InitialPos)
	if hd.HasErrors() {
		tokens, _ := hclsyntax.LexTemplate(text, name, hcl.InitialPos)
		return cty.NilVal, templateError(diag.Syntax(hd, tokens), text, nil)
	}
	for _, t := range typearg.Variables(expr) {
		if _, ok := scope[t.RootName()]; !ok {
			return cty.NilVal, templateError(noVariable(t, slices.Collect(maps.Keys(scope))), text, nil)
		}
	}
	deeper := *r
	deeper.depth, deeper.levels = r.depth+1, levels
	outer := &hcl.EvalContext{Functions: r.functions, Variables: map[string]cty.Value{}}
	r.budget.Within(outer.Variables)
	ctx := outer.NewChild()
	ctx.Variables = scope
	ctx.Functions = deeper.nested()
	ctx.Functions["fingerprint"], ctx.Functions[CorePrefix+"fingerprint"] = refusedFingerprint, refusedFingerprint
	v, hd := r.rewritten(expr).Value(ctx)
	if hd.HasErrors() {
		return cty.NilVal, evaluationError(hd, text)
	}
	if _, one := expr.(*hclsyntax.TemplateWrapExpr); one {
		v = v.Mark(ofAnyType{})
	}
	return v, nil
}

// ofAnyType marks results of templates that are not text by their nature, until markType replaces it.
type ofAnyType struct{}

// rewritten returns the expression to evaluate in place of a template.
func (r *renderer) rewritten(e hcl.Expression) hcl.Expression {
	if r.rewrite == nil {
		return e
	}
	return r.rewrite(e)
}

// noVariable reports a reference to a variable that a template is not given.
func noVariable(t hcl.Traversal, given []string) diag.List {
	name := t.RootName()
	hint := diag.DidYouMean(name, given)
	switch {
	case slices.Contains([]string{"var", "local", "module", "data", "each", "count", "path", "self", "terraform"}, name):
		hint = fmt.Sprintf(" A template cannot refer to the configuration: pass %s under a name of your choice, and refer to that.", diag.Reference(t))
	case hint == "" && len(given) == 0:
		hint = " It passes none at all."
	case hint == "":
		hint = " It passes " + diag.Names(given) + "."
	}
	return diag.At(t[0].SourceRange(), "Undefined template variable", "The call that renders this template passes no variable %q.%s", name, hint)
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

// templateError returns the first error about the text of a template. The cause may be nil.
func templateError(diags diag.List, text []byte, cause error) error {
	for _, d := range diags {
		if d.Severity == diag.Error {
			d.Source = text
			return &diag.TextError{Diagnostic: d, Err: cause}
		}
	}
	return diags.Err()
}

// evaluationError is templateError for errors of an evaluation. An error about a template that this one
// renders travels up unchanged but for the place of the call.
func evaluationError(hd hcl.Diagnostics, text []byte) error {
	for _, d := range hd {
		call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
		if !ok || d.Severity != hcl.DiagError {
			continue
		}
		if deep, ok := errors.AsType[tooDeepError](call.FunctionCallError()); ok {
			return deep
		}
		if inner, ok := errors.AsType[*diag.TextError](call.FunctionCallError()); ok {
			located := *inner
			if located.By == nil && d.Expression != nil {
				located.By = d.Expression.Range().Ptr()
			}
			return &located
		}
	}
	return templateError(diag.FromHCL(hd), text, nil)
}
