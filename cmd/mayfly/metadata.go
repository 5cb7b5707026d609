package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/lang/funcs"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/view/document"
)

func (a *app) metadataCommand() *cli.Command {
	return a.group("metadata", "Metadata related commands", "Describes this program to editors and other tools.", a.metadataFunctionsCommand())
}

// metadataFunctionsCommand returns the command metadata functions. It requires -json, which leaves room for
// a text form.
func (a *app) metadataFunctionsCommand() *cli.Command {
	asJSON := false
	return a.command("functions", "Show signatures and descriptions for the available functions", "",
		"Writes the signatures of all functions that expressions can call as a JSON document. Those of providers are in the output of \"providers schema\".",
		[]cli.Flag{boolFlag("json", "Write a JSON document. This option is required.", &asJSON)},
		func(_ context.Context, args []string) int {
			switch {
			case len(args) > 0:
				return a.argsError("metadata functions", "no arguments")
			case !asJSON:
				return a.fail("The option -json is required", "This command writes only JSON. Run: mayfly metadata functions -json")
			}
			a.document = true
			return a.writeDocument(document.Functions(functionSignatures()))
		})
}

// functionSignatures describes the functions of the language, each under its plain and its namespaced name.
func functionSignatures() map[string]*schema.Function {
	texts := funcs.Descriptions()
	out := map[string]*schema.Function{}
	for name, f := range funcs.Table(funcs.Options{}) {
		// These two are obsolete and only name their replacement.
		if plain := strings.TrimPrefix(name, funcs.CorePrefix); plain == "list" || plain == "map" {
			continue
		}
		out[name] = signature(f, texts[strings.TrimPrefix(name, funcs.CorePrefix)])
	}
	return out
}

func signature(f function.Function, text string) *schema.Function {
	params := f.Params()
	s := &schema.Function{Description: text, Return: returnType(f, params)}
	for i := range params {
		s.Params = append(s.Params, parameter(&params[i]))
	}
	if v := f.VarParam(); v != nil {
		p := parameter(v)
		s.Variadic = &p
	}
	return s
}

func parameter(p *function.Parameter) schema.FunctionParam {
	return schema.FunctionParam{Name: p.Name, Type: p.Type, AllowNull: p.AllowNull, Description: p.Description}
}

// returnType returns the type of all results, or the dynamic type if it depends on the arguments or their
// number.
func returnType(f function.Function, params []function.Parameter) cty.Type {
	args := make([]cty.Type, len(params))
	for i := range params {
		args[i] = params[i].Type
	}
	ty, err := f.ReturnType(args)
	if err != nil {
		return cty.DynamicPseudoType
	}
	if v := f.VarParam(); v != nil {
		if more, err := f.ReturnType(append(args, v.Type)); err == nil && !more.Equals(ty) {
			return cty.DynamicPseudoType
		}
	}
	return ty
}
