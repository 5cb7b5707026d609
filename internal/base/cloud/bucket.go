package cloud

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Bucket is a bucket of a service that keeps objects as S3 does: each has the path of its name, and an ETag.
// It is safe for concurrent use.
type Bucket struct {
	Client *http.Client
	Base   string                   // its address, without a slash at its end
	Escape func(name string) string // returns the path of an object; EscapePath if nil
	// Sign adds a signature to a request about an object, or about the bucket itself if name is "".
	Sign func(req *http.Request, name string, content []byte) error
	// Refuse returns the error that an unsuccessful answer describes.
	Refuse func(resp *http.Response, body []byte) error
	// Describe returns headers that describe a content in the request that stores it; nil for none.
	Describe func(content []byte) http.Header
	// Check fails if a content does not match the header of its answer; nil for no check.
	Check func(header http.Header, content []byte) error
	// Pages are parameters of requests for lists.
	Pages url.Values
}

// EscapePath escapes a name but for its slashes.
func EscapePath(name string) string { return strings.ReplaceAll(url.PathEscape(name), "%2F", "/") }

// DamagedError means that the content of an object has changed since it was stored. The text names the
// checksum that it does not match.
type DamagedError string

// Error implements error.
func (e DamagedError) Error() string {
	return "the content does not match the checksum that " + string(e)
}

// maxObject bounds the objects that are read into memory.
const maxObject = 2 << 30

// Content reads the object that an answer has, and closes the answer.
func Content(resp *http.Response, name string) ([]byte, error) {
	defer resp.Body.Close()
	if resp.ContentLength > maxObject {
		return nil, fmt.Errorf("the object %s has %d bytes, which is too long", name, resp.ContentLength)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxObject))
}

// Get returns the content of an object and its ETag. header has more headers for the request, such as keys
// for encryption; nil for nothing. An object that does not exist is an *Error with status 404.
func (b *Bucket) Get(ctx context.Context, name string, header http.Header) (content []byte, etag string, err error) {
	resp, err := b.Send(ctx, http.MethodGet, name, nil, nil, header)
	if err != nil {
		return nil, "", err
	}
	content, err = Content(resp, name)
	if err == nil && b.Check != nil {
		err = b.Check(resp.Header, content)
	}
	return content, resp.Header.Get("ETag"), err
}

// ETag returns the ETag of an object.
func (b *Bucket) ETag(ctx context.Context, name string) (string, error) {
	return b.do(ctx, http.MethodHead, name, nil, nil)
}

// Put stores an object and returns its ETag. header may have conditions, which fail with the status 412, or
// 409 if another write is under way.
func (b *Bucket) Put(ctx context.Context, name string, content []byte, header http.Header) (etag string, err error) {
	all := http.Header{}
	if b.Describe != nil {
		all = b.Describe(content)
	}
	maps.Copy(all, header)
	return b.do(ctx, http.MethodPut, name, content, all)
}

// Delete removes an object. One that does not exist is ignored.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	_, err := b.do(ctx, http.MethodDelete, name, nil, nil)
	return err
}

// maxList bounds one part of a list.
const maxList = 64 << 20

// List returns the names of the objects that begin with prefix.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	query := url.Values{"prefix": {prefix}}
	maps.Copy(query, b.Pages)
	return Pages(query, "marker", func(query url.Values) ([]string, string, error) {
		resp, err := b.Send(ctx, http.MethodGet, "", query, nil, nil)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		var page struct {
			Keys []string `xml:"Contents>Key"`
			Next string   `xml:"NextMarker"`
		}
		if err := xml.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&page); err != nil {
			return nil, "", fmt.Errorf("the service's list of objects is not valid: %w", err)
		}
		return page.Keys, page.Next, nil
	})
}

// do sends a request of whose answer only the ETag is of interest.
func (b *Bucket) do(ctx context.Context, method, name string, content []byte, header http.Header) (etag string, err error) {
	resp, err := b.Send(ctx, method, name, nil, content, header)
	if err != nil {
		return "", err
	}
	return resp.Header.Get("ETag"), resp.Body.Close()
}

// Send sends a signed request about an object, or about the bucket itself if name is "". The caller closes
// the answer.
func (b *Bucket) Send(ctx context.Context, method, name string, query url.Values, content []byte, header http.Header) (*http.Response, error) {
	escape := b.Escape
	if escape == nil {
		escape = EscapePath
	}
	req, err := http.NewRequestWithContext(ctx, method, b.Base+"/"+escape(name), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = query.Encode()
	maps.Copy(req.Header, header)
	if err := b.Sign(req, name, content); err != nil {
		return nil, err
	}
	return Open(b.Client, req, b.Refuse)
}

// Pages returns the names in a list that a service returns in pages. page asks for one, and returns its names
// and the marker of the next page, "" for none, which is a parameter of the next request.
func Pages(query url.Values, parameter string, page func(query url.Values) (names []string, marker string, err error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		query := maps.Clone(query)
		for {
			names, marker, err := page(query)
			if err != nil {
				yield("", err)
				return
			}
			for _, name := range names {
				if !yield(name, nil) {
					return
				}
			}
			if marker == "" || marker == query.Get(parameter) {
				return
			}
			query.Set(parameter, marker)
		}
	}
}

// All returns all names of a list, or nil with an error.
func All(list iter.Seq2[string, error]) (names []string, err error) {
	for name, err := range list {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
