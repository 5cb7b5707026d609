package aws

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

// maxObject bounds the objects that are read into memory.
const maxObject = 2 << 30

// Get returns the content of an object and its ETag. header may have what S3 wants with a request, such as
// keys for encryption; nil for nothing. An object that does not exist is a *cloud.Error with status 404.
func (b *Bucket) Get(ctx context.Context, name string, header http.Header) (content []byte, etag string, err error) {
	resp, err := b.send(ctx, http.MethodGet, name, nil, header)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if resp.ContentLength > maxObject {
		return nil, "", fmt.Errorf("the object %s has %d bytes, which is too long", name, resp.ContentLength)
	}
	content, err = io.ReadAll(io.LimitReader(resp.Body, maxObject))
	return content, resp.Header.Get("ETag"), err
}

// Put stores an object and returns its ETag. header may have conditions, "If-Match" or "If-None-Match",
// that fail with the status 412, or 409 if another write is under way.
func (b *Bucket) Put(ctx context.Context, name string, content []byte, header http.Header) (etag string, err error) {
	resp, err := b.send(ctx, http.MethodPut, name, content, header)
	if err != nil {
		return "", err
	}
	return resp.Header.Get("ETag"), resp.Body.Close()
}

// Delete removes an object. One that does not exist is ignored.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	resp, err := b.send(ctx, http.MethodDelete, name, nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// send sends a signed request for an object, whose answer the caller closes.
func (b *Bucket) send(ctx context.Context, method, name string, content []byte, header http.Header) (*http.Response, error) {
	req, err := b.unsigned(ctx, method, name, url.Values{}, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for key, values := range header {
		req.Header[key] = values
	}
	sum := sha256.Sum256(content)
	if err := b.account.sign(req, "s3", hex.EncodeToString(sum[:])); err != nil {
		return nil, err
	}
	return cloud.Open(b.account.client, req, b.refusal)
}
