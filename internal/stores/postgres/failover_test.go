//go:build !mayfly_no_postgres

package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state/store"
)

// TestFailover ends the primary server in the middle of a run, and has its replica take over. The run goes on
// there, and all its results are there, as the server has waited for the replica.
func TestFailover(t *testing.T) {
	const objects = 12
	primary := server.Start(t)
	fill(t, postgres.Options{ConnString: primary.URL(0)}, objects)
	replica := primary.Replica(t)
	advice := func() string {
		var sb strings.Builder
		for _, d := range store.AdviceOf(t.Context(), open(t, postgres.Options{ConnString: primary.URL(0)})) {
			sb.WriteString(d.Summary)
		}
		return sb.String()
	}
	for deadline := time.Now().Add(10 * time.Second); advice() != "Results may be lost in a failover"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got the advice %q, want one about a failover", advice())
		}
	}
	primary.Synchronous()
	for deadline := time.Now().Add(10 * time.Second); advice() != ""; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got the advice %q, want none", advice())
		}
	}
	both := postgres.Options{ConnString: fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=test dbname=postgres sslmode=disable target_session_attrs=read-write", primary.Port, replica.Port)}
	var all []int
	for i := range objects {
		all = append(all, i)
	}
	r := planned(t, both, "one", all)
	r.begin()
	middle := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		<-middle
		primary.Stop("immediate")
		replica.Promote()
	}()
	for i := range all {
		if i == objects/2 {
			close(middle)
		}
		if err := r.update(i); err != nil {
			t.Errorf("the change %d: %v", i, err)
		}
	}
	<-over
	r.end()
	after := postgres.Options{ConnString: replica.URL(0)}
	for i, text := range texts(t, after, objects) {
		if !strings.Contains(text, "one") {
			t.Errorf("got %s of the object %d, want the acknowledged result", text, i)
		}
	}
	if err := planned(t, after, "next", all).claim(0); err != nil {
		t.Errorf("a later run: %v", err)
	}
}
