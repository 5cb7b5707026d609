package blockhash

import (
	"slices"
	"strings"
	"testing"
)

// TestCycles checks blocks that lead to each other through instances of a module: they have hashes, each
// its own, and a change to one of them changes all, as it does for the blocks behind them.
func TestCycles(t *testing.T) {
	const text = head + `
locals {
  base = "b"
}
module "a" {
  source   = "./a"
  for_each = toset(["x", "y"])
  in       = each.key == "x" ? local.base : module.a["x"].out
}
output "o" {
  value = module.a["y"].out
}
-- a/main.tf --
variable "in" {}
variable "free" { default = "f" }
output "out" {
  value = "${var.in}!"
}
output "other" {
  value = var.free
}
`
	before := newSetting(t, text)
	set := before.hash(t)
	if got := unknownOf(set); len(got) > 0 {
		t.Errorf("blocks without a hash: got %v, want none", got)
	}
	seen := map[Hash]string{}
	for name, e := range entries(set) {
		if other, again := seen[e.Hash]; again {
			t.Errorf("%s and %s have the same hash: got one for both, want two", name, other)
		}
		seen[e.Hash] = name
	}
	for _, c := range []struct{ old, new, want string }{
		{`"b"`, `"c"`, "local.base module.a.output.out module.a.var.in output.o"},
		{`${var.in}!`, `${var.in}?`, "module.a.output.out module.a.var.in output.o"},
		{`== "x"`, `== "y"`, "module.a.output.out module.a.var.in output.o"},
		{`"f"`, `"g"`, "module.a.output.other module.a.var.free"},
	} {
		after := newSetting(t, strings.Replace(text, c.old, c.new, 1))
		if got := strings.Join(changed(set, after.hash(t)), " "); got != c.want {
			t.Errorf("%s for %s: got %s, want %s", c.new, c.old, got, c.want)
		}
	}
}

// TestComponents checks the order of planning.
func TestComponents(t *testing.T) {
	s := newSetting(t, head+`
variable "id" { default = "i" }
locals {
  ids = { x = var.id }
}
provider "sim" { region = local.region }
locals {
  region = sim_thing.first.name
}
provider "sim" {
  alias = "first"
}
import {
  to       = module.m["x"].sim_thing.a[each.key]
  for_each = local.imported
  id       = each.value
}
locals {
  imported = { k = "v" }
}
resource "sim_thing" "first" {
  provider = sim.first
  name     = "${provider::sim::twice("x")}"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_act.run]
    }
  }
}
action "sim_act" "run" {
  config { name = sim_thing.first.name }
}
module "m" {
  source   = "./m"
  for_each = local.ids
  in       = each.value
}
output "all" {
  value = module.m
}
resource "sim_thing" "last" {
  depends_on = [module.m]
}
module "late" {
  source     = "./late"
  checked    = sim_thing.a.name
  depends_on = [sim_thing.last]
}
resource "sim_thing" "a" {
  name = sim_thing.first.name
}
resource "sim_thing" "b" {
  name = module.late.constant
}
resource "sim_thing" "c" {
  depends_on = [module.late]
}
-- late/main.tf --
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
}
variable "checked" {
  validation {
    condition     = var.checked != ""
    error_message = "Empty."
  }
}
resource "sim_thing" "x" {}
module "in" {
  source = "../in"
}
output "constant" {
  value = "c"
}
-- in/main.tf --
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
}
resource "sim_thing" "x" {
  count = 1
}
-- m/main.tf --
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
}
variable "in" {}
resource "sim_thing" "a" {
  for_each = toset(["k"])
  name     = var.in
}
output "out" {
  value = sim_thing.a["k"].id
}
`)
	s.schemas.declared = true
	set, _ := s.both(t)
	at := map[string]int{}
	levels, cyclic := map[string]int{}, map[string]bool{}
	for i, c := range set.Components() {
		for _, u := range c.Units {
			name := u.Block.Address()
			if u.Repetition {
				name = "repetition of " + name
			}
			if _, known := entries(set)[u.Module.Join(u.Name)]; !known {
				t.Errorf("%s: got the entry %s of %s, want one of its module", name, u.Name, u.Module)
			}
			if _, again := at[name]; again {
				t.Errorf("%s: got it twice, want it once", name)
			}
			at[name], levels[name], cyclic[name] = i+1, c.Level, c.Cyclic
		}
	}
	total := 0
	for _, m := range set.Modules() {
		total += len(m.Entries)
	}
	if len(at) != total {
		t.Errorf("blocks in components: got %d, want %d", len(at), total)
	}
	for _, c := range [][2]string{
		{"var.id", "local.ids"},
		{"local.ids", "module.m"},
		{"local.ids", "module.m.var.in"},
		{"module.m", "module.m.var.in"},
		{"module.m", "repetition of module.m.sim_thing.a"},
		{"repetition of module.m.sim_thing.a", "module.m.sim_thing.a"},
		{"module.m.var.in", "module.m.sim_thing.a"},
		{"module.m.sim_thing.a", "module.m.output.out"},
		{"module.m.output.out", "output.all"},
		{"module.m.sim_thing.a", "sim_thing.last"},
		{"local.imported", "module.m.sim_thing.a"},
		{"sim_thing.first", "local.region"},
		{"local.region", "provider.sim"},
		{"provider.sim", "module.m.sim_thing.a"},
		{"provider.sim.first", "sim_thing.first"},
		{"sim_thing.first", "action.sim_act.run"},
		{"sim_thing.last", "module.late.sim_thing.x"},
		{"sim_thing.last", "module.late.module.in.sim_thing.x"},
		{"sim_thing.last", "module.late.output.constant"},
		{"sim_thing.last", "sim_thing.b"},
		{"module.late.var.checked", "sim_thing.c"},
	} {
		if at[c[0]] == 0 || at[c[1]] == 0 || at[c[0]] >= at[c[1]] || levels[c[0]] >= levels[c[1]] {
			t.Errorf("%s at %d and %s at %d: got another order, want the first one first", c[0], at[c[0]], c[1], at[c[1]])
		}
	}
}

// TestComponentOfACycle checks that blocks that lead to each other are one component.
func TestComponentOfACycle(t *testing.T) {
	s := newSetting(t, head+`
module "a" {
  source   = "./a"
  for_each = toset(["x", "y"])
  in       = each.key == "x" ? "b" : module.a["x"].out
}
-- a/main.tf --
variable "in" {}
output "out" {
  value = var.in
}
`)
	set, _ := s.both(t)
	var got []string
	for _, c := range set.Components() {
		var names []string
		for _, u := range c.Units {
			names = append(names, u.Block.Address())
		}
		if got = append(got, strings.Join(names, "+")); c.Cyclic != (len(names) > 1) {
			t.Errorf("%v: got cyclic=%t, want that of more than one alone", names, c.Cyclic)
		}
	}
	if want := []string{"module.a", "module.a.output.out+module.a.var.in"}; !slices.Equal(got, want) {
		t.Errorf("components: got %v, want %v", got, want)
	}
}
