package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// invocation parses "t.a event action.t.x", and the dependencies of the action.
func invocation(t *testing.T, text string) *Invocation {
	t.Helper()
	words := strings.Fields(text)
	deps := change(t, "t.none create uses "+strings.Join(words[3:], " ")).Deps
	return &Invocation{
		Action: inst(t, words[2]), Deps: deps,
		Trigger: &ActionTrigger{Resource: inst(t, words[0]), Event: TriggerEvent(words[1]), OnFailure: HaltOnFailure},
	}
}

// edgesOf returns the edges of steps as texts.
func edgesOf(steps []Step) (out []string) {
	for i := range steps {
		for _, e := range steps[i].Next {
			out = append(out, fmt.Sprintf("%s < %s", &steps[i], &steps[e.To]))
		}
	}
	slices.Sort(out)
	return out
}

func TestStepsOfInvocations(t *testing.T) {
	tests := []struct {
		name                 string
		changes, invocations []string
		want                 []string
	}{
		{
			"before and after",
			[]string{"t.a create", "t.b create uses t.a", "t.c create"},
			[]string{"t.a before_create action.t.x t.c", "t.a after_create action.t.y"},
			[]string{"t.a (actions after) < t.b", "t.a (actions before) < t.a", "t.a < t.a (actions after)", "t.c < t.a (actions before)"},
		},
		{
			"replacements",
			[]string{"t.a delete-create", "t.b create-delete cbd"},
			[]string{"t.a before_create action.t.x", "t.b after_create action.t.y"},
			[]string{"t.a (actions before) < t.a", "t.a (destroy) < t.a", "t.a (destroy) < t.a (actions before)", "t.b (actions after) < t.b (destroy)", "t.b < t.b (actions after)", "t.b < t.b (destroy)"},
		},
		{
			"all of the same resource",
			[]string{"t.a[0] create", "t.a[1] create"},
			[]string{"t.a[0] after_create action.t.x t.a[*]", "t.a[1] after_create action.t.x t.a[*]"},
			[]string{
				"t.a (all instances) < t.a[0] (actions after)", "t.a (all instances) < t.a[1] (actions after)", "t.a[0] < t.a (all instances)", "t.a[0] < t.a[0] (actions after)",
				"t.a[1] < t.a (all instances)", "t.a[1] < t.a[1] (actions after)",
			},
		},
		{"without a change", []string{"t.a no-op"}, []string{"t.a after_create action.t.x"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &Plan{}
			for _, text := range tt.changes {
				p.Changes = append(p.Changes, change(t, text))
			}
			for _, text := range tt.invocations {
				p.Invocations = append(p.Invocations, invocation(t, text))
			}
			steps, diags := p.Steps()
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			if diff := cmp.Diff(tt.want, edgesOf(steps)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestStepsContradictInvocations has an action that waits for a dependent of the resource that triggers it.
func TestStepsContradictInvocations(t *testing.T) {
	p := &Plan{
		Changes:     []*Change{change(t, "t.a create"), change(t, "t.b create uses t.a")},
		Invocations: []*Invocation{invocation(t, "t.a after_create action.t.x t.b")},
	}
	if _, diags := p.Steps(); !diags.HasErrors() || !strings.Contains(diags[0].Detail, "t.b waits for t.a (actions after)") {
		t.Errorf("diagnostics %v", diags)
	}
}

func TestSortInvocations(t *testing.T) {
	p := &Plan{}
	for _, text := range []string{"t.b after_update action.t.x", "t.a after_create action.t.y", "t.a before_create action.t.z", "t.a after_create action.t.w"} {
		p.Invocations = append(p.Invocations, invocation(t, text))
	}
	p.Invocations[1].Trigger.Block = 1
	p.SortInvocations()
	var got []string
	for _, i := range p.Invocations {
		got = append(got, i.Action.String())
	}
	if want := []string{"action.t.z", "action.t.w", "action.t.y", "action.t.x"}; !slices.Equal(got, want) {
		t.Errorf("order: got %v, want %v", got, want)
	}
	if p.Invoking() || len(p.Triggered()[inst(t, "t.a")]) != 3 {
		t.Errorf("triggered: got %v, want 3 by t.a", p.Triggered())
	}
}
