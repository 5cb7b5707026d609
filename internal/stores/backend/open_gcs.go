//go:build !mayfly_no_gcs

package backend

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/google"
	"github.com/mayfly-iac/mayfly/internal/stores/gcs"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	gcsKind.service = service{open: openGCS, place: gcsPlace, identity: gcsPlace}
}

func gcsPlace(cfg cty.Value) string {
	return "gs://" + strings.TrimSuffix(textOr(cfg, "bucket", "")+"/"+gcsPrefix(cfg), "/") + gcsServer(cfg)
}

// gcsServer returns another server than Google's for a message; "" for none.
func gcsServer(cfg cty.Value) string {
	if server := textOr(cfg, "storage_custom_endpoint", ""); server != "" {
		return " at " + server
	}
	return ""
}

func gcsPrefix(cfg cty.Value) string { return strings.Trim(textOr(cfg, "prefix", ""), "/") }

// openGCS opens a bucket with the credentials that are found. A key for encryption on the server is checked
// here, because the service would only refuse it when a state is stored.
func openGCS(ctx context.Context, cfg cty.Value, env Env) (store.Store, error) {
	opt := gcs.Options{Name: textOr(cfg, "bucket", ""), Prefix: gcsPrefix(cfg), KMSKey: textOr(cfg, "kms_encryption_key", "")}
	if text := textOr(cfg, "encryption_key", ""); text != "" {
		key, err := base64.StdEncoding.DecodeString(text)
		switch {
		case err != nil || len(key) != 32:
			return nil, errors.New("the argument \"encryption_key\" of the backend \"gcs\" must be a key of 32 bytes in base64")
		case opt.KMSKey != "":
			return nil, errors.New("the arguments \"encryption_key\" and \"kms_encryption_key\" of the backend \"gcs\" exclude each other")
		}
		opt.CustomerKey = key
	}
	account, err := gcsAccount(ctx, cfg, env)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"gcs\": %w", err)
	}
	opt.Bucket = account.Bucket(opt.Name, gcsEndpoint(cfg, env))
	return remote.New(gcs.New(opt), env.remote()), nil
}

// gcsEndpoint returns the server to use; "" for that of Google.
func gcsEndpoint(cfg cty.Value, env Env) string {
	server := textOr(cfg, "storage_custom_endpoint", env.Lookup("STORAGE_EMULATOR_HOST"))
	if server != "" && !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return server
}

// gcsAccount finds the account: a token, credentials as a document or a file, or what the machine has. No
// redirect is followed, so that a token reaches no other host.
func gcsAccount(ctx context.Context, cfg cty.Value, env Env) (*google.Account, error) {
	settings := google.Settings{
		Token: textOr(cfg, "access_token", ""), Impersonate: textOr(cfg, "impersonate_service_account", ""), Delegates: textsOf(cfg, "impersonate_service_account_delegates"),
		Domain: textOr(cfg, "universe_domain", ""),
	}
	if text := textOr(cfg, "credentials", ""); text != "" {
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
