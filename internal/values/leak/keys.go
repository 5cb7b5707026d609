package leak

import (
	"bytes"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"
)

// publicLines returns the lines of the private keys in a text that tell no more than the public keys do: a
// private key contains its public one, and where the bytes of both happen to have the same place within
// groups of three, their Base64 is the same.
func publicLines(s string) map[string]struct{} {
	public := map[string]struct{}{}
	var body []string
	within := false
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "-----"):
			if within {
				addPublicLines(public, body)
			}
			within, body = strings.HasPrefix(line, "-----BEGIN ") && strings.Contains(line, "PRIVATE KEY"), nil
		case within && !strings.Contains(line, ":"): // behind headers
			body = append(body, line)
		}
	}
	return public
}

// addPublicLines adds the lines of the body of a private key of which all bytes stand in its public key.
func addPublicLines(public map[string]struct{}, body []string) {
	key, err := base64.StdEncoding.DecodeString(strings.Join(body, ""))
	if err != nil {
		return
	}
	of := publicKeyIn(key)
	at := 0
	for _, line := range body {
		from, to := at*6/8, min(((at+len(line))*6+7)/8, len(key))
		if at += len(line); from < to && bytes.Contains(of, key[from:to]) {
			public[line] = struct{}{}
		}
	}
}

// publicKeyIn returns the public key in the bytes of a private key of OpenSSH, PKCS #1, SEC 1 or PKCS #8, as
// encodings of the public key have it; nil if it has none or cannot be read.
func publicKeyIn(key []byte) []byte {
	if rest, ok := bytes.CutPrefix(key, []byte("openssh-key-v1\x00")); ok {
		for range 3 { // the names of the cipher and of the function that makes its key, and options
			_, rest = cutString(rest)
		}
		public, _ := cutString(rest[min(4, len(rest)):]) // behind the number of keys
		return public
	}
	var wrapped struct {
		Version   int
		Algorithm asn1.RawValue
		Key       []byte
	}
	if _, err := asn1.Unmarshal(key, &wrapped); err == nil && wrapped.Algorithm.Tag == asn1.TagSequence {
		key = wrapped.Key
	}
	var rsa struct {
		Version              int
		Modulus, PublicPower *big.Int
	}
	if _, err := asn1.Unmarshal(key, &rsa); err == nil {
		public, _ := asn1.Marshal(struct{ Modulus, PublicPower *big.Int }{rsa.Modulus, rsa.PublicPower})
		return public
	}
	var curve struct {
		Version int
		Secret  []byte
		Name    asn1.ObjectIdentifier `asn1:"optional,explicit,tag:0"`
		Point   asn1.BitString        `asn1:"optional,explicit,tag:1"`
	}
	if _, err := asn1.Unmarshal(key, &curve); err != nil {
		return nil
	}
	public, _ := asn1.Marshal(curve.Point)
	return public
}

// cutString splits a string of the SSH protocol, behind its length, from the bytes that follow it.
func cutString(b []byte) (s, rest []byte) {
	if len(b) < 4 {
		return nil, nil
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return nil, nil
	}
	return b[:n], b[n:]
}
