package view

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
)

// JSONFunction is the function whose call a diagnostic is about.
type JSONFunction struct {
	CalledAs  string         `json:"called_as"`
	Signature *JSONSignature `json:"signature,omitempty"`
}

// JSONSignature lists the parameters and the result type of a function.
type JSONSignature struct {
	Name       string          `json:"name"`
	Params     []JSONParameter `json:"params"`
	Variadic   *JSONParameter  `json:"variadic_param,omitempty"`
	ReturnType json.RawMessage `json:"return_type"`
}

// JSONParameter is a parameter of a function.
type JSONParameter struct {
	Name string          `json:"name"`
	Type json.RawMessage `json:"type"`
}

// calledFunction describes the function whose call the diagnostic is about; nil if it is about no call.
func calledFunction(d *diag.Diagnostic) *JSONFunction {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](&hcl.Diagnostic{Extra: d.Extra})
	if !ok || call.CalledFunctionName() == "" {
		return nil
	}
	out := &JSONFunction{CalledAs: call.CalledFunctionName()}
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
func signatureOf(name string, f function.Function) *JSONSignature {
	out := &JSONSignature{Name: name[strings.LastIndex(name, ":")+1:], Params: []JSONParameter{}}
	var args []cty.Type
	for _, p := range f.Params() {
		out.Params = append(out.Params, JSONParameter{p.Name, typeJSON(p.Type)})
		args = append(args, p.Type)
	}
	if p := f.VarParam(); p != nil {
		out.Variadic = &JSONParameter{p.Name, typeJSON(p.Type)}
	}
	result, err := f.ReturnType(args)
	if err != nil {
		result = cty.DynamicPseudoType
	}
	out.ReturnType = typeJSON(result)
	return out
}

// parameters returns the parameter names in parentheses, as in a call; "" if they are unknown.
func (f *JSONFunction) parameters() string {
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
