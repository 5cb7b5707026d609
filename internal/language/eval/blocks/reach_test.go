package blocks

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestLeadsToKeys says which instances the instance t.user["k"] may read: those whose keys are written there,
// or are its own, and all of the others.
func TestLeadsToKeys(t *testing.T) {
	for body, want := range map[string]string{
		`name = t.a[each.key].id`:                              `t.a["k"] t.net`,
		`name = t.a["x"].id`:                                   `t.a["x"] t.net`,
		`name = "${t.a[each.key].id}${t.a["x"].id}"`:           `t.a["k"] t.a["x"] t.net`,
		`name = "${t.a[each.key].id}${length(t.a)}"`:           `t.a t.a["k"] t.net`,
		`name = t.a[each.value].id`:                            `t.a t.net`,
		`name = t.a["${each.key}"].id`:                         `t.a t.net`,
		`name = t.a["${each.key}${each.value}"].id`:            `t.a t.net`,
		`name = t.a[t.net.id].id`:                              `t.a t.net`,
		`name = t.a[var.v.x].id`:                               `t.a t.net`,
		"depends_on = [t.a[\"x\"]]":                            `t.a t.net`,
		`name = t.b[each.key].id`:                              `t.a["k"] t.b["k"] t.net`,
		`name = local.chosen`:                                  `t.a["fixed"] t.net`,
		`name = t.counted[0].id`:                               `t.counted[0] t.net`,
		`name = t.net.id`:                                      `t.net`,
		"lifecycle {\n replace_triggered_by = [t.a[\"x\"]]\n}": `t.a["x"] t.net`,
	} {
		cfg, diags := compileText(t, `
variable "v" {}
locals { chosen = t.a["fixed"].id }
resource "t" "net" {}
resource "t" "a" {
  for_each = toset(["k", "x", "fixed"])
  name     = t.net.id
}
resource "t" "b" {
  for_each = toset(["k"])
  name     = t.a[each.key].id
}
resource "t" "counted" {
  count = 2
  name  = t.net.id
}
resource "t" "user" {
  for_each = toset(["k"])
  `+body+`
}
`, "")
		if diags.HasErrors() {
			t.Fatalf("%s: %v", body, diags)
		}
		m := cfg.Modules[addr.RootModule]
		user := m.Resources[addr.Resource{Type: "t", Name: "user"}]
		var got []string
		for _, r := range cfg.LeadsTo([]Region{{Block: user, Key: addr.StringKey("k")}}) {
			got = append(got, addr.Instance{Module: r.In, Resource: r.Block.Config.Addr, Key: r.Key}.String())
		}
		slices.Sort(got)
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
		for _, r := range cfg.LeadsTo([]Region{{Block: user}}) {
			if r.Key == addr.StringKey("k") {
				t.Errorf("%s: got the key %v without one, want none", body, r.Key)
			}
		}
	}
}
