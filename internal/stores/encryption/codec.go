package encryption

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Errors of reading files, for errors.Is. Nothing is written over a file that was read with an error.
var (
	// ErrWrongKey means that the file was encrypted with another key than the configured ones.
	ErrWrongKey = errors.New("it was encrypted with another key")
	// ErrDamaged means that the file has changed since it was written.
	ErrDamaged = errors.New("the encrypted file is damaged")
	// ErrUnencrypted means that the file is not encrypted although it must be.
	ErrUnencrypted = errors.New("it is not encrypted, but the configuration requires encryption")
)

// Codec encrypts and decrypts one kind of file, with the same key throughout. It is safe for concurrent use.
type Codec struct {
	block   string    // that configures it, for messages
	methods []*method // the one to encrypt with, and its fallbacks
}

var _ store.Cipher = (*Codec)(nil)

// Renew has a new key encrypt all files written from now on, rather than the key of a file that has been
// read. It is safe for concurrent use.
func (c *Codec) Renew() {
	for _, m := range c.methods {
		m.renew()
	}
}

// EncryptState implements store.Cipher.
func (c *Codec) EncryptState(plain []byte, of state.Meta) ([]byte, error) {
	return c.encrypt(plain, &envelope{Serial: &of.Serial, Lineage: &of.Lineage})
}

// DecryptState implements store.Cipher. Its errors wrap errors of this package, or come from key providers.
func (c *Codec) DecryptState(stored []byte) ([]byte, *state.Meta, error) {
	return c.decrypt(stored)
}

// Encrypt returns the stored form of a file other than a state.
func (c *Codec) Encrypt(plain []byte) ([]byte, error) { return c.encrypt(plain, &envelope{}) }

// Decrypt reverses Encrypt. It fails as DecryptState does.
func (c *Codec) Decrypt(stored []byte) ([]byte, error) {
	plain, _, err := c.decrypt(stored)
	return plain, err
}

// encrypt completes the envelope e and returns its stored form; plain itself if the method is
// "unencrypted".
func (c *Codec) encrypt(plain []byte, e *envelope) (_ []byte, err error) {
	if c.methods[0].plain {
		return plain, nil
	}
	if e.Meta, e.Data, err = c.methods[0].seal(plain); err != nil {
		return nil, err
	}
	return e.write(), nil
}

// decrypt returns the content of a file, and the metadata that an encrypted state has in clear. A file that
// is not encrypted is returned unchanged if a method allows that.
func (c *Codec) decrypt(stored []byte) ([]byte, *state.Meta, error) {
	if !Is(stored) {
		return stored, nil, c.CheckPlain()
	}
	e, err := readEnvelope(stored)
	if err != nil {
		return nil, nil, err
	}
	plain, err := c.open(e.Meta, e.Data)
	if errors.Is(err, ErrWrongKey) && e.Checksum == "" {
		err = fmt.Errorf("%w. If the key is right, the file has been damaged", err)
	}
	return plain, e.identity(), err
}

// Seal implements state.Sealer.
func (c *Codec) Seal(plain []byte) ([]byte, error) {
	if c.methods[0].plain {
		return nil, nil
	}
	m, data, err := c.methods[0].seal(plain)
	if err != nil {
		return nil, err
	}
	return writeFrame(m, data)
}

// Unseal implements state.Sealer.
func (c *Codec) Unseal(sealed []byte) ([]byte, error) {
	m, data, err := readFrame(sealed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return c.open(m, data)
}

// CheckPlain implements state.Sealer. The error wraps ErrUnencrypted.
func (c *Codec) CheckPlain() error {
	if slices.ContainsFunc(c.methods, func(m *method) bool { return m.plain }) {
		return nil
	}
	return fmt.Errorf("%w. It may have been put there without the key. To encrypt an existing file, allow reading it once: add\n"+
		"    fallback { method = method.unencrypted.NAME }\nto the %s block, with a block method \"unencrypted\" \"NAME\" {}", ErrUnencrypted, c.block)
}

// open tries the methods one after the other. Errors that say more than that the key does not fit, such as
// that a service cannot be reached, take precedence: the file may well be readable.
func (c *Codec) open(m metadata, data []byte) ([]byte, error) {
	var failed []error
	var tried []string
	for _, method := range c.methods {
		if method.plain {
			continue
		}
		plain, err := method.open(m, data)
		if err == nil {
			return plain, nil
		}
		tried = append(tried, method.String())
		if !errors.Is(err, errNotOpened) {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	if len(tried) == 0 {
		return nil, fmt.Errorf("%w: the %s block only has the method \"unencrypted\". Add the method that it was encrypted with as a fallback", ErrWrongKey, c.block)
	}
	return nil, fmt.Errorf("%w. The %s block has %s%s. Check the passphrase or the key that the configuration gets now; if it was changed on purpose, add the former one as a fallback", ErrWrongKey, c.block, strings.Join(tried, ", then "), usedKeys(m))
}

// usedKeys says which key providers encrypted a file. Their names are in clear beside its data.
func usedKeys(m metadata) string {
	if len(m) == 0 {
		return ""
	}
	return "; the key was from " + strings.Join(slices.Sorted(maps.Keys(m)), " and ")
}
