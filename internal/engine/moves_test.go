package engine_test

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

var moveRows = []struct {
	name, was, is string
	want          []string
}{
	{"resource", `resource "sim_thing" "x" { name = "x" }`, `
		resource "sim_thing" "y" { name = "x" }
		moved {
		  from = sim_thing.x
		  to   = sim_thing.y
		}`, []string{"sim_thing.y no-op from sim_thing.x"}},
	{"chain", `resource "sim_thing" "x" { name = "x" }`, `
		resource "sim_thing" "z" { name = "x" }
		moved {
		  from = sim_thing.x
		  to   = sim_thing.y
		}
		moved {
		  from = sim_thing.y
		  to   = sim_thing.z
		}`, []string{"sim_thing.z no-op from sim_thing.x"}},
	{"key", `
		resource "sim_thing" "x" {
		  count = 2
		  name  = "x${count.index}"
		}`, `
		resource "sim_thing" "x" {
		  for_each = toset(["0", "1"])
		  name     = "x${each.key}"
		}
		moved {
		  from = sim_thing.x[0]
		  to   = sim_thing.x["0"]
		}
		moved {
		  from = sim_thing.x[1]
		  to   = sim_thing.x["1"]
		}`, []string{`sim_thing.x["0"] no-op from sim_thing.x[0]`, `sim_thing.x["1"] no-op from sim_thing.x[1]`}},
	{"module renamed", `module "a" { source = "./child" }`, `
		module "b" { source = "./child" }
		moved {
		  from = module.a
		  to   = module.b
		}`, []string{"module.b.sim_thing.x no-op from module.a.sim_thing.x"}},
	{"into a module", `resource "sim_thing" "x" { name = "x" }`, `
		module "a" { source = "./child" }
		moved {
		  from = sim_thing.x
		  to   = module.a.sim_thing.x
		}`, []string{"module.a.sim_thing.x no-op from sim_thing.x"}},
	{"module gets a key", `module "a" { source = "./child" }`, `
		module "a" {
		  source   = "./child"
		  for_each = toset(["k"])
		}
		moved {
		  from = module.a
		  to   = module.a["k"]
		}`, []string{`module.a["k"].sim_thing.x no-op from module.a.sim_thing.x`}},
	{"moved and changed", `resource "sim_thing" "x" { name = "x" }`, `
		resource "sim_thing" "y" {
		  name = "x"
		  size = 4
		}
		moved {
		  from = sim_thing.x
		  to   = sim_thing.y
		}`, []string{"sim_thing.y update from sim_thing.x"}},
}

func TestMoved(t *testing.T) {
	t.Parallel()
	child := prelude + `resource "sim_thing" "x" { name = "x" }`
	for _, row := range moveRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.was)
			w.file("child/main.tf", child)
			w.ok(command{})
			w.config(row.is)
			w.ok(command{}).plans(row.want...)
			w.ok(command{planOnly: true}).plans()
			if n := len(w.live()); n != len(row.want) {
				t.Errorf("%d objects in the cloud, want %d", n, len(row.want))
			}
		})
	}
}

// TestModuleRepetitionChanges follows objects when modules around them, and their resource, gain or lose a
// count, also where a moved block takes them on the way.
func TestModuleRepetitionChanges(t *testing.T) {
	t.Parallel()
	const counted, enabled = "count = 1", "lifecycle { enabled = true }"
	type levels struct{ outer, inner, resource string }
	for _, row := range []struct {
		name    string
		was, is levels
		moved   string // in the innermost module, from x to y
		want    []string
	}{
		{"counted", levels{}, levels{outer: "count = 2"}, "", []string{
			"module.a[0].module.b.sim_thing.x no-op from module.a.module.b.sim_thing.x", "module.a[1].module.b.sim_thing.x create",
		}},
		{"enabled", levels{outer: "count = 2"}, levels{outer: enabled}, "", []string{
			"module.a.module.b.sim_thing.x no-op from module.a[0].module.b.sim_thing.x", "module.a[1].module.b.sim_thing.x delete delete_because_no_module",
		}},
		{"enabled no more", levels{outer: enabled}, levels{outer: counted}, "", []string{
			"module.a[0].module.b.sim_thing.x no-op from module.a.module.b.sim_thing.x",
		}},
		{"all levels", levels{}, levels{counted, counted, counted}, "", []string{
			"module.a[0].module.b[0].sim_thing.x[0] no-op from module.a.module.b.sim_thing.x",
		}},
		{"crosswise", levels{counted, "", counted}, levels{"", counted, ""}, "", []string{
			"module.a.module.b[0].sim_thing.x no-op from module.a[0].module.b.sim_thing.x[0]",
		}},
		{"within a repeated module", levels{`for_each = toset(["k"])`, "", ""}, levels{`for_each = toset(["k"])`, counted, ""}, "", []string{
			`module.a["k"].module.b[0].sim_thing.x no-op from module.a["k"].module.b.sim_thing.x`,
		}},
		{"for_each", levels{}, levels{outer: `for_each = toset(["k"])`}, "", []string{
			"module.a.module.b.sim_thing.x delete delete_because_no_module", `module.a["k"].module.b.sim_thing.x create`,
		}},
		{"moved too", levels{}, levels{counted, "", counted}, "y", []string{
			"module.a[0].module.b.sim_thing.y[0] no-op from module.a.module.b.sim_thing.x",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			write := func(l levels, name string) {
				w.config("module \"a\" {\n source = \"./outer\"\n" + l.outer + "\n}")
				w.file("outer/main.tf", "module \"b\" {\n source = \"./inner\"\n"+l.inner+"\n}")
				text := prelude + "resource \"sim_thing\" \"" + name + "\" {\n name = \"x\"\n" + l.resource + "\n}\n"
				if name != "x" {
					text += "moved {\n from = sim_thing.x\n to = sim_thing." + name + "\n}"
				}
				w.file("outer/inner/main.tf", text)
			}
			write(row.was, "x")
			w.ok(command{})
			write(row.is, cmp.Or(row.moved, "x"))
			w.ok(command{}).plans(row.want...)
			w.ok(command{planOnly: true}).plans()
		})
	}
}

func TestMovedToAnotherType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_old" "x" {
  name      = "x"
  old_value = "v"
}`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "y" {
  name = "x"
  tags = { old_value = "v" }
}
moved {
  from = sim_old.x
  to   = sim_thing.y
}`)
	r := w.ok(command{})
	call(t, r.planLog, simlog.Filter{RPC: "MoveResourceState"})
	for _, a := range r.actions() {
		if a != "sim_thing.y no-op from sim_old.x" && a != "sim_thing.y update from sim_old.x" {
			t.Errorf("planned: got %q, want no-op or update of sim_thing.y from sim_old.x", a)
		}
	}
	w.has("sim_thing.y")
	if w.attr("sim_thing.y", "id") != `"x-1"` {
		t.Errorf("id: got %s, want %s", w.attr("sim_thing.y", "id"), `"x-1"`)
	}
	w.ok(command{planOnly: true}).plans()
}

// TestMovedAndChangedOutside moves objects that are no longer as they were left, or are gone.
func TestMovedAndChangedOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "y" { name = "y" }`)
	w.ok(command{})
	w.drift("x-1", "size", "99")
	if err := os.Remove(simcloud.ObjectPath(w.cloud, "y-1")); err != nil {
		t.Fatal(err)
	}
	w.config(`
resource "sim_thing" "x2" { name = "x" }
resource "sim_thing" "y2" { name = "y" }
moved {
  from = sim_thing.x
  to   = sim_thing.x2
}
moved {
  from = sim_thing.y
  to   = sim_thing.y2
}`)
	drift := w.ok(command{planOnly: true}).plan.Drift
	if len(drift) != 2 {
		t.Fatalf("drift: got %+v, want 2", drift)
	}
	for _, c := range drift {
		if c.Provider.Provider.Type != "sim" {
			t.Errorf("provider of the drift of %s: got %+v, want sim", c.Addr, c.Provider)
		}
	}
}

func TestMovedConflicts(t *testing.T) {
	t.Parallel()
	t.Run("cycle of modules, without objects", func(t *testing.T) {
		t.Parallel()
		newWorld(t, `
moved {
  from = module.a
  to   = module.b
}
moved {
  from = module.b["x"]
  to   = module.c
}
moved {
  from = module.c
  to   = module.b["x"]
}`).fails(command{planOnly: true}, "Cyclic dependency in move statements",
			"  module.b[\"x\"] becomes module.c (", "  module.c becomes module.b[\"x\"] (")
	})
	t.Run("into itself without an end", func(t *testing.T) {
		t.Parallel()
		newWorld(t, `
moved {
  from = module.a
  to   = module.a.module.a
}`).fails(command{planOnly: true}, "Cyclic dependency in move statements", "  module.a becomes module.a.module.a (")
	})
}

// TestMoveInManySteps follows a name that has changed more often than anybody counts.
func TestMoveInManySteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "r0" { name = "x" }`)
	w.ok(command{})
	const steps = 250
	var config strings.Builder
	for i := range steps {
		fmt.Fprintf(&config, "moved {\n  from = sim_thing.r%d\n  to   = sim_thing.r%d\n}\n", i, i+1)
	}
	fmt.Fprintf(&config, "resource \"sim_thing\" \"r%d\" { name = \"x\" }\n", steps)
	w.config(config.String())
	w.ok(command{})
	w.has(fmt.Sprintf("sim_thing.r%d", steps))
}

func TestImport(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]string{"id": `id = "x-1"`, "identity": `identity = { name = "x" }`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_thing" "first" {
  name = "x"
  size = 3
}`)
			w.ok(command{})
			w.store.Put("default", nil)
			w.config(`
import {
  to = sim_thing.x
  ` + by + `
}
resource "sim_thing" "x" {
  name = "x"
  size = 3
}`)
			r := w.ok(command{})
			r.plans("sim_thing.x no-op import").did()
			call(t, r.planLog, simlog.Filter{RPC: "ImportResourceState"})
			w.has("sim_thing.x")
			if w.attr("sim_thing.x", "id") != `"x-1"` {
				t.Errorf("id: got %s, want %s", w.attr("sim_thing.x", "id"), `"x-1"`)
			}
			if r.applied.Counts.Import != 1 {
				t.Errorf("counts: got %+v, want one import", r.applied.Counts)
			}
			r = w.ok(command{planOnly: true}).plans()
			if n := r.planLog.Count(simlog.Filter{RPC: "ImportResourceState"}); n != 0 {
				t.Error("imported again")
			}
		})
	}
	t.Run("with a change", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, `resource "sim_thing" "first" { name = "x" }`)
		w.ok(command{})
		w.store.Put("default", nil)
		w.config(`
import {
  to = sim_thing.x["k"]
  id = "x-1"
}
resource "sim_thing" "x" {
  for_each = toset(["k"])
  name = "x"
  size = 3
}`)
		r := w.ok(command{})
		r.plans(`sim_thing.x["k"] update import`).did("update x")
		if c := r.applied.Counts; c.Import != 1 || c.Change != 1 {
			t.Errorf("counts: got %+v, want one import, one change", c)
		}
	})
}

// Whatever is not planned as the new type is destroyed as the one that the state has.
func TestMovedToAnotherTypeAndDestroyed(t *testing.T) {
	t.Parallel()
	const moved = `
moved {
  from = sim_old.x
  to   = sim_thing.y
}`
	for _, row := range []struct {
		name, config, want string
		command            command
	}{
		{"with all else", `resource "sim_thing" "y" { name = "x" }` + moved, "sim_old.x delete", command{mode: plan.Destroy}},
		{"declared no more", moved, "sim_old.x delete delete_because_no_resource_config", command{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_old" "x" { name = "x" }`)
			w.ok(command{})
			w.config(row.config)
			r := w.ok(row.command).plans(row.want)
			if n := r.planLog.Count(simlog.Filter{RPC: "MoveResourceState"}); n != 0 {
				t.Errorf("the provider was asked %d times to convert what goes, want 0", n)
			}
			if live := w.live(); len(live) != 0 {
				t.Errorf("left in the cloud: got %v, want nothing", live)
			}
		})
	}
}
