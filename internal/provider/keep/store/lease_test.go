package store

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock is a time that only the test moves.
type clock struct{ at time.Time }

func newClock() *clock { return &clock{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.at }

func TestLeaseLife(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := newStore(t, Options{Now: c.now})
	lease, token, err := s.Grant(ctx, time.Minute, "demo")
	if err != nil {
		t.Fatal(err)
	}
	want := Lease{ID: lease.ID, Purpose: "demo", TTL: time.Minute, ExpiresAt: c.at.Add(time.Minute)}
	if diff := cmp.Diff(want, lease); diff != "" {
		t.Error(diff)
	}
	with := newStore(t, Options{Path: s.path, Now: c.now, Token: token})

	c.at = c.at.Add(40 * time.Second)
	if err := with.Check(ctx); err != nil {
		t.Fatalf("live lease: %v", err)
	}
	if renewed, err := s.Renew(ctx, lease.ID); err != nil || !renewed.ExpiresAt.Equal(c.at.Add(time.Minute)) {
		t.Fatalf("Renew: got %+v, %v, want expiry at %v", renewed, err, c.at.Add(time.Minute))
	}
	c.at = c.at.Add(time.Minute - time.Millisecond)
	if err := with.Check(ctx); err != nil {
		t.Fatalf("renewed lease: %v", err)
	}
	c.at = c.at.Add(time.Millisecond)
	if err := with.Check(ctx); !errors.Is(err, ErrNoLease) {
		t.Fatalf("expired lease: %v", err)
	}
	if live, err := s.Leases(ctx); err != nil || len(live) != 0 {
		t.Errorf("Leases after expiry: got %v, %v, want none", live, err)
	}
	if _, err := s.Renew(ctx, lease.ID); !errors.Is(err, ErrNoLease) {
		t.Errorf("an expired lease came back: %v", err)
	}
	if err := s.Revoke(ctx, lease.ID); err != nil {
		t.Errorf("revoking an expired lease: %v", err)
	}
}

func TestLeaseRevoked(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := newStore(t, Options{Now: c.now})
	lease, token, err := s.Grant(ctx, time.Minute, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Revoke(ctx, lease.ID); err != nil {
			t.Fatal(err)
		}
	}
	with := newStore(t, Options{Path: s.path, Now: c.now, Token: token})
	for name, op := range operations {
		if err := op(ctx, with); !errors.Is(err, ErrNoLease) || strings.Contains(err.Error(), token) {
			t.Errorf("%s with a revoked token: %v", name, err)
		}
	}
	if _, err := s.Renew(ctx, lease.ID); !errors.Is(err, ErrNoLease) {
		t.Errorf("a revoked lease came back: %v", err)
	}
}

func TestTokens(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := newStore(t, Options{Now: c.now})
	lease, token, err := s.Grant(ctx, time.Minute, "")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := newStore(t, Options{Now: c.now})
	_, foreign, err := elsewhere.Grant(ctx, time.Minute, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"garbage": "x", "id only": tokenPrefix + lease.ID, "id and dot": tokenPrefix + lease.ID + ".", "cut": token[:len(token)-1],
		"longer": token + "A", "no prefix": strings.TrimPrefix(token, tokenPrefix), "foreign": foreign, "fresh secret": newToken(lease.ID),
	} {
		if err := newStore(t, Options{Path: s.path, Now: c.now, Token: bad}).Check(ctx); !errors.Is(err, ErrNoLease) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fresh := newStore(t, Options{Now: c.now, Token: token})
	if err := second(fresh.CreateSecret(ctx, "a", nil, nil)); !errors.Is(err, ErrNoLease) || fresh.exists() {
		t.Errorf("a token for a store that does not exist: %v, made: %t", err, fresh.exists())
	}
}

func TestTokenIsNotInTheStore(t *testing.T) {
	s := newStore(t, Options{})
	_, token, err := s.Grant(t.Context(), time.Minute, "")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	k, err := loadKeys(s.keyFile, "")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := k.open(s.path, sealed)
	if err != nil {
		t.Fatal(err)
	}
	secret := token[strings.LastIndex(token, ".")+1:]
	if strings.Contains(string(plain), secret) || !strings.Contains(string(plain), "token_sha256") {
		t.Errorf("the store keeps the token, or no hash")
	}
}

func TestLeasesAreListedAndDropped(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := newStore(t, Options{Now: c.now})
	var ids []string
	for _, ttl := range []time.Duration{time.Hour, time.Second, time.Minute} {
		l, _, err := s.Grant(ctx, ttl, ttl.String())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, l.ID)
	}
	live, err := s.Leases(ctx)
	if err != nil || len(live) != 3 || live[0].ID != ids[1] || live[1].ID != ids[2] || live[2].Purpose != "1h0m0s" {
		t.Fatalf("Leases: got %+v, %v, want 3: %s, %s, and that of an hour", live, err, ids[1], ids[2])
	}
	c.at = c.at.Add(2 * time.Minute)
	mustCreate(t, s, "any", "change")
	c.at = c.at.Add(-2 * time.Minute)
	if live, err = s.Leases(ctx); err != nil || len(live) != 1 || live[0].ID != ids[0] {
		t.Errorf("Leases after a write when two were over: got %+v, %v, want %s alone", live, err, ids[0])
	}
}

func TestTTLBounds(t *testing.T) {
	for ttl, ok := range map[time.Duration]bool{
		0: false, -time.Minute: false, time.Second - 1: false, time.Second: true, 24 * time.Hour: true, 24*time.Hour + 1: false,
	} {
		if err := CheckTTL(ttl); (err == nil) != ok || (err != nil && !errors.Is(err, ErrInvalid)) {
			t.Errorf("CheckTTL(%s): got %v, want success %t, or %v", ttl, err, ok, ErrInvalid)
		}
	}
	s := newStore(t, Options{})
	if _, _, err := s.Grant(t.Context(), 0, ""); !errors.Is(err, ErrInvalid) || s.exists() {
		t.Errorf("grant out of bounds: %v", err)
	}
}

func TestTooManyLeases(t *testing.T) {
	s := newStore(t, Options{})
	err := s.update(t.Context(), func(d *document) error {
		for range maxLeases {
			r := &leaseRecord{TTLMillis: 1e6}
			r.extend(time.Now())
			d.Leases[randomID()] = r
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Grant(t.Context(), time.Minute, ""); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
