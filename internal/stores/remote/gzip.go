package remote

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// maxUnpacked is the most that a compressed state may become, in bytes.
const maxUnpacked = 1 << 30

// ErrTooLarge means that a compressed state becomes larger than a state may be.
var ErrTooLarge = errors.New("it is too large")

// Unpack returns data, decompressed if it is compressed.
func Unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(out) > maxUnpacked {
		err = ErrTooLarge
	}
	return out, err
}

// Pack returns data compressed.
func Pack(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data) // to memory
	_ = w.Close()
	return out.Bytes()
}
