package encryption

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"io"
	"slices"

	"github.com/zclconf/go-cty/cty/gocty"
)

// gcm is AES in Galois counter mode. Stored data is a random nonce followed by the ciphertext. A key encrypts
// few files, so random nonces of 96 bits do not repeat.
type gcm struct {
	cipher.AEAD
	aad    []byte // authenticated with the data
	random io.Reader
}

// openGCM makes the method "aes_gcm". The length of the key is checked when there is one.
func openGCM(_ context.Context, a arguments, o Options) (boxes, error) {
	var aad []byte
	if v, ok := a["aad"]; ok {
		for _, e := range v.AsValueSlice() {
			var b uint8
			if err := gocty.FromCtyValue(e, &b); err != nil {
				return nil, fmt.Errorf("aad must be a list of bytes: whole numbers from 0 to 255")
			}
			aad = append(aad, b)
		}
	}
	return func(key []byte) (box, error) {
		if !slices.Contains([]int{16, 24, 32}, len(key)) {
			return nil, fmt.Errorf("it needs a key of 16, 24 or 32 bytes, and its key provider gives one of %d", len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		return &gcm{aead, aad, o.Random}, err
	}, nil
}

func (g *gcm) seal(plain []byte) ([]byte, error) {
	out := make([]byte, g.NonceSize(), g.NonceSize()+len(plain)+g.Overhead())
	if _, err := io.ReadFull(g.random, out); err != nil {
		return nil, err
	}
	return g.Seal(out, out, plain, g.aad), nil
}

// open decrypts. A wrong key and damaged data are one error: AES-GCM cannot tell them apart.
func (g *gcm) open(data []byte) ([]byte, error) {
	if len(data) < g.NonceSize() {
		return nil, errNotOpened
	}
	plain, err := g.Open(nil, data[:g.NonceSize()], data[g.NonceSize():], g.aad)
	if err != nil {
		return nil, errNotOpened
	}
	return plain, nil
}
