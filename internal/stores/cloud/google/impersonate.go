package google

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"cloud.google.com/go/auth"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

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
