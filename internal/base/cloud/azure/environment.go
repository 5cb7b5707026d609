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
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Environment is a cloud that runs Azure, of Microsoft or of others.
type Environment struct {
	Login      string // address of the service that issues tokens
	Management string // address of the Resource Manager
	Audience   string // of tokens for the Resource Manager
	Storage    string // end of the names of storage services
	Custom     bool   // the login service is not one that Microsoft's knows
}

// environments are the clouds of Microsoft, by the names that the backends of other engines have for them.
var environments = map[string]*Environment{
	"public":       known(azcloud.AzurePublic, "core.windows.net"),
	"usgovernment": known(azcloud.AzureGovernment, "core.usgovcloudapi.net"),
	"china":        known(azcloud.AzureChina, "core.chinacloudapi.cn"),
}

func known(c azcloud.Configuration, storage string) *Environment {
	manager := c.Services[azcloud.ResourceManager]
	return &Environment{Login: c.ActiveDirectoryAuthorityHost, Management: manager.Endpoint, Audience: manager.Audience, Storage: storage}
}

// EnvironmentOf returns a cloud of Microsoft by its name: public, usgovernment or china.
func EnvironmentOf(name string) (*Environment, error) {
	if e := environments[strings.ToLower(name)]; e != nil {
		return e, nil
	}
	return nil, errors.New("it must be public, usgovernment or china")
}

// names are the names in descriptions of Microsoft's clouds.
var names = map[string]string{"public": "AzureCloud", "usgovernment": "AzureUSGovernment", "china": "AzureChinaCloud"}

// described is the description of an environment by its Resource Manager.
type described struct {
	Name            string
	ResourceManager string
	Authentication  struct {
		LoginEndpoint string
		Audiences     []string
	}
	Suffixes struct{ Storage string }
}

// Discover asks a host for a description of its clouds and returns the one with that name, or else the first
// one.
func Discover(ctx context.Context, host, name string, client *http.Client) (*Environment, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/metadata/endpoints?api-version=2022-09-01", nil)
	if err != nil {
		return nil, err
	}
	body, err := cloud.Answer(client, req, refusal)
	if err != nil {
		return nil, err
	}
	var all []described
	if json.Unmarshal(body, &all) != nil {
		var one described
		if err := json.Unmarshal(body, &one); err != nil {
			return nil, errors.New("the host does not answer with a description of clouds")
		}
		all = []described{one}
	}
	if len(all) == 0 {
		return nil, errors.New("the host describes no cloud")
	}
	d := all[0]
	for _, one := range all {
		if strings.EqualFold(one.Name, name) || one.Name == names[strings.ToLower(name)] {
			d = one
			break
		}
	}
	return d.environment()
}

// environment returns a cloud as its own description says. Addresses without TLS are refused: credentials
// go there.
func (d described) environment() (*Environment, error) {
	e := &Environment{Login: d.Authentication.LoginEndpoint, Management: strings.TrimSuffix(d.ResourceManager, "/"), Storage: d.Suffixes.Storage, Custom: true}
	if len(d.Authentication.Audiences) > 0 {
		e.Audience = strings.TrimSuffix(d.Authentication.Audiences[0], "/")
	}
	if e.Storage == "" {
		return nil, errors.New("the description of the cloud has no name of storage services")
	}
	for _, known := range environments {
		if strings.TrimSuffix(known.Login, "/") == strings.TrimSuffix(e.Login, "/") {
			e.Custom = false
		}
	}
	return e, errors.Join(endpoint(e.Login), endpoint(e.Management))
}

func (e *Environment) configuration() azcloud.Configuration {
	return azcloud.Configuration{ActiveDirectoryAuthorityHost: e.Login}
}

// BlobServer returns the usual address of an account's Blob Storage.
func (e *Environment) BlobServer(account string) string {
	return fmt.Sprintf("https://%s.blob.%s", url.PathEscape(account), e.Storage)
}

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
