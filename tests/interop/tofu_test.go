package interop

import (
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// shapes are configurations that need nothing but what is built in, each about one form of what a state
// holds.
var shapes = map[string]map[string]string{
	"types": {"main.tf": `
resource "terraform_data" "all" {
  for_each = {
    string = "ä <&> ${"$"}{x}"
    number = 12345678901234567890.5
    small  = 0.1
    bool   = true
    tuple  = ["a", 1, null, { b = [] }]
    object = { a = null, b = { c = "d" }, "e f" = [1] }
    list   = tolist(["a", "b"])
    set    = toset(["b", "a"])
    map    = tomap({ x = 1, y = 2 })
    empty  = {}
    null   = null
  }
  input            = each.value
  triggers_replace = [each.key, each.value]
}
output "all" {
  value = { for k, r in terraform_data.all : k => r.output }
}
output "null" {
  value = null
}
`},
	"sensitive": {"main.tf": `
variable "secret" {
  default   = "hush"
  sensitive = true
}
resource "terraform_data" "s" {
  input            = "in the open"
  triggers_replace = { a = var.secret, b = ["c", var.secret] }
}
resource "terraform_data" "after" {
  count            = 2
  input            = terraform_data.s.output
  triggers_replace = terraform_data.s.triggers_replace
}
output "s" {
  value     = terraform_data.after[*].triggers_replace
  sensitive = true
}
`},
	"modules": {
		"main.tf": `
module "m" {
  for_each = toset(["x", "y"])
  source   = "./m"
  name     = each.key
}
resource "terraform_data" "last" {
  input      = [for m in module.m : m.ids]
  depends_on = [module.m]
  lifecycle {
    create_before_destroy = true
    replace_triggered_by  = [terraform_data.trigger]
  }
}
resource "terraform_data" "trigger" {
  input = "t"
}
output "last" {
  value = terraform_data.last.id
  precondition {
    condition     = terraform_data.last.id != ""
    error_message = "No id."
  }
}
`,
		"m/main.tf": `
variable "name" {
  validation {
    condition     = length(var.name) == 1
    error_message = "Not one letter."
  }
}
resource "terraform_data" "r" {
  count = 2
  input = "${var.name}-${count.index}"
}
output "ids" {
  value = terraform_data.r[*].id
}
`,
	},
	"moved and ordered": {"main.tf": `
resource "terraform_data" "a" {
  triggers_replace = ["1"]
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
moved {
  from = terraform_data.old
  to   = terraform_data.a
}
data "terraform_remote_state" "absent" {
  count   = 0
  backend = "local"
}
`},
}

func TestShapes(t *testing.T) {
	for name, files := range shapes {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, first, second engine) {
				dir := filetest.Tree(t, files)
				first.apply(t, dir)
				second.unchanged(t, dir)
				first.unchanged(t, dir)
				second.destroy(t, dir)
			})
		})
	}
}

var keepShape = map[string]string{"main.tf": `
terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}
variable "password" {
  type      = string
  ephemeral = true
}
ephemeral "keep_password" "p" {
  length = 20
}
resource "keep_secret" "given" {
  name             = "given"
  value_wo         = var.password
  value_wo_version = 1
}
resource "keep_secret" "made" {
  name             = "made"
  value_wo         = ephemeral.keep_password.p.result
  value_wo_version = 1
  description      = keep_secret.given.id
}
resource "keep_note" "n" {
  for_each = toset(["a", "b"])
  name     = each.key
  text     = "text of ${each.key}"
}
data "keep_secret_names" "all" {
  depends_on = [keep_secret.made]
}
output "names" {
  value = data.keep_secret_names.all.names
}
`}

func TestKeep(t *testing.T) {
	bothWays(t, func(t *testing.T, first, second engine) {
		dir := filetest.Tree(t, keepShape)
		secret := "-var=password=CANARY"
		first.apply(t, dir, secret)
		second.unchanged(t, dir, secret)
		second.must(t, 0, dir, "state", "rm", "keep_note.n[\"a\"]")
		second.must(t, 0, dir, "import", "-input=false", secret, "keep_note.n[\"a\"]", "a")
		first.unchanged(t, dir, secret)
		second.destroy(t, dir, secret)
	})
}

// example copies an example of this repository, without what runs have left there.
func example(t *testing.T, path string) string {
	t.Helper()
	return filetest.Sources(t, filepath.Join("..", "..", "examples", path), func(text string) string { return text })
}

func TestExampleRFC(t *testing.T) {
	keys := []string{"-var=access_key=CANARY-A", "-var=secret_key=CANARY-S"}
	const id = "-var=secret_manager_id=note/ephemeral-rfc-example"
	bothWays(t, func(t *testing.T, first, second engine) {
		dir := example(t, "rfc")
		store, read := filepath.Join(dir, "store"), filepath.Join(dir, "read")
		first.apply(t, store, keys...)
		second.unchanged(t, store, keys...)
		first.apply(t, read, id)
		second.unchanged(t, read, id)
		second.destroy(t, read, id)
		first.destroy(t, store, keys...)
	})
}
