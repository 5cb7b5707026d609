package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Bucket is a bucket of S3. It is safe for concurrent use.
type Bucket struct {
	cloud.Bucket
}

func (a *Account) bucket(base string) *Bucket {
	return &Bucket{cloud.Bucket{
		Client: a.client, Base: base, Escape: escape, Refuse: a.refusal,
		Sign: func(req *http.Request, _ string, content []byte) error {
			sum := sha256.Sum256(content)
			return a.sign(req, "s3", hex.EncodeToString(sum[:]))
		},
	}}
}

// Bucket returns a bucket at AWS. suffix is the domain of its partition; see Suffix.
func (a *Account) Bucket(ctx context.Context, name, suffix string) (*Bucket, error) {
	base, err := a.endpoint(ctx, name, suffix)
	return a.bucket(base), err
}

// BucketIn returns a bucket at AWS in the account's region, with the bucket's name in the path of addresses
// if inPath is set, and otherwise in the name of the host where that is possible.
func (a *Account) BucketIn(ctx context.Context, name string, inPath bool) (*Bucket, error) {
	server, err := a.regional(ctx, "s3")
	if err != nil {
		return nil, err
	}
	if inPath {
		return a.BucketAt(name, server), nil
	}
	base, err := at(server, name)
	return a.bucket(base), err
}

// BucketAt returns a bucket at a server that is compatible with S3. server has the form scheme://host.
func (a *Account) BucketAt(name, server string) *Bucket { return a.bucket(server + "/" + name) }

// List returns the names of the objects that begin with prefix.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	return cloud.Pages(query, "continuation-token", func(query url.Values) ([]string, string, error) {
		resp, err := b.Send(ctx, http.MethodGet, "", query, nil, nil)
		if err != nil {
			return nil, "", err
		}
		body, err := cloud.Read(resp)
		if err != nil {
			return nil, "", err
		}
		var page struct {
			Keys        []string `xml:"Contents>Key"`
			IsTruncated bool
			Next        string `xml:"NextContinuationToken"`
		}
		if err := xml.Unmarshal(body, &page); err != nil {
			return nil, "", fmt.Errorf("the service's list of objects is not valid: %w", err)
		}
		if !page.IsTruncated {
			page.Next = ""
		}
		return page.Keys, page.Next, nil
	})
}

// Open returns the content of an object, which the caller closes, and its size, negative if unknown.
// version is "" for the latest.
func (b *Bucket) Open(ctx context.Context, name, version string) (io.ReadCloser, int64, error) {
	query := url.Values{}
	if version != "" {
		query.Set("versionId", version)
	}
	resp, err := b.Send(ctx, http.MethodGet, name, query, nil, nil)
	if err != nil {
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}

// escape escapes all bytes of a path but slashes and the unreserved characters of RFC 3986: the signature
// covers the path as AWS escapes it, which is stricter than net/url.
func escape(path string) string {
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
	var out strings.Builder
	for i := range len(path) {
		if c := path[i]; strings.IndexByte(safe, c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// refusal returns the error that an answer of S3 describes. It reads the code and the message only: other
// elements of the answer show the signed text.
func (a *Account) refusal(resp *http.Response, body []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(body, &said) // an answer in another form still has a status
	e := &cloud.Error{Status: resp.StatusCode, Code: said.Code, Message: said.Message, Hint: cloud.PageHint(body)}
	region := resp.Header.Get("X-Amz-Bucket-Region")
	switch {
	case region != "" && region != a.config.Region:
		e.Hint = fmt.Sprintf("The bucket is in the region %s, and the request was sent to %s: name the bucket's region in the address", region, a.config.Region)
	case said.Code == "ExpiredToken" || said.Code == "TokenRefreshRequired":
		e.Hint = "Renew the credentials for AWS, for example with: aws sso login"
	}
	return e
}
