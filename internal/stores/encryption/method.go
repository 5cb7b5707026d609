package encryption

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// errNotOpened means that data was not encrypted with the given key, or was altered.
var errNotOpened = errors.New("the data cannot be decrypted with this key")

// box encrypts and decrypts with one key. It is safe for concurrent use.
type box interface {
	seal(plain []byte) ([]byte, error)
	// open returns errNotOpened if the key is wrong.
	open(data []byte) ([]byte, error)
}

// method is a method block. The key for encryption is obtained once, and keys for decryption once for each
// metadata, since key providers are slow, some of them on purpose. The key of the first file read encrypts
// the files written, if its key provider allows that.
type method struct {
	config.EncryptionName
	plain bool                          // files are not encrypted
	keys  *keyring                      // nil for a method without keys
	make  func(key []byte) (box, error) // keeps no reference to key
	ctx   context.Context               // of requests for keys

	mu     sync.Mutex
	anew   bool // no key of a file that was read is used for encryption
	sealer *sealer
	boxes  map[string]box // by the metadata that keys uses
}

// sealer is a box with the metadata to store beside encrypted data.
type sealer struct {
	box
	meta metadata
}

func (m *method) String() string { return "method." + m.Type + "." + m.Name }

// seal encrypts, and returns the metadata to store with the data, from which the key is found again.
func (m *method) seal(plain []byte) (metadata, []byte, error) {
	s, err := m.encryption()
	if err != nil {
		return nil, nil, err
	}
	data, err := s.seal(plain)
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot encrypt: %w", m, err)
	}
	return s.meta, data, nil
}

// open decrypts data that was stored with the given metadata. It returns errNotOpened if that is not by
// this method or key.
func (m *method) open(meta metadata, data []byte) ([]byte, error) {
	b, err := m.decryption(meta)
	if err != nil {
		return nil, err
	}
	plain, err := b.open(data)
	if err != nil && !errors.Is(err, errNotOpened) {
		err = fmt.Errorf("%s cannot decrypt: %w", m, err)
	}
	if err == nil {
		m.reuse(meta, b)
	}
	return plain, err
}

// reuse has the key of a file encrypt all files written from now on, unless a key is there already. The file
// has been decrypted, so it was written with the key.
func (m *method) reuse(meta metadata, b box) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sealer != nil || m.anew || m.keys == nil {
		return
	}
	own := metadata{}
	if m.anew = !m.keys.reuse(meta, own); !m.anew {
		m.sealer = &sealer{b, own}
	}
}

// renew has a new key encrypt all files written from now on.
func (m *method) renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.anew, m.sealer = true, nil
}

// encryption returns the sealer, which the first call makes. After a failure, the next call tries again.
func (m *method) encryption() (*sealer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sealer != nil {
		return m.sealer, nil
	}
	s := &sealer{meta: metadata{}}
	var key []byte
	var err error
	if m.keys != nil {
		if key, err = m.keys.encryption(m.ctx, s.meta); err != nil {
			return nil, err
		}
		defer clear(key)
	}
	if s.box, err = m.make(key); err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	m.sealer = s
	return s, nil
}

// decryption returns the box for data with the given metadata.
func (m *method) decryption(meta metadata) (box, error) {
	id := m.keys.identity(meta)
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.boxes[id]; b != nil {
		return b, nil
	}
	var key []byte
	var err error
	if m.keys != nil {
		if key, err = m.keys.decryption(m.ctx, meta); err != nil {
			return nil, err
		}
		defer clear(key)
	}
	b, err := m.make(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	m.boxes[id] = b
	return b, nil
}
