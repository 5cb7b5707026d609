//go:build !mayfly_no_gcs

package gcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/google"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{Connect: connect, Place: placeOf, Identity: placeOf}
}

func placeOf(cfg backend.Config) string {
	return "gs://" + strings.TrimSuffix(cfg.Text("bucket")+"/"+prefixOf(cfg), "/") + serverOf(cfg)
}

// serverOf returns another server than Google's for a message; "" for none.
func serverOf(cfg backend.Config) string {
	if server := cfg.Text("storage_custom_endpoint"); server != "" {
		return " at " + server
	}
	return ""
}

func prefixOf(cfg backend.Config) string { return strings.Trim(cfg.Text("prefix"), "/") }

// connect opens a bucket with the credentials that are found. A key for encryption on the server is checked
// here, because the service would only refuse it when a state is stored.
func connect(ctx context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	opt := Options{Name: cfg.Text("bucket"), Prefix: prefixOf(cfg), KMSKey: cfg.Text("kms_encryption_key")}
	var err error
	if opt.CustomerKey, err = cfg.Key("gcs", "encryption_key"); err != nil {
		return nil, err
	}
	if opt.CustomerKey != nil && opt.KMSKey != "" {
		return nil, errors.New("the arguments \"encryption_key\" and \"kms_encryption_key\" of the backend \"gcs\" exclude each other")
	}
	account, err := accountOf(ctx, cfg, env)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"gcs\": %w", err)
	}
	opt.Bucket = account.Bucket(opt.Name, endpoint(cfg, env))
	return New(opt), nil
}

// endpoint returns the server to use; "" for Google's.
func endpoint(cfg backend.Config, env backend.Env) string {
	server := cfg.TextOr("storage_custom_endpoint", env.Lookup("STORAGE_EMULATOR_HOST"))
	if server != "" && !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return server
}

// accountOf finds the account: a token, credentials as a document or a file, or the machine's account. No
// redirect is followed, so that a token reaches no other host.
func accountOf(ctx context.Context, cfg backend.Config, env backend.Env) (*google.Account, error) {
	settings := google.Settings{
		Token: cfg.Text("access_token"), Impersonate: cfg.Text("impersonate_service_account"), Delegates: cfg.Texts("impersonate_service_account_delegates"),
		Domain: cfg.Text("universe_domain"),
	}
	if text := cfg.Text("credentials"); text != "" {
		settings.Credentials = []byte(text)
		if !strings.HasPrefix(strings.TrimSpace(text), "{") { // the path of a file
			var err error
			if settings.Credentials, err = os.ReadFile(text); err != nil {
				return nil, errors.New("the argument \"credentials\" must be a document in JSON, or the path of a file that has one")
			}
		}
	}
	if env.Lookup("STORAGE_EMULATOR_HOST") != "" && settings.Token == "" && settings.Credentials == nil {
		settings.Token = "emulator" // which asks for none
	}
	return google.Load(ctx, google.WriteObjects, settings, cloud.Client)
}
