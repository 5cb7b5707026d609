package encryption

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/cloud/aws"
)

// awsKMS wraps data keys with a key of AWS's key management service. Every new key is one that the service
// generates, wrapped by a master key that never leaves the service. The wrapped form is stored with the
// file; to read the file, the service unwraps it.
type awsKMS struct {
	o         Options
	settings  aws.Settings
	endpoint  string // "" for the usual one
	key, spec string
	context   map[string]string // authenticated with the data keys
}

// wrappedByAWS is the metadata of a data key.
type wrappedByAWS struct {
	Blob []byte `json:"ciphertext_blob"`
}

// awsArguments are those of the key provider. The ones that only turn off checks, which are not made anyway,
// are accepted.
var awsArguments = map[string]argument{
	"kms_key_id": {ty: cty.String, required: true}, "key_spec": {ty: cty.String, required: true}, "encryption_context": {ty: cty.Map(cty.String)},
	"region": {ty: cty.String}, "profile": {ty: cty.String}, "access_key": {ty: cty.String}, "secret_key": {ty: cty.String, secret: true}, "token": {ty: cty.String, secret: true},
	"endpoints":                   {ty: cty.Map(cty.String)},
	"skip_credentials_validation": {ty: cty.Bool}, "skip_requesting_account_id": {ty: cty.Bool}, "skip_region_validation": {ty: cty.Bool},
}

// openAWSKMS checks the arguments. Credentials and region are found later, by the first request, in the
// same way as AWS's own tools find them.
func openAWSKMS(a arguments, o Options) (keyProvider, error) {
	k := &awsKMS{
		o: o, key: a.text("kms_key_id", ""), spec: a.text("key_spec", ""), context: a.texts("encryption_context"),
		settings: aws.Settings{Profile: a.text("profile", ""), Region: a.text("region", o.Environ["AWS_REGION"])},
	}
	if k.settings.Region == "" {
		k.settings.Region = o.Environ["AWS_DEFAULT_REGION"]
	}
	if a.has("access_key") != a.has("secret_key") {
		return nil, errors.New("access_key and secret_key are only of use together")
	}
	if a.has("access_key") {
		if a.has("profile") {
			return nil, errors.New("either profile or access_key can be set")
		}
		k.settings.Keys = &aws.Keys{ID: a.text("access_key", ""), Secret: a.text("secret_key", ""), Token: a.text("token", "")}
	}
	endpoints := a.texts("endpoints")
	for _, service := range slices.Sorted(maps.Keys(endpoints)) {
		if service != "kms" {
			return nil, fmt.Errorf("endpoints has an address of the service %q, and only \"kms\" is used here", service)
		}
	}
	k.endpoint = endpoints["kms"]
	if k.key == "" || k.spec == "" {
		return nil, errors.New("kms_key_id and key_spec must not be empty")
	}
	return k, nil
}

// service returns a client with the credentials as they are now: temporary ones may have been replaced
// since the last request.
func (k *awsKMS) service(ctx context.Context) (*aws.KMS, error) {
	account, err := aws.Load(ctx, k.settings, k.o.Services)
	if err != nil {
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
