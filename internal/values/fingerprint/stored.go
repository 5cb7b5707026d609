package fingerprint

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Fingerprint stands in a state in place of a value, and tells whether another one is the same. It has random
// bytes of its own, so that two of the same value don't show that. The zero Fingerprint belongs to no value.
type Fingerprint struct {
	Salt string // the ID of the salt of the state
	Own  []byte // its random bytes
	Sum  []byte
}

// IsZero reports whether f is of nothing.
func (f Fingerprint) IsZero() bool { return f.Salt == "" }

// Equal reports whether two fingerprints are the same one. Fingerprints of equal values usually aren't.
func (f Fingerprint) Equal(other Fingerprint) bool {
	return f.Salt == other.Salt && bytes.Equal(f.Own, other.Own) && bytes.Equal(f.Sum, other.Sum)
}

// encoding is the encoding of the fields of a fingerprint as text.
var encoding = base64.RawStdEncoding

// String returns f as the text in states, "" for nothing. It tells nothing about the value without the salt
// of the state.
func (f Fingerprint) String() string {
	if f.IsZero() {
		return ""
	}
	return f.Salt + "." + encoding.EncodeToString(f.Own) + "." + encoding.EncodeToString(f.Sum)
}

// Parse is the reverse of String.
func Parse(text string) (Fingerprint, error) {
	if text == "" {
		return Fingerprint{}, nil
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] == "" {
		return Fingerprint{}, errors.New("a fingerprint has three parts with dots between them")
	}
	f := Fingerprint{Salt: parts[0]}
	var err error
	if f.Own, err = encoding.DecodeString(parts[1]); err == nil {
		f.Sum, err = encoding.DecodeString(parts[2])
	}
	if err != nil {
		return Fingerprint{}, errors.New("a part of a fingerprint is not Base64")
	}
	return f, nil
}

// Ready reports whether fingerprints can be made: there is a salt, or one may be made.
func (h *Hasher) Ready() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.salts) > 0 || h.random != nil
}

// Of returns a new fingerprint of a value, which must be wholly known and have no marks. It is zero if there
// is no salt.
func (h *Hasher) Of(v cty.Value) (Fingerprint, error) {
	slow, name, err := h.hash(v, "")
	if slow == nil {
		return Fingerprint{}, err
	}
	return fresh(name, slow)
}

// fresh returns a new fingerprint of a value with that hash, which was made with the salt of the name.
func fresh(salt string, hash []byte) (Fingerprint, error) {
	f := Fingerprint{Salt: salt, Own: make([]byte, saltSize)}
	if _, err := io.ReadFull(rand.Reader, f.Own); err != nil {
		return Fingerprint{}, fmt.Errorf("choosing the random bytes of a fingerprint: %w", err)
	}
	f.Sum = f.sum(hash)
	return f, nil
}

// sum returns the sum that f has if this is the hash of its value.
func (f Fingerprint) sum(hash []byte) []byte {
	sum := hmac.New(sha256.New, hash)
	sum.Write(f.Own)
	return sum.Sum(nil)[:saltSize]
}

// Comparison is whether a value is the one that a fingerprint was made of.
type Comparison uint8

// The results of a comparison.
const (
	Incomparable Comparison = iota // the fingerprint is zero, or its salt is not there: nothing can be said
	Same
	Different
)

// Compare compares a value, which must be wholly known and have no marks, with the one that f was made of.
func (h *Hasher) Compare(f Fingerprint, v cty.Value) (Comparison, error) {
	if f.IsZero() {
		return Incomparable, nil
	}
	slow, _, err := h.hash(v, f.Salt)
	return f.holds(slow), err
}

// holds compares the hash of a value, nil if there is none, with the hash that f was made of.
func (f Fingerprint) holds(hash []byte) Comparison {
	switch {
	case hash == nil:
		return Incomparable
	case hmac.Equal(f.Sum, f.sum(hash)):
		return Same
	}
	return Different
}

// Quick is Of for a value that readers of the state know anyway: it does without the slow hash.
func (h *Hasher) Quick(v cty.Value) (Fingerprint, error) {
	quick, name, err := h.quick(v, "")
	if quick == nil {
		return Fingerprint{}, err
	}
	return fresh(name, quick)
}

// CompareQuick is Compare for a fingerprint that Quick has made.
func (h *Hasher) CompareQuick(f Fingerprint, v cty.Value) (Comparison, error) {
	if f.IsZero() {
		return Incomparable, nil
	}
	quick, _, err := h.quick(v, f.Salt)
	return f.holds(quick), err
}

// quick returns the keyed hash of a value with the salt of that name, "" for the salt of new fingerprints,
// and the name of the salt. The hash is nil if there is no such salt.
func (h *Hasher) quick(v cty.Value, salt string) (sum []byte, name string, err error) {
	b, s, err := h.encode(v, salt)
	if s == nil {
		return nil, "", err
	}
	keyed := hmac.New(sha256.New, s.Bytes)
	keyed.Write(b)
	return keyed.Sum(nil), s.ID, nil
}
