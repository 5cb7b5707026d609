// Package work makes the configurations that engines are measured with: shapes that grow with a number, so
// that the same work can be done at N and 2N.
//
// It imports nothing of the module. It must not know who runs the configurations, or how they are measured.
package work

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// Kind is the resource type that a configuration is made of. It has a string argument "input" and a computed
// string "output" that is equal to it.
type Kind struct {
	Name   string // its name in tables
	Type   string // the resource type
	Header string // the blocks that a root module needs for it
	Module string // the blocks that a child module needs for it
}

// Builtin is the resource type that every engine has.
var Builtin = Kind{Name: "terraform_data", Type: "terraform_data"}

// Shape is a family of configurations.
type Shape struct {
	Name string
	What string // the part that grows with n, for the table's legend
}

// Files returns the configuration of size n, by file name.
func (s Shape) Files(n int, k Kind) map[string]string { return files(s.Name, details{Kind: k, N: n}) }

// Shapes are all of them. Shapes for which other engines take quadratic time come first.
var Shapes = []Shape{
	{"for_each", "two resources with n keys each, the second over the first"},
	{"count", "two resources of n instances each, the second reads a[count.index]"},
	{"chained", "n blocks, each referring to the one 10 before"},
	{"independent", "n blocks that refer to nothing"},
	{"wide", "one resource of n/2 instances, one block that reads all of them, and n/2 instances that read that block"},
	{"modules", "10 modules of n/10 instances, each with a map output over all of them"},
	{"locals", "n local values, each made from the one before, read by n/10 blocks"},
	{"module-keys", "n module instances, and n instances which each read one of them by its key"},
	{"module-map", "n module instances, and n instances which each read a local map over all of them by key"},
	{"lookup", "n instances, and n which each look one of them up in all"},
	{"splat", "n instances, and n which each take one element of a splat of all of them"},
	{"module-lookup", "n module instances, and n instances which each look one of them up in all"},
	{"triggers", "n instances, and n which would each be replaced with any of them"},
	{"depends_on", "n module instances, and n instances which depend on all of them"},
	{"large", "200 modules of n/200 instances"},
}

//go:embed work.tmpl
var text string

var templates = template.Must(template.New("").Delims("<<", ">>").Funcs(template.FuncMap{
	"keys": keys, "max": func(a, b int) int { return max(a, b) },
	"add": func(a, b int) int { return a + b }, "mul": func(a, b int) int { return a * b }, "div": func(a, b int) int { return a / b },
}).Parse(text))

// details are the data of a template.
type details struct {
	Kind
	N, Millis int
}

// files returns the configuration of a name, by file name.
func files(name string, d details) map[string]string {
	out := map[string]string{}
	for _, t := range templates.Templates() {
		file, ok := strings.CutPrefix(t.Name(), name+"/")
		if !ok {
			continue
		}
		var b strings.Builder
		if err := t.Execute(&b, d); err != nil {
			panic(err) // the templates are part of the program
		}
		out[file] = b.String()
	}
	return out
}

// keys is an expression for a set of n keys. One range makes 1024 numbers at most.
func keys(n int) string {
	const most = 1000
	if n <= most {
		return fmt.Sprintf(`toset([for i in range(%d) : "k${i}"])`, n)
	}
	return fmt.Sprintf(`toset(slice(flatten([for i in range(%d) : [for j in range(%d) : "k${i * %[2]d + j}"]]), 0, %[3]d))`, (n+most-1)/most, most, n)
}
