package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

func inst(t *testing.T, s string) addr.Instance {
	t.Helper()
	i, err := addr.ParseInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// change parses "t.a action" with the addresses that it depends on after "uses" (configuration) and "used"
// (state). An address that ends in "[*]" is a dependency on all instances.
func change(t *testing.T, text string) *Change {
	t.Helper()
	words := strings.Fields(text)
	c := &Change{Addr: inst(t, words[0])}
	for a := NoOp; a <= Forget; a++ {
		if a.String() == words[1] {
			c.Action = a
		}
	}
	where := ""
	for _, w := range words[2:] {
		switch w {
		case "uses", "used":
			where = w
		case "cbd":
			c.CreateBeforeDestroy = true
		case "deposed":
			c.Deposed = "00000001"
		default:
			name, all := strings.CutSuffix(w, "[*]")
			i := inst(t, name)
			if where == "used" {
				c.StateDeps = append(c.StateDeps, i.Config())
			} else {
				c.Deps = append(c.Deps, Dep{Resource: i.Abs(), Key: i.Key, All: all})
			}
		}
	}
	return c
}

func TestSteps(t *testing.T) {
	tests := []struct {
		name    string
		changes []string
		want    []string
	}{
		{"nothing to do", []string{"t.a no-op", "t.b no-op uses t.a"}, nil},
		{"create after dependency", []string{"t.a create", "t.b create uses t.a"}, []string{
			"t.a after []", "t.b after [t.a]",
		}},
		{"read after dependency", []string{"t.a update", "data.t.b read uses t.a"}, []string{
			"data.t.b after [t.a]", "t.a after []",
		}},
		{"one instance", []string{"t.a[0] create", "t.a[1] create", "t.b create uses t.a[1]"}, []string{
			"t.a[0] after []", "t.a[1] after []", "t.b after [t.a[1]]",
		}},
		{"all instances", []string{"t.a[0] create", "t.a[1] create", "t.b create uses t.a[*]"}, []string{
			"t.a[0] after []", "t.a[1] after []", "t.b after [t.a[0] t.a[1]]",
		}},
		{"through what doesn't change", []string{"t.a update", "t.b no-op uses t.a", "t.c create uses t.b"}, []string{
			"t.a after []", "t.c after [t.a]",
		}},
		{"destroy in reverse", []string{"t.a delete", "t.b delete used t.a"}, []string{
			"t.a (destroy) after [t.b (destroy)]", "t.b (destroy) after []",
		}},
		{"replace, destroy first", []string{"t.a delete-create", "t.b delete-create uses t.a used t.a"}, []string{
			"t.a (destroy) after [t.b (destroy)]", "t.a after [t.a (destroy) t.b (destroy)]",
			"t.b (destroy) after []", "t.b after [t.a t.a (destroy) t.b (destroy)]",
		}},
		{"replace, create first", []string{"t.a create-delete", "t.b update uses t.a used t.a"}, []string{
			"t.a (destroy) after [t.a t.b]", "t.a after []", "t.b after [t.a]",
		}},
		{"replace, destroy first, under an update", []string{"t.a delete-create", "t.b update uses t.a used t.a"}, []string{
			"t.a (destroy) after []", "t.a after [t.a (destroy)]", "t.b after [t.a t.a (destroy)]",
		}},
		{"deleted, and updated below", []string{"t.a update", "t.b delete used t.a"}, []string{
			"t.a after [t.b (destroy)]", "t.b (destroy) after []",
		}},
		{"deleted, and created anew below", []string{"t.a create", "t.b delete used t.a"}, []string{
			"t.a after [t.b (destroy)]", "t.b (destroy) after []",
		}},
		{"replaced, and updated below", []string{"t.a update", "t.b delete-create uses t.a used t.a"}, []string{
			"t.a after [t.b (destroy)]", "t.b (destroy) after []", "t.b after [t.a t.b (destroy)]",
		}},
		{"deleted, and read below", []string{"data.t.a read", "t.b delete used data.t.a"}, []string{
			"data.t.a after []", "t.b (destroy) after []",
		}},
		{"deleted, create first, and updated below", []string{"t.a update", "t.b delete cbd used t.a"}, []string{
			"t.a after []", "t.b (destroy) after [t.a]",
		}},
		{"deleted at both ends of a chain", []string{"t.a delete", "t.m no-op used t.a", "t.b delete used t.m"}, []string{
			"t.a (destroy) after [t.b (destroy)]", "t.b (destroy) after []",
		}},
		{"replaced at the end of a chain", []string{"t.a update", "t.m no-op uses t.a used t.a", "t.b delete-create uses t.m used t.m"}, []string{
			"t.a after [t.b (destroy)]", "t.b (destroy) after []", "t.b after [t.a t.b (destroy)]",
		}},
		{"replaced, create first, at the end of a chain", []string{
			"t.a create-delete", "t.m no-op uses t.a used t.a", "t.b update uses t.m used t.m", "t.c create uses t.b",
		}, []string{
			"t.a (destroy) after [t.a t.b t.c]", "t.a after []", "t.b after [t.a]", "t.c after [t.a t.b]",
		}},
		{"no longer used and deleted", []string{"t.a delete", "t.b update used t.a"}, []string{
			"t.a (destroy) after [t.b]", "t.b after []",
		}},
		{"no longer used and deleted, between what is updated", []string{"t.a update", "t.m delete used t.a", "t.b update uses t.a used t.a t.m"}, []string{
			"t.a after []", "t.b after [t.a]", "t.m (destroy) after [t.a t.b]",
		}},
		{"no longer used and deleted, with what it used", []string{"t.a delete", "t.m delete used t.a", "t.b update used t.m"}, []string{
			"t.a (destroy) after [t.b t.m (destroy)]", "t.b after []", "t.m (destroy) after [t.b]",
		}},
		{"no longer used and replaced", []string{"t.a delete-create", "t.b update used t.a"}, []string{
			"t.a (destroy) after []", "t.a after [t.a (destroy)]", "t.b after [t.a (destroy)]",
		}},
		{"another instance is used now", []string{"t.a[0] delete", "t.a[1] no-op", "t.b update uses t.a[1] used t.a"}, []string{
			"t.a[0] (destroy) after [t.b]", "t.b after []",
		}},
		{"dependency turned round", []string{"t.a delete-create uses t.b", "t.b delete-create used t.a"}, []string{
			"t.a (destroy) after [t.b (destroy)]", "t.a after [t.a (destroy) t.b t.b (destroy)]",
			"t.b (destroy) after []", "t.b after [t.a (destroy) t.b (destroy)]",
		}},
		{"records contradict each other", []string{"t.a delete used t.b", "t.b delete used t.a", "t.c delete used t.a"}, []string{
			"t.a (destroy) after [t.c (destroy)]", "t.b (destroy) after []", "t.c (destroy) after []",
		}},
		{"deposed object of what is used", []string{"t.a no-op", "t.a delete deposed", "t.b update uses t.a used t.a"}, []string{
			"t.a (deposed object 00000001) (destroy) after [t.b]", "t.b after []",
		}},
		{"deposed object of what is created", []string{"t.a create", "t.a delete deposed"}, []string{
			"t.a (deposed object 00000001) (destroy) after [t.a]", "t.a after []",
		}},
		{"deposed object of what is deleted", []string{"t.a delete", "t.a delete deposed"}, []string{
			"t.a (deposed object 00000001) (destroy) after []", "t.a (destroy) after []",
		}},
		{"deposed object in the way of a replacement", []string{"t.a delete-create", "t.b update uses t.a", "t.b delete deposed used t.a"}, []string{
			"t.a (destroy) after [t.b (deposed object 00000001) (destroy)]", "t.a after [t.a (destroy) t.b (deposed object 00000001) (destroy)]",
			"t.b (deposed object 00000001) (destroy) after []",
			"t.b after [t.a t.a (destroy) t.b (deposed object 00000001) (destroy)]",
		}},
		{"deletion in the way of a replacement", []string{"t.a delete-create", "t.b delete used t.a", "t.c update uses t.a used t.a t.b"}, []string{
			"t.a (destroy) after [t.b (destroy)]", "t.a after [t.a (destroy) t.b (destroy)]",
			"t.b (destroy) after []", "t.c after [t.a t.a (destroy) t.b (destroy)]",
		}},
		{"deleted with the help of what is updated", []string{"t.a update", "t.b delete cbd uses t.a used t.a"}, []string{
			"t.a after [t.b (destroy)]", "t.b (destroy) after []",
		}},
		{"forgotten", []string{"t.a delete", "t.b forget used t.a"}, []string{"t.a (destroy) after []", "t.b (forget) after []"}},
		{"not in the plan", []string{"t.b create uses t.nothing t.nowhere[*] used t.never"}, []string{"t.b after []"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &Plan{}
			for _, text := range test.changes {
				p.Changes = append(p.Changes, change(t, text))
			}
			steps, diags := p.Steps()
			if len(diags) > 0 {
				t.Fatal(diags.Err())
			}
			if diff := cmp.Diff(test.want, newOrder(steps).legs()); diff != "" {
				t.Errorf("steps (-want +got)\n%s", diff)
			}
		})
	}
}

// What the plan leaves out may tie together what it has.
func TestStepsFollowWhatIsLeftOut(t *testing.T) {
	p := &Plan{Changes: []*Change{change(t, "t.a update"), change(t, "t.b delete used t.m")}, Prior: state.New()}
	for at, used := range map[string]string{"t.m": "t.n", "t.n": "t.a"} {
		p.Prior.SetObject(addr.Object{Instance: inst(t, at)}, &state.Object{Dependencies: []addr.ConfigResource{inst(t, used).Config()}}, addr.ProviderConfig{})
	}
	steps, diags := p.Steps()
	if len(diags) > 0 {
		t.Fatal(diags.Err())
	}
	if diff := cmp.Diff([]string{"t.a after [t.b (destroy)]", "t.b (destroy) after []"}, newOrder(steps).legs()); diff != "" {
		t.Errorf("steps (-want +got)\n%s", diff)
	}
}

func TestStepsExplainContradictions(t *testing.T) {
	tests := []struct {
		name    string
		changes []string
		want    []string
	}{
		{"circle of dependencies", []string{"t.a create uses t.b", "t.b create uses t.a", "t.c create uses t.b"}, []string{
			"t.a waits for t.b (create after dependency)", "t.b waits for t.a (create after dependency)",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &Plan{}
			for _, text := range test.changes {
				p.Changes = append(p.Changes, change(t, text))
			}
			_, diags := p.Steps()
			if !diags.HasErrors() {
				t.Fatal("no error")
			}
			hops := 0
			for line := range strings.Lines(diags[0].Detail) {
				if strings.HasPrefix(line, "  ") {
					hops++
					if !slices.Contains(test.want, strings.TrimSpace(line)) {
						t.Errorf("unexpected hop %q", line)
					}
				}
			}
			if hops != len(test.want) {
				t.Errorf("%d hops in, want %d:\n%s", hops, len(test.want), diags[0].Detail)
			}
		})
	}
}

func TestLongContradictionsAreCut(t *testing.T) {
	p := &Plan{}
	const n = 50
	for i := range n {
		at := abs(0)
		p.Changes = append(p.Changes, &Change{
			Addr: at.Instance(addr.IntKey(i)), Action: Create, Deps: []Dep{{Resource: at, Key: addr.IntKey((i + 1) % n)}},
		})
	}
	_, diags := p.Steps()
	if !diags.HasErrors() || strings.Count(diags[0].Detail, " waits for ") != maxCycleStepsShown {
		t.Errorf("got %v, want an error with %d steps", diags, maxCycleStepsShown)
	}
}

func TestSpreadReplaceOrder(t *testing.T) {
	p := &Plan{Changes: []*Change{
		change(t, "t.net delete-create"), change(t, "t.sub[0] no-op uses t.net used t.net"), change(t, "t.sub[1] delete-create uses t.net"),
		change(t, "data.t.image read"), change(t, "t.old delete used t.net"), change(t, "t.other delete-create"),
		change(t, "t.vm create-delete cbd uses t.sub[*] data.t.image used t.old"),
	}}
	p.SpreadReplaceOrder()
	got := map[string]string{}
	for _, c := range p.Changes {
		got[c.Addr.String()] = c.Action.String()
		if c.CreateBeforeDestroy {
			got[c.Addr.String()] += " cbd"
		}
	}
	want := map[string]string{
		"t.net": "create-delete cbd", "t.sub[0]": "no-op cbd", "t.sub[1]": "create-delete cbd", "data.t.image": "read",
		"t.old": "delete cbd", "t.other": "delete-create", "t.vm": "create-delete cbd",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replace order (-want +got)\n%s", diff)
	}
}

func TestSpreadReplaceOrderIsTheLeastFixpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		want := make([]bool, len(p.Changes))
		for i, c := range p.Changes {
			want[i] = c.CreateBeforeDestroy
		}
		for again := true; again; {
			again = false
			for i, c := range p.Changes {
				for j, d := range p.Changes {
					depends := dependsInConfig(c, d) || slices.Contains(c.StateDeps, d.Addr.Config())
					if want[i] && !want[j] && d.Deposed == addr.Current && depends {
						want[j], again = true, true
					}
				}
			}
		}
		p.SpreadReplaceOrder()
		for i, c := range p.Changes {
			if c.CreateBeforeDestroy != want[i] {
				t.Fatalf("%s: create before destroy: got %v, want %v", c.Addr, c.CreateBeforeDestroy, want[i])
			}
			if want[i] && c.Action == DeleteThenCreate || !want[i] && c.Action == CreateThenDelete {
				t.Fatalf("%s: %s with create before destroy %v", c.Addr, c.Action, want[i])
			}
		}
	})
}
