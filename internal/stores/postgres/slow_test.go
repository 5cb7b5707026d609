//go:build !mayfly_no_postgres

package postgres_test

import (
	"bytes"
	"strings"
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

// slowReader takes two seconds to decode an object that is new.
type slowReader struct{ lenient }

func (c slowReader) Unseal(sealed []byte) ([]byte, error) {
	plain, err := c.lenient.Unseal(sealed)
	if bytes.Contains(plain, []byte("slowly")) {
		time.Sleep(2 * time.Second)
	}
	return plain, err
}

// TestSlowRead reads an object that takes longer to decode than the server waits for a run that writes.
func TestSlowRead(t *testing.T) {
	opt := stock(t, 1)
	opt.Cipher, opt.Lease = slowReader{}, time.Second
	change(t, opt, "slowly", 0)
	s := open(t, opt)
	postgres.Hasten(s, 500*time.Millisecond)
	began := time.Now()
	_, err := manager(t, s).Read(t.Context())
	if took := time.Since(began); err != nil || took < 2*time.Second {
		t.Errorf("got %v after %v, want no error after two seconds", err, took)
	}
}

// TestReadOnlyByDefault refuses a run at its claims if the server would refuse its results.
func TestReadOnlyByDefault(t *testing.T) {
	opt := stock(t, 1)
	opt.ConnString += "&options=-c%20default_transaction_read_only%3Don"
	if err := planned(t, opt, "run", []int{0}).claim(0); err == nil || !strings.Contains(err.Error(), "default_transaction_read_only") {
		t.Errorf("got %v, want an error about default_transaction_read_only", err)
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.claims`); got != 0 {
		t.Errorf("got %d claims, want none", got)
	}
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
