package google

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Bucket is a bucket of Cloud Storage. It is safe for concurrent use.
type Bucket struct {
	account *Account
	base    string // the address of its objects, without a slash at its end
}

// OpenBucket returns a bucket. STORAGE_EMULATOR_HOST, if set, names a server to be used without
// credentials.
func OpenBucket(ctx context.Context, name, scope string, services cloud.Services) (*Bucket, error) {
	server, account := os.Getenv("STORAGE_EMULATOR_HOST"), &Account{client: services(nil)}
	if server == "" {
		var err error
		if account, err = Load(ctx, scope, Settings{}, services); err != nil {
			return nil, err
		}
		server = "https://storage." + account.domain
	} else if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return &Bucket{account: account, base: objects(server, name)}, nil
}

// List returns the names of the objects that begin with prefix.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	query := url.Values{"prefix": {prefix}, "fields": {"items(name),nextPageToken"}}
	return cloud.Pages(query, "pageToken", func(query url.Values) (names []string, next string, err error) {
		resp, err := b.send(ctx, http.MethodGet, b.base, query, nil, nil)
		if err != nil {
			return nil, "", err
		}
		body, err := cloud.Read(resp)
		if err != nil {
			return nil, "", err
		}
		var page struct {
			Items         []struct{ Name string }
			NextPageToken string
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, "", fmt.Errorf("the service's list of objects is not valid: %w", err)
		}
		for _, object := range page.Items {
			names = append(names, object.Name)
		}
		return names, page.NextPageToken, nil
	})
}

// Open returns the content of an object, which the caller closes, and its size, negative if unknown.
// generation is "" for the latest.
func (b *Bucket) Open(ctx context.Context, name, generation string) (io.ReadCloser, int64, error) {
	query := url.Values{"alt": {"media"}}
	if generation != "" {
		query.Set("generation", generation)
	}
	resp, err := b.send(ctx, http.MethodGet, b.base+"/"+url.PathEscape(name), query, nil, nil)
	if err != nil {
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}

// refusal returns the error that an answer describes, in JSON or, for an object's content, as plain text.
func refusal(resp *http.Response, body []byte) error {
	var said struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	e := &cloud.Error{Status: resp.StatusCode, Hint: cloud.PageHint(body)}
	if json.Unmarshal(body, &said) == nil {
		e.Message = said.Error.Message
		for _, reason := range said.Error.Errors {
			e.Code = reason.Reason
		}
	} else if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		const longest = 300
		line, _, _ := strings.Cut(string(body), "\n")
		e.Message = line[:min(len(line), longest)]
	}
	if resp.StatusCode == http.StatusUnauthorized {
		e.Hint = "Renew the credentials for Google Cloud, for example with: gcloud auth application-default login"
	}
	return e
}
