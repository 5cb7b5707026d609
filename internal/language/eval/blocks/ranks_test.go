package blocks

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWorkBehind counts the resources on the longest way behind each, where every resource takes 1 except for
// a.long, which takes 5.
func TestWorkBehind(t *testing.T) {
	cfg, diags := compileText(t, `
resource "a" "long" {}
resource "a" "first" {}
resource "a" "second" {
  name = local.of_first
}
resource "a" "third" {
  count = length(a.second.id)
}
resource "a" "waits" {
  depends_on = [module.m]
}
resource "a" "self" {
  name = a.pair.id
}
resource "a" "pair" {
  name = a.self.id
}
resource "a" "alone" {}
locals {
  of_first = a.first.id
}
module "m" {
  source = "./m"
  in     = [a.third[0].id, a.long.id]
}
`, `
variable "in" {}
resource "a" "inside" {
  name = var.in
}
`)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	got := map[string]int64{}
	for b, behind := range cfg.WorkBehind(func(b *Resource) int64 {
		if b.Config.Addr.Name == "long" {
			return 5
		}
		return 1
	}) {
		got[b.Address()] = behind
	}
	one := got["a.pair"] // which one of the two comes first is arbitrary
	maps.DeleteFunc(got, func(name string, _ int64) bool { return name == "a.pair" || name == "a.self" })
	want := map[string]int64{"a.long": 2, "a.first": 4, "a.second": 3, "a.third": 2, "module.m.a.inside": 1, "a.waits": 0, "a.alone": 0}
	if diff := cmp.Diff(want, got); diff != "" || one > 1 {
		t.Errorf("behind a.pair: %d; others (-want +got)\n%s", one, diff)
	}
}

// TestNeededOpen finds what opened things may need: what an ephemeral resource, its provider, or a provider
// configured from it refers to in the end.
func TestNeededOpen(t *testing.T) {
	cfg, diags := compileText(t, `
resource "a" "host" {
  name = a.network.id
}
resource "a" "network" {}
resource "a" "vault" {}
resource "a" "region" {}
resource "a" "user" {
  name = ephemeral.a.tunnel.id
}
resource "a" "other" {
  provider = a.inner
  name     = a.user.id
}
locals {
  address = a.host.id
}
provider "a" {
  name = a.vault.id
}
provider "a" {
  alias = "inner"
  name  = "${ephemeral.a.tunnel.id} ${a.region.id}"
}
ephemeral "a" "tunnel" {
  name = local.address
}
`, "")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	var got []string
	for b := range cfg.NeededOpen() {
		got = append(got, b.Address())
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a.host", "a.network", "a.region", "a.vault", "ephemeral.a.tunnel"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
