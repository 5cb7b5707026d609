//go:build !mayfly_no_s3

package backend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/cloud/aws"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/remote"
	"github.com/mayfly-iac/mayfly/state/store/s3"
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
		return nil, err
	}
	transport, err := s3Transport(cfg, env)
	if err != nil {
		return nil, err
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
	if err := s3CheckAccount(ctx, account, cfg, env); err != nil {
		return nil, err
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

// s3Account returns where credentials come from. An incomplete pair of keys is an error here: the chain of
// credentials would go on to another source, and use another account than the one that was meant.
func s3Account(cfg cty.Value, env Env) (aws.Settings, error) {
	s := aws.Settings{
		Profile: textOr(cfg, "profile", ""), Region: textOr(cfg, "region", ""),
		ConfigFiles: textsOf(cfg, "shared_config_files"), CredentialsFiles: textsOf(cfg, "shared_credentials_files"),
		FIPS: isTrue(cfg, "use_fips_endpoint"), DualStack: isTrue(cfg, "use_dualstack_endpoint"), TokenRegion: textOr(cfg, "sts_region", ""),
		Metadata: textOr(cfg, "ec2_metadata_service_endpoint", ""), MetadataMode: textOr(cfg, "ec2_metadata_service_endpoint_mode", ""),
		NoMetadata: isTrue(cfg, "skip_metadata_api_check"),
	}
	if file := textOr(cfg, "shared_credentials_file", ""); file != "" {
		s.CredentialsFiles = append(s.CredentialsFiles, file)
	}
	id, secret := textOr(cfg, "access_key", ""), textOr(cfg, "secret_key", "")
	if (id == "") != (secret == "") {
		return s, errors.New("the arguments \"access_key\" and \"secret_key\" of the backend \"s3\" must be set together")
	}
	if id != "" {
		s.Keys = &aws.Keys{ID: id, Secret: secret, Token: textOr(cfg, "token", "")}
	}
	var err error
	if s.Role, err = s3Role(cfg); s.Role != nil {
		s.Role.Server = s3Endpoint(cfg, env, "sts", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT")
	}
	return s, err
}

// s3Role returns the role to assume; nil for none. Arguments of the block are the former form of the
// attributes of "assume_role".
func s3Role(cfg cty.Value) (*aws.Role, error) {
	if web := cfg.GetAttr("assume_role_with_web_identity"); !web.IsNull() {
		return s3RoleOf(web, &aws.Role{TokenFile: textOr(web, "web_identity_token_file", ""), Token: textOr(web, "web_identity_token", "")})
	}
	if role := cfg.GetAttr("assume_role"); !role.IsNull() {
		return s3RoleOf(role, &aws.Role{ExternalID: textOr(role, "external_id", ""), Tags: textMapOf(role, "tags"), TransitiveTags: textsOf(role, "transitive_tag_keys")})
	}
	if textOr(cfg, "role_arn", "") == "" {
		return nil, nil
	}
	r := &aws.Role{
		ARN: textOr(cfg, "role_arn", ""), Session: textOr(cfg, "session_name", ""), ExternalID: textOr(cfg, "external_id", ""), Policy: textOr(cfg, "assume_role_policy", ""),
		Policies: textsOf(cfg, "assume_role_policy_arns"), Tags: textMapOf(cfg, "assume_role_tags"), TransitiveTags: textsOf(cfg, "assume_role_transitive_tag_keys"),
	}
	if seconds := cfg.GetAttr("assume_role_duration_seconds"); !seconds.IsNull() {
		n, _ := seconds.AsBigFloat().Int64()
		r.Duration = time.Duration(n) * time.Second
	}
	return r, nil
}

// s3RoleOf completes a role with the arguments that the roles by trust and by web identity have in common.
func s3RoleOf(v cty.Value, r *aws.Role) (*aws.Role, error) {
	r.ARN, r.Session, r.Policy, r.Policies = textOr(v, "role_arn", ""), textOr(v, "session_name", ""), textOr(v, "policy", ""), textsOf(v, "policy_arns")
	if text := textOr(v, "duration", ""); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, errors.New("the duration of a role of the backend \"s3\" must be written like \"1h30m\"")
		}
		r.Duration = d
	}
	return r, nil
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

// s3CheckAccount refuses credentials of an account that the configuration does not allow.
func s3CheckAccount(ctx context.Context, a *aws.Account, cfg cty.Value, env Env) error {
	allowed, forbidden := textsOf(cfg, "allowed_account_ids"), textsOf(cfg, "forbidden_account_ids")
	if len(allowed)+len(forbidden) == 0 {
		return nil
	}
	id, err := a.ID(ctx, s3Endpoint(cfg, env, "sts", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT"))
	if err != nil {
		return fmt.Errorf("the account of the credentials of the backend \"s3\" cannot be found out: %w", err)
	}
	if slices.Contains(forbidden, id) || len(allowed) > 0 && !slices.Contains(allowed, id) {
		return fmt.Errorf("the credentials are those of the AWS account %s, which the arguments \"allowed_account_ids\" and \"forbidden_account_ids\" of the backend \"s3\" do not allow", id)
	}
	return nil
}

// s3Transport returns a transport with the proxies and certificates of the configuration; nil if it has none.
func s3Transport(cfg cty.Value, env Env) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	own := false
	if isTrue(cfg, "insecure") {
		own, t.TLSClientConfig = true, &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the user asks for it
	}
	if path := textOr(cfg, "custom_ca_bundle", ""); path != "" {
		pem, err := os.ReadFile(path)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("the argument \"custom_ca_bundle\" of the backend \"s3\" must be the path of a file with certificates in PEM")
		}
		own, t.TLSClientConfig = true, &tls.Config{RootCAs: pool, InsecureSkipVerify: isTrue(cfg, "insecure")} //nolint:gosec // see above
	}
	proxies := map[string]string{"http": textOr(cfg, "http_proxy", ""), "https": textOr(cfg, "https_proxy", "")}
	if proxies["http"]+proxies["https"] != "" {
		own, t.Proxy = true, proxyFor(proxies, strings.Split(textOr(cfg, "no_proxy", env.Lookup("NO_PROXY")), ","))
	}
	if !own {
		return nil, nil
	}
	return t, nil
}

// proxyFor returns a function that finds the proxy of a request by its scheme, none for hosts in except.
func proxyFor(proxies map[string]string, except []string) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		host := r.URL.Hostname()
		for _, e := range except {
			if e = strings.TrimPrefix(strings.TrimSpace(e), "."); e != "" && (host == e || strings.HasSuffix(host, "."+e)) {
				return nil, nil
			}
		}
		if proxies[r.URL.Scheme] == "" {
			return nil, nil
		}
		return url.Parse(proxies[r.URL.Scheme])
	}
}

// s3Client returns a client that follows no redirects, since a signature is for one address, and repeats
// nothing: whether a request may be repeated is known above. own is what the user's AWS settings ask for.
func s3Client(transport *http.Transport, own http.RoundTripper) *http.Client {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	switch {
	case transport != nil:
		c.Transport = transport
	case own != nil:
		c.Transport = own
	}
	return c
}
