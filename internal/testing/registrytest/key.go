package registrytest

import (
	"bytes"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Key signs checksums.
type Key struct {
	ID    string
	Armor string // the public key

	entity *openpgp.Entity
	config *packet.Config
}

// NewKey returns a new key.
func NewKey() (*Key, error) { return newKey(&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}) }

// NewExpiredKey returns a key that signs in the past and has expired since.
func NewExpiredKey() (*Key, error) {
	then := time.Now().Add(-1000 * time.Hour)
	return newKey(&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: 3600, Time: func() time.Time { return then }})
}

// NewKeyOfExpired returns a key that is valid, with signatures that have expired.
func NewKeyOfExpired() (*Key, error) {
	then := func() time.Time { return time.Now().Add(-1000 * time.Hour) }
	k, err := newKey(&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: then})
	if err != nil {
		return nil, err
	}
	k.config = &packet.Config{SigLifetimeSecs: 3600, Time: then}
	return k, nil
}

func newKey(config *packet.Config) (*Key, error) {
	entity, err := openpgp.NewEntity("Publisher", "", "publisher@example.com", config)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w, err := armor.Encode(&buf, openpgp.PublicKeyType, nil)
	if err != nil {
		return nil, err
	}
	if err := entity.Serialize(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return &Key{ID: entity.PrimaryKey.KeyIdString(), Armor: buf.String(), entity: entity, config: config}, nil
}

// Sign returns the detached signature of a text.
func (k *Key) Sign(text []byte) []byte {
	var buf bytes.Buffer
	if err := openpgp.DetachSign(&buf, k.entity, bytes.NewReader(text), k.config); err != nil {
		panic(err) // the key is our own and writing to memory cannot fail
	}
	return buf.Bytes()
}
