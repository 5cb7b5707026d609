package azure

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Vault is a key vault or a managed HSM, whose keys encrypt and decrypt. It is safe for concurrent use.
type Vault struct {
	address    *url.URL
	credential azcore.TokenCredential
	tenant     string // "" for the one that the vault names
	client     *http.Client

	mu     sync.Mutex
	tokens *tokens // nil until the vault has said which tokens it takes
}

// OpenVault returns the vault at an address, https://NAME.vault.azure.net. Tokens are issued by the given
// tenant, or, if it is "", by the tenant that the vault belongs to. It contacts nothing.
func OpenVault(address, tenant string, c azcore.TokenCredential, client *http.Client) (*Vault, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("it must have the form https://NAME.vault.azure.net")
	}
	return &Vault{address: &url.URL{Scheme: u.Scheme, Host: u.Host}, credential: c, tenant: tenant, client: client}, nil
}

// Sealed is an encrypted value, with the parameters for decrypting it.
type Sealed struct {
	Value        []byte
	IV, Tag, AAD []byte // nil if the algorithm has none
	Algorithm    string // such as RSA-OAEP-256 or A256GCM
	Version      string // of the key
}

// vaultBytes are bytes in messages of vaults.
type vaultBytes []byte

// MarshalText implements encoding.TextMarshaler.
func (b vaultBytes) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *vaultBytes) UnmarshalText(text []byte) (err error) {
	*b, err = base64.RawURLEncoding.AppendDecode([]byte{}, bytes.TrimRight(text, "="))
	return err
}

// vaultMessage is the body of a request to a vault, and of its answer.
type vaultMessage struct {
	Algorithm string     `json:"alg,omitempty"`
	Key       string     `json:"kid,omitempty"` // its address, with the version; in answers
	Value     vaultBytes `json:"value"`
	IV        vaultBytes `json:"iv,omitempty"`
	Tag       vaultBytes `json:"tag,omitempty"`
	AAD       vaultBytes `json:"aad,omitempty"`
}

// Encrypt encrypts with the current version of a key.
func (v *Vault) Encrypt(ctx context.Context, key, algorithm string, plain []byte) (Sealed, error) {
	out, err := v.operate(ctx, vaultMessage{Algorithm: algorithm, Value: plain}, "keys", key, "encrypt")
	if err != nil {
		return Sealed{}, err
	}
	address, err := url.Parse(out.Key)
	if err != nil || path.Base(path.Dir(address.Path)) != key || len(out.Value) == 0 {
		return Sealed{}, errNoVault
	}
	return Sealed{out.Value, out.IV, out.Tag, out.AAD, algorithm, path.Base(address.Path)}, nil
}

// Decrypt reverses Encrypt.
func (v *Vault) Decrypt(ctx context.Context, key string, s Sealed) ([]byte, error) {
	out, err := v.operate(ctx, vaultMessage{s.Algorithm, "", s.Value, s.IV, s.Tag, s.AAD}, "keys", key, s.Version, "decrypt")
	return out.Value, err
}

// errNoVault means that an answer is not one of a vault.
var errNoVault = errors.New("the service's answer is not that of a key vault")

// operate asks for an operation with a key.
func (v *Vault) operate(ctx context.Context, in vaultMessage, at ...string) (out vaultMessage, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	address := v.address.JoinPath(at...)
	address.RawQuery = "api-version=7.4"
	token, err := v.token(ctx, address.String())
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	answer, err := cloud.Answer(v.client, req, refusedByManager)
	defer func() { clear(answer) }()
	if err != nil {
		return out, err
	}
	if json.Unmarshal(answer, &out) != nil {
		return out, errNoVault // nothing of it, for it may have a key
	}
	return out, nil
}

// token returns a token that the vault takes.
func (v *Vault) token(ctx context.Context, address string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens == nil {
		challenge, err := v.challenge(ctx, address)
		if err == nil {
			v.tokens, err = v.tokensFor(challenge)
		}
		if err != nil {
			return "", err
		}
	}
	return v.tokens.get(ctx)
}

// errChallenged means that an answer is a challenge.
var errChallenged = errors.New("the vault wants a token")

// challenge returns the vault's answer to a request without a token and without a body.
func (v *Vault) challenge(ctx context.Context, address string) (challenge string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return "", err
	}
	_, err = cloud.Answer(v.client, req, func(resp *http.Response, body []byte) error {
		if resp.StatusCode != http.StatusUnauthorized {
			return refusedByManager(resp, body)
		}
		challenge = resp.Header.Get("WWW-Authenticate")
		return errChallenged
	})
	switch {
	case errors.Is(err, errChallenged):
		return challenge, nil
	case err == nil:
		err = errNoVault
	}
	return "", err
}

// challengePart is a parameter of a challenge.
var challengePart = regexp.MustCompile(`(\w+)="([^"]*)"`)

// tokensFor returns the tokens that a challenge asks for. Their audience must include the vault, or else the
// server could use them elsewhere.
func (v *Vault) tokensFor(challenge string) (*tokens, error) {
	parts := map[string]string{}
	for _, m := range challengePart.FindAllStringSubmatch(challenge, -1) {
		parts[m[1]] = m[2]
	}
	t := &tokens{credential: v.credential, scope: parts["scope"], tenant: v.tenant}
	if t.scope == "" && parts["resource"] != "" {
		t.scope = strings.TrimSuffix(parts["resource"], "/") + "/.default"
	}
	resource, err := url.Parse(t.scope)
	if err != nil || t.scope == "" {
		return nil, errNoVault
	}
	if resource.Host == "" || !strings.HasSuffix(v.address.Host, "."+resource.Host) {
		return nil, fmt.Errorf("the server asks for a token for %q, which it is not a part of", resource.Host)
	}
	if login, err := url.Parse(parts["authorization"]); err == nil && t.tenant == "" {
		t.tenant = strings.Trim(login.Path, "/")
	}
	return t, nil
}
