package aws

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// KMS is the key management service of an account's region. It is safe for concurrent use.
type KMS struct {
	account *Account
	address string
}

// KMS returns the service. server replaces the address that AWS or the user's settings have; it may be "".
func (a *Account) KMS(ctx context.Context, server string) (*KMS, error) {
	if server == "" {
		var err error
		if server, err = a.regional(ctx, "kms"); err != nil {
			return nil, err
		}
	}
	return &KMS{a, strings.TrimSuffix(server, "/") + "/"}, nil
}

// keyRequest is the body of a request.
type keyRequest struct {
	KeyID   string            `json:"KeyId"`
	Spec    string            `json:"KeySpec,omitempty"`
	Wrapped []byte            `json:"CiphertextBlob,omitempty"`
	Context map[string]string `json:"EncryptionContext,omitempty"`
}

// keyAnswer is the body of an answer.
type keyAnswer struct {
	Plain   []byte `json:"Plaintext"`
	Wrapped []byte `json:"CiphertextBlob"`
}

// GenerateDataKey returns a new key of a length that spec names, such as AES_256, in clear and encrypted
// with a key of the service. encryption is authenticated with it; it may be nil.
func (k *KMS) GenerateDataKey(ctx context.Context, key, spec string, encryption map[string]string) (plain, wrapped []byte, err error) {
	out, err := k.call(ctx, "GenerateDataKey", keyRequest{KeyID: key, Spec: spec, Context: encryption})
	return out.Plain, out.Wrapped, err
}

// Decrypt returns a key in clear.
func (k *KMS) Decrypt(ctx context.Context, key string, wrapped []byte, encryption map[string]string) ([]byte, error) {
	out, err := k.call(ctx, "Decrypt", keyRequest{KeyID: key, Wrapped: wrapped, Context: encryption})
	return out.Plain, err
}

func (k *KMS) call(ctx context.Context, operation string, in keyRequest) (out keyAnswer, err error) {
	answer, err := k.account.call(ctx, "kms", k.address, "application/x-amz-json-1.1", "TrentService."+operation, in, refusedByKMS)
	defer func() { clear(answer) }()
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(answer, &out)
}

// call calls an operation of a service that takes and returns JSON.
func (a *Account) call(ctx context.Context, service, address, contentType, target string, in any, refuse func(*http.Response, []byte) error) ([]byte, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("X-Amz-Target", target)
	sum := sha256.Sum256(body)
	if err := a.sign(req, service, hex.EncodeToString(sum[:])); err != nil {
		return nil, err
	}
	return cloud.Answer(a.client, req, refuse)
}

// refusedByKMS returns the error that an answer describes.
func refusedByKMS(resp *http.Response, body []byte) error {
	e := refusal(resp, body)
	if e.Code == "NotFoundException" {
		e.Hint = "Keys belong to a region: check kms_key_id and region"
	}
	return e
}

// refusal returns the error that an answer in JSON describes.
func refusal(resp *http.Response, body []byte) *cloud.Error {
	var doc struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &doc) // an answer in another form still has a status
	if at := strings.LastIndexByte(doc.Type, '#'); at >= 0 {
		doc.Type = doc.Type[at+1:]
	}
	e := &cloud.Error{Status: resp.StatusCode, Code: doc.Type, Message: doc.Message}
	switch doc.Type {
	case "ExpiredTokenException", "UnrecognizedClientException":
		e.Hint = "Renew the credentials for AWS, for example with: aws sso login"
	}
	return e
}
