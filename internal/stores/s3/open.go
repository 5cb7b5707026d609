//go:build !mayfly_no_s3

package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/aws"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{
		Connect: connect,
		Place: func(cfg backend.Config) string {
			return "s3://" + cfg.Text("bucket") + "/" + strings.TrimPrefix(cfg.Text("key"), "/")
		},
	}
}

// connect opens a bucket and the table of locks. Credentials are found, and roles prepared, but nothing is
// asked of the service before the first request, except where the account is to be checked.
func connect(ctx context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	settings, err := settingsOf(cfg, env)
	if err != nil {
		return nil, backend.In("s3", err)
	}
	transport, err := aws.TransportOf(arguments{cfg}, env.Lookup("NO_PROXY"))
	if err != nil {
		return nil, backend.In("s3", err)
	}
	// The client repeats nothing: whether a request may be repeated is known above.
	account, err := aws.Load(ctx, settings, func(own http.RoundTripper) *http.Client {
		if transport != nil {
			own = transport
		}
		return cloud.Client(own)
	})
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"s3\": %w", err)
	}
	opt := Options{
		Name: cfg.Text("bucket"), Key: strings.TrimPrefix(cfg.Text("key"), "/"), WorkspacePrefix: cfg.Text("workspace_key_prefix"),
		LockFile: cfg.Flag("use_lockfile"), ACL: cfg.Text("acl"), Encrypt: cfg.Flag("encrypt"), KMSKey: cfg.Text("kms_key_id"),
		Tags: cfg.TextMap("state_tags"), LockTags: cfg.TextMap("lock_tags"),
	}
	if opt.KMSKey != "" && cfg.Text("sse_customer_key") != "" {
		return nil, errors.New("the arguments \"kms_key_id\" and \"sse_customer_key\" of the backend \"s3\" exclude each other")
	}
	if opt.CustomerKey, err = cfg.Key("s3", "sse_customer_key"); err != nil {
		return nil, err
	}
	if opt.Bucket, err = bucketOf(ctx, account, cfg, env); err != nil {
		return nil, err
	}
	if name := cfg.Text("dynamodb_table"); name != "" {
		if opt.Table, err = account.Table(ctx, name, endpoint(cfg, env, "dynamodb", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT")); err != nil {
			return nil, err
		}
	}
	if err := account.Check(ctx, arguments{cfg}, endpoint(cfg, env, "sts", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT")); err != nil {
		return nil, backend.In("s3", err)
	}
	return New(opt), nil
}

// bucketOf returns the bucket, at AWS or at the server that the configuration names.
func bucketOf(ctx context.Context, a *aws.Account, cfg backend.Config, env backend.Env) (*aws.Bucket, error) {
	name := cfg.Text("bucket")
	server := strings.TrimSuffix(endpoint(cfg, env, "s3", "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"), "/")
	if server == "" {
		return a.BucketIn(ctx, name, cfg.Flag("use_path_style") || cfg.Flag("force_path_style"))
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the argument \"endpoints.s3\" of the backend \"s3\" must be a URL with its scheme, such as https://s3.example.com")
	}
	return a.BucketAt(name, server), nil
}

// endpoint returns the server for a service: from the argument "endpoints", from the one that it has
// replaced, or from the environment; "" for AWS's.
func endpoint(cfg backend.Config, env backend.Env, service string, variables ...string) string {
	if all := (backend.Config{Value: cfg.GetAttr("endpoints")}); !all.IsNull() {
		if server := all.Text(service); server != "" {
			return server
		}
	}
	former := service + "_endpoint"
	if service == "s3" {
		former = "endpoint"
	}
	if server := cfg.Text(former); server != "" {
		return server
	}
	for _, name := range variables {
		if server := env.Lookup(name); server != "" {
			return server
		}
	}
	return ""
}

// settingsOf returns where credentials come from.
func settingsOf(cfg backend.Config, env backend.Env) (aws.Settings, error) {
	tokens := endpoint(cfg, env, "sts", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT")
	s, err := aws.SettingsOf(arguments{cfg}, tokens)
	if file := cfg.Text("shared_credentials_file"); file != "" {
		s.CredentialsFiles = append(s.CredentialsFiles, file)
	}
	if former := formerRole(cfg); s.Role == nil && former != nil {
		s.Role = former
		s.Role.Server = tokens
	}
	return s, err
}

// arguments are the aws.Arguments of a block, or of an object in it.
type arguments struct{ backend.Config }

// Object implements aws.Arguments.
func (a arguments) Object(name string) aws.Arguments {
	if v := a.GetAttr(name); !v.IsNull() {
		return arguments{backend.Config{Value: v}}
	}
	return nil
}

// formerRole returns the role to assume that arguments of the block name, which are the former form of the
// attributes of "assume_role"; nil for none.
func formerRole(cfg backend.Config) *aws.Role {
	if cfg.Text("role_arn") == "" {
		return nil
	}
	r := &aws.Role{
		ARN: cfg.Text("role_arn"), Session: cfg.Text("session_name"), ExternalID: cfg.Text("external_id"), Policy: cfg.Text("assume_role_policy"),
		Policies: cfg.Texts("assume_role_policy_arns"), Tags: cfg.TextMap("assume_role_tags"), TransitiveTags: cfg.Texts("assume_role_transitive_tag_keys"),
	}
	if seconds := cfg.GetAttr("assume_role_duration_seconds"); !seconds.IsNull() {
		n, _ := seconds.AsBigFloat().Int64()
		r.Duration = time.Duration(n) * time.Second
	}
	return r
}
