package workdir

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// sealedArguments are the secret arguments of a backend as init had them. The record has them encrypted
// with a key of the user. Only those that -backend-config gave are taken from there by every command; the
// others come from the block or from the environment again, and are used when the block has gone, to move
// states away.
type sealedArguments struct {
	Arguments []string `json:"arguments"` // names of those that only -backend-config gave
	Key       string   `json:"key"`       // which key it was, see keyName
	Data      []byte   `json:"data"`      // a nonce, and the encrypted values in JSON
}

// has reports whether an argument is encrypted. s may be nil.
func (s *sealedArguments) has(name string) bool {
	return s != nil && slices.Contains(s.Arguments, name)
}

// withSecretsOf returns the location with the secrets of a block of the same kind, unless they are encrypted.
func (l location) withSecretsOf(block location) location {
	if !l.declared() || !block.declared() || !backend.Same(l.kind, block.kind) {
		return l
	}
	values := l.cfg.AsValueMap()
	for _, name := range block.kind.Secrets(block.cfg) {
		if !l.sealed.has(name) && values[name].RawEquals(block.kind.PublicPart(block.cfg, name)) {
			values[name] = block.cfg.GetAttr(name)
		}
	}
	l.cfg = cty.ObjectVal(values)
	return l
}

// former returns a recorded location with the secrets of a block, which may be newer than those that were
// encrypted. elsewhere says that they are not only newer: a secret such as a connection string says where
// states are, and the block has another place in it. The location keeps its own secrets then.
func (ls *locations) former(rec, block location) (_ location, elsewhere bool) {
	have := rec.withSecretsOf(block)
	if rec.sealed == nil || rec.kind.Provided != nil {
		return have, false
	}
	secrets, err := ls.openSealed(rec)
	opened, diags := ls.unseal(rec)
	if err != nil || diags.HasErrors() { // the former secrets are not known
		return have, false
	}
	values := have.cfg.AsValueMap()
	for name := range secrets {
		values[name] = opened.cfg.GetAttr(name)
	}
	was := location{kind: have.kind, cfg: cty.ObjectVal(values)}
	if ls.samePlace(was, have) {
		return have, false
	}
	return was, true
}

// secretsBeyond returns the secrets of a location that a block does not give.
func (l location) secretsBeyond(block location) map[string]cty.Value {
	out := map[string]cty.Value{}
	for _, name := range l.kind.Secrets(l.cfg) {
		v, _ := l.cfg.GetAttr(name).UnmarkDeep()
		if block.declared() && backend.Same(block.kind, l.kind) {
			if given, _ := block.cfg.GetAttr(name).UnmarkDeep(); given.RawEquals(v) {
				continue
			}
		}
		out[name] = v
	}
	return out
}

// seal encrypts the secrets of a location for the record, except ephemeral ones; needed are those that
// nothing else gives. It returns nil if there are no secrets, or if none is needed and the user can have no
// key.
func (ls *locations) seal(l location, needed map[string]cty.Value) (*sealedArguments, error) {
	values := l.secretsBeyond(location{})
	maps.DeleteFunc(values, func(name string, _ cty.Value) bool { return value.Contains(l.cfg.GetAttr(name), value.Ephemeral) })
	if len(values) == 0 {
		return nil, nil
	}
	sealed, err := ls.sealValues(l, values)
	if err != nil && len(needed) == 0 {
		return nil, nil
	}
	if err == nil {
		sealed.Arguments = slices.AppendSeq([]string{}, maps.Keys(needed)) // never null
		slices.Sort(sealed.Arguments)
	}
	return sealed, err
}

// sealValues encrypts arguments with the key of the user, which it makes if there is none. The kind of
// backend is authenticated with them, so that they serve a backend of that kind only.
func (ls *locations) sealValues(l location, values map[string]cty.Value) (*sealedArguments, error) {
	key, err := ls.files.userKey(true)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	plain := map[string]json.RawMessage{}
	for name, v := range values {
		if plain[name], err = ctyjson.Marshal(v, v.Type()); err != nil {
			return nil, fmt.Errorf("encoding the argument %q", name)
		}
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, errors.New("encoding the arguments")
	}
	return &sealedArguments{Key: keyName(key), Data: aead.Seal(nil, nil, text, []byte(l.kind.Name))}, nil
}

// unseal returns the location with its decrypted arguments. Those that the environment gives need no key.
func (ls *locations) unseal(l location) (location, diag.List) {
	if l.sealed == nil {
		return l, nil
	}
	opened, err := ls.openSealed(l)
	if err == nil {
		values, empty, secret := l.cfg.AsValueMap(), l.kind.Block.Empty(), l.kind.Object(opened)
		for name, v := range opened {
			public := values[name].RawEquals(empty.GetAttr(name)) || values[name].RawEquals(l.kind.PublicPart(secret, name)) || l.kind.Provided != nil && backend.PublicOf(values[name], v)
			if l.sealed.has(name) || public {
				values[name] = v
			}
		}
		l.cfg, l.sealed = cty.ObjectVal(values), nil
		return l, nil
	}
	if !slices.ContainsFunc(l.sealed.Arguments, func(name string) bool { return !ls.inEnvironment(l, name) }) {
		l.sealed = nil
		return l, nil
	}
	var set []string
	for _, name := range l.sealed.Arguments {
		set = append(set, fmt.Sprintf(" -backend-config=%q", name+"=..."))
	}
	return l, diag.Errorf("Cannot decrypt the recorded credentials", "The file %s has arguments of the %s that init was given by -backend-config (%s), encrypted with a key of the user that ran it: %s. To give them again, run \"mayfly init -reconfigure\" with all options -backend-config that it had, among them%s.%s",
		ls.files.recordPath(), l.kind, diag.Names(l.sealed.Arguments), err, strings.Join(set, ""), l.kind.OrVariables(l.sealed.Arguments))
}

func (ls *locations) inEnvironment(l location, name string) bool {
	return slices.ContainsFunc(l.kind.Env(name), func(variable string) bool { return ls.files.vars[variable] != "" })
}

// openSealed decrypts the arguments of a record. A key that is missing, another one, or damaged is a
// different error each, because the remedies differ.
func (ls *locations) openSealed(l location) (map[string]cty.Value, error) {
	key, err := ls.files.userKey(false)
	if err != nil {
		return nil, err
	}
	path, _ := ls.files.keyPath() // userKey has found it
	if keyName(key) != l.sealed.Key {
		return nil, fmt.Errorf("the key in %s is another one", path)
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, l.sealed.Data, []byte(l.kind.Name))
	if err != nil {
		return nil, errors.New("the encrypted data is damaged")
	}
	return decodeRecord(l.kind, text)
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// keyName identifies a key without telling anything about it.
func keyName(key []byte) string {
	sum := sha256.Sum256(append([]byte("mayfly backend key "), key...))
	return fmt.Sprintf("%x", sum[:8])
}

const keySize = 32 // of AES-256

// keyPath returns the file of the user's key.
func (f *files) keyPath() (string, error) {
	if f.environment().Home == "" && f.vars["XDG_CONFIG_HOME"] == "" {
		return "", errors.New("there is no home directory for the key to be in")
	}
	return filepath.Join(f.userDir("XDG_CONFIG_HOME", ".config"), "backend.key"), nil
}

// userKey returns the key of the user, which it makes if asked to.
func (f *files) userKey(create bool) ([]byte, error) {
	path, err := f.keyPath()
	if err != nil {
		return nil, err
	}
	key, err := readKey(path)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = createKey(path); err == nil {
			key, err = readKey(path)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the key %s does not exist here", path)
	}
	return key, err
}

// readKey reads a key. A file with anything else is an error, and stays as it is.
func readKey(path string) ([]byte, error) {
	text, err := safefile.Read(path, maxRecord)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("the key in %s is damaged", path)
	}
	return key, nil
}

// createKey writes a new key, which only its owner may read. If another process does so at the same time, the
// key of one of them is there for both.
func createKey(path string) error {
	if _, err := safefile.MakeDirs(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	err := safefile.CreatePrivate(path, []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
