package azure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

// Resource names a storage account for the Resource Manager.
type Resource struct{ Subscription, Group, Name string }

// Key asks the Resource Manager for the first key of a storage account that may write.
func (e *Environment) Key(ctx context.Context, r Resource, c azcore.TokenCredential, client *http.Client) (string, error) {
	t := &tokens{credential: c, scope: e.Audience + "/.default"}
	token, err := t.get(ctx)
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("%s/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Storage/storageAccounts/%s/listKeys?api-version=2023-01-01",
		e.Management, url.PathEscape(r.Subscription), url.PathEscape(r.Group), url.PathEscape(r.Name))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	body, err := cloud.Answer(client, req, refusedByManager)
	if err != nil {
		return "", err
	}
	var answer struct {
		Keys []struct{ Value, Permissions string }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", errors.New("the service's answer is not valid") // it may have keys
	}
	for _, key := range answer.Keys {
		if key.Value != "" && key.Permissions != "Read" {
			return key.Value, nil
		}
	}
	return "", errors.New("the storage account has no key that may write")
}

// refusedByManager returns the error that an answer of the Resource Manager describes, or one of a vault.
func refusedByManager(resp *http.Response, body []byte) error {
	var said struct {
		Error struct{ Code, Message string }
	}
	e := &cloud.Error{Status: resp.StatusCode, Hint: cloud.PageHint(body)}
	if json.Unmarshal(body, &said) == nil {
		e.Code = said.Error.Code
		e.Message, _, _ = strings.Cut(said.Error.Message, "\r\n")
	}
	return e
}
