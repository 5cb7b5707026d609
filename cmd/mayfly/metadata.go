package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/lang/funcs"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/view/document"
)

// metadataCommand returns the command metadata, from which editors learn what this program offers.
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
// Functions of providers are in the document of their schemas.
func functionSignatures() map[string]*schema.Function {
	texts := funcs.Descriptions()
	out := map[string]*schema.Function{}
	for name, f := range funcs.Table(funcs.Options{}) {
		// These two are obsolete and only name their replacement.
		if plain := strings.TrimPrefix(name, funcs.CorePrefix); plain == "list" || plain == "map" {
			continue
		}
		out[name] = document.Described(f, texts[strings.TrimPrefix(name, funcs.CorePrefix)])
	}
	return out
}
