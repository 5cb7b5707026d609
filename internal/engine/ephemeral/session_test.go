package ephemeral

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// TestFreshTogether has a session whose leases take a while to renew: they are renewed at once, also if one
// of them has expired.
func TestFreshTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{Opened: eval.NewOpened(nil)}
		check := func(fresh bool) {
			s.check(func() bool {
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
