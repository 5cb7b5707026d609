package google

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// UseKeys is the scope of credentials that encrypt and decrypt with keys.
const UseKeys = "https://www.googleapis.com/auth/cloudkms"

// keyMessage is the body of a request to the key management service, and of its answer.
type keyMessage struct {
	Plain   []byte `json:"plaintext,omitempty"`
	Wrapped []byte `json:"ciphertext,omitempty"`
	AAD     []byte `json:"additionalAuthenticatedData,omitempty"`
}

// Encrypt encrypts with a key of the key management service, projects/…/cryptoKeys/KEY. aad is authenticated
// with the result; it may be nil.
func (a *Account) Encrypt(ctx context.Context, key string, plain, aad []byte) ([]byte, error) {
	out, err := a.key(ctx, key+":encrypt", keyMessage{Plain: plain, AAD: aad})
	return out.Wrapped, err
}

// Decrypt reverses Encrypt.
func (a *Account) Decrypt(ctx context.Context, key string, wrapped, aad []byte) ([]byte, error) {
	out, err := a.key(ctx, key+":decrypt", keyMessage{Wrapped: wrapped, AAD: aad})
	return out.Plain, err
}

// key sends a request about a key. The answer may have a key in clear, so its bytes are cleared after
// decoding.
func (a *Account) key(ctx context.Context, path string, in keyMessage) (out keyMessage, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://cloudkms."+a.domain+"/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Content-Type", "application/json")
	if err := a.authorize(req); err != nil {
		return out, err
	}
	answer, err := cloud.Answer(a.client, req, refusedKey)
	defer func() { clear(answer) }()
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(answer, &out)
}

// refusedKey returns the error that an answer describes.
func refusedKey(resp *http.Response, body []byte) error {
	var doc struct {
		Error struct{ Status, Message string }
	}
	_ = json.Unmarshal(body, &doc) // an answer in another form still has a status
	return &cloud.Error{Status: resp.StatusCode, Code: doc.Error.Status, Message: doc.Error.Message}
}
