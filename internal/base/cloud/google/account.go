// Package google reaches services of Google Cloud: it finds credentials as Google's libraries do, and reads
// and writes objects of Cloud Storage.
//
// Start reading at Load. It may import package cloud and Google's library for credentials, but no client of a
// service. It must not know the content of objects.
package google

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// ReadObjects is the scope of credentials that read objects.
const ReadObjects = "https://www.googleapis.com/auth/devstorage.read_only"

const usualDomain = "googleapis.com"

// Account adds credentials to requests. It is safe for concurrent use.
type Account struct {
	client *http.Client
	// creds are nil if there is only a token, or no credentials at all.
	creds *auth.Credentials
	token string
	// domain is the domain of the services, which is not the usual one in clouds that partners run.
	domain string
}

// Settings are credentials that are used instead of the ones that would be found. Either may be absent.
type Settings struct {
	Token       string
	Credentials []byte // a JSON document

	// Impersonate is the service account that requests are made as, with the rights of the credentials or,
	// one after the other, of the accounts Delegates; "" for none.
	Impersonate string
	Delegates   []string

	// Domain is the domain of the services; "" for the one in GOOGLE_CLOUD_UNIVERSE_DOMAIN, or else the
	// credentials'.
	Domain string
}

// Load finds credentials for a scope: from the settings, the token in GOOGLE_OAUTH_ACCESS_TOKEN, or
// Application Default Credentials.
func Load(ctx context.Context, scope string, s Settings, services cloud.Services) (*Account, error) {
	client := services(nil)
	domain := cmp.Or(s.Domain, os.Getenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN"))
	a := &Account{client: client, domain: cmp.Or(domain, usualDomain)}
	if a.token = s.Token; a.token == "" && len(s.Credentials) == 0 {
		a.token = os.Getenv("GOOGLE_OAUTH_ACCESS_TOKEN")
	}
	if a.token != "" && s.Impersonate == "" {
		return a, nil
	}
	creds, err := s.credentials(a.token, scope, client)
	if err != nil {
		return nil, err
	}
	a.token = ""
	own, err := creds.UniverseDomain(ctx)
	switch {
	case err != nil:
		return nil, err
	case domain != "" && domain != own:
		return nil, errors.New("the credentials are for " + own + ", and the domain that is set for the services is " + domain)
	}
	a.creds, a.domain = creds, own
	return a, nil
}

// cloudPlatform is the scope of credentials that act as another account.
const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"

// credentials returns the credentials that requests are made with. token is "" or a token to act as another
// account with.
func (s Settings) credentials(token, scope string, client *http.Client) (*auth.Credentials, error) {
	if s.Impersonate == "" {
		return s.detect(&credentials.DetectOptions{Scopes: []string{scope}, Client: client})
	}
	var base *auth.Credentials
	if token != "" {
		base = auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: fixedToken(token)})
	} else {
		var err error
		if base, err = s.detect(&credentials.DetectOptions{Scopes: []string{cloudPlatform}, Client: client}); err != nil {
			return nil, err
		}
	}
	return auth.NewCredentials(&auth.CredentialsOptions{
		TokenProvider:          auth.NewCachedTokenProvider(&impersonation{s, base, scope, client}, nil),
		UniverseDomainProvider: auth.CredentialsPropertyFunc(base.UniverseDomain),
	}), nil
}

// fixedToken is a token that is used as long as it is valid.
type fixedToken string

// Token implements auth.TokenProvider.
func (t fixedToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t), Type: "Bearer"}, nil
}

// detect finds credentials. The user chooses the document, so its type is the one that it states.
func (s Settings) detect(o *credentials.DetectOptions) (*auth.Credentials, error) {
	if len(s.Credentials) == 0 {
		return credentials.DetectDefault(o)
	}
	var doc struct{ Type credentials.CredType }
	if err := json.Unmarshal(s.Credentials, &doc); err != nil || doc.Type == "" {
		return nil, errors.New("the given credentials are not a JSON document with a type, such as the key of a service account")
	}
	return credentials.NewCredentialsFromJSON(doc.Type, s.Credentials, o)
}

// authorize adds credentials to a request, and the project that pays for it, if one is set.
func (a *Account) authorize(req *http.Request) error {
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
		return nil
	}
	if a.creds == nil {
		return nil
	}
	token, err := a.creds.Token(req.Context())
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", cmp.Or(token.Type, "Bearer")+" "+token.Value)
	project, err := a.creds.QuotaProjectID(req.Context())
	if project != "" {
		req.Header.Set("X-Goog-User-Project", project)
	}
	return err
}

// impersonation gets tokens of a service account with the credentials of another one. Google's own package
// for that links a library for transports that is larger than all the rest of this package.
type impersonation struct {
	settings Settings
	base     *auth.Credentials
	scope    string
	client   *http.Client
}

const (
	tokenLifetime   = "3600s"
	accountResource = "projects/-/serviceAccounts/"
)

// Token implements auth.TokenProvider.
func (i *impersonation) Token(ctx context.Context) (*auth.Token, error) {
	domain, err := i.base.UniverseDomain(ctx)
	if err != nil {
		return nil, err
	}
	var delegates []string
	for _, account := range i.settings.Delegates {
		delegates = append(delegates, accountResource+account)
	}
	body, err := json.Marshal(map[string]any{"scope": []string{i.scope}, "delegates": delegates, "lifetime": tokenLifetime})
	if err != nil {
		return nil, err
	}
	address := "https://iamcredentials." + domain + "/v1/" + accountResource + url.PathEscape(i.settings.Impersonate) + ":generateAccessToken"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if err := (&Account{creds: i.base}).authorize(req); err != nil {
		return nil, err
	}
	answer, err := cloud.Answer(i.client, req, refusal)
	defer func() { clear(answer) }()
	if err != nil {
		return nil, fmt.Errorf("acting as the service account %s: %w", i.settings.Impersonate, err)
	}
	var token struct {
		AccessToken string
		ExpireTime  time.Time
	}
	if err := json.Unmarshal(answer, &token); err != nil || token.AccessToken == "" {
		return nil, fmt.Errorf("acting as the service account %s: the service's answer has no token", i.settings.Impersonate)
	}
	return &auth.Token{Value: token.AccessToken, Type: "Bearer", Expiry: token.ExpireTime}, nil
}
