package engine_test

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestUnmatchedTargets reports options that select nothing, and no others: as errors if a block has a similar
// address.
func TestUnmatchedTargets(t *testing.T) {
	t.Parallel()
	const text = `
resource "sim_thing" "site" { name = "site" }
resource "sim_thing" "pair" {
  count = 2
  name  = "pair${count.index}"
}
resource "sim_thing" "none" {
  count = 0
  name  = "none"
}
ephemeral "sim_secret" "s" { name = "s" }
module "one" { source = "./m" }
module "two" {
  source = "./m"
  count  = 2
}
module "empty" { source = "./e" }`
	w := newWorld(t, text)
	w.file("m/main.tf", prelude+`resource "sim_thing" "in" { name = "in" }`)
	w.file("e/main.tf", "")
	targeting := func(options []string) command { return command{targets: options, planOnly: true} }
	w.ok(command{targets: []string{"sim_thing.site"}})
	for _, c := range []struct {
		command command
		want    string // "" for no warning
	}{
		{targeting([]string{"sim_thing.iste"}), "Did you mean sim_thing.site?"},
		{targeting([]string{"sim_thign.site"}), "Did you mean sim_thing.site?"},
		{targeting([]string{"sim_thing.in"}), "Did you mean module.one.sim_thing.in?"},
		{targeting([]string{"module.tow"}), "Did you mean module.two?"},
		{targeting([]string{"sim_thing.unheard_of"}), "Neither the configuration nor the state has that address."},
		{targeting([]string{"sim_thing.pair[2]"}), "There are sim_thing.pair[0] and sim_thing.pair[1]."},
		{targeting([]string{"module.two[2]"}), "There are module.two[0] and module.two[1]."},
		{targeting([]string{"module.two[2].sim_thing.in"}), "There are module.two[0] and module.two[1]."},
		{targeting([]string{"sim_thing.site", "sim_thing.pair", "sim_thing.pair[1]", "sim_thing.none", "sim_thing.none[0]", "ephemeral.sim_secret.s"}), ""},
		{targeting([]string{"module.one", "module.two", "module.two[1]", "module.two.sim_thing.in", "module.empty"}), ""},
		{command{excludes: []string{"sim_thing.iste"}, planOnly: true}, "Did you mean sim_thing.site?"},
		{command{excludes: []string{"sim_thing.pair[2]"}, planOnly: true}, "There are sim_thing.pair[0] and sim_thing.pair[1]."},
		{command{excludes: []string{"sim_thing.pair[1]", "sim_thing.none", "module.two", "module.one.sim_thing.in"}, planOnly: true}, ""},
		{command{targets: []string{"sim_thing.iste"}, planOnly: true, mode: plan.Destroy}, "Did you mean sim_thing.site?"},
		{command{targets: []string{"sim_thing.pair"}, planOnly: true, mode: plan.Destroy}, ""},
	} {
		var got diag.List
		for _, d := range w.run(c.command).planDiags {
			if d.Severity == diag.Error || strings.HasPrefix(d.Summary, "Nothing matches") {
				got = append(got, d)
			}
		}
		severity := diag.Warning
		if strings.HasPrefix(c.want, "Did you mean") {
			severity = diag.Error
		}
		if c.want == "" && len(got) == 0 || len(got) == 1 && got[0].Severity == severity && c.want != "" && strings.Contains(got[0].Detail, c.want) {
			continue
		}
		t.Errorf("%v %v: want %q, got %s", c.command.targets, c.command.excludes, c.want, texts(got))
	}
}
