// Package work makes the configurations that engines are measured with: shapes that grow with a number, so
// that the same work can be done at N and 2N.
//
// It imports nothing of the module. It must not know who runs the configurations, or how they are measured.
package work

import (
	"fmt"
	"strings"
)

// Kind is the resource type that a configuration is made of. It has a string argument "input" and a computed
// string "output" that is equal to it.
type Kind struct {
	Name   string // what tables call it
	Type   string // the resource type
	Header string // the blocks that a root module needs for it
	Module string // the blocks that a child module needs for it
}

// Builtin is the resource type that every engine has.
var Builtin = Kind{Name: "terraform_data", Type: "terraform_data"}

// Shape is a family of configurations.
type Shape struct {
	Name string
	What string // what grows with n, for the table's legend
	// Files returns the configuration of size n, by file name.
	Files func(n int, k Kind) map[string]string
}

// Shapes are all of them. Those that other engines take quadratic time for come first.
var Shapes = []Shape{
	{"for_each", "two resources with n keys each, the second over the first", forEach},
	{"count", "two resources of n instances each, the second reads a[count.index]", count},
	{"chained", "n blocks, each referring to the one 10 before", chained},
	{"independent", "n blocks that refer to nothing", independent},
	{"wide", "one resource of n/2 instances, one block that reads all of them, and n/2 instances that read that block", wide},
	{"modules", "10 modules of n/10 instances, each with a map output over all of them", modules},
	{"locals", "n local values, each made from the one before, read by n/10 blocks", locals},
	{"module-keys", "n module instances, and n instances which each read one of them by its key", moduleKeys},
	{"module-map", "n module instances, and n instances which each read a local map over all of them by key", moduleMap},
	{"lookup", "n instances, and n which each look one of them up in all", lookup},
	{"splat", "n instances, and n which each take one element of a splat of all of them", splat},
	{"module-lookup", "n module instances, and n instances which each look one of them up in all", moduleLookup},
	{"triggers", "n instances, and n which would each be replaced with any of them", triggers},
	{"depends_on", "n module instances, and n instances which depend on all of them", dependsOn},
	{"large", "200 modules of n/200 instances", large},
}

func root(k Kind, format string, args ...any) map[string]string {
	return map[string]string{"main.tf": k.Header + fmt.Sprintf(format, args...)}
}

// keys is an expression for a set of n keys. One range makes 1024 numbers at most.
func keys(n int) string {
	const most = 1000
	if n <= most {
		return fmt.Sprintf(`toset([for i in range(%d) : "k${i}"])`, n)
	}
	return fmt.Sprintf(`toset(slice(flatten([for i in range(%d) : [for j in range(%d) : "k${i * %[2]d + j}"]]), 0, %[3]d))`, (n+most-1)/most, most, n)
}

// keyed returns the shape of two resources with n keys each; the second has a given body. %[1]s in
// it stands for the first.
func keyed(body string) func(n int, k Kind) map[string]string {
	return func(n int, k Kind) map[string]string {
		return root(k, `
locals {
  keys = %[2]s
}
resource %[3]q "a" {
  for_each = local.keys
  input    = each.key
}
resource %[3]q "b" {
%[1]s
}
`, fmt.Sprintf(body, k.Type+".a"), keys(n), k.Type)
	}
}

// counted returns the shape of two resources of n instances each; the second has a given body. %[1]s
// in it stands for the first.
func counted(body string) func(n int, k Kind) map[string]string {
	return func(n int, k Kind) map[string]string {
		return root(k, `
resource %[3]q "a" {
  count = %[2]d
  input = "v${count.index}"
}
resource %[3]q "b" {
  count = %[2]d
%[1]s
}
`, fmt.Sprintf(body, k.Type+".a"), n, k.Type)
	}
}

var (
	forEach  = keyed("  for_each = %[1]s\n  input    = each.value.output")
	lookup   = keyed("  for_each = local.keys\n  input    = lookup(%[1]s, each.key, null).output")
	count    = counted("  input = %[1]s[count.index].output")
	splat    = counted("  input = element(%[1]s[*].output, count.index)")
	triggers = counted("  input = \"w${count.index}\"\n  lifecycle {\n    replace_triggered_by = [%[1]s]\n  }")
)

func blocks(n int, k Kind, input func(i int) string) map[string]string {
	var sb strings.Builder
	for i := range n {
		fmt.Fprintf(&sb, "resource %q \"r%d\" {\n  input = %s\n}\n", k.Type, i, input(i))
	}
	return root(k, "%s", sb.String())
}

func chained(n int, k Kind) map[string]string {
	return blocks(n, k, func(i int) string {
		if i < 10 {
			return `"start"`
		}
		return fmt.Sprintf("%s.r%d.output", k.Type, i-10)
	})
}

func independent(n int, k Kind) map[string]string {
	return blocks(n, k, func(i int) string { return fmt.Sprintf(`"v%d"`, i) })
}

func wide(n int, k Kind) map[string]string {
	return root(k, `
resource %[2]q "a" {
  count = %[1]d
  input = "v${count.index}"
}
resource %[2]q "all" {
  input = sha256(join(",", %[2]s.a[*].output))
}
resource %[2]q "b" {
  count = %[1]d
  input = "${%[2]s.all.output}-${count.index}"
}
`, n/2, k.Type)
}

func modules(n int, k Kind) map[string]string {
	files := root(k, `
module "m" {
  source = "./m"
  count  = 10
}
output "sizes" {
  value = [for m in module.m : length(m.all)]
}
`)
	files["m/main.tf"] = k.Module + fmt.Sprintf(`
resource %[1]q "r" {
  for_each = %[2]s
  input    = each.key
}
output "all" {
  value = { for k, r in %[1]s.r : k => r.output }
}
`, k.Type, keys(n/10))
	return files
}

func locals(n int, k Kind) map[string]string {
	var sb strings.Builder
	sb.WriteString("locals {\n  l0 = 1\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&sb, "  l%d = local.l%d + 1\n", i, i-1)
	}
	sb.WriteString("}\n")
	for i := 0; i < n; i += 10 {
		fmt.Fprintf(&sb, "resource %q \"r%d\" {\n  input = \"v${local.l%d}\"\n}\n", k.Type, i, i)
	}
	return root(k, "%s", sb.String())
}

// consumers returns the shape of as many instances as there are modules, with a body that reads modules.
func consumers(body string) func(n int, k Kind) map[string]string {
	return func(n int, k Kind) map[string]string {
		files := root(k, `
locals {
  keys = %[1]s
  ids  = { for k, m in module.m : k => m.id }
}
module "m" {
  source   = "./m"
  for_each = local.keys
  key      = each.key
}
resource %[2]q "c" {
%[3]s
}
`, keys(n), k.Type, body)
		files["m/main.tf"] = k.Module + fmt.Sprintf(`
variable "key" {
  type = string
}
resource %[1]q "r" {
  input = var.key
}
output "id" {
  value = %[1]s.r.output
}
`, k.Type)
		return files
	}
}

var (
	moduleKeys   = consumers("  for_each = module.m\n  input    = each.value.id")
	moduleMap    = consumers("  for_each = local.keys\n  input    = local.ids[each.key]")
	moduleLookup = consumers("  for_each = local.keys\n  input    = lookup(module.m, each.key, null).id")
	dependsOn    = consumers("  for_each   = local.keys\n  input      = each.key\n  depends_on = [module.m]")
)

func large(n int, k Kind) map[string]string {
	files := root(k, `
module "m" {
  source   = "./m"
  for_each = toset([for i in range(200) : "m${i}"])
  name     = each.key
}
output "first" {
  value = [for m in module.m : m.first]
}
`)
	files["m/main.tf"] = k.Module + fmt.Sprintf(`
variable "name" {
  type = string
}
resource %[1]q "a" {
  count = %[2]d
  input = "${var.name}-${count.index}"
}
resource %[1]q "b" {
  count = %[2]d
  input = %[1]s.a[count.index].output
}
output "first" {
  value = %[1]s.b[0].output
}
`, k.Type, max(1, n/400))
	return files
}
