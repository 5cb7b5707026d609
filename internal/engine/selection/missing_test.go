package selection

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestMissingDepsLooksOnce has many ask for what all of them depend on, and counts the instances that were
// looked at.
func TestMissingDepsLooksOnce(t *testing.T) {
	whole := func(name string) plan.Dep {
		return plan.Dep{Resource: addr.AbsResource{Resource: addr.Resource{Type: "t", Name: name}}, All: true}
	}
	const n = 100
	looked := 0
	l := &MissingDeps{
		Instances: func(_ *future.Task, d plan.Dep) (out []addr.Instance, ok bool) {
			for i := range n {
				out = append(out, d.Resource.Instance(addr.IntKey(i)))
			}
			return out, d.Resource.Name != "untold"
		},
		Missing: func(i addr.Instance) bool {
			looked++
			return i.Resource.Name == "gone" && i.Key == addr.IntKey(n-1)
		},
	}
	for range n {
		for name, want := range map[string]bool{"there": false, "gone": true, "untold": true} {
			if got := l.Any(&future.Task{}, []plan.Dep{whole(name)}); got != want {
				t.Fatalf("all of %s: got %v, want %v", name, got, want)
			}
		}
	}
	if looked != 2*n {
		t.Errorf("looked at %d instances, want each of two resources once: %d", looked, 2*n)
	}
	one := plan.Dep{Resource: whole("gone").Resource, Key: addr.IntKey(n - 1)}
	if !l.Any(&future.Task{}, []plan.Dep{whole("there"), one}) {
		t.Error("an instance that is missing was not found")
	}
}
