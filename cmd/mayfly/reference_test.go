package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/urfave/cli/v3"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/metadata"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/kinds"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

//go:generate env MAYFLY_UPDATE_GOLDEN=1 go test . -run TestReference

// TestReference compares the pages of the reference with the tables that the program works with. They are
// written by: go generate ./cmd/mayfly
func TestReference(t *testing.T) {
	for name, page := range map[string]string{
		"reference/commands.md": commandsPage(), "reference/functions.md": functionsPage(), "reference/backends.md": backendsPage(), "man/mayfly.1": manualPage(),
	} {
		file := filepath.Join("..", "..", "docs", filepath.FromSlash(name))
		if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != page {
			t.Errorf("docs/%s: got %d bytes that differ, want %d bytes as the program says: run go generate ./cmd/mayfly", name, len(have), len(page))
		}
	}
}

// row returns a row of a table.
func row(cells ...string) string {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func code(text string) string { return "`" + text + "`" }

func commandsPage() string {
	var out strings.Builder
	out.WriteString("# Commands\n\nEvery command with its options. A test compares this page with the help that `mayfly COMMAND -help` prints.\n\n## Global options\n\nThey come before the command: `mayfly -chdir=DIR plan`.\n\n| option | |\n|---|---|\n")
	for _, o := range usage.GlobalOptions {
		out.WriteString(row(code(o.Name+o.Value), o.About))
	}
	root := newApp(environment{}).root()
	commands := slices.SortedFunc(slices.Values(root.Commands), func(a, b *cli.Command) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range commands {
		writeCommand(&out, "", c)
	}
	return out.String()
}

// writeCommand writes a command and those below it.
func writeCommand(out *strings.Builder, path string, c *cli.Command) {
	if c.Hidden {
		return
	}
	path = strings.TrimSpace(path + " " + c.Name)
	fmt.Fprintf(out, "\n## %s\n\n%s\n", path, cmp.Or(c.Description, c.Usage+"."))
	if len(c.Commands) > 0 {
		out.WriteString("\n| command | |\n|---|---|\n")
		for _, sub := range c.Commands {
			out.WriteString(row(fmt.Sprintf("[%s](#%s)", sub.Name, strings.ReplaceAll(path+" "+sub.Name, " ", "-")), sub.Usage))
		}
	} else {
		fmt.Fprintf(out, "\nUsage: %s\n", code(strings.TrimSpace("mayfly "+path+" [options] "+c.ArgsUsage)))
	}
	if len(c.Aliases) > 0 {
		fmt.Fprintf(out, "\nOther names: %s\n", strings.Join(c.Aliases, ", "))
	}
	writeOptions(out, c.Flags)
	for _, sub := range c.Commands {
		writeCommand(out, path, sub)
	}
}

func writeOptions(out *strings.Builder, flags []cli.Flag) {
	groups := map[string]string{}
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); f.Names()[0] == "help" || ok && !v.IsVisible() {
			continue
		}
		group := ""
		if c, ok := f.(cli.CategorizableFlag); ok {
			group = c.GetCategory()
		}
		name, text := usage.Describe(f)
		groups[group] += row(code(name), text)
	}
	for _, group := range []string{"", usage.PlanningGroup, usage.VariableGroup, usage.StateGroup, usage.OutputGroup} {
		if groups[group] != "" {
			fmt.Fprintf(out, "\n| %s | |\n|---|---|\n%s", strings.ToLower(cmp.Or(group, "options")), groups[group])
		}
	}
}

func functionsPage() string {
	var out strings.Builder
	out.WriteString("# Functions\n\nThe functions of expressions. Each also has the name `core::NAME`. Those of providers are called `provider::NAME::FUNCTION`, and `mayfly providers schema -json` lists\nthem. `mayfly metadata functions -json` prints this page for programs, and a test compares the two.\n\n| function | |\n|---|---|\n")
	all := metadata.Signatures()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, funcs.CorePrefix) {
			out.WriteString(row(code(signature(name, all[name])), all[name].Description))
		}
	}
	out.WriteString(row(code("type(value: any)"), funcs.Descriptions()["type"]))
	return out.String()
}

// signature returns a function as it is called, with the types of its parameters.
func signature(name string, f *schema.Function) string {
	var params []string
	for _, p := range f.Params {
		params = append(params, p.Name+": "+typeText(p.Type))
	}
	if f.Variadic != nil {
		params = append(params, f.Variadic.Name+": "+typeText(f.Variadic.Type)+"...")
	}
	return fmt.Sprintf("%s(%s) → %s", name, strings.Join(params, ", "), typeText(f.Return))
}

// typeText returns a type as it is written in a variable block. Some functions take expressions and types,
// which are of types that cannot be written.
func typeText(ty cty.Type) string {
	if ty.IsCapsuleType() {
		if strings.Contains(ty.FriendlyName(), "expression") {
			return "expression"
		}
		return "type"
	}
	return typeexpr.TypeString(ty)
}

func backendsPage() string {
	var out strings.Builder
	out.WriteString("# Arguments of backends\n\nThe arguments of each `backend` block, and the environment variables that stand in for them; the first one that is set counts. What else there is to know\nis in [where states are kept](../backends.md). A test compares this page with the table that `init` works with.\n")
	kinds := kinds.All()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		kind := kinds[name]
		fmt.Fprintf(&out, "\n## %s\n", name)
		writeBlock(&out, kind, "", kind.Block)
	}
	return out.String()
}

// writeBlock writes the arguments of a block, and the blocks in it.
func writeBlock(out *strings.Builder, kind *backend.Kind, path string, b *schema.Block) {
	var rows string
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		rows += argumentRows(kind, path+name, b.Attributes[name], path == "")
	}
	if rows == "" && len(b.Blocks) == 0 {
		out.WriteString("\nNo arguments.\n")
		return
	}
	if rows != "" {
		fmt.Fprintf(out, "\n| argument | type | environment | |\n|---|---|---|---|\n%s", rows)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		fmt.Fprintf(out, "\nBlock %s: %s.\n", code(path+name), b.Blocks[name].Description)
		writeBlock(out, kind, path+name+".", &b.Blocks[name].Block)
	}
}

func argumentRows(kind *backend.Kind, name string, a *schema.Attribute, top bool) string {
	var notes []string
	if a.Required {
		notes = append(notes, "required")
	}
	if a.Sensitive {
		notes = append(notes, "credential")
	}
	if a.Deprecated {
		notes = append(notes, "deprecated: "+a.DeprecationMessage)
	}
	typeName := "object"
	if a.Nested == nil {
		typeName = typeText(a.Type)
	}
	var variables []string
	if top {
		for _, v := range kind.Env(name) {
			variables = append(variables, code(v))
		}
	}
	about := a.Description
	if len(notes) > 0 {
		about += " (" + strings.Join(notes, "; ") + ")"
	}
	rows := row(code(name), typeName, strings.Join(variables, ", "), about)
	if a.Nested != nil {
		for _, inner := range slices.Sorted(maps.Keys(a.Nested.Attributes)) {
			rows += argumentRows(kind, name+"."+inner, a.Nested.Attributes[inner], false)
		}
	}
	return rows
}
