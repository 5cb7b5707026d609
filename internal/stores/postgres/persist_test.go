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
