package ephemeral

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// TestFreshTogether has a session whose leases take a while to renew: they are renewed at once, also if one
// of them has expired.
func TestFreshTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{Opened: eval.NewOpened(nil)}
		check := func(fresh bool) {
			s.checks = append(s.checks, func() bool {
				time.Sleep(time.Second)
				return fresh
			})
		}
		for _, fresh := range []bool{true, true, true, false, true} {
			check(fresh)
			begin := time.Now()
			if want := len(s.checks) < 4; s.Fresh() != want {
				t.Errorf("with %d leases: fresh is %t, want %t", len(s.checks), !want, want)
			}
			if took := time.Since(begin); took != time.Second {
				t.Errorf("checking %d leases took %s, want 1s", len(s.checks), took)
			}
		}
	})
}

// TestEnd ends a session twice: it holds nothing any more, and each lease was released once, the newest one
// first.
func TestEnd(t *testing.T) {
	s := &Session{Opened: eval.NewOpened(nil)}
	in := &eval.Instance{}
	s.Add(in, cty.True)
	var released []int
	for i := range 3 {
		s.releases = append(s.releases, func() { released = append(released, i) })
	}
	s.checks = append(s.checks, func() bool { return false })
	s.End()
	s.End()
	if s.Has(in) || !s.Fresh() || !slices.Equal(released, []int{2, 1, 0}) {
		t.Errorf("the object is there: %t, checks pass: %t, released: got %v, want 2, 1, 0", s.Has(in), s.Fresh(), released)
	}
}

// TestRules has a walk without rules of its own, and one with all of them.
func TestRules(t *testing.T) {
	none := &Rules{}
	if none.skips(nil) || none.pending(nil, nil) {
		t.Error("without rules, an instance stays closed")
	}
	want := eval.Use{PreApply: true}
	all := &Rules{
		Skip:    func(*eval.Instance) bool { return true },
		Pending: func(*future.Task, *eval.Instance) bool { return true },
		Use:     func(*future.Task, *eval.Instance) eval.Use { return want },
	}
	if !all.skips(nil) || !all.pending(nil, nil) || all.use(nil, nil) != want {
		t.Error("the rules of the walk do not hold")
	}
}
