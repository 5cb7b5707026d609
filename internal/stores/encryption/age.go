package encryption

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"filippo.io/age"
)

// ageIntro is the beginning of every age file.
const ageIntro = "age-encryption.org/"

// ageBox encrypts to recipients, so that who encrypts needs no key that decrypts.
type ageBox struct {
	recipients []age.Recipient
	identities []age.Identity
}

// openAge reads the keys of the method "age". It takes no key from a key provider: age has keys of its
// own, and encrypts each file with a fresh one.
func openAge(_ context.Context, a arguments, _ Options) (boxes, error) {
	b := &ageBox{}
	var err error
	if b.recipients, err = age.ParseRecipients(strings.NewReader(strings.Join(a.list("recipients"), "\n"))); err != nil {
		return nil, errors.New("recipients must be public keys of age, such as age1…")
	}
	if text := a.text("identity", ""); text != "" {
		// The library's error could quote a line of the key.
		if b.identities, err = age.ParseIdentities(strings.NewReader(text)); err != nil {
			return nil, errors.New("identity must be one or more private keys of age: lines that begin with AGE-SECRET-KEY-")
		}
	}
	return func([]byte) (box, error) { return b, nil }, nil
}

// seal encrypts for all recipients. It needs no identity, so people who only write states cannot read them.
func (b *ageBox) seal(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, b.recipients...)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// open decrypts with the identities of the configuration, one of which must belong to a recipient.
func (b *ageBox) open(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte(ageIntro)) {
		return nil, errNotOpened // another method has encrypted it
	}
	if len(b.identities) == 0 {
		return nil, errors.New("it has recipients only. To read what was encrypted to them, it needs the argument identity with a private key")
	}
	r, err := age.Decrypt(bytes.NewReader(data), b.identities...)
	if _, other := errors.AsType[*age.NoIdentityMatchError](err); other {
		return nil, errNotOpened
	}
	if err != nil {
		return nil, ErrDamaged
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		clear(plain)
		return nil, ErrDamaged
	}
	return plain, nil
}
