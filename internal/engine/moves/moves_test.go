package moves

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// tree returns a configuration with the given text, which may call the module "./m".
func tree(text string) *config.Tree {
	files := fstest.MapFS{
		"main.tf":   &fstest.MapFile{Data: []byte(text)},
		"m/main.tf": &fstest.MapFile{Data: []byte("resource \"t\" \"in\" {}\n")},
	}
	out, _ := (&config.Loader{FS: files}).Load(".")
	return out
}

// holding returns a state with an object at each of the addresses.
func holding(t interface{ Fatal(...any) }, addresses []string) *state.State {
	st := state.New()
	for _, text := range addresses {
		a, err := addr.ParseInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		st.SetObject(addr.Object{Instance: a}, &state.Object{}, addr.ProviderConfig{})
	}
	return st
}

func movedBlock(from, to string) string {
	return fmt.Sprintf("moved {\n  from = %s\n  to   = %s\n}\n", from, to)
}

func summaries(diags diag.List) string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Summary)
	}
	return strings.Join(out, ", ")
}

func TestApply(t *testing.T) {
	for _, row := range []struct {
		name, config string
		state        []string
		want         string // each address that an object is moved to, with the one that it had
		problems     string
	}{
		{"renamed", `resource "t" "b" {}` + "\n" + movedBlock("t.a", "t.b"), []string{"t.a"}, "t.b<-t.a", ""},
		{"chain", `resource "t" "c" {}` + "\n" + movedBlock("t.b", "t.c") + movedBlock("t.a", "t.b"), []string{"t.a"}, "t.c<-t.a", ""},
		{"chain over an object", movedBlock("t.b", "t.c") + movedBlock("t.a", "t.b"), []string{"t.a", "t.b"}, "t.c<-t.b", "Move to an occupied address"},
		{"key", movedBlock("t.a[0]", `t.a["x"]`), []string{"t.a[0]", "t.a[1]"}, `t.a["x"]<-t.a[0]`, ""},
		{"all keys", movedBlock("t.a", "t.b"), []string{"t.a[0]", "t.a[1]"}, "t.b[0]<-t.a[0] t.b[1]<-t.a[1]", ""},
		{"module", movedBlock("module.a", "module.b[0]"), []string{"module.a.t.in", `module.a["x"].t.in`}, "module.b[0].t.in<-module.a.t.in", "Move to an occupied address"},
		{"into a module", movedBlock("t.a", "module.m.t.in"), []string{"t.a"}, "module.m.t.in<-t.a", ""},
		{"data", movedBlock("data.t.a", "data.t.b"), []string{"data.t.a"}, "data.t.b<-data.t.a", ""},
		{"counted", "resource \"t\" \"a\" {\n  count = 1\n}\n", []string{"t.a"}, "t.a[0]<-t.a", ""},
		{"not counted", "module \"m\" {\n  source = \"./m\"\n}\n", []string{"module.m[0].t.in", "module.m[1].t.in"}, "module.m.t.in<-module.m[0].t.in", ""},
		{"counted but taken", "resource \"t\" \"a\" {\n  count = 1\n}\n", []string{"t.a", "t.a[0]"}, "", "Move to an occupied address"},
		{"cycle", movedBlock("t.a", "t.b") + movedBlock("t.b", "t.a"), []string{"t.a"}, "", "Cyclic dependency in move statements"},
		{"into itself", movedBlock("module.a", "module.a.module.b"), nil, "", "Cyclic dependency in move statements"},
		{"two ways", movedBlock("t.a", "t.b") + movedBlock("t.a", "t.c"), []string{"t.a"}, "t.b<-t.a", "Ambiguous move statements"},
		{"still declared", `resource "t" "a" {}` + "\n" + movedBlock("t.a", "t.b"), []string{"t.a"}, "", "Moved object still exists"},
		{"to another kind", movedBlock("t.a", "data.t.a"), []string{"t.a"}, "", "Invalid \"moved\" addresses"},
		{"to itself", movedBlock("t.a", "t.a"), []string{"t.a"}, "", "Redundant move statement"},
	} {
		t.Run(row.name, func(t *testing.T) {
			st := holding(t, row.state)
			moved, diags := Apply(tree(row.config), st, plan.Normal)
			var got []string
			for to, from := range moved {
				got = append(got, to.String()+"<-"+from.String())
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != row.want || summaries(diags) != row.problems {
				t.Errorf("moved %q, want %q\n%v", text, row.want, diags.Err())
			}
		})
	}
}

// TestApplyKeepsObjects moves objects at random: each is where Moved has it, or where it was.
func TestApplyKeepsObjects(t *testing.T) {
	address := rapid.SampledFrom([]string{"t.a", "t.b", "t.c", "t.a[0]", "t.b[0]", `t.b["x"]`, "module.m.t.in", "module.m[0].t.in", "module.n.t.in"})
	target := rapid.OneOf(address, rapid.SampledFrom([]string{"module.m", "module.m[0]", "module.n", "module.m.module.n"}))
	declared := rapid.SampledFrom([]string{"", "resource \"t\" \"c\" {\n  count = 1\n}\n", "resource \"t\" \"b\" {}\n", "module \"m\" {\n  source = \"./m\"\n}\n"})
	rapid.Check(t, func(rt *rapid.T) {
		text := declared.Draw(rt, "declared")
		for range rapid.IntRange(0, 4).Draw(rt, "blocks") {
			text += movedBlock(target.Draw(rt, "from"), target.Draw(rt, "to"))
		}
		before := holding(rt, rapid.SliceOfDistinct(address, rapid.ID).Draw(rt, "state"))
		after := before.Copy()
		moved, _ := Apply(tree(text), after, plan.Normal)
		n := 0
		for a, in := range after.AllInstances() {
			n++
			if was := before.Instance(moved.From(a)); was == nil || was.Current != in.Current {
				rt.Errorf("%s: got %+v, want the object of %s: %+v", a, in.Current, moved.From(a), was)
			}
		}
		for range before.AllInstances() {
			n--
		}
		if n != 0 {
			rt.Errorf("%d objects more than before, want 0", n)
		}
	})
}
