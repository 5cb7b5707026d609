package encryption

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// azureVault wraps data keys, which it draws itself, with a key of a vault of Azure.
type azureVault struct {
	o              Options
	address, key   string
	length         int
	algorithm      string
	signIn         azure.Arguments
	principal      azure.Principal
	credentialFrom string // the arguments that say who signs in, for messages

	mu    sync.Mutex
	vault *azure.Vault // nil until it is first used
}

// wrappedByVault is the metadata of a data key. Other engines want every member, so that those without a
// value are null.
type wrappedByVault struct {
	Ciphertext []byte `json:"ciphertext"`
	IV         []byte `json:"iv"`
	Tag        []byte `json:"authentication_tag"`
	AAD        []byte `json:"additional_authenticated_data"`
	Version    string `json:"key_version"`
	Algorithm  string `json:"algo"`
}

// azureArguments are the arguments of the key provider.
func azureArguments() map[string]argument {
	out := map[string]argument{
		"vault_uri": {ty: cty.String, required: true}, "vault_key_name": {ty: cty.String, required: true}, "key_length": {ty: cty.Number, required: true},
		"symmetric": {ty: cty.Bool}, "symmetric_key_size": {ty: cty.Number},
	}
	for name, a := range azure.SignInArguments() {
		ty := cty.String
		if a.Flag {
			ty = cty.Bool
		}
		out[name] = argument{ty: ty, secret: a.Secret}
	}
	return out
}

// vaultKeyName is the form of the name of a key, which has no version.
var vaultKeyName = pattern.New(`^[0-9A-Za-z-]{1,127}$`)

// openAzureVault checks the arguments. It contacts nothing.
func openAzureVault(_ context.Context, a arguments, o Options) (keyProvider, error) {
	k := &azureVault{o: o, address: a.text("vault_uri", ""), key: a.text("vault_key_name", ""), algorithm: "RSA-OAEP-256"}
	if _, err := azure.OpenVault(k.address, "", nil, nil); err != nil {
		return nil, fmt.Errorf("vault_uri is wrong: %w", err)
	}
	if !vaultKeyName().MatchString(k.key) {
		return nil, errors.New("vault_key_name must be the name of a key, of letters, digits and hyphens, without a version")
	}
	var err error
	if k.length, err = a.number("key_length", 0, 1, 1024); err != nil {
		return nil, err
	}
	if symmetric := a["symmetric"]; symmetric != cty.NilVal && symmetric.True() {
		size, err := a.number("symmetric_key_size", 0, 128, 256)
		if err != nil || size == 0 || size%64 != 0 {
			return nil, errors.New("symmetric_key_size must be 128, 192 or 256 if symmetric is true")
		}
		k.algorithm = fmt.Sprintf("A%dGCM", size)
	}
	if k.signIn, err = azureSignIn(a, o.Environ); err != nil {
		return nil, err
	}
	k.principal, k.credentialFrom, err = k.signIn.Principal(func(name string) string { return o.Environ[name] }, o.Services(nil))
	return k, err
}

// azureSignIn returns the arguments that say how to sign in, with the environment variables that stand in for
// them.
func azureSignIn(a arguments, environ map[string]string) (azure.Arguments, error) {
	texts := map[string]string{}
	for name, shared := range azure.SignInArguments() {
		if v, ok := a[name]; ok && shared.Flag {
			texts[name] = strconv.FormatBool(v.True())
		} else {
			texts[name] = a.text(name, "")
		}
		for _, variable := range shared.Variables {
			if text := environ[variable]; texts[name] == "" && text != "" {
				if _, err := strconv.ParseBool(text); err != nil && shared.Flag {
					return nil, fmt.Errorf("the environment variable %s must be true or false", variable)
				}
				texts[name] = text
			}
		}
	}
	return func(name string) string { return texts[name] }, nil
}

// open returns the vault, with the source of its tokens.
func (k *azureVault) open(ctx context.Context) (*azure.Vault, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.vault != nil {
		return k.vault, nil
	}
	client := k.o.Services(nil)
	environment, err := k.signIn.Environment(ctx, client)
	if err != nil {
		return nil, err
	}
	credential, err := environment.Credential(k.principal, client)
	if err != nil {
		return nil, fmt.Errorf("the credentials (%s): %w", k.credentialFrom, err)
	}
	k.vault, err = azure.OpenVault(k.address, k.principal.Tenant, credential, client)
	return k.vault, err
}

// encryption makes a key here and has the vault encrypt it, since a vault makes none.
func (k *azureVault) encryption(ctx context.Context, _ [][]byte) (key, meta []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxForRequest)
	defer cancel()
	vault, err := k.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	key = make([]byte, k.length)
	if _, err := io.ReadFull(k.o.Random, key); err != nil {
		return nil, nil, err
	}
	s, err := vault.Encrypt(ctx, k.key, k.algorithm, key)
	if err != nil {
		clear(key)
		return nil, nil, k.explain(err)
	}
	meta, err = json.Marshal(wrappedByVault{s.Value, s.IV, s.Tag, s.AAD, s.Version, s.Algorithm})
	return key, meta, err
}

// decryption has the vault decrypt the key of the metadata, with the version of its key and the algorithm
// that encrypted it, which need not be the present ones.
func (k *azureVault) decryption(ctx context.Context, _ [][]byte, meta []byte) ([]byte, error) {
	var w wrappedByVault
	if err := json.Unmarshal(meta, &w); err != nil || len(w.Ciphertext) == 0 || !vaultKeyName().MatchString(w.Version) {
		return nil, fmt.Errorf("%w: it has no wrapped key", ErrDamaged)
	}
	ctx, cancel := context.WithTimeout(ctx, maxForRequest)
	defer cancel()
	vault, err := k.open(ctx)
	if err != nil {
		return nil, err
	}
	key, err := vault.Decrypt(ctx, k.key, azure.Sealed{Value: w.Ciphertext, IV: w.IV, Tag: w.Tag, AAD: w.AAD, Algorithm: w.Algorithm, Version: w.Version})
	return key, k.explain(err)
}

// vaultHints are the advice for answers of vaults, by status.
var vaultHints = map[int]string{
	http.StatusUnauthorized:    "The credentials may be for another tenant than the vault's, or the token has been revoked: check \"tenant_id\" and sign in again",
	http.StatusForbidden:       "The credentials need the permissions to encrypt and decrypt with the key, such as the role \"Key Vault Crypto User\", and the vault's firewall must let this machine in",
	http.StatusNotFound:        "Check \"vault_uri\" and \"vault_key_name\". A state can be read only while the version of the key that encrypted it exists",
	http.StatusBadRequest:      "Check \"symmetric\" and \"symmetric_key_size\", which must fit the type of the key, and \"key_length\"",
	http.StatusTooManyRequests: "The vault limits how often it is asked. Wait a little and try again",
}

// explain adds advice to an error, if there is any. It returns nil for nil.
func (k *azureVault) explain(err error) error {
	e, unknown, none := (*cloud.Error)(nil), (*net.DNSError)(nil), (*azure.TokenError)(nil)
	switch {
	case errors.As(err, &none):
		return fmt.Errorf("the credentials (%s): %w", k.credentialFrom, err)
	case errors.As(err, &e):
		e.Hint = cmp.Or(e.Hint, vaultHints[e.Status])
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("%w. Check \"vault_uri\"", err)
	}
	return err
}
