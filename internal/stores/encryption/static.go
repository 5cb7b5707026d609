package encryption

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
)

// noMeta is the metadata of key providers that need none: it shows that they were used.
var noMeta = []byte("{}")

// fixed is a key in the configuration.
type fixed []byte

// openStatic decodes the key.
func openStatic(_ context.Context, a arguments, _ Options) (keyProvider, error) {
	key, err := hex.DecodeString(a.text("key", ""))
	if err != nil || len(key) == 0 {
		return nil, errors.New("the key must be a string of hexadecimal digits, two for each byte")
	}
	return fixed(key), nil
}

func (f fixed) encryption(context.Context, [][]byte) (key, meta []byte, err error) {
	return append([]byte{}, f...), noMeta, nil
}

func (f fixed) decryption(context.Context, [][]byte, []byte) ([]byte, error) {
	return append([]byte{}, f...), nil
}

func (fixed) reuses([]byte) bool { return true }

// xor combines two keys of the same length, so that both are needed.
type xor struct{}

// openXOR has nothing to check: both keys come from other key providers.
func openXOR(context.Context, arguments, Options) (keyProvider, error) { return xor{}, nil }

func (x xor) encryption(ctx context.Context, chained [][]byte) (key, meta []byte, err error) {
	key, err = x.decryption(ctx, chained, nil)
	return key, noMeta, err
}

// decryption combines the two keys, of which neither is enough by itself. It needs no metadata.
func (xor) decryption(_ context.Context, chained [][]byte, _ []byte) ([]byte, error) {
	a, b := chained[0], chained[1]
	if len(a) != len(b) {
		return nil, errors.New("the two keys must have the same length")
	}
	key := make([]byte, len(a))
	subtle.XORBytes(key, a, b)
	return key, nil
}

func (xor) reuses([]byte) bool { return true }
