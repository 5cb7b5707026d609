// Package azure reaches services of Microsoft Azure: it gets tokens with Azure's own library for credentials,
// keeps blobs in containers of Blob Storage, and encrypts with keys of vaults.
//
// Start reading at Account and Vault. It may import package cloud and Azure's library for credentials, but no
// client of a service. It must not know the content of blobs or the use of keys.
package azure

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Account is a storage account with one way to authorize requests. It is safe for concurrent use.
type Account struct {
	name   string
	client *http.Client
	key    []byte     // shared key; nil for none
	sas    url.Values // shared access signature; nil for none
	tokens *tokens    // nil for none
}

// WithKey returns an account whose requests are signed with its key.
func WithKey(name, key string, client *http.Client) (*Account, error) {
	b, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(b) == 0 {
		return nil, errors.New("the key of a storage account is a text in base64")
	}
	return &Account{name: name, client: client, key: b}, nil
}

// WithSAS returns an account whose requests bear a shared access signature, which is the query of a URL.
func WithSAS(name, sas string, client *http.Client) (*Account, error) {
	query, err := url.ParseQuery(strings.TrimPrefix(strings.TrimSpace(sas), "?"))
	if err != nil || query.Get("sig") == "" {
		return nil, errors.New("a shared access signature is the query of a URL, such as sv=...&sp=...&sig=...")
	}
	return &Account{name: name, client: client, sas: query}, nil
}

// storageScope is the scope of tokens for Blob Storage, in all clouds.
const storageScope = "https://storage.azure.com/.default"

// WithCredential returns an account whose requests bear tokens. It gets the first one.
func WithCredential(ctx context.Context, name string, c azcore.TokenCredential, client *http.Client) (*Account, error) {
	t := &tokens{credential: c, scope: storageScope}
	if _, err := t.get(ctx); err != nil {
		return nil, err
	}
	return &Account{name: name, client: client, tokens: t}, nil
}

// Container returns a container of the account. server is the address of its Blob Storage.
func (a *Account) Container(server, name string) *Container {
	return &Container{account: a, base: strings.TrimSuffix(server, "/") + "/" + url.PathEscape(name)}
}

// tokens gets tokens for one scope. The credential keeps them until they expire.
type tokens struct {
	credential azcore.TokenCredential
	scope      string
	tenant     string     // "" for the credential's
	mu         sync.Mutex // one request for a token serves all
}

func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	token, err := t.credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{t.scope}, TenantID: t.tenant})
	if err != nil {
		return "", explainToken(err)
	}
	return token.Token, nil
}

// send sends a request with the account's authorization and returns the answer, which the caller closes.
func (a *Account) send(ctx context.Context, req *http.Request) (*http.Response, error) {
	switch {
	case a.key != nil:
		req.Header.Set("Authorization", "SharedKey "+a.name+":"+signature(a.name, a.key, req))
	case a.sas != nil:
		query := req.URL.Query()
		maps.Copy(query, a.sas)
		req.URL.RawQuery = query.Encode()
	default:
		token, err := a.tokens.get(ctx)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := cloud.Open(a.client, req, refusal)
	if lost := (*url.Error)(nil); errors.As(err, &lost) {
		address := *req.URL
		address.RawQuery = "" // which may have the shared access signature
		lost.URL = address.String()
	}
	return resp, err
}

// endpoint checks the address of a service.
func endpoint(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("the service names %q as an address, which is not a URL", text)
	}
	return nil
}

// signature returns the signature of a request by the scheme "Shared Key".
func signature(account string, key []byte, req *http.Request) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signed(account, req)))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signed returns the text of a request that is signed: its method, some headers by position, all headers of
// Azure by name, and its resource.
func signed(account string, req *http.Request) string {
	lines := []string{req.Method}
	for _, name := range []string{
		"Content-Encoding", "Content-Language", "Content-Length", "Content-MD5", "Content-Type", "Date",
		"If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range",
	} {
		value := req.Header.Get(name)
		if name == "Content-Length" && req.ContentLength > 0 {
			value = strconv.FormatInt(req.ContentLength, 10)
		}
		lines = append(lines, value)
	}
	var own []string
	for name, values := range req.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-ms-") {
			own = append(own, name+":"+strings.Join(values, ","))
		}
	}
	slices.SortFunc(own, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, ":")
		nameB, _, _ := strings.Cut(b, ":")
		return strings.Compare(nameA, nameB)
	})
	lines = append(lines, own...)
	lines = append(lines, "/"+account+req.URL.EscapedPath())
	query := req.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := slices.Sorted(slices.Values(query[name]))
		lines = append(lines, fmt.Sprintf("%s:%s", strings.ToLower(name), strings.Join(values, ",")))
	}
	return strings.Join(lines, "\n")
}
