//go:build !mayfly_no_azurerm

package azurerm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{
		Connect: connect,
		Place: func(cfg backend.Config) string {
			return fmt.Sprintf("azurerm://%s/%s/%s", cfg.Text("storage_account_name"), cfg.Text("container_name"), cfg.Text("key"))
		},
	}
}

// requestTimeout limits a request unless timeout_seconds does.
const requestTimeout = 5 * time.Minute

// connect opens a container. It finds the credentials but does not contact the account, unless the
// clouds of a metadata_host must be asked for.
func connect(ctx context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	client := cloud.Client(nil)
	client.Timeout = requestTimeout
	seconds, err := cfg.CountOr("azurerm", "timeout_seconds", 0)
	if err != nil {
		return nil, err
	}
	if seconds > 0 {
		client.Timeout = time.Duration(seconds) * time.Second
	}
	environment, err := signIn(cfg).Environment(ctx, client)
	if err != nil {
		return nil, backend.In("azurerm", err)
	}
	account, err := accountOf(ctx, cfg, env, environment, client)
	if err != nil {
		return nil, err
	}
	key, err := cfg.Key("azurerm", "customer_provided_key")
	if err != nil {
		return nil, err
	}
	container := account.Container(environment.BlobServer(cfg.Text("storage_account_name")), cfg.Text("container_name")).
		Encrypted(cfg.Text("encryption_scope"), key)
	return New(Options{Container: container, Key: cfg.Text("key"), Snapshot: cfg.Flag("snapshot")}), nil
}

// signIn returns the arguments that say how to sign in.
func signIn(cfg backend.Config) azure.Arguments {
	return func(name string) string {
		v, err := convert.Convert(cfg.GetAttr(name), cty.String)
		if err != nil || v.IsNull() {
			return ""
		}
		return v.AsString()
	}
}

// accountOf returns the storage account, with the first of these that is set: a key, a signature, or a
// principal, which either uses the storage itself or looks the key up.
func accountOf(ctx context.Context, cfg backend.Config, env backend.Env, e *azure.Environment, client *http.Client) (*azure.Account, error) {
	name := cfg.Text("storage_account_name")
	if key := cfg.Text("access_key"); key != "" {
		a, err := azure.WithKey(name, key, client)
		return a, aboutArgument("access_key", err)
	}
	if sas := cfg.Text("sas_token"); sas != "" {
		a, err := azure.WithSAS(name, sas, client)
		return a, aboutArgument("sas_token", err)
	}
	principal, from, err := signIn(cfg).Principal(env.Lookup, client)
	if errors.Is(err, azure.ErrNoPrincipal) {
		err = fmt.Errorf("%w, or else \"access_key\" or \"sas_token\"", err)
	}
	if err != nil {
		return nil, backend.In("azurerm", err)
	}
	credential, err := e.Credential(principal, client)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"azurerm\" (%s): %w", from, err)
	}
	var a *azure.Account
	if cfg.Flag("use_azuread_auth") {
		if a, err = azure.WithCredential(ctx, name, credential, client); err != nil {
			err = fmt.Errorf("the credentials of the backend \"azurerm\" (%s): %w", from, err)
		}
		return a, err
	}
	r := azure.Resource{Subscription: cfg.Text("subscription_id"), Group: cfg.Text("resource_group_name"), Name: name}
	if r.Subscription == "" || r.Group == "" {
		return nil, errors.New("the backend \"azurerm\" needs \"access_key\", \"sas_token\", \"use_azuread_auth\" with credentials that may use the container, or \"subscription_id\" and \"resource_group_name\" to look up the key of the storage account")
	}
	key, err := e.Key(ctx, r, credential, client)
	if err != nil {
		return nil, fmt.Errorf("looking up the key of the storage account of the backend \"azurerm\" (with %s, \"subscription_id\" and \"resource_group_name\"): %w", from, err)
	}
	return azure.WithKey(name, key, client)
}

func aboutArgument(name string, err error) error {
	if err != nil {
		err = fmt.Errorf("the argument %q of the backend \"azurerm\": %w", name, err)
	}
	return err
}
