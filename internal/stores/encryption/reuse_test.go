package encryption

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

// drawn is random, but for the draw of whether to give up a key.
type drawn byte

func (d drawn) Read(b []byte) (int, error) {
	if len(b) == 1 {
		b[0] = byte(d)
		return 1, nil
	}
	return rand.Read(b)
}

// withDraw makes a set whose key providers draw a number.
func withDraw(t *testing.T, d byte, text string) *Set {
	t.Helper()
	set := must(t, text)
	for _, m := range set.State.methods {
		for _, k := range append([]*keyring{m.keys}, m.keys.chain...) {
			if p, ok := k.provider.(*passphrase); ok {
				p.random = drawn(d)
			}
		}
	}
	return set
}

// metaOf returns the metadata of a stored file.
func metaOf(t *testing.T, stored []byte) metadata {
	t.Helper()
	e, err := readEnvelope(stored)
	if err != nil {
		t.Fatal(err)
	}
	return e.Meta
}

// TestKeyIsReused checks which keys encrypt what a command writes after it has read something.
func TestKeyIsReused(t *testing.T) {
	const chain = "key_provider \"static\" \"s\" {\n  key = \"6f6f706d6f697673617a7a7a7a7a7a7a7a7a7a7a7a7a7a7a6f6f706d6f697673\"\n}\n" +
		"key_provider \"pbkdf2\" \"a\" {\n  chain = key_provider.static.s\n  iterations = 200000\n}\nmethod \"aes_gcm\" \"a\" {\n  keys = key_provider.pbkdf2.a\n}\n"
	set := func(arg string) string { return strings.Replace(keyA, "iterations", arg+"\n  iterations", 1) + stateA }
	for name, c := range map[string]struct {
		before, now string
		draw        byte
		renewed     bool
		same        bool
	}{
		"the same arguments":      {before: keyA + stateA, now: keyA + stateA, draw: 255, same: true},
		"nearly given up":         {before: keyA + stateA, now: keyA + stateA, draw: 1 << (8 - reuseLog2), same: true},
		"given up":                {before: keyA + stateA, now: keyA + stateA, draw: 1<<(8-reuseLog2) - 1},
		"a chain":                 {before: chain + stateA, now: chain + stateA, draw: 255, same: true},
		"a new key is asked for":  {before: keyA + stateA, now: keyA + stateA, draw: 255, renewed: true},
		"another length of salts": {before: keyA + stateA, now: set("salt_length = 16"), draw: 255},
		"another length of keys":  {before: keyA + stateA, now: set("key_length = 16"), draw: 255},
		"another number":          {before: keyA + stateA, now: strings.Replace(keyA, "200000", "200001", 1) + stateA, draw: 255},
		"another hash function":   {before: keyA + stateA, now: strings.Replace(keyA, "sha256", "sha512", 1) + stateA, draw: 255},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := sealed(t, must(t, c.before).State)
			codec := withDraw(t, c.draw, c.now).State
			if c.renewed {
				codec.Renew()
			}
			opens(t, codec, before)
			opens(t, codec, before) // which draws no second time
			after := sealed(t, codec)
			from, to := metaOf(t, before)["key_provider.pbkdf2.a"], metaOf(t, after)["key_provider.pbkdf2.a"]
			if same := bytes.Equal(from, to); same != c.same {
				t.Errorf("the key is the same: got %t, want %t", same, c.same)
			}
			opens(t, must(t, c.now).State, after)
		})
	}
}

// TestKeyThatDoesNotFit checks that a file which is not opened lends no key.
func TestKeyThatDoesNotFit(t *testing.T) {
	other := strings.Replace(keyA, "c4nary-passphrase-a", "c4nary-another-one", 1) + stateA
	foreign := sealed(t, must(t, other).State)
	codec := withDraw(t, 255, keyA+stateA).State
	refuses(t, codec, foreign, ErrWrongKey, "another key")
	own := sealed(t, codec)
	if bytes.Equal(metaOf(t, foreign)["key_provider.pbkdf2.a"], metaOf(t, own)["key_provider.pbkdf2.a"]) {
		t.Error("its salt is used")
	}
}

// service is a key provider that asks for each key.
type service struct{}

func (service) encryption(context.Context, [][]byte) (key, meta []byte, err error) {
	return nil, nil, errors.ErrUnsupported
}

func (service) decryption(context.Context, [][]byte, []byte) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// TestKeysOfServicesAreNotReused checks that a key provider has to allow it, also at the end of a chain.
func TestKeysOfServicesAreNotReused(t *testing.T) {
	asked := &keyring{alias: "asked", provider: service{}}
	chained := &keyring{alias: "chained", provider: xor{}, chain: []*keyring{{alias: "fixed", provider: fixed{1}}, asked}}
	for _, k := range []*keyring{asked, chained} {
		if k.reuse(metadata{}, metadata{}) {
			t.Errorf("the key of %s is used again", k.alias)
		}
	}
	chained.chain = chained.chain[:1]
	if own := (metadata{}); !chained.reuse(metadata{"fixed": noMeta, "chained": noMeta, "another": nil}, own) || len(own) != 2 {
		t.Errorf("reused: got %v, want the metadata of two key providers", own)
	}
}

// BenchmarkCommand is what the keys of a command cost that reads a state and a saved plan and writes a state.
func BenchmarkCommand(b *testing.B) {
	stored, err := must(b, keyA+stateA).State.EncryptState([]byte(content), meta)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		codec := must(b, keyA+stateA).State
		for range 2 {
			if _, _, err := codec.DecryptState(stored); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := codec.EncryptState([]byte(content), meta); err != nil {
			b.Fatal(err)
		}
	}
}
