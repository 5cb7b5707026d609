package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/effort"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"

	"filippo.io/age"
)

const (
	scryptWorkFactor    = 15
	scryptLeast         = 1 // if scrypt need not be slow
	scryptMaxWorkFactor = 20
)

// keys encrypts and decrypts the store's content.
type keys struct {
	identity   age.Identity
	recipient  age.Recipient
	passphrase bool
}

// passphraseKeys returns the keys that are derived from a passphrase. The work that a file may ask for is
// limited, because a file may come from elsewhere.
func passphraseKeys(passphrase string) (keys, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return keys{}, err
	}
	identity.SetMaxWorkFactor(scryptMaxWorkFactor)
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return keys{}, err
	}
	recipient.SetWorkFactor(effort.Of(scryptWorkFactor, scryptLeast))
	m := &memory{identity: identity, recipient: recipient}
	return keys{identity: m, recipient: m, passphrase: true}, nil
}

// memory keeps the file key of the header that was last encrypted or decrypted, so that reading the same file
// again needs no scrypt. A file key opens only one encrypted file, so it is less sensitive than the
// passphrase that is in memory anyway. The lock makes concurrent readers wait for the first one's scrypt, and
// its 32 MiB, instead of each running their own.
type memory struct {
	identity  *age.ScryptIdentity
	recipient *age.ScryptRecipient

	mu      sync.Mutex
	header  []*age.Stanza
	fileKey []byte
}

func (m *memory) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fileKey != nil && slices.EqualFunc(m.header, stanzas, sameStanza) {
		return slices.Clone(m.fileKey), nil
	}
	fileKey, err := m.identity.Unwrap(stanzas)
	if err == nil {
		m.remember(stanzas, fileKey)
	}
	return fileKey, err
}

func (m *memory) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	stanzas, _, err := m.WrapWithLabels(fileKey)
	return stanzas, err
}

func (m *memory) WrapWithLabels(fileKey []byte) ([]*age.Stanza, []string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stanzas, labels, err := m.recipient.WrapWithLabels(fileKey)
	if err == nil {
		m.remember(stanzas, fileKey)
	}
	return stanzas, labels, err
}

func (m *memory) remember(stanzas []*age.Stanza, fileKey []byte) {
	clear(m.fileKey)
	m.header, m.fileKey = stanzas, slices.Clone(fileKey)
}

func sameStanza(a, b *age.Stanza) bool {
	return a.Type == b.Type && slices.Equal(a.Args, b.Args) && bytes.Equal(a.Body, b.Body)
}

// loadKeys reads the key file, which errors call name. The error of a missing one is fs.ErrNotExist.
func loadKeys(path, name string) (keys, error) {
	file, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return keys{}, err
		}
		return keys{}, ioProblem("Cannot read the key file", "key file "+name, err, "Check that this user may read it.")
	}
	defer file.Close()
	ids, err := age.ParseIdentities(io.LimitReader(file, 1<<16))
	if err == nil && len(ids) == 1 {
		switch id := ids[0].(type) {
		case *age.X25519Identity:
			return keys{identity: id, recipient: id.Recipient()}, nil
		case *age.HybridIdentity:
			return keys{identity: id, recipient: id.Recipient()}, nil
		}
	}
	// The library's error is omitted: it could quote a line of the file.
	return keys{}, &Problem{Kind: ErrKeyUnusable, Summary: "Unusable key file", Detail: fmt.Sprintf(
		"The key file %s does not hold exactly one age identity (a line AGE-SECRET-KEY-1…, as age-keygen writes it). "+
			"Restore the file from a backup, or point key_file at the right one. Nothing was changed.", name)}
}

// createKeys creates a key file, or loads the one that another process has created in between.
func createKeys(path, name string, now time.Time) (keys, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return keys{}, err
	}
	text := []byte(fmt.Sprintf("# keep store key, created %s\n# public key: %s\n%s\n", now.Format(time.RFC3339), id.Recipient(), id))
	defer clear(text)
	err = safefile.CreatePrivate(path, text)
	if errors.Is(err, fs.ErrExist) {
		return loadKeys(path, name)
	}
	if err != nil {
		return keys{}, ioProblem("Cannot create the key file", "key file "+name, err, "Check that its folder exists and that this user may write there.")
	}
	return keys{identity: id, recipient: id.Recipient()}, nil
}

// seal encrypts the content for all who may read the store.
func (k keys) seal(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, k.recipient)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// open decrypts the content of the store that errors call name. The caller clears the result.
func (k keys) open(name string, sealed []byte) ([]byte, error) {
	src, err := age.Decrypt(bytes.NewReader(sealed), k.identity)
	if err != nil {
		return nil, k.explain(name, err)
	}
	// Plaintext is shorter than its ciphertext, so with this capacity the buffer is never reallocated and
	// leaves no copy behind.
	buf := bytes.NewBuffer(make([]byte, 0, len(sealed)+bytes.MinRead))
	if _, err := buf.ReadFrom(src); err != nil {
		clear(buf.Bytes())
		return nil, damaged(name, "its end is missing or its content was altered")
	}
	return buf.Bytes(), nil
}

// explain turns the error of decrypting into one that says which key is wrong, and which setting to change.
func (k keys) explain(name string, err error) error {
	noMatch, ok := errors.AsType[*age.NoIdentityMatchError](err)
	if !ok {
		return damaged(name, "it does not begin as an age-encrypted file does")
	}
	sealedByPassphrase := slices.Contains(noMatch.StanzaTypes, "scrypt")
	why := "the key file holds the key of another store. Point key_file at the right one"
	switch {
	case k.passphrase && sealedByPassphrase:
		why = "the passphrase is wrong. Give the one that the store was made with; or, if that is lost and what is in the store is no longer needed, move the store's file away"
	case k.passphrase:
		why = "it is encrypted to a key file, but a passphrase was given. Remove the passphrase and set key_file"
	case sealedByPassphrase:
		why = "it is encrypted with a passphrase, but none was given. Set the passphrase"
	}
	return &Problem{Kind: ErrWrongKey, Summary: "Cannot open the store", Detail: fmt.Sprintf("The store %s: %s. The store was not changed.", name, why)}
}

func damaged(name, why string) error {
	return &Problem{Kind: ErrDamaged, Summary: "Damaged store", Detail: fmt.Sprintf(
		"The store %s is not usable: %s. It was left as it is. Restore it from a backup; or, to begin anew without the secrets in it, move it away.", name, why)}
}
