package encryption

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/aws"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// awsKMS wraps data keys with a key of AWS's key management service. Every new key is one that the service
// generates, wrapped by a master key that never leaves the service. The wrapped form is stored with the
// file; to read the file, the service unwraps it.
type awsKMS struct {
	o         Options
	arguments awsLookup
	settings  aws.Settings
	transport *http.Transport // nil for the usual one
	endpoint  string          // "" for the usual one
	tokens    string          // the server that is asked for roles; "" for the usual one
	key, spec string
	context   map[string]string // authenticated with the data keys
}

// wrappedByAWS is the metadata of a data key.
type wrappedByAWS struct {
	Blob []byte `json:"ciphertext_blob"`
}

// awsRole and awsWebRole are the types of the arguments that name a role to assume.
var (
	awsRole = cty.ObjectWithOptionalAttrs(map[string]cty.Type{
		"role_arn": cty.String, "duration": cty.String, "external_id": cty.String, "policy": cty.String, "policy_arns": cty.List(cty.String),
		"session_name": cty.String, "tags": cty.Map(cty.String), "transitive_tag_keys": cty.List(cty.String),
	}, []string{"duration", "external_id", "policy", "policy_arns", "session_name", "tags", "transitive_tag_keys"})
	awsWebRole = cty.ObjectWithOptionalAttrs(map[string]cty.Type{
		"role_arn": cty.String, "duration": cty.String, "policy": cty.String, "policy_arns": cty.List(cty.String), "session_name": cty.String,
		"web_identity_token": cty.String, "web_identity_token_file": cty.String,
	}, []string{"duration", "policy", "policy_arns", "session_name", "web_identity_token", "web_identity_token_file"})
)

// awsArguments are the arguments of the key provider. It accepts arguments that turn off checks, which are
// not made anyway, and ones that limit repetitions.
var awsArguments = map[string]argument{
	"kms_key_id": {ty: cty.String, required: true}, "key_spec": {ty: cty.String, required: true}, "encryption_context": {ty: cty.Map(cty.String)},
	"region": {ty: cty.String}, "profile": {ty: cty.String}, "access_key": {ty: cty.String}, "secret_key": {ty: cty.String, secret: true}, "token": {ty: cty.String, secret: true},
	"endpoints":                   {ty: cty.Map(cty.String)},
	"skip_credentials_validation": {ty: cty.Bool}, "skip_requesting_account_id": {ty: cty.Bool}, "skip_region_validation": {ty: cty.Bool},
	"max_retries": {ty: cty.Number}, "retry_mode": {ty: cty.String},
	"sts_region": {ty: cty.String}, "use_fips_endpoint": {ty: cty.Bool}, "use_dualstack_endpoint": {ty: cty.Bool},
	"shared_config_files": {ty: cty.List(cty.String)}, "shared_credentials_files": {ty: cty.List(cty.String)},
	"ec2_metadata_service_endpoint": {ty: cty.String}, "ec2_metadata_service_endpoint_mode": {ty: cty.String}, "skip_metadata_api_check": {ty: cty.Bool},
	"http_proxy": {ty: cty.String}, "https_proxy": {ty: cty.String}, "no_proxy": {ty: cty.String}, "insecure": {ty: cty.Bool}, "custom_ca_bundle": {ty: cty.String},
	"allowed_account_ids": {ty: cty.List(cty.String)}, "forbidden_account_ids": {ty: cty.List(cty.String)},
	"assume_role": {ty: awsRole}, "assume_role_with_web_identity": {ty: awsWebRole},
}

// awsLookup are the aws.Arguments of a block, or of an object in it.
type awsLookup struct{ arguments }

// Text implements aws.Arguments.
func (a awsLookup) Text(name string) string { return a.text(name, "") }

// Flag implements aws.Arguments.
func (a awsLookup) Flag(name string) bool { return a.has(name) && a.arguments[name].True() }

// Texts implements aws.Arguments.
func (a awsLookup) Texts(name string) []string { return a.list(name) }

// TextMap implements aws.Arguments.
func (a awsLookup) TextMap(name string) map[string]string { return a.texts(name) }

// Object implements aws.Arguments.
func (a awsLookup) Object(name string) aws.Arguments {
	if !a.has(name) {
		return nil
	}
	inner := a.arguments[name].AsValueMap()
	maps.DeleteFunc(inner, func(_ string, v cty.Value) bool { return v.IsNull() })
	return awsLookup{inner}
}

// openAWSKMS checks the arguments. Credentials and region are found later, by the first request, in the
// same way as AWS's own tools find them.
func openAWSKMS(_ context.Context, a arguments, o Options) (keyProvider, error) {
	k := &awsKMS{o: o, arguments: awsLookup{a}, key: a.text("kms_key_id", ""), spec: a.text("key_spec", ""), context: a.texts("encryption_context")}
	endpoints := a.texts("endpoints")
	k.endpoint, k.tokens = endpoints["kms"], endpoints["sts"]
	var err error
	if k.settings, err = aws.SettingsOf(k.arguments, k.tokens); err != nil {
		return nil, err
	}
	k.settings.Region = cmp.Or(k.settings.Region, o.Environ["AWS_REGION"], o.Environ["AWS_DEFAULT_REGION"])
	if a.has("access_key") && a.has("profile") {
		return nil, errors.New("either profile or access_key can be set")
	}
	if r := k.settings.Role; r != nil && r.Token != "" {
		o.Leaks.Remember(leak.Source{Kind: leak.Credential, Address: "aws_kms"}, cty.StringVal(r.Token).Mark(value.Sensitive), cty.String)
	}
	if k.transport, err = aws.TransportOf(k.arguments, o.Environ["NO_PROXY"]); err != nil {
		return nil, err
	}
	for _, service := range slices.Sorted(maps.Keys(endpoints)) {
		if service != "kms" && service != "sts" && service != "iam" {
			return nil, fmt.Errorf("endpoints has an address of the service %q, and only \"kms\" and \"sts\" are used here", service)
		}
	}
	if k.key == "" || k.spec == "" {
		return nil, errors.New("kms_key_id and key_spec must not be empty")
	}
	return k, nil
}

// service returns a client with the credentials as they are now: temporary ones may have been replaced
// since the last request.
func (k *awsKMS) service(ctx context.Context) (*aws.KMS, error) {
	account, err := aws.Load(ctx, k.settings, func(own http.RoundTripper) *http.Client {
		if k.transport != nil {
			own = k.transport
		}
		return k.o.Services(own)
	})
	if err != nil {
		return nil, err
	}
	if err := account.Check(ctx, k.arguments, k.tokens); err != nil {
		return nil, err
	}
	return account.KMS(ctx, k.endpoint)
}

// encryption has the service make a data key. Its encrypted form is the metadata, and only the service can
// decrypt it.
func (k *awsKMS) encryption(ctx context.Context, _ [][]byte) (key, meta []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxForRequest)
	defer cancel()
	s, err := k.service(ctx)
	if err != nil {
		return nil, nil, err
	}
	key, blob, err := s.GenerateDataKey(ctx, k.key, k.spec, k.context)
	if err != nil {
		return nil, nil, err
	}
	if len(key) == 0 || len(blob) == 0 {
		return nil, nil, errors.New("the service's answer has no key")
	}
	meta, err = json.Marshal(wrappedByAWS{blob})
	return key, meta, err
}

// decryption has the service decrypt the data key of the metadata, in the context that it was made for.
func (k *awsKMS) decryption(ctx context.Context, _ [][]byte, meta []byte) ([]byte, error) {
	var w wrappedByAWS
	if err := json.Unmarshal(meta, &w); err != nil || len(w.Blob) == 0 {
		return nil, fmt.Errorf("%w: it has no wrapped key", ErrDamaged)
	}
	ctx, cancel := context.WithTimeout(ctx, maxForRequest)
	defer cancel()
	s, err := k.service(ctx)
	if err != nil {
		return nil, err
	}
	return s.Decrypt(ctx, k.key, w.Blob, k.context)
}
