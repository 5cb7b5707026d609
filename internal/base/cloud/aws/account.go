// Package aws reaches services of Amazon Web Services: it finds credentials as the AWS SDK does, signs
// requests, and reads and writes objects of S3 and of services that are compatible with it.
//
// Start reading at Load. It may import package cloud and the SDK's packages for configuration, credentials
// and signatures, but no client of a service. It must not know the content of objects.
package aws

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// defaultRegion is where addresses without a region lead.
const defaultRegion = "us-east-1"

// Settings choose an account. The zero value means the account of the environment and the shared
// configuration files, as for every program that uses the AWS SDK.
type Settings struct {
	Profile string
	Region  string // "" for the profile's, if Profile is set, and otherwise us-east-1
	Keys    *Keys  // used instead of the credentials that would be found
	// ConfigFiles and CredentialsFiles replace the user's files; nil for those.
	ConfigFiles, CredentialsFiles []string
	Role                          *Role // to assume with these credentials; nil for none

	// FIPS and DualStack choose servers that are validated for FIPS 140, and that have IPv6. If they are
	// false, the environment and the files decide.
	FIPS, DualStack bool
	// Metadata and MetadataMode ("IPv4" or "IPv6") say where a virtual machine's own credentials are; "" for
	// the usual place. NoMetadata does not look for them.
	Metadata, MetadataMode string
	NoMetadata             bool
	// TokenRegion is the region of the service that is asked for roles and accounts; "" for Region.
	TokenRegion string
}

// Keys are static credentials. Token is "" for keys that don't expire.
type Keys struct{ ID, Secret, Token string }

// Account signs requests. It is safe for concurrent use.
type Account struct {
	config sdk.Config
	tokens sdk.Config // for the service that is asked for roles and accounts
	client *http.Client
	signer *v4.Signer
}

// Load finds the settings and the source of credentials. Credentials are requested when the first request
// is signed, and again before they expire.
func Load(ctx context.Context, s Settings, services cloud.Services) (*Account, error) {
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})} // errors are returned; the rest is not for users
	switch override := os.Getenv("AWS_METADATA_URL"); {
	case s.Profile != "":
		options = append(options, config.WithSharedConfigProfile(s.Profile))
	case s.Keys != nil:
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(s.Keys.ID, s.Keys.Secret, s.Keys.Token)))
	case override != "":
		client := imds.New(imds.Options{Endpoint: override, ClientEnableState: imds.ClientEnabled})
		options = append(options, config.WithCredentialsProvider(ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = client })))
	}
	if s.Region == "" && s.Profile == "" {
		s.Region = defaultRegion
	}
	if s.Region != "" {
		options = append(options, config.WithRegion(s.Region))
	}
	if s.ConfigFiles != nil {
		options = append(options, config.WithSharedConfigFiles(s.ConfigFiles))
	}
	if s.CredentialsFiles != nil {
		options = append(options, config.WithSharedCredentialsFiles(s.CredentialsFiles))
	}
	own, err := s.servers()
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, append(options, own...)...)
	if err != nil {
		return nil, err
	}
	cfg.Region = cmp.Or(cfg.Region, defaultRegion)
	tokens := cfg.Copy()
	tokens.Region = cmp.Or(s.TokenRegion, cfg.Region)
	if s.Role != nil {
		cfg.Credentials = s.Role.credentials(tokens)
		tokens.Credentials = cfg.Credentials
	}
	var transport http.RoundTripper
	if own, ok := cfg.HTTPClient.(interface{ GetTransport() *http.Transport }); ok {
		transport = own.GetTransport() // with the certificates of AWS_CA_BUNDLE
	}
	return &Account{config: cfg, tokens: tokens, client: services(transport), signer: v4.NewSigner()}, nil
}

// servers returns the options that choose servers.
func (s Settings) servers() ([]func(*config.LoadOptions) error, error) {
	var out []func(*config.LoadOptions) error
	if s.FIPS {
		out = append(out, config.WithUseFIPSEndpoint(sdk.FIPSEndpointStateEnabled))
	}
	if s.DualStack {
		out = append(out, config.WithUseDualStackEndpoint(sdk.DualStackEndpointStateEnabled))
	}
	if s.Metadata != "" {
		out = append(out, config.WithEC2IMDSEndpoint(s.Metadata))
	}
	if s.MetadataMode != "" {
		var mode imds.EndpointModeState
		if err := mode.SetFromString(s.MetadataMode); err != nil {
			return nil, errors.New("the mode of the metadata service must be IPv4 or IPv6")
		}
		out = append(out, config.WithEC2IMDSEndpointMode(mode))
	}
	if s.NoMetadata {
		out = append(out, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	return out, nil
}

// sign adds a signature to a request for a service. hash is the SHA-256 of its body in hexadecimal.
func (a *Account) sign(req *http.Request, service, hash string) error {
	creds, err := a.config.Credentials.Retrieve(req.Context())
	if err != nil {
		return err
	}
	req.Header.Set("X-Amz-Content-Sha256", hash)
	return a.signer.SignHTTP(req.Context(), creds, req, hash, service, a.config.Region, time.Now(), func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = service == "s3"
	})
}

// flag returns a setting that some of the sources of the configuration may have: the first that has it wins,
// as in the SDK.
func flag[T any](ctx context.Context, a *Account, get func(source any) (value T, found bool, err error)) (T, error) {
	for _, source := range a.config.ConfigSources {
		if v, found, err := get(source); found || err != nil {
			return v, err
		}
	}
	var none T
	return none, ctx.Err()
}
