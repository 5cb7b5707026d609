package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// movedTexts tells of each change where the object was, what is done and why.
func movedTexts(changes []*plan.Change) []string {
	var out []string
	for _, c := range changes {
		if c.Moved() || c.Reason != plan.NoReason {
			what := c.Addr.String()
			if c.Deposed != addr.Current {
				what += " (deposed)"
			}
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s <- %s: %s %s", what, c.PrevAddr, c.Action, c.Reason)))
		}
	}
	return out
}

// TestMovedWithoutTarget moves objects to addresses that the configuration doesn't declare: the move is the
// reason why they are destroyed.
func TestMovedWithoutTarget(t *testing.T) {
	t.Parallel()
	const made = `
resource "sim_thing" "b" { name = "b" }
resource "sim_thing" "c" {
  count = 1
  name  = "c"
}
resource "sim_thing" "a" {
  name       = "a"
  replace_me = %q
  fail_on    = "delete"
  lifecycle { create_before_destroy = true }
}`
	w := newWorld(t, fmt.Sprintf(made, "1"))
	w.ok(command{})
	w.config(fmt.Sprintf(made, "2"))
	w.fails(command{}, "sim_thing.a")
	w.config(`
moved {
  from = sim_thing.a
  to   = sim_thing.a2
}
moved {
  from = sim_thing.b
  to   = sim_thing.b2
}
removed {
  from = sim_thing.b2
  lifecycle { destroy = false }
}
moved {
  from = sim_thing.c[0]
  to   = sim_thing.c["x"]
}
resource "sim_thing" "c" {
  for_each = { y = 1 }
  name     = "c"
}`)
	want := []string{
		`sim_thing.a2 <- sim_thing.a: delete delete_because_no_move_target`, `sim_thing.a2 (deposed) <- sim_thing.a: delete`,
		`sim_thing.b2 <- sim_thing.b: forget delete_because_no_move_target`, `sim_thing.c["x"] <- sim_thing.c[0]: delete delete_because_each_key`,
	}
	if got := movedTexts(w.ok(command{planOnly: true}).plan.Changes); !slices.Equal(got, want) {
		t.Errorf("changes:\n got %q\nwant %q", got, want)
	}
	p := w.ok(command{planOnly: true, mode: plan.RefreshOnly}).plan
	want = []string{
		`sim_thing.a2 <- sim_thing.a: no-op`, `sim_thing.b2 <- sim_thing.b: no-op`, `sim_thing.c["x"] <- sim_thing.c[0]: no-op`,
	}
	if got := movedTexts(p.Drift); !slices.Equal(got, want) || !p.Changed() {
		t.Errorf("drift of a refresh-only plan:\n got %q\nwant %q", got, want)
	}
}

// TestMovedAndDestroyed destroys moved objects, one of them changed outside: neither makes a difference to
// what is destroyed.
func TestMovedAndDestroyed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{})
	w.drift("x-1", "size", "99")
	w.config(`
moved {
  from = sim_thing.x
  to   = sim_thing.y
}
resource "sim_thing" "y" { name = "x" }`)
	p := w.ok(command{planOnly: true, mode: plan.Destroy}).plan
	if got := movedTexts(p.Changes); got != nil || len(p.Drift) != 0 {
		t.Errorf("got changes %q, drift %q, want none", got, movedTexts(p.Drift))
	}
}

// TestMovedDataSource tells where the earlier result of a data source is that is read during apply.
func TestMovedDataSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `module "m" { source = "./m" }`)
	w.file("m/main.tf", `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
resource "sim_thing" "x" { name = "x" }
data "sim_lookup" "d" {
  name       = "x"
  depends_on = [sim_thing.x]
}`)
	w.ok(command{})
	w.config(`
module "n" { source = "./m" }
moved {
  from = module.m
  to   = module.n
}`)
	got := movedTexts(w.ok(command{planOnly: true, replace: []string{"module.n.sim_thing.x"}}).plan.Changes)
	want := []string{
		"module.n.data.sim_lookup.d <- module.m.data.sim_lookup.d: read read_because_dependency_pending",
		"module.n.sim_thing.x <- module.m.sim_thing.x: delete-create replace_by_request",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// TestMovedDataBlock moves a data source by a block of its own: to another name, then to an index.
func TestMovedDataBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "resource \"sim_thing\" \"x\" { name = \"x\" }\ndata \"sim_lookup\" \"d\" { name = sim_thing.x.name }")
	w.ok(command{})
	for _, to := range []struct{ from, address, block string }{
		{"data.sim_lookup.d", "data.sim_lookup.e", "data \"sim_lookup\" \"e\" {\n name = sim_thing.x.name\n}"},
		{"data.sim_lookup.e", "data.sim_lookup.e[0]", "data \"sim_lookup\" \"e\" {\n count = 1\n name = sim_thing.x.name\n}"},
	} {
		w.config("resource \"sim_thing\" \"x\" { name = \"x\" }\n" + to.block + "\nmoved {\n from = " + to.from + "\n to = " + to.address + "\n}")
		w.ok(command{})
		var got []string
		for a := range w.state().AllInstances() {
			got = append(got, a.String())
		}
		slices.Sort(got)
		if want := []string{to.address, "sim_thing.x"}; !slices.Equal(got, want) {
			t.Errorf("the state has %q, want %q", got, want)
		}
	}
}
