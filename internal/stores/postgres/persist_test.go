//go:build !mayfly_no_postgres

package postgres_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
)

// TestOutage has a run end in one lease if its server is away, however many requests it makes, and gives each
// of them some time: the first attempt of one meets the connection that was lost.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = time.Minute
		s, err := postgres.New(postgres.Options{ConnString: "host=127.0.0.1 dbname=d user=u", Lease: lease})
		if err != nil {
			t.Fatal(err)
		}
		request := func(attempts int) (took time.Duration, failed bool) {
			began, made := time.Now(), 0
			err := postgres.Persist(t.Context(), s, func() error {
				if made++; made > attempts {
					return nil
				}
				return driver.ErrBadConn
			})
			return time.Since(began), err != nil
		}
		const many = 1 << 30
		took, failed := request(many)
		if !failed || took < lease || took > lease+5*time.Second {
			t.Errorf("the first request: got failed %v after %v, want true after %v", failed, took, lease)
		}
		for range 3 {
			if took, failed := request(many); !failed || took > 7*time.Second {
				t.Errorf("another request: got failed %v after %v, want true after some seconds", failed, took)
			}
		}
		if took, failed := request(2); failed {
			t.Errorf("a request that succeeds at last: got an error after %v, want none", took)
		}
		if took, failed := request(many); !failed || took < lease {
			t.Errorf("another outage: got failed %v after %v, want true after %v", failed, took, lease)
		}
	})
}

// TestLongRequest repeats a request that has gone well for longer than the lease when its connection is lost.
// One that has waited as long for a server that was never reached is not repeated.
func TestLongRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := postgres.New(postgres.Options{ConnString: "host=127.0.0.1 dbname=d user=u", Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		attempts := 0
		if err := postgres.PersistFirst(t.Context(), s, func() error {
			attempts++
			time.Sleep(10 * time.Second)
			return driver.ErrBadConn
		}); err == nil || attempts != 1 {
			t.Errorf("got %v after %d attempts to reach a server, want an error after 1", err, attempts)
		}
		if s, err = postgres.New(postgres.Options{ConnString: "host=127.0.0.1 dbname=d user=u", Lease: time.Minute}); err != nil {
			t.Fatal(err)
		}
		attempts = 0
		request := func() error {
			time.Sleep(2 * time.Minute)
			if attempts++; attempts == 1 {
				return driver.ErrBadConn
			}
			return nil
		}
		if err := postgres.Persist(t.Context(), s, request); err != nil || attempts != 2 {
			t.Errorf("got %v after %d attempts, want none after 2", err, attempts)
		}
	})
}

// TestReplicaTakesOver repeats a request of a run that has claims while its server only reads, as a replica
// does that is about to take over. Without claims it is an error at once.
func TestReplicaTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := postgres.New(postgres.Options{ConnString: "host=127.0.0.1 dbname=d user=u", Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		attempts := 0
		request := func() error {
			if attempts++; attempts < 5 {
				return &pq.Error{Code: "25006"}
			}
			return nil
		}
		err = postgres.Persist(t.Context(), s, request)
		if err == nil || !strings.Contains(err.Error(), "primary server") || attempts != 1 {
			t.Errorf("without claims: got %v after %d attempts, want advice after 1", err, attempts)
		}
		attempts = 0
		postgres.Note(s, "run")
		if err := postgres.Persist(t.Context(), s, request); err != nil || attempts != 5 {
			t.Errorf("with claims: got %v after %d attempts, want no error after 5", err, attempts)
		}
		attempts = 0
		if err := postgres.Persist(t.Context(), s, func() error {
			if attempts++; attempts < 5 {
				return postgres.Unconnected(errors.New("no host takes changes"))
			}
			return nil
		}); err != nil || attempts != 5 {
			t.Errorf("without a server that takes changes: got %v after %d attempts, want no error after 5", err, attempts)
		}
		attempts = 0
		if err := postgres.Persist(t.Context(), s, func() error { attempts++; return &pq.Error{Code: "42501"} }); err == nil || attempts != 1 {
			t.Errorf("another error with claims: got %v after %d attempts, want it after 1", err, attempts)
		}
	})
}

// TestAdviceOnErrors has advice on errors of the server about its settings and limits, and on no others.
func TestAdviceOnErrors(t *testing.T) {
	for _, row := range []struct {
		err  *pq.Error
		want string // in the text; "" for no advice
	}{
		{&pq.Error{Code: "0A000", Routine: "check_XactReadOnly"}, "primary server"},
		{&pq.Error{Code: "0A000"}, ""},
		{&pq.Error{Code: "22P05"}, "UTF8"},
		{&pq.Error{Code: "53300"}, "at most 4 connections"},
		{&pq.Error{Code: "08P01", Message: "query_wait_timeout"}, "default_pool_size"},
		{&pq.Error{Code: "54000", Message: "index row size 2712 exceeds btree version 4 maximum 2704"}, "shorter key"},
		{&pq.Error{Code: "54000", Message: "stack depth limit exceeded"}, ""},
		{&pq.Error{Code: "57014", Message: "canceling statement due to statement timeout"}, "statement_timeout"},
		{&pq.Error{Code: "57014", Message: "canceling statement due to user request"}, ""},
		{&pq.Error{Code: "42501"}, "grant the right"},
	} {
		got := postgres.Explain("mayfly", row.err)
		if !errors.Is(got, row.err) || !strings.Contains(got.Error(), row.want) || row.want == "" && got.Error() != "PostgreSQL: "+strings.TrimPrefix(row.err.Error(), "pq: ") {
			t.Errorf("got %q, want %q in it", got, row.want)
		}
	}
}

// TestOutageEnds ends the repetition of a request at an error that does not pass, and at the end of its
// context, with both reasons.
func TestOutageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := postgres.New(postgres.Options{ConnString: "host=127.0.0.1 dbname=d user=u", Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		other, attempts := errors.New("other"), 0
		err = postgres.Persist(t.Context(), s, func() error { attempts++; return other })
		if !errors.Is(err, other) || attempts != 1 {
			t.Errorf("an error that does not pass: got %v after %d attempts, want it after 1", err, attempts)
		}
		attempts = 0
		err = postgres.Persist(t.Context(), s, func() error { attempts++; return driver.ErrBadConn })
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("tried %d times", attempts)) {
			t.Errorf("got %v, want that it was tried %d times", err, attempts)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		err = postgres.Persist(ctx, s, func() error { cancel(other); return driver.ErrBadConn })
		if !errors.Is(err, other) || !errors.Is(err, driver.ErrBadConn) {
			t.Errorf("a context that ends: got %v, want its cause and the error of the connection", err)
		}
	})
}
