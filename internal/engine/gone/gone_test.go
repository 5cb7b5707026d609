package gone

import (
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestUnseen asks for dependencies that an earlier call has had, and for others.
func TestUnseen(t *testing.T) {
	t.Parallel()
	b := NewBlocks(nil)
	r := addr.AbsResource{Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "n"}}
	one, all := plan.Dep{Resource: r, Key: addr.IntKey(1)}, plan.Dep{Resource: r, All: true}
	if got := b.Unseen([]plan.Dep{one, one}); !slices.Equal(got, []plan.Dep{one}) {
		t.Errorf("Unseen: got %v, want one dependency", got)
	}
	if got := b.Unseen([]plan.Dep{one, all}); !slices.Equal(got, []plan.Dep{all}) {
		t.Errorf("Unseen: got %v, want the new one", got)
	}
}
