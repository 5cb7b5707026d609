package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/metadata"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/docs/schemas"
	"github.com/mayfly-iac/mayfly/internal/stores/kinds"
)

// metadataCommand returns the command metadata, from which editors learn the features of this program.
func metadataCommand(a *app) *cli.Command {
	out := a.out
	return a.group("metadata", "Metadata related commands", "Describes this program to editors and other tools.",
		documentCommand(a, "functions", "", "Show signatures and descriptions for the available functions",
			"Writes the signatures of all functions that expressions can call as a JSON document. Those of providers are in the output of \"providers schema\".",
			func([]string) int { return out.writeDocument(metadata.Functions()) }),
		documentCommand(a, "blocks", "", "Show the blocks of the language with their arguments",
			"Writes the blocks of configurations, test files and files of mocks as a JSON document: their labels, arguments, meta-arguments and nested blocks, with descriptions. The arguments of resources are in the output of \"providers schema\".",
			func([]string) int { return out.writeDocument(metadata.Blocks(kinds.All())) }),
		documentCommand(a, "schemas", "[NAME]", "Show the JSON schemas of the documents that this program writes",
			"Writes the JSON schemas of all documents that this program writes, by name. With a NAME, writes only that schema, with those that it refers to in its definitions.",
			func(args []string) int { return writeSchemas(out, args) }))
}

// documentCommand returns a command that writes a document about this program. It requires -json, which
// leaves room for a text form. It takes one argument if argsUsage says so.
func documentCommand(a *app, name, argsUsage, summary, about string, write func(args []string) int) *cli.Command {
	out := a.out
	asJSON := false
	return a.command(name, summary, argsUsage, about,
		[]cli.Flag{boolFlag("json", "Write a JSON document. This option is required.", &asJSON)},
		func(_ context.Context, args []string) int {
			switch {
			case len(args) > 0 && argsUsage == "":
				return out.argsError("metadata "+name, "no arguments")
			case len(args) > 1:
				return out.argsError("metadata "+name, "at most one argument")
			case !asJSON:
				return out.fail("The option -json is required", "This command writes only JSON. Run: mayfly metadata %s -json", name)
			}
			out.document = true
			return write(args)
		})
}

// writeSchemas writes all JSON schemas, or the one that is named.
func writeSchemas(out *output, args []string) int {
	if len(args) == 0 {
		return out.writeDocument(metadata.Schemas())
	}
	doc, ok, err := metadata.Schema(args[0])
	if !ok {
		return out.fail("No such schema", "There is no schema %q.%s The schemas are %s.", args[0], diag.DidYouMean(args[0], schemas.Names()), strings.Join(schemas.Names(), ", "))
	}
	return out.writeDocument(doc, err)
}
