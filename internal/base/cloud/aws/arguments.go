package aws

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Arguments look up the arguments of a block, which are the same wherever an account is configured. An absent
// argument is "", false or empty. Errors of the methods name arguments and have none of their values.
type Arguments interface {
	Text(name string) string
	Flag(name string) bool
	Texts(name string) []string
	TextMap(name string) map[string]string
	// Object returns the attributes of an argument; nil if it is absent.
	Object(name string) Arguments
}

// SettingsOf returns the account that arguments choose. An incomplete pair of keys is an error: the chain of
// credentials would go on to another source, and use another account than the one that was meant. tokens
// replaces the address of the service that is asked for roles; it may be "".
func SettingsOf(a Arguments, tokens string) (Settings, error) {
	s := Settings{
		Profile: a.Text("profile"), Region: a.Text("region"),
		ConfigFiles: a.Texts("shared_config_files"), CredentialsFiles: a.Texts("shared_credentials_files"),
		FIPS: a.Flag("use_fips_endpoint"), DualStack: a.Flag("use_dualstack_endpoint"), TokenRegion: a.Text("sts_region"),
		Metadata: a.Text("ec2_metadata_service_endpoint"), MetadataMode: a.Text("ec2_metadata_service_endpoint_mode"),
		NoMetadata: a.Flag("skip_metadata_api_check"),
	}
	id, secret := a.Text("access_key"), a.Text("secret_key")
	if (id == "") != (secret == "") {
		return s, errors.New("the arguments \"access_key\" and \"secret_key\" must be set together")
	}
	if id != "" {
		s.Keys = &Keys{ID: id, Secret: secret, Token: a.Text("token")}
	}
	var err error
	if web := a.Object("assume_role_with_web_identity"); web != nil {
		s.Role = &Role{TokenFile: web.Text("web_identity_token_file"), Token: web.Text("web_identity_token")}
		err = s.Role.complete(web)
	} else if role := a.Object("assume_role"); role != nil {
		s.Role = &Role{ExternalID: role.Text("external_id"), Tags: role.TextMap("tags"), TransitiveTags: role.Texts("transitive_tag_keys")}
		err = s.Role.complete(role)
	}
	if s.Role != nil {
		s.Role.Server = tokens
	}
	return s, err
}

// complete reads the arguments that roles by trust and by web identity share.
func (r *Role) complete(a Arguments) error {
	r.ARN, r.Session, r.Policy, r.Policies = a.Text("role_arn"), a.Text("session_name"), a.Text("policy"), a.Texts("policy_arns")
	if text := a.Text("duration"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("the duration of a role must be written like \"1h30m\"")
		}
		r.Duration = d
	}
	return nil
}

// Check refuses credentials of an account that the arguments do not allow. tokens replaces the address of
// the service that is asked; it may be "".
func (a *Account) Check(ctx context.Context, args Arguments, tokens string) error {
	allowed, forbidden := args.Texts("allowed_account_ids"), args.Texts("forbidden_account_ids")
	if len(allowed)+len(forbidden) == 0 {
		return nil
	}
	id, err := a.ID(ctx, tokens)
	if err != nil {
		return fmt.Errorf("the account of the credentials cannot be found out: %w", err)
	}
	if slices.Contains(forbidden, id) || len(allowed) > 0 && !slices.Contains(allowed, id) {
		return fmt.Errorf("the credentials are those of the AWS account %s, which the arguments \"allowed_account_ids\" and \"forbidden_account_ids\" do not allow", id)
	}
	return nil
}

// TransportOf returns a transport with the proxies and certificates of the arguments; nil if they have none.
// except has hosts that are reached without a proxy, if the arguments have none.
func TransportOf(a Arguments, except string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	own := false
	if a.Flag("insecure") {
		own, t.TLSClientConfig = true, &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the user asks for it
	}
	if path := a.Text("custom_ca_bundle"); path != "" {
		pem, err := os.ReadFile(path)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("the argument \"custom_ca_bundle\" must be the path of a file with certificates in PEM")
		}
		own, t.TLSClientConfig = true, &tls.Config{RootCAs: pool, InsecureSkipVerify: a.Flag("insecure")} //nolint:gosec // see above
	}
	proxies := map[string]string{"http": a.Text("http_proxy"), "https": a.Text("https_proxy")}
	if proxies["http"]+proxies["https"] != "" {
		own, t.Proxy = true, proxyFor(proxies, strings.Split(cmp.Or(a.Text("no_proxy"), except), ","))
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
