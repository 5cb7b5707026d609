package encryption

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Limits of requests to key management services: the size of an answer in bytes, and the time for one.
const (
	maxAnswer     = 1 << 20
	maxForRequest = 30 * time.Second
)

// openbao wraps data keys with a key of the transit engine of an OpenBao server.
type openbao struct {
	client    *http.Client
	engine    string // address of the engine, without a slash at its end
	key       string
	token     string
	namespace string // "" for the root namespace
	bits      int
	aad       string // in base64, "" for none
}

// wrapped is the metadata of a data key.
type wrapped struct {
	Ciphertext []byte `json:"ciphertext"`
}

// openOpenBao checks the arguments. Missing arguments come from the environment variables of OpenBao, or else
// of Vault.
func openOpenBao(_ context.Context, a arguments, o Options) (keyProvider, error) {
	environ := func(name string) string {
		for _, prefix := range []string{"BAO_", "VAULT_"} {
			if v := o.Environ[prefix+name]; v != "" {
				return v
			}
		}
		return ""
	}
	address := a.text("address", environ("ADDR"))
	address = cmp.Or(address, "https://127.0.0.1:8200")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, errors.New("the address of the server must have the form https://HOST:PORT")
	}
	length, err := a.number("key_length", 32, 16, 64)
	if err != nil || !slices.Contains([]int{16, 32, 64}, length) {
		return nil, errors.New("key_length must be 16, 32 or 64")
	}
	b := &openbao{
		client: o.Client, key: a.text("key_name", ""), token: a.text("token", environ("TOKEN")), namespace: environ("NAMESPACE"),
		bits: 8 * length, aad: a.text("associated_data", ""),
	}
	if _, err := base64.StdEncoding.DecodeString(b.aad); err != nil {
		return nil, errors.New("associated_data must be in base64")
	}
	if b.key == "" || strings.ContainsAny(b.key, "/?#") {
		return nil, errors.New("key_name must be the name of a key of the transit engine")
	}
	b.engine = strings.TrimSuffix(u.String(), "/") + "/v1/" + strings.Trim(a.text("transit_engine_path", "/transit"), "/")
	return b, nil
}

// encryption has the service make a data key, and returns it with its encrypted form.
func (b *openbao) encryption(ctx context.Context, _ [][]byte) (key, meta []byte, err error) {
	var out struct {
		Data struct {
			Plaintext  []byte `json:"plaintext"`
			Ciphertext string `json:"ciphertext"`
		} `json:"data"`
	}
	in := map[string]any{"bits": b.bits}
	if b.aad != "" {
		in["associated_data"] = b.aad
	}
	if err := b.post(ctx, "datakey/plaintext/", in, &out); err != nil {
		return nil, nil, err
	}
	if len(out.Data.Plaintext) != b.bits/8 || out.Data.Ciphertext == "" {
		return nil, nil, errors.New("the server's answer has no key of the requested length")
	}
	meta, err = json.Marshal(wrapped{[]byte(out.Data.Ciphertext)})
	return out.Data.Plaintext, meta, err
}

// decryption has the service decrypt the data key of the metadata.
func (b *openbao) decryption(ctx context.Context, _ [][]byte, meta []byte) ([]byte, error) {
	var w wrapped
	if err := json.Unmarshal(meta, &w); err != nil || len(w.Ciphertext) == 0 {
		return nil, fmt.Errorf("%w: it has no wrapped key", ErrDamaged)
	}
	var out struct {
		Data struct {
			Plaintext []byte `json:"plaintext"`
		} `json:"data"`
	}
	in := map[string]any{"ciphertext": string(w.Ciphertext)}
	if b.aad != "" {
		in["associated_data"] = b.aad
	}
	if err := b.post(ctx, "decrypt/", in, &out); err != nil {
		return nil, err
	}
	return out.Data.Plaintext, nil
}

// post asks the engine for an operation with the key. Redirects are not followed, so that the token goes to
// no other server.
func (b *openbao) post(ctx context.Context, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxForRequest)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.engine+"/"+operation+url.PathEscape(b.key), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Vault-Request", "true")
	req.Header.Set("X-Vault-Token", b.token)
	if b.namespace != "" {
		req.Header.Set("X-Vault-Namespace", b.namespace)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	defer func() { clear(answer) }()
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return b.refusal(resp, answer)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return errors.New("the server's answer is not what an OpenBao server gives")
	}
	return nil
}

// refusal describes an unsuccessful answer in the server's words.
func (b *openbao) refusal(resp *http.Response, answer []byte) error {
	var doc struct{ Errors []string }
	words := ""
	if json.Unmarshal(answer, &doc) == nil && len(doc.Errors) > 0 {
		words = ": " + strings.Join(doc.Errors, "; ")
	}
	hint := ""
	switch {
	case resp.StatusCode == http.StatusForbidden && b.token == "":
		hint = ". No token is set: use the argument token or the environment variable BAO_TOKEN"
	case resp.StatusCode == http.StatusForbidden:
		hint = ". The token may have expired, or its policies may not allow this operation on the key"
	case resp.StatusCode == http.StatusNotFound:
		hint = " Check the argument transit_engine_path"
	case resp.StatusCode == http.StatusServiceUnavailable:
		hint = ". The server is sealed or starting"
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		hint = ". It redirects to another address, to which the token is not sent. If that is the active server, set it as the address"
	}
	return fmt.Errorf("the server %s answers %s%s%s", b.engine, resp.Status, words, hint)
}
