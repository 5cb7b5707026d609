//go:build !mayfly_no_pg

package pg

import "testing"

// TestCreation takes the number that OpenTofu 1.12.6 takes, which is the only way that it sees the lock of a
// workspace without a state.
func TestCreation(t *testing.T) {
	for want, opt := range map[int64]Options{
		-2778300772: {Schema: "locks3", Table: "states"},
		-1882801807: {Schema: "zz", Table: "tt"},
	} {
		l := &lock{Service: &Service{opt: opt}}
		if got := l.creation(); got != want {
			t.Errorf("%s.%s: got %d, want %d", opt.Schema, opt.Table, got, want)
		}
	}
}
