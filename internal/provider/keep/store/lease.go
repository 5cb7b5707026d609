package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of a lease's time to live.
const (
	minTTL = time.Second
	maxTTL = 24 * time.Hour
)

// errUnchanged is returned to change if nothing needs to be written.
var errUnchanged = errors.New("unchanged")

// Lease is the public part of a lease: everything but its token.
type Lease struct {
	ID        string
	Purpose   string // empty if none was given
	TTL       time.Duration
	ExpiresAt time.Time // UTC, to the millisecond
}

func (r *leaseRecord) show(id string) Lease {
	return Lease{ID: id, Purpose: r.Purpose, TTL: time.Duration(r.TTLMillis) * time.Millisecond, ExpiresAt: r.ExpiresAt}
}

func (r *leaseRecord) extend(now time.Time) {
	r.ExpiresAt = now.UTC().Truncate(time.Millisecond).Add(time.Duration(r.TTLMillis) * time.Millisecond)
}

// CheckTTL returns an error if ttl is outside the bounds of a lease.
func CheckTTL(ttl time.Duration) error {
	if ttl >= minTTL && ttl <= maxTTL {
		return nil
	}
	return &Problem{Kind: ErrInvalid, Summary: "Invalid time to live", Detail: fmt.Sprintf("A lease lives between %s and %s.", minTTL, maxTTL)}
}

// Grant records a new lease and returns its token, which exists nowhere else: the store keeps a hash.
func (s *Store) Grant(ctx context.Context, ttl time.Duration, purpose string) (Lease, string, error) {
	if err := CheckTTL(ttl); err != nil {
		return Lease{}, "", err
	}
	id := randomID()
	if err := checkSize("purpose", len(purpose)); err != nil {
		return Lease{}, "", err
	}
	token := newToken(id)
	hash := sha256.Sum256([]byte(token))
	var made Lease
	err := s.update(ctx, func(d *document) error {
		if len(d.Leases) >= maxLeases {
			return &Problem{Kind: ErrTooLarge, Summary: "Too many leases", Detail: fmt.Sprintf(
				"The store %s already has %d live leases. Wait until some expire, or use shorter times to live.", s.name, maxLeases)}
		}
		r := &leaseRecord{TokenSHA256: hash[:], TTLMillis: ttl.Milliseconds(), Purpose: purpose}
		r.extend(s.now())
		d.Leases[id] = r
		made = r.show(id)
		return nil
	})
	if err != nil {
		return Lease{}, "", err
	}
	return made, token, nil
}

// Renew extends a live lease by its full time from now. It fails with [ErrNoLease] if the lease has expired
// or was revoked; such a lease cannot be renewed.
func (s *Store) Renew(ctx context.Context, id string) (Lease, error) {
	var renewed Lease
	err := s.update(ctx, func(d *document) error {
		r := d.Leases[id]
		if r == nil {
			return &Problem{Kind: ErrNoLease, Summary: "Lease is over", Detail: fmt.Sprintf(
				"The lease of the store %s has expired or was revoked and can't be renewed. Run again to get a new one; "+
					"if runs pause for long, choose a longer ttl.", s.name)}
		}
		r.extend(s.now())
		renewed = r.show(id)
		return nil
	})
	return renewed, err
}

// Revoke ends a lease at once. It is not an error if the lease has already ended.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.change(ctx, func(d *document) bool {
		_, there := d.Leases[id]
		delete(d.Leases, id)
		return there
	})
}

// Leases lists the live leases by expiry, soonest first.
func (s *Store) Leases(ctx context.Context) ([]Lease, error) {
	var live []Lease
	err := s.view(ctx, func(d *document) error {
		d.dropExpired(s.now())
		for id, r := range d.Leases {
			live = append(live, r.show(id))
		}
		return nil
	})
	slices.SortFunc(live, func(a, b Lease) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
	})
	return live, err
}

// authenticate fails if the handle has a token whose lease is not live.
func (s *Store) authenticate(d *document) error {
	if s.token == "" {
		return nil
	}
	rest, wellFormed := strings.CutPrefix(s.token, tokenPrefix)
	id, _, _ := strings.Cut(rest, ".")
	hash := sha256.Sum256([]byte(s.token))
	r := d.Leases[id]
	if wellFormed && r != nil && s.now().Before(r.ExpiresAt) && subtle.ConstantTimeCompare(hash[:], r.TokenSHA256) == 1 {
		return nil
	}
	return &Problem{Kind: ErrNoLease, Summary: "Token not accepted", Detail: fmt.Sprintf(
		"The token is not that of a live lease of the store %s: it is unknown, has expired or was revoked. "+
			"Take the token from an ephemeral keep_lease of the same store that is open while it is used.", s.name)}
}

const tokenPrefix = "keep."

// newToken returns a token that contains the lease's id, so that checking one is a lookup.
func newToken(id string) string {
	secret := make([]byte, 32)
	defer clear(secret)
	rand.Read(secret) // never fails: the runtime ends the program instead
	return tokenPrefix + id + "." + base64.RawURLEncoding.EncodeToString(secret)
}

func randomID() string {
	id := make([]byte, 8)
	rand.Read(id)
	return hex.EncodeToString(id)
}
