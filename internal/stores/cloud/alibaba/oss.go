package alibaba

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the checksum that the service defines
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

// Bucket is a bucket of OSS. It is safe for concurrent use.
type Bucket struct {
	account *Account
	name    string
	base    string // its address
}

// Bucket returns a bucket. server is the address of the service, such as https://oss-cn-beijing.aliyuncs.com;
// the name of the bucket becomes a part of it, unless its host is an IP address.
func (a *Account) Bucket(server, name string) (*Bucket, error) {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	u, err := url.Parse(strings.TrimSuffix(server, "/"))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a server", server)
	}
	if isIP(u.Hostname()) {
		u.Path = "/" + name
	} else {
		u.Host = name + "." + u.Host
	}
	return &Bucket{account: a, name: name, base: u.String()}, nil
}

// maxObject bounds the objects that are read into memory.
const maxObject = 2 << 30

// Get returns the content of an object and its ETag. One that does not exist is a *cloud.Error with the code
// NoSuchKey.
func (b *Bucket) Get(ctx context.Context, name string) (content []byte, etag string, err error) {
	resp, err := b.send(ctx, http.MethodGet, name, nil, nil, nil)
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

// ETag returns the ETag of an object.
func (b *Bucket) ETag(ctx context.Context, name string) (string, error) {
	resp, err := b.send(ctx, http.MethodHead, name, nil, nil, nil)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	return resp.Header.Get("ETag"), nil
}

// Put stores an object and returns its ETag.
func (b *Bucket) Put(ctx context.Context, name string, content []byte, header http.Header) (etag string, err error) {
	all := http.Header{"Content-Type": {"application/json"}}
	maps.Copy(all, header)
	sum := md5.Sum(content) //nolint:gosec // see above
	all.Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
	resp, err := b.send(ctx, http.MethodPut, name, nil, content, all)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	return resp.Header.Get("ETag"), nil
}

// Delete removes an object. One that does not exist is ignored.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	resp, err := b.send(ctx, http.MethodDelete, name, nil, nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// maxList bounds one part of a list.
const maxList = 64 << 20

// List returns the names of the objects that begin with prefix.
func (b *Bucket) List(ctx context.Context, prefix string) (names []string, err error) {
	query := url.Values{"prefix": {prefix}, "max-keys": {"1000"}}
	for {
		resp, err := b.send(ctx, http.MethodGet, "", query, nil, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Keys []string `xml:"Contents>Key"`
			Next string   `xml:"NextMarker"`
		}
		err = xml.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&page)
		resp.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("the service's list of objects is not valid: %w", err)
		}
		names = append(names, page.Keys...)
		if page.Next == "" || page.Next == query.Get("marker") {
			return names, nil
		}
		query.Set("marker", page.Next)
	}
}

// send sends a signed request whose answer the caller closes.
func (b *Bucket) send(ctx context.Context, method, name string, query url.Values, content []byte, header http.Header) (*http.Response, error) {
	keys, err := b.account.current(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, b.base+"/"+strings.ReplaceAll(url.PathEscape(name), "%2F", "/"), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = query.Encode()
	maps.Copy(req.Header, header)
	req.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if keys.Token != "" {
		req.Header.Set("X-Oss-Security-Token", keys.Token)
	}
	req.Header.Set("Authorization", "OSS "+keys.ID+":"+mac(keys.Secret, signed(req, "/"+b.name+"/"+name)))
	return cloud.Open(b.account.client, req, refusal)
}

// signed returns the text of a request that is signed.
func signed(req *http.Request, resource string) string {
	lines := []string{req.Method, req.Header.Get("Content-MD5"), req.Header.Get("Content-Type"), req.Header.Get("Date")}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-oss-") {
			lines = append(lines, lower+":"+strings.TrimSpace(req.Header.Get(name)))
		}
	}
	return strings.Join(append(lines, resource), "\n")
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
