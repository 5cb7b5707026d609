package azure

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

// audience is that of federated tokens, which Azure exchanges for its own.
const audience = "api://AzureADTokenExchange"

// RequestAssertion asks the service at an address, which runs a job such as a workflow of GitHub, for a
// federated token of the job.
func RequestAssertion(ctx context.Context, address, token string, client *http.Client) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the address to request a token from is not a URL")
	}
	query := u.Query()
	if query.Get("audience") == "" {
		query.Set("audience", audience)
	}
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	body, err := cloud.Answer(client, req, func(resp *http.Response, _ []byte) error { return &cloud.Error{Status: resp.StatusCode} })
	if err != nil {
		return "", err
	}
	var answer struct{ Value string }
	if json.Unmarshal(body, &answer) != nil || answer.Value == "" {
		return "", errors.New("the service's answer has no token") // nothing of it, for it may have one
	}
	return answer.Value, nil
}
