package encryption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

// keyProvider yields keys. chained are the keys of the key providers that it refers to. It is the caller who
// overwrites all keys.
type keyProvider interface {
	// encryption returns a key, and metadata from which decryption finds it again; nil for none.
	encryption(ctx context.Context, chained [][]byte) (key, meta []byte, err error)
	// decryption returns the key that encryption returned with meta.
	decryption(ctx context.Context, chained [][]byte, meta []byte) (key []byte, err error)
}

// reuser is a keyProvider whose key for one file may encrypt others: a new one would be slow to make, or be
// the same.
type reuser interface {
	// reuses reports whether to encrypt with the key of a file that has this metadata.
	reuses(meta []byte) bool
}

// keyring is a key_provider block with the ones that it refers to. Metadata is found by the alias, so
// renaming the block needs encrypted_metadata_alias with the old name.
type keyring struct {
	config.EncryptionName
	alias    string // of its metadata
	provider keyProvider
	chain    []*keyring
	leaks    *leak.Guard
}

// source is a key provider or a method as the guard knows it.
func source(name config.EncryptionName) leak.Source {
	return leak.Source{Kind: leak.Credential, Address: name.Type + "." + name.Name}
}

func (k *keyring) String() string { return "key_provider." + k.Type + "." + k.Name }

// encryption returns a key, and adds to meta the data for finding it again.
func (k *keyring) encryption(ctx context.Context, meta metadata) ([]byte, error) {
	return k.key(ctx, func(c *keyring) ([]byte, error) { return c.encryption(ctx, meta) }, func(ctx context.Context, chained [][]byte) ([]byte, error) {
		key, own, err := k.provider.encryption(ctx, chained)
		if own != nil {
			meta[k.alias] = own
		}
		return key, err
	})
}

// decryption returns the key for data with the given metadata. Data without metadata for this key provider
// was not encrypted with it.
func (k *keyring) decryption(ctx context.Context, meta metadata) ([]byte, error) {
	own, ok := meta[k.alias]
	if !ok {
		return nil, errNotOpened
	}
	return k.key(ctx, func(c *keyring) ([]byte, error) { return c.decryption(ctx, meta) }, func(ctx context.Context, chained [][]byte) ([]byte, error) {
		return k.provider.decryption(ctx, chained, own)
	})
}

// reuse adds to own the data for finding the key of a file again, and reports whether other files may be
// encrypted with that key. meta is the file's.
func (k *keyring) reuse(meta, own metadata) bool {
	for _, c := range k.chain {
		if !c.reuse(meta, own) {
			return false
		}
	}
	own[k.alias] = meta[k.alias]
	r, ok := k.provider.(reuser)
	return ok && r.reuses(own[k.alias])
}

// key obtains the keys of the chain and then the own one.
func (k *keyring) key(ctx context.Context, of func(*keyring) ([]byte, error), own func(ctx context.Context, chained [][]byte) ([]byte, error)) ([]byte, error) {
	var chained [][]byte
	defer func() {
		for _, key := range chained {
			clear(key)
		}
	}()
	for _, c := range k.chain {
		key, err := of(c)
		if err != nil {
			return nil, err
		}
		chained = append(chained, key)
	}
	ctx, span := trace.Start(ctx, "get encryption key")
	span.Set(trace.Type, k.Type)
	key, err := own(ctx, chained)
	span.Finish(err == nil || errors.Is(err, errNotOpened))
	k.leaks.RememberBytes(source(k.EncryptionName), key)
	if err != nil && !errors.Is(err, errNotOpened) {
		err = fmt.Errorf("%s: %w", k, err)
	}
	return key, err
}

// identity returns a text that is the same for metadata that gives the same key.
func (k *keyring) identity(meta metadata) string {
	if k == nil {
		return ""
	}
	var sb strings.Builder
	sb.WriteString(strconv.Quote(string(meta[k.alias])))
	for c := range slices.Values(k.chain) {
		sb.WriteString(c.identity(meta))
	}
	return sb.String()
}
