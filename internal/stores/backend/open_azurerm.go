//go:build !mayfly_no_azurerm

package backend

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/internal/stores/azurerm"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	azurermKind.service = service{
		open: openAzurerm,
		place: func(cfg cty.Value) string {
			return fmt.Sprintf("azurerm://%s/%s/%s", textOr(cfg, "storage_account_name", ""), textOr(cfg, "container_name", ""), textOr(cfg, "key", ""))
		},
	}
}

// azureTimeout limits a request unless timeout_seconds does.
const azureTimeout = 5 * time.Minute

// openAzurerm opens a container. It finds the credentials but does not contact the account, unless the
// clouds of a metadata_host must be asked for.
func openAzurerm(ctx context.Context, cfg cty.Value, env Env) (store.Store, error) {
	client := cloud.Client(nil)
	client.Timeout = azureTimeout
	seconds, err := countOf(cfg, "azurerm", "timeout_seconds")
	if err != nil {
		return nil, err
	}
	if seconds != nil && *seconds > 0 {
		client.Timeout = time.Duration(*seconds) * time.Second
	}
	environment, err := azureArguments(cfg).Environment(ctx, client)
	if err != nil {
		return nil, azureError(err)
	}
	account, err := azureAccount(ctx, cfg, env, environment, client)
	if err != nil {
		return nil, err
	}
	var key []byte
	if text := textOr(cfg, "customer_provided_key", ""); text != "" {
		if key, err = base64.StdEncoding.DecodeString(text); err != nil || len(key) != 32 {
			return nil, errors.New("the argument \"customer_provided_key\" of the backend \"azurerm\" must be a key of 32 bytes in base64")
		}
	}
	container := account.Container(environment.BlobServer(textOr(cfg, "storage_account_name", "")), textOr(cfg, "container_name", "")).
		Encrypted(textOr(cfg, "encryption_scope", ""), key)
	return remote.New(azurerm.New(azurerm.Options{Container: container, Key: textOr(cfg, "key", ""), Snapshot: isTrue(cfg, "snapshot")}), env.remote()), nil
}

// azureArguments returns the arguments that say how to sign in.
func azureArguments(cfg cty.Value) azure.Arguments {
	return func(name string) string {
		v, err := convert.Convert(cfg.GetAttr(name), cty.String)
		if err != nil || v.IsNull() {
			return ""
		}
		return v.AsString()
	}
}

// azureAccount returns the storage account, with the first of these that is set: a key, a signature, or a
// principal, which either uses the storage itself or looks the key up.
func azureAccount(ctx context.Context, cfg cty.Value, env Env, e *azure.Environment, client *http.Client) (*azure.Account, error) {
	name := textOr(cfg, "storage_account_name", "")
	if key := textOr(cfg, "access_key", ""); key != "" {
		a, err := azure.WithKey(name, key, client)
		return a, azureArgument("access_key", err)
	}
	if sas := textOr(cfg, "sas_token", ""); sas != "" {
		a, err := azure.WithSAS(name, sas, client)
		return a, azureArgument("sas_token", err)
	}
	principal, from, err := azureArguments(cfg).Principal(env.Lookup, client)
	if errors.Is(err, azure.ErrNoPrincipal) {
		err = fmt.Errorf("%w, or else \"access_key\" or \"sas_token\"", err)
	}
	if err != nil {
		return nil, azureError(err)
	}
	credential, err := e.Credential(principal, client)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"azurerm\" (%s): %w", from, err)
	}
	var a *azure.Account
	if isTrue(cfg, "use_azuread_auth") {
		if a, err = azure.WithCredential(ctx, name, credential, client); err != nil {
			err = fmt.Errorf("the credentials of the backend \"azurerm\" (%s): %w", from, err)
		}
		return a, err
	}
	r := azure.Resource{Subscription: textOr(cfg, "subscription_id", ""), Group: textOr(cfg, "resource_group_name", ""), Name: name}
	if r.Subscription == "" || r.Group == "" {
		return nil, errors.New("the backend \"azurerm\" needs \"access_key\", \"sas_token\", \"use_azuread_auth\" with credentials that may use the container, or \"subscription_id\" and \"resource_group_name\" to look up the key of the storage account")
	}
	key, err := e.Key(ctx, r, credential, client)
	if err != nil {
		return nil, fmt.Errorf("looking up the key of the storage account of the backend \"azurerm\" (with %s, \"subscription_id\" and \"resource_group_name\"): %w", from, err)
	}
	return azure.WithKey(name, key, client)
}

// azureError says which backend an error is about.
func azureError(err error) error { return fmt.Errorf("the backend \"azurerm\": %w", err) }

func azureArgument(name string, err error) error {
	if err != nil {
		err = fmt.Errorf("the argument %q of the backend \"azurerm\": %w", name, err)
	}
	return err
}
