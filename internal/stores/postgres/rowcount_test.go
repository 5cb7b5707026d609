//go:build !mayfly_no_postgres

package postgres_test

import (
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestRowCount counts rows of objects, and of outputs beside them.
func TestRowCount(t *testing.T) {
	opt := stock(t, 20)
	m := manager(t, open(t, opt))
	count := func() int64 {
		t.Helper()
		var n atomic.Int64
		part := state.Part{Subjects: []state.Subject{{Kind: state.AllInstances, Addr: storetest.Address("a", 0).Abs().String()}}}
		if _, err := m.(store.PartReader).ReadPart(store.WithRowCount(t.Context(), &n), part); err != nil {
			t.Fatal(err)
		}
		return n.Load()
	}
	before := count()
	if before < 20 || before > 30 {
		t.Errorf("got %d rows of 20 objects, want these and few others", before)
	}
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x1", "x2", "x3"} {
		f.State.Outputs[name] = output(t, name)
	}
	if err := manager(t, open(t, opt)).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if got := count() - before; got != 3 {
		t.Errorf("got %d rows more with 3 outputs more, want 3", got)
	}
}
