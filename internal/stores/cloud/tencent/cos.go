package tencent

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // the checksum that other engines store
	"crypto/sha1" //nolint:gosec // what the service defines
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

// Bucket is a bucket of COS. It is safe for concurrent use.
type Bucket struct {
	account *Account
	base    string // its address
}

// Bucket returns a bucket by its address, such as https://NAME.cos.REGION.myqcloud.com.
func (a *Account) Bucket(address string) *Bucket {
	return &Bucket{account: a, base: strings.TrimSuffix(address, "/")}
}

// ErrChecksum means that the content of an object is not what was stored.
var ErrChecksum = errors.New("the content does not match the checksum that is stored with it")

const (
	// maxObject bounds the objects that are read into memory.
	maxObject = 2 << 30
	// maxList bounds one part of a list.
	maxList     = 64 << 20
	headerToken = "X-Cos-Security-Token"
	headerMD5   = "X-Cos-Meta-Md5"
)

// Get returns the content of an object and its ETag. One that does not exist is a *cloud.Error with the
// status 404.
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
	if want := resp.Header.Get(headerMD5); err == nil && want != "" && want != checksum(content) {
		err = ErrChecksum
	}
	return content, resp.Header.Get("ETag"), err
}

func checksum(content []byte) string {
	sum := md5.Sum(content) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
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

// Put stores an object with its checksum, which other engines want, and returns its ETag.
func (b *Bucket) Put(ctx context.Context, name string, content []byte, header http.Header) (etag string, err error) {
	all := http.Header{"Content-Type": {contentType}, headerMD5: {checksum(content)}}
	maps.Copy(all, header)
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

// List returns the names of the objects that begin with prefix.
func (b *Bucket) List(ctx context.Context, prefix string) (names []string, err error) {
	query := url.Values{"prefix": {prefix}}
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
	if keys.Token != "" {
		req.Header.Set(headerToken, keys.Token)
	}
	req.Header.Set("Authorization", sign(keys, req, time.Now()))
	return cloud.Open(b.account.client, req, refusal)
}

// signatureLife is how long the signature of a request is valid.
const signatureLife = time.Hour

// sign returns the signature of a request: of its method, its path, its query, its host and the headers of
// the service.
func sign(keys Keys, req *http.Request, now time.Time) string {
	life := fmt.Sprintf("%d;%d", now.Unix(), now.Add(signatureLife).Unix())
	headers := map[string]string{"host": req.URL.Host}
	for name := range req.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-cos-") {
			headers[lower] = req.Header.Get(name)
		}
	}
	query := map[string]string{}
	for name, values := range req.URL.Query() {
		query[strings.ToLower(name)] = values[0]
	}
	headerNames, headerText := listed(headers)
	queryNames, queryText := listed(query)
	request := strings.Join([]string{strings.ToLower(req.Method), req.URL.Path, queryText, headerText, ""}, "\n")
	sum := sha1.Sum([]byte(request)) //nolint:gosec // see above
	text := strings.Join([]string{"sha1", life, hex.EncodeToString(sum[:]), ""}, "\n")
	signature := mac1([]byte(mac1([]byte(keys.Secret), life)), text)
	return strings.Join([]string{
		"q-sign-algorithm=sha1", "q-ak=" + keys.ID, "q-sign-time=" + life, "q-key-time=" + life,
		"q-header-list=" + headerNames, "q-url-param-list=" + queryNames, "q-signature=" + signature,
	}, "&")
}

// listed returns the names of values, and names with values, in the form that is signed.
func listed(values map[string]string) (names, text string) {
	encode := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	var pairs, keys []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := strings.ToLower(encode(name))
		keys = append(keys, key)
		pairs = append(pairs, key+"="+encode(values[name]))
	}
	return strings.Join(keys, ";"), strings.Join(pairs, "&")
}

func mac1(key []byte, text string) string {
	h := hmac.New(sha1.New, key)
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// refusal returns the error that an answer describes.
func refusal(resp *http.Response, body []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(body, &said) // else there is the status
	return &cloud.Error{Status: resp.StatusCode, Code: said.Code, Message: said.Message, Hint: cloud.PageHint(body)}
}
