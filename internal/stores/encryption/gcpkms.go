package encryption

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/google"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// gcpKMS wraps data keys, which it draws itself, with a key of Google's key management service.
type gcpKMS struct {
	o        Options
	settings google.Settings
	key      string
	length   int
	aad      []byte
}

var gcpArguments = map[string]argument{
	"kms_encryption_key": {ty: cty.String, required: true}, "key_length": {ty: cty.Number, required: true},
	"additional_authenticated_data": {ty: cty.String}, "credentials": {ty: cty.String, secret: true}, "access_token": {ty: cty.String, secret: true},
	"impersonate_service_account": {ty: cty.String}, "impersonate_service_account_delegates": {ty: cty.List(cty.String)},
}

// keyName is the form of the name of a key.
var keyName = pattern.New(`^projects/[^/?#]+/locations/[^/?#]+/keyRings/[^/?#]+/cryptoKeys/[^/?#:]+$`)

// openGCPKMS checks the arguments. A token takes precedence over credentials, and both over the
// environment.
func openGCPKMS(_ context.Context, a arguments, o Options) (keyProvider, error) {
	k := &gcpKMS{o: o, key: a.text("kms_encryption_key", "")}
	if !keyName().MatchString(k.key) {
		return nil, errors.New("kms_encryption_key must have the form projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY")
	}
	var err error
	if k.length, err = a.number("key_length", 0, 1, 1024); err != nil {
		return nil, err
	}
	if k.aad, err = base64.StdEncoding.DecodeString(a.text("additional_authenticated_data", "")); err != nil {
		return nil, errors.New("additional_authenticated_data must be in base64")
	}
	k.settings.Token = a.text("access_token", "")
	k.settings.Impersonate, k.settings.Delegates = a.text("impersonate_service_account", ""), a.list("impersonate_service_account_delegates")
	for _, name := range []string{"GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"} {
		k.settings.Impersonate = cmp.Or(k.settings.Impersonate, o.Environ[name])
	}
	credentials := a.text("credentials", "")
	for _, name := range []string{"GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"} {
		if credentials == "" && k.settings.Token == "" {
			credentials = o.Environ[name]
		}
	}
	k.settings.Credentials, err = googleCredentials(credentials)
	return k, err
}

// googleCredentials returns credentials that are given as a JSON document or as the name of a file with one.
// Its error does not quote the text.
func googleCredentials(text string) ([]byte, error) {
	if text == "" || strings.HasPrefix(strings.TrimSpace(text), "{") {
		return []byte(text), nil
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, errors.New("credentials is neither a JSON document nor the name of a file that can be read")
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxAnswer))
}

// encryption makes a key here and has the service encrypt it, since the service makes none.
func (k *gcpKMS) encryption(ctx context.Context, _ [][]byte) (key, meta []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxForRequest)
	defer cancel()
	account, err := google.Load(ctx, google.UseKeys, k.settings, k.o.Services)
	if err != nil {
		return nil, nil, err
	}
	key = make([]byte, k.length)
	if _, err := io.ReadFull(k.o.Random, key); err != nil {
		return nil, nil, err
	}
	sealed, err := account.Encrypt(ctx, k.key, key, k.aad)
	if err == nil && len(sealed) == 0 {
		err = errors.New("the service's answer has no wrapped key")
	}
	if err != nil {
		clear(key)
		return nil, nil, err
	}
	meta, err = json.Marshal(wrapped{sealed})
	return key, meta, err
}

// decryption has the service decrypt the key of the metadata.
func (k *gcpKMS) decryption(ctx context.Context, _ [][]byte, meta []byte) ([]byte, error) {
	var w wrapped
	if err := json.Unmarshal(meta, &w); err != nil || len(w.Ciphertext) == 0 {
		return nil, fmt.Errorf("%w: it has no wrapped key", ErrDamaged)
	}
	ctx, cancel := context.WithTimeout(ctx, maxForRequest)
	defer cancel()
	account, err := google.Load(ctx, google.UseKeys, k.settings, k.o.Services)
	if err != nil {
		return nil, err
	}
	return account.Decrypt(ctx, k.key, w.Ciphertext, k.aad)
}
