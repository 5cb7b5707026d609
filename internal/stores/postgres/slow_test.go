//go:build !mayfly_no_postgres

package postgres_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// slow takes three seconds to encrypt an object that is new.
type slow struct{ lenient }

func (c slow) Seal(plain []byte) ([]byte, error) {
	if bytes.Contains(plain, []byte("slowly")) {
		time.Sleep(3 * time.Second)
	}
	return c.lenient.Seal(plain)
}

// TestSlowWrite replaces a state, which keeps the server waiting for longer than other transactions may: with
// many objects, comparing and encrypting them takes time.
func TestSlowWrite(t *testing.T) {
	opt := stock(t, 2)
	opt.Cipher, opt.Lease = slow{}, 10*time.Second
	s := open(t, opt)
	postgres.Hasten(s, 2*time.Second)
	m := manager(t, s)
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.Serial++
	f.State.SetObject(storetest.Address("a", 0), storetest.Object(t, "slowly"), storetest.Provider)
	if err := m.Write(t.Context(), f); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}
