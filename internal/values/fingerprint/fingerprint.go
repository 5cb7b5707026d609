// Package fingerprint tells whether two values are the same without keeping either of them.
//
// Values go through a slow hash with the salt of a state, so that guessing a secret is expensive. A
// fingerprint never shows the result.
//
// It may import effort, jsonvalue and cty. It must not know objects, states, or where anything is stored.
package fingerprint

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"
	"golang.org/x/crypto/argon2"

	"github.com/mayfly-iac/mayfly/internal/base/effort"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

// Scheme is how values are hashed: argon2id over 16 MiB, twice, in one thread. One hash takes about 15 ms.
const Scheme = "argon2id-16m-2"

const (
	passes  = 2
	memory  = 16 << 10 // KiB
	least   = 8        // KiB, if the hash need not be slow
	threads = 1
	size    = 32 // bytes of a slow hash

	idSize, saltSize = 4, 16 // bytes
)

// Salt is added by a state to the values that are hashed for it. States of one lineage keep it for good, or
// else no values could be compared any more.
type Salt struct {
	ID     string // names it among the salts of a state
	Scheme string // how it is used; one that this program does not know is kept, and not used
	Bytes  []byte
}

// NewSalt returns a salt of 16 bytes from random.
func NewSalt(random io.Reader) (Salt, error) {
	b := make([]byte, idSize+saltSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return Salt{}, fmt.Errorf("choosing the salt for fingerprints: %w", err)
	}
	return Salt{ID: hex.EncodeToString(b[:idSize]), Scheme: Scheme, Bytes: b[idSize:]}, nil
}

// SaltOf returns the salt that follows from the key of a workspace for hashes. A state has salts of its own
// only if something in it is withheld.
func SaltOf(key []byte) Salt {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("salt for sensitive values"))
	return Salt{Scheme: Scheme, Bytes: mac.Sum(nil)}
}

// usable reports whether this program can hash with the salt.
func (s Salt) usable() bool { return s.Scheme == Scheme && len(s.Bytes) >= saltSize }

// Hashes keeps slow hashes in memory, so that a value that many share, or that a plan and its apply have, is
// hashed once. It is safe for concurrent use.
type Hashes struct {
	key     [32]byte      // of the names of values in slow, which so tell nothing about them
	working chan struct{} // bounds the hashes under way, and so their memory

	mu   sync.Mutex
	slow map[[sha256.Size]byte]func() []byte
}

// NewHashes returns Hashes without any.
func NewHashes() *Hashes {
	s := &Hashes{working: make(chan struct{}, runtime.GOMAXPROCS(0)), slow: map[[sha256.Size]byte]func() []byte{}}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

// of returns a function that computes the slow hash of b, once, and reports whether nothing else has asked
// for it before.
func (s *Hashes) of(b, salt []byte) (work func() []byte, first bool) {
	name := hmac.New(sha256.New, s.key[:])
	name.Write(salt)
	name.Write(b)
	key := [sha256.Size]byte(name.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = s.slow[key] == nil; first {
		s.slow[key] = sync.OnceValue(func() []byte {
			s.working <- struct{}{}
			defer func() { <-s.working }()
			return argon2.IDKey(b, salt, passes, effort.Of[uint32](memory, least), threads, size)
		})
	}
	return s.slow[key], first
}

// Hasher hashes the values of one walk with the salts of a state. It is safe for concurrent use.
type Hasher struct {
	random io.Reader
	hashes *Hashes
	// Begin, which may be nil, is called before the hash of a value is computed, and the returned function
	// after that. It must be set before the first use.
	Begin func() (end func())

	mu    sync.Mutex
	salts []Salt // usable ones; the first is used for new fingerprints
	made  bool
}

// New returns a Hasher for a state with these salts, of which it uses the first of a scheme that it knows for
// new fingerprints. If there is none it makes one from random when it is needed; if random is nil, nothing
// can be hashed.
func (s *Hashes) New(salts []Salt, random io.Reader) *Hasher {
	h := &Hasher{random: random, hashes: s}
	for _, salt := range salts {
		if salt.usable() {
			h.salts = append(h.salts, salt)
		}
	}
	return h
}

// New is Hashes.New with Hashes of its own.
func New(salts []Salt, random io.Reader) *Hasher { return NewHashes().New(salts, random) }

// Made returns the salts that were made, which the state must have from now on.
func (h *Hasher) Made() []Salt {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.made {
		return nil
	}
	return []Salt{h.salts[0]}
}

// Number returns a number from 1 to 2^53-1 that is the same for the same value within one state, and other
// values have another one. It returns false if there is no salt. The value must be wholly known and have no
// marks.
func (h *Hasher) Number(v cty.Value) (n uint64, ok bool, err error) {
	sum, ok, err := h.Sum(v, "fingerprint()")
	if !ok {
		return 0, false, err
	}
	return max(binary.BigEndian.Uint64(sum)>>11, 1), true, nil
}

// Sum returns 32 bytes that are the same for the same value and purpose within one state, and tell nothing
// about those for other purposes. It returns false if there is no salt. The value must be wholly known and
// have no marks.
func (h *Hasher) Sum(v cty.Value, purpose string) (sum []byte, ok bool, err error) {
	slow, _, err := h.hash(v, "")
	if slow == nil {
		return nil, false, err
	}
	keyed := hmac.New(sha256.New, slow)
	keyed.Write([]byte(purpose))
	return keyed.Sum(nil), true, nil
}

// hash returns the slow hash of a value with the salt of that name, "" for the salt of new fingerprints, and
// the name of the salt. The hash is nil if there is no such salt.
func (h *Hasher) hash(v cty.Value, salt string) (sum []byte, name string, err error) {
	b, s, err := h.encode(v, salt)
	if s == nil {
		return nil, "", err
	}
	work, first := h.hashes.of(b, s.Bytes)
	if first && h.Begin != nil {
		defer h.Begin()()
	}
	return work(), s.ID, nil
}

// encode returns a value in its canonical encoding and the salt of that name, which is nil if there is none.
func (h *Hasher) encode(v cty.Value, salt string) ([]byte, *Salt, error) {
	b, err := canonical(v)
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.salt(salt)
	return b, s, err
}

// salt returns the salt of a name; for "" the first one, which it makes if it may. It returns nil if there is
// none. The caller holds the lock.
func (h *Hasher) salt(id string) (*Salt, error) {
	if id == "" && len(h.salts) == 0 && h.random != nil {
		s, err := NewSalt(h.random)
		if err != nil {
			return nil, err
		}
		h.salts, h.made = []Salt{s}, true
	}
	for i, s := range h.salts {
		if id == "" || s.ID == id {
			return &h.salts[i], nil
		}
	}
	return nil, nil
}

// canonical encodes a value with its type. Nulls of all types are the same.
func canonical(v cty.Value) ([]byte, error) {
	if v.IsNull() {
		return []byte("null"), nil
	}
	ty, err := jsonvalue.MarshalType(v.Type())
	if err != nil {
		return nil, fmt.Errorf("encoding the type of a value for its fingerprint: %w", err)
	}
	b, err := msgpack.Marshal(v, v.Type())
	if err != nil {
		return nil, fmt.Errorf("encoding a value for its fingerprint: %w", err)
	}
	return slices.Concat(ty, []byte{0}, b), nil
}
