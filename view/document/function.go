package document

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
)

// FunctionCall is the function whose call a diagnostic is about.
type FunctionCall struct {
	CalledAs  string     `json:"called_as"`
	Signature *Signature `json:"signature,omitempty"`
}

// Signature lists the parameters and the result type of a function.
type Signature struct {
	Name       string          `json:"name"`
	Params     []Parameter     `json:"params"`
	Variadic   *Parameter      `json:"variadic_param,omitempty"`
	ReturnType json.RawMessage `json:"return_type"`
}

// Parameter is a parameter of a function.
type Parameter struct {
	Name string          `json:"name"`
	Type json.RawMessage `json:"type"`
}

// calledFunction describes the function whose call the diagnostic is about; nil if it is about no call.
func calledFunction(d *diag.Diagnostic) *FunctionCall {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](&hcl.Diagnostic{Extra: d.Extra})
	if !ok || call.CalledFunctionName() == "" {
		return nil
	}
	out := &FunctionCall{CalledAs: call.CalledFunctionName()}
	for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
		if f, known := ctx.Functions[out.CalledAs]; known {
			out.Signature = signatureOf(out.CalledAs, f)
			break
		}
	}
	return out
}

// signatureOf describes a function under the last part of its name, without the namespace. The result type
// is dynamic if it depends on the arguments.
func signatureOf(name string, f function.Function) *Signature {
	out := &Signature{Name: name[strings.LastIndex(name, ":")+1:], Params: []Parameter{}}
	var args []cty.Type
	for _, p := range f.Params() {
		out.Params = append(out.Params, Parameter{p.Name, typeJSON(p.Type)})
		args = append(args, p.Type)
	}
	if p := f.VarParam(); p != nil {
		out.Variadic = &Parameter{p.Name, typeJSON(p.Type)}
	}
	result, err := f.ReturnType(args)
	if err != nil {
		result = cty.DynamicPseudoType
	}
	out.ReturnType = typeJSON(result)
	return out
}

// Parameters returns the parameter names in parentheses, as in a call; "" if they are unknown.
func (f *FunctionCall) Parameters() string {
	if f.Signature == nil {
		return ""
	}
	var names []string
	for _, p := range f.Signature.Params {
		names = append(names, p.Name)
	}
	if f.Signature.Variadic != nil {
		names = append(names, f.Signature.Variadic.Name+"...")
	}
	return "(" + strings.Join(names, ", ") + ")"
}
