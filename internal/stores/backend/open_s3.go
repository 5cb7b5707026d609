//go:build !mayfly_no_s3

package backend

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/aws"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/stores/s3"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	s3Kind.service = service{
		open: openS3,
		place: func(cfg cty.Value) string {
			return "s3://" + textOr(cfg, "bucket", "") + "/" + strings.TrimPrefix(textOr(cfg, "key", ""), "/")
		},
	}
}

// openS3 opens a bucket and the table of locks. Credentials are found, and roles prepared, but nothing is
// asked of the service before the first request, except where the account is to be checked.
func openS3(ctx context.Context, cfg cty.Value, env Env) (store.Store, error) {
	settings, err := s3Account(cfg, env)
	if err != nil {
		return nil, inBackend("s3", err)
	}
	transport, err := aws.TransportOf(s3Arguments{cfg}, env.Lookup("NO_PROXY"))
	if err != nil {
		return nil, inBackend("s3", err)
	}
	account, err := aws.Load(ctx, settings, func(own http.RoundTripper) *http.Client { return s3Client(transport, own) })
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"s3\": %w", err)
	}
	opt := s3.Options{
		Name: textOr(cfg, "bucket", ""), Key: strings.TrimPrefix(textOr(cfg, "key", ""), "/"), WorkspacePrefix: textOr(cfg, "workspace_key_prefix", ""),
		LockFile: isTrue(cfg, "use_lockfile"), ACL: textOr(cfg, "acl", ""), Encrypt: isTrue(cfg, "encrypt"), KMSKey: textOr(cfg, "kms_key_id", ""),
		Tags: textMapOf(cfg, "state_tags"), LockTags: textMapOf(cfg, "lock_tags"),
	}
	if opt.CustomerKey, err = s3CustomerKey(cfg); err != nil {
		return nil, err
	}
	if opt.Bucket, err = s3Bucket(ctx, account, cfg, env); err != nil {
		return nil, err
	}
	if name := textOr(cfg, "dynamodb_table", ""); name != "" {
		if opt.Table, err = account.Table(ctx, name, s3Endpoint(cfg, env, "dynamodb", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT")); err != nil {
			return nil, err
		}
	}
	if err := account.Check(ctx, s3Arguments{cfg}, s3Endpoint(cfg, env, "sts", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT")); err != nil {
		return nil, inBackend("s3", err)
	}
	return remote.New(s3.New(opt), env.remote()), nil
}

// s3Bucket returns the bucket, at AWS or at the server that the configuration names.
func s3Bucket(ctx context.Context, a *aws.Account, cfg cty.Value, env Env) (*aws.Bucket, error) {
	name := textOr(cfg, "bucket", "")
	server := strings.TrimSuffix(s3Endpoint(cfg, env, "s3", "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"), "/")
	if server == "" {
		return a.BucketIn(ctx, name, isTrue(cfg, "use_path_style") || isTrue(cfg, "force_path_style"))
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the argument \"endpoints.s3\" of the backend \"s3\" must be a URL with its scheme, such as https://s3.example.com")
	}
	return a.BucketAt(name, server), nil
}

// s3Endpoint returns the server for a service: from the argument "endpoints", from the one that it has
// replaced, or from the environment; "" for that of AWS.
func s3Endpoint(cfg cty.Value, env Env, service string, variables ...string) string {
	if all := cfg.GetAttr("endpoints"); !all.IsNull() {
		if server := textOr(all, service, ""); server != "" {
			return server
		}
	}
	former := service + "_endpoint"
	if service == "s3" {
		former = "endpoint"
	}
	if server := textOr(cfg, former, ""); server != "" {
		return server
	}
	for _, name := range variables {
		if server := env.Lookup(name); server != "" {
			return server
		}
	}
	return ""
}

// s3Account returns where credentials come from.
func s3Account(cfg cty.Value, env Env) (aws.Settings, error) {
	tokens := s3Endpoint(cfg, env, "sts", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT")
	s, err := aws.SettingsOf(s3Arguments{cfg}, tokens)
	if file := textOr(cfg, "shared_credentials_file", ""); file != "" {
		s.CredentialsFiles = append(s.CredentialsFiles, file)
	}
	if former := s3FormerRole(cfg); s.Role == nil && former != nil {
		s.Role = former
		s.Role.Server = tokens
	}
	return s, err
}

// s3Arguments are the aws.Arguments of a block, or of an object in it.
type s3Arguments struct{ cfg cty.Value }

func (a s3Arguments) Text(name string) string               { return textOr(a.cfg, name, "") }
func (a s3Arguments) Flag(name string) bool                 { return isTrue(a.cfg, name) }
func (a s3Arguments) Texts(name string) []string            { return textsOf(a.cfg, name) }
func (a s3Arguments) TextMap(name string) map[string]string { return textMapOf(a.cfg, name) }

func (a s3Arguments) Object(name string) aws.Arguments {
	if v := a.cfg.GetAttr(name); !v.IsNull() {
		return s3Arguments{v}
	}
	return nil
}

// s3FormerRole returns the role to assume that arguments of the block name, which are the former form of the
// attributes of "assume_role"; nil for none.
func s3FormerRole(cfg cty.Value) *aws.Role {
	if textOr(cfg, "role_arn", "") == "" {
		return nil
	}
	r := &aws.Role{
		ARN: textOr(cfg, "role_arn", ""), Session: textOr(cfg, "session_name", ""), ExternalID: textOr(cfg, "external_id", ""), Policy: textOr(cfg, "assume_role_policy", ""),
		Policies: textsOf(cfg, "assume_role_policy_arns"), Tags: textMapOf(cfg, "assume_role_tags"), TransitiveTags: textsOf(cfg, "assume_role_transitive_tag_keys"),
	}
	if seconds := cfg.GetAttr("assume_role_duration_seconds"); !seconds.IsNull() {
		n, _ := seconds.AsBigFloat().Int64()
		r.Duration = time.Duration(n) * time.Second
	}
	return r
}

// s3CustomerKey returns the key with which the server encrypts objects without keeping it; nil for none.
func s3CustomerKey(cfg cty.Value) ([]byte, error) {
	text := textOr(cfg, "sse_customer_key", "")
	if text == "" {
		return nil, nil
	}
	if textOr(cfg, "kms_key_id", "") != "" {
		return nil, errors.New("the arguments \"kms_key_id\" and \"sse_customer_key\" of the backend \"s3\" exclude each other")
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != 32 {
		return nil, errors.New("the argument \"sse_customer_key\" of the backend \"s3\" must be a key of 32 bytes in base64")
	}
	return key, nil
}

// s3Client returns a client that repeats nothing: whether a request may be repeated is known above. own is
// what the user's AWS settings ask for.
func s3Client(transport *http.Transport, own http.RoundTripper) *http.Client {
	if transport != nil {
		own = transport
	}
	return cloud.Client(own)
}
