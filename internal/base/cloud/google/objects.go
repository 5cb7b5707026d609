package google

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// WriteObjects is the scope of credentials that read and write objects.
const WriteObjects = "https://www.googleapis.com/auth/devstorage.read_write"

// Bucket returns a bucket whose requests have the account's credentials. server replaces the address of the
// service; it may be "".
func (a *Account) Bucket(name, server string) *Bucket {
	server = cmp.Or(server, "https://storage."+a.domain)
	return &Bucket{account: a, base: objects(server, name)}
}

// objects returns the address of a bucket's objects on a server, which may be given with the path of the
// service or of its buckets: Private Service Connect is documented with /storage/v1/b.
func objects(server, bucket string) string {
	base := strings.TrimRight(server, "/")
	base = strings.TrimRight(strings.TrimSuffix(base, "/storage/v1/b"), "/")
	base = strings.TrimRight(strings.TrimSuffix(base, "/storage/v1"), "/")
	return base + "/storage/v1/b/" + url.PathEscape(bucket) + "/o"
}

// Get returns the content of an object and its generation. header may have the key that the object is
// encrypted with; nil for none. An object that does not exist is a *cloud.Error with status 404.
func (b *Bucket) Get(ctx context.Context, name string, header http.Header) (content []byte, generation string, err error) {
	resp, err := b.send(ctx, http.MethodGet, b.base+"/"+url.PathEscape(name), url.Values{"alt": {"media"}}, nil, header)
	if err != nil {
		return nil, "", err
	}
	content, err = cloud.Content(resp, name)
	if err == nil && !intact(resp.Header.Values("X-Goog-Hash"), content) {
		err = cloud.DamagedError("the service has sent with it")
	}
	return content, resp.Header.Get("X-Goog-Generation"), err
}

// intact reports whether content has the checksum among hashes, if there is one.
func intact(hashes []string, content []byte) bool {
	for hash := range strings.SplitSeq(strings.Join(hashes, ","), ",") {
		if want, ok := strings.CutPrefix(strings.TrimSpace(hash), "crc32c="); ok {
			sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
			return want == base64.StdEncoding.EncodeToString(sum)
		}
	}
	return true
}

// Put stores an object and returns its generation. query may have conditions, such as ifGenerationMatch,
// that fail with the status 412, and the name of a key; header as in Get.
func (b *Bucket) Put(ctx context.Context, name string, content []byte, query url.Values, header http.Header) (generation string, err error) {
	all := url.Values{"uploadType": {"media"}, "name": {name}}
	maps.Copy(all, query)
	server, path, _ := strings.Cut(b.base, "/storage/v1")
	resp, err := b.send(ctx, http.MethodPost, server+"/upload/storage/v1"+path, all, content, header)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var stored struct{ Generation string }
	return stored.Generation, decode(resp.Body, &stored)
}

// decode reads a short document in JSON.
func decode(r io.Reader, to any) error {
	if err := json.NewDecoder(io.LimitReader(r, 1<<20)).Decode(to); err != nil {
		return fmt.Errorf("the service's answer is not valid: %w", err)
	}
	return nil
}

// Delete removes an object. One that does not exist is a *cloud.Error with status 404.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	resp, err := b.send(ctx, http.MethodDelete, b.base+"/"+url.PathEscape(name), nil, nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// send sends a request whose answer the caller closes.
func (b *Bucket) send(ctx context.Context, method, address string, query url.Values, content []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address+"?"+query.Encode(), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if err := b.account.authorize(req); err != nil {
		return nil, err
	}
	return cloud.Open(b.account.client, req, refusal)
}
