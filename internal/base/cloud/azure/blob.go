package azure

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the checksum that the service stores
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Container is a container of Blob Storage. It is safe for concurrent use. A blob that does not exist is a
// *cloud.Error with the code BlobNotFound. Headers of requests may have conditions and the ID of a lease.
type Container struct {
	account *Account
	base    string      // its address
	read    http.Header // of requests about contents and metadata
	change  http.Header // of requests that change them
}

// Encrypted returns the container with an encryption scope, and with a key that the service does not keep.
// Either may be absent.
func (c *Container) Encrypted(scope string, key []byte) *Container {
	out := &Container{account: c.account, base: c.base, read: http.Header{}, change: http.Header{}}
	if key != nil {
		sum := sha256.Sum256(key)
		out.read.Set("X-Ms-Encryption-Algorithm", "AES256")
		out.read.Set("X-Ms-Encryption-Key", base64.StdEncoding.EncodeToString(key))
		out.read.Set("X-Ms-Encryption-Key-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
		out.change = out.read.Clone()
	}
	if scope != "" {
		out.change.Set("X-Ms-Encryption-Scope", scope)
	}
	return out
}

// Properties describe a blob.
type Properties struct {
	ETag     string
	MD5      string // of the content; "" if the service does not know it
	Size     int64
	Leased   bool
	Metadata map[string]string // with lower case names
}

// Headers of the service.
const (
	HeaderLease    = "X-Ms-Lease-Id"
	headerMetadata = "X-Ms-Meta-"
)

// version is the version of the service's protocol.
const version = "2021-12-02"

// maxBlob bounds the blobs that are read into memory.
const maxBlob = 2 << 30

// URL returns the address of a blob.
func (c *Container) URL(name string) string { return c.base + "/" + cloud.EscapePath(name) }

// Get returns the content of a blob and its properties.
func (c *Container) Get(ctx context.Context, name string) ([]byte, Properties, error) {
	resp, err := c.send(ctx, http.MethodGet, c.URL(name), nil, nil, c.read)
	if err != nil {
		return nil, Properties{}, err
	}
	defer resp.Body.Close()
	p := properties(resp)
	if p.Size > maxBlob {
		return nil, p, fmt.Errorf("the blob %s has %d bytes, which is too long", name, p.Size)
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxBlob))
	if sum := md5.Sum(content); err == nil && p.MD5 != "" && p.MD5 != base64.StdEncoding.EncodeToString(sum[:]) { //nolint:gosec // see above
		err = cloud.DamagedError("the service has sent with it")
	}
	return content, p, err
}

// Properties returns the properties of a blob.
func (c *Container) Properties(ctx context.Context, name string) (Properties, error) {
	resp, err := c.send(ctx, http.MethodHead, c.URL(name), nil, nil, c.read)
	if err != nil {
		return Properties{}, err
	}
	resp.Body.Close()
	return properties(resp), nil
}

func properties(resp *http.Response) Properties {
	p := Properties{
		ETag: resp.Header.Get("ETag"), MD5: resp.Header.Get("Content-Md5"), Size: resp.ContentLength,
		Leased: resp.Header.Get("X-Ms-Lease-Status") == "locked", Metadata: map[string]string{},
	}
	for name := range resp.Header {
		if key, ok := strings.CutPrefix(name, headerMetadata); ok {
			p.Metadata[strings.ToLower(key)] = resp.Header.Get(name)
		}
	}
	return p
}

// Put stores a blob with its metadata, and returns the properties that it then has.
func (c *Container) Put(ctx context.Context, name string, content []byte, metadata map[string]string, header http.Header) (Properties, error) {
	header = c.changing(header, metadata)
	header.Set("X-Ms-Blob-Type", "BlockBlob")
	header.Set("Content-Type", "application/json")
	resp, err := c.send(ctx, http.MethodPut, c.URL(name), nil, content, header)
	if err != nil {
		return Properties{}, err
	}
	resp.Body.Close()
	p := properties(resp)
	p.Size, p.Metadata = int64(len(content)), metadata
	return p, nil
}

// SetMetadata replaces the metadata of a blob.
func (c *Container) SetMetadata(ctx context.Context, name string, metadata map[string]string, header http.Header) error {
	return c.do(ctx, http.MethodPut, name, url.Values{"comp": {"metadata"}}, nil, c.changing(header, metadata))
}

// changing returns the header of a request that changes a blob. metadata may be nil.
func (c *Container) changing(header http.Header, metadata map[string]string) http.Header {
	out := http.Header{}
	maps.Copy(out, c.change)
	maps.Copy(out, header)
	for name, value := range metadata {
		out.Set(headerMetadata+name, value)
	}
	return out
}

// Snapshot keeps a copy of a blob as it is, beside it.
func (c *Container) Snapshot(ctx context.Context, name string, header http.Header) error {
	return c.do(ctx, http.MethodPut, name, url.Values{"comp": {"snapshot"}}, nil, c.changing(header, nil))
}

// Delete removes a blob and its snapshots.
func (c *Container) Delete(ctx context.Context, name string, header http.Header) error {
	all := http.Header{"X-Ms-Delete-Snapshots": {"include"}}
	maps.Copy(all, header)
	return c.do(ctx, http.MethodDelete, name, nil, nil, all)
}

// AcquireLease takes the lease of a blob, without end, with an ID, which is a UUID. It succeeds if the lease
// with that ID is taken already.
func (c *Container) AcquireLease(ctx context.Context, name, id string) error {
	return c.lease(ctx, name, "acquire", http.Header{"X-Ms-Proposed-Lease-Id": {id}, "X-Ms-Lease-Duration": {"-1"}})
}

// RenewLease fails with the status 409 if the lease of a blob is not taken with that ID.
func (c *Container) RenewLease(ctx context.Context, name, id string) error {
	return c.lease(ctx, name, "renew", http.Header{HeaderLease: {id}})
}

// ReleaseLease ends the lease of a blob. It fails with the status 409 if the lease is not taken with that ID.
func (c *Container) ReleaseLease(ctx context.Context, name, id string) error {
	return c.lease(ctx, name, "release", http.Header{HeaderLease: {id}})
}

func (c *Container) lease(ctx context.Context, name, action string, header http.Header) error {
	header.Set("X-Ms-Lease-Action", action)
	return c.do(ctx, http.MethodPut, name, url.Values{"comp": {"lease"}}, nil, header)
}

// maxList bounds one part of a list.
const maxList = 64 << 20

// List returns the names of the blobs that begin with prefix.
func (c *Container) List(ctx context.Context, prefix string) ([]string, error) {
	query := url.Values{"restype": {"container"}, "comp": {"list"}, "prefix": {prefix}}
	return cloud.All(cloud.Pages(query, "marker", func(query url.Values) ([]string, string, error) {
		resp, err := c.send(ctx, http.MethodGet, c.base, query, nil, nil)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		var page struct {
			Names  []string `xml:"Blobs>Blob>Name"`
			Marker string   `xml:"NextMarker"`
		}
		if err := xml.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&page); err != nil {
			return nil, "", fmt.Errorf("the service's list of blobs is not valid: %w", err)
		}
		return page.Names, page.Marker, nil
	}))
}

// do sends a request whose answer has nothing of interest.
func (c *Container) do(ctx context.Context, method, name string, query url.Values, content []byte, header http.Header) error {
	resp, err := c.send(ctx, method, c.URL(name), query, content, header)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// send sends a request whose answer the caller closes.
func (c *Container) send(ctx context.Context, method, address string, query url.Values, content []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = query.Encode()
	maps.Copy(req.Header, header)
	req.Header.Set("X-Ms-Version", version)
	req.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	return c.account.send(ctx, req)
}

// refusal returns the error that an answer describes. One to a request for headers has no body.
func refusal(resp *http.Response, body []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &said) // else there is the header
	e := &cloud.Error{Status: resp.StatusCode, Code: resp.Header.Get("X-Ms-Error-Code"), Hint: cloud.PageHint(body)}
	e.Code = cmp.Or(e.Code, said.Code)
	e.Message, _, _ = strings.Cut(said.Message, "\n") // then come the request's ID and the time
	return e
}
