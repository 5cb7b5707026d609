package encryption

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
)

// Limits of PBKDF2.
const (
	minPassphrase = 16
	minIterations = 200_000
	maxIterations = 1_000_000_000 // that a configuration may ask for
	maxKeyLength  = 1 << 10

	// freeCost is the cost of a key that the metadata of a file may ask for although the configuration asks
	// for less: some seconds. Above it, an altered file could occupy the program for hours.
	freeCost = 10_000_000
)

// hashes are the hash functions of PBKDF2 by name.
var hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New}

// passphrase derives keys from a passphrase with PBKDF2. Every new key has a salt of its own. As deriving one
// takes a large part of a second, the key of a file that has been read encrypts the files that the command
// writes.
type passphrase struct {
	text       []byte // nil if the passphrase is the key of another key provider
	saltLength int
	random     io.Reader
	derivation // of new keys, without a salt
}

// derivation is the metadata of a derived key.
type derivation struct {
	Salt       []byte `json:"salt"`
	Iterations int    `json:"iterations"`
	Hash       string `json:"hash_function"`
	KeyLength  int    `json:"key_length"`
}

// openPBKDF2 checks the arguments. The defaults and minimums are OpenTofu's, so that both accept the same
// blocks.
func openPBKDF2(_ context.Context, a arguments, o Options) (keyProvider, error) {
	p := &passphrase{random: o.Random, derivation: derivation{Hash: a.text("hash_function", "sha512")}}
	switch {
	case a.has("passphrase") == a.has("chain"):
		return nil, errors.New("exactly one of passphrase and chain is needed")
	case a.has("passphrase"):
		if p.text = []byte(a.text("passphrase", "")); len(p.text) < minPassphrase {
			return nil, fmt.Errorf("the passphrase is too short: it needs %d characters", minPassphrase)
		}
	}
	if hashes[p.Hash] == nil {
		return nil, errors.New("hash_function must be sha256 or sha512")
	}
	var err1, err2, err3 error
	p.Iterations, err1 = a.number("iterations", 600_000, minIterations, maxIterations)
	p.KeyLength, err2 = a.number("key_length", 32, 1, maxKeyLength)
	p.saltLength, err3 = a.number("salt_length", 32, 1, math.MaxInt16)
	return p, errors.Join(err1, err2, err3)
}

// encryption derives a key from the passphrase and a new salt, which the metadata keeps with the
// parameters, so that later changes of the configuration do not lock anybody out.
func (p *passphrase) encryption(_ context.Context, chained [][]byte) (key, meta []byte, err error) {
	d := p.derivation
	d.Salt = make([]byte, p.saltLength)
	if _, err := io.ReadFull(p.random, d.Salt); err != nil {
		return nil, nil, err
	}
	if key, err = p.derive(d, chained); err != nil {
		return nil, nil, err
	}
	meta, err = json.Marshal(d)
	return key, meta, err
}

// decryption derives the key as the metadata says: the arguments may have changed since.
func (p *passphrase) decryption(_ context.Context, chained [][]byte, meta []byte) ([]byte, error) {
	var d derivation
	err := json.Unmarshal(meta, &d)
	if err != nil || hashes[d.Hash] == nil || d.Iterations < 1 || d.Iterations > maxIterations || d.KeyLength < 1 || d.KeyLength > maxKeyLength {
		return nil, fmt.Errorf("%w: it does not say how its key is derived from the passphrase", ErrDamaged)
	}
	if d.cost() > max(p.cost(), freeCost) {
		return nil, fmt.Errorf("it asks for a key of %d bytes after %d iterations, far more than the configuration does, so it may have been altered. If it was encrypted with these numbers, set iterations and key_length to them", d.KeyLength, d.Iterations)
	}
	return p.derive(d, chained)
}

// reuseLog2 says after how many commands, on average, a key is given up, as a power of two. With random
// nonces, a key may encrypt 2^32 files and parts of journals; a command rarely writes more than 2^20.
const reuseLog2 = 6

// reuses reports whether a key is as a new one would be, and now and then has a new one derived.
func (p *passphrase) reuses(meta []byte) bool {
	var d derivation
	if json.Unmarshal(meta, &d) != nil || d.Iterations != p.Iterations || d.Hash != p.Hash || d.KeyLength != p.KeyLength || len(d.Salt) != p.saltLength {
		return false
	}
	var draw [1]byte
	_, err := io.ReadFull(p.random, draw[:])
	return err == nil && draw[0]>>(8-reuseLog2) != 0
}

// cost returns how often the hash function is iterated for a key: each of its outputs takes all iterations.
func (d derivation) cost() int64 {
	size := hashes[d.Hash]().Size()
	return int64(d.Iterations) * int64((d.KeyLength+size-1)/size)
}

// derive computes a key. It is slow on purpose: each guess of a passphrase takes as long.
func (p *passphrase) derive(d derivation, chained [][]byte) ([]byte, error) {
	text := p.text
	if text == nil {
		text = chained[0]
	}
	return pbkdf2.Key(hashes[d.Hash], string(text), d.Salt, d.Iterations, d.KeyLength)
}
