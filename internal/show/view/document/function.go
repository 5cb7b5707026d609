package document

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// FunctionCall is the function whose call a diagnostic is about.
type FunctionCall struct {
	CalledAs  string     `json:"called_as"`
	Signature *Signature `json:"signature,omitempty"`
}

// Signature lists the parameters and the result type of a function.
type Signature struct {
	Name       string          `json:"name"`
	Params     []parameter     `json:"params"`
	Variadic   *parameter      `json:"variadic_param,omitempty"`
	ReturnType json.RawMessage `json:"return_type"`
}

// parameter is a parameter of a function.
type parameter struct {
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
			out.Signature = signatureOf(out.CalledAs, Described(f, ""))
			break
		}
	}
	return out
}

// signatureOf returns the signature of a function under the last part of its name, without the namespace.
func signatureOf(name string, f *schema.Function) *Signature {
	out := &Signature{Name: name[strings.LastIndex(name, ":")+1:], Params: []parameter{}, ReturnType: typeOrDynamic(f.Return)}
	for _, p := range f.Params {
		out.Params = append(out.Params, parameter{p.Name, typeOrDynamic(p.Type)})
	}
	if p := f.Variadic; p != nil {
		out.Variadic = &parameter{p.Name, typeOrDynamic(p.Type)}
	}
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

// jsonFunction is the signature of a function in the documents about functions. The signature in a diagnostic
// has other names for the same members, and fewer of them.
type jsonFunction struct {
	Description        string              `json:"description,omitempty"`
	Summary            string              `json:"summary,omitempty"`
	DeprecationMessage string              `json:"deprecation_message,omitempty"`
	ReturnType         json.RawMessage     `json:"return_type"`
	Parameters         []jsonFunctionParam `json:"parameters,omitempty"`
	VariadicParameter  *jsonFunctionParam  `json:"variadic_parameter,omitempty"`
}

type jsonFunctionParam struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	IsNullable  bool            `json:"is_nullable,omitempty"`
	Type        json.RawMessage `json:"type"`
}

// Functions returns the JSON document of function signatures, on one line. Editors complete calls by it.
func Functions(functions map[string]*schema.Function) ([]byte, error) {
	return json.Marshal(struct {
		FormatVersion string                  `json:"format_version"`
		Signatures    map[string]jsonFunction `json:"function_signatures,omitempty"`
	}{"1.0", mapValues(functions, functionJSON)})
}

func functionJSON(f *schema.Function) jsonFunction {
	out := jsonFunction{
		Description: f.Description, Summary: f.Summary, DeprecationMessage: f.DeprecationMessage, ReturnType: typeOrDynamic(f.Return),
	}
	for i := range f.Params {
		out.Parameters = append(out.Parameters, paramJSON(&f.Params[i]))
	}
	if f.Variadic != nil {
		p := paramJSON(f.Variadic)
		out.VariadicParameter = &p
	}
	return out
}

func paramJSON(p *schema.FunctionParam) jsonFunctionParam {
	return jsonFunctionParam{p.Name, p.Description, p.AllowNull, typeOrDynamic(p.Type)}
}

// typeOrDynamic encodes a type. One that is not declared is dynamic: anything goes.
func typeOrDynamic(ty cty.Type) json.RawMessage {
	if ty == cty.NilType {
		ty = cty.DynamicPseudoType
	}
	return typeJSON(ty)
}

// Described returns the signature of a function of the language. The result type is dynamic if it depends on
// the arguments or on how many there are.
func Described(f function.Function, text string) *schema.Function {
	out := &schema.Function{Description: text}
	var args []cty.Type
	for _, p := range f.Params() {
		out.Params = append(out.Params, parameterOf(p))
		args = append(args, p.Type)
	}
	var err error
	if out.Return, err = f.ReturnType(args); err != nil {
		out.Return = cty.DynamicPseudoType
	}
	if p := f.VarParam(); p != nil {
		variadic := parameterOf(*p)
		out.Variadic = &variadic
		if more, err := f.ReturnType(append(args, p.Type)); err == nil && !more.Equals(out.Return) {
			out.Return = cty.DynamicPseudoType
		}
	}
	return out
}

func parameterOf(p function.Parameter) schema.FunctionParam {
	return schema.FunctionParam{Name: p.Name, Type: p.Type, AllowNull: p.AllowNull, Description: p.Description}
}
