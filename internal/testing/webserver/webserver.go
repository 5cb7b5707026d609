// Package webserver has the code that the servers for tests share: they keep requests, one of which is served
// at a time, and let a test answer in their place.
//
// It may import the testing package. It must not know any other package of this module.
package webserver

import (
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Base is the part of a server that is the same in each. Its fields may be used with Mu held.
type Base struct {
	*httptest.Server

	Mu sync.Mutex
	// Answer answers in place of the server if it returns true; nil for never.
	Answer func(w http.ResponseWriter, r *http.Request) bool
	Seen   []*http.Request
}

// Start starts the server, which ends with the test. serve answers requests, given their bodies, and is
// called with Mu held.
func (b *Base) Start(t testing.TB, serve func(w http.ResponseWriter, r *http.Request, body []byte)) {
	b.Prepare(t, serve)
	b.Server.Start()
}

// Prepare is Start for a server that the caller starts.
func (b *Base) Prepare(t testing.TB, serve func(w http.ResponseWriter, r *http.Request, body []byte)) {
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone, and with it a part of the body
		}
		b.Mu.Lock()
		defer b.Mu.Unlock()
		b.Seen = append(b.Seen, r)
		if b.Answer == nil || !b.Answer(w, r) {
			serve(w, r, body)
		}
	}))
	t.Cleanup(b.Close)
}

// ListBucket answers, as S3 does and the services that are like it, with the names of those objects that
// begin with prefix.
func ListBucket[T any](w http.ResponseWriter, objects map[string]T, prefix string) {
	type object struct{ Key string }
	var out struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		IsTruncated bool
		Contents    []object
	}
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if strings.HasPrefix(key, prefix) {
			out.Contents = append(out.Contents, object{key})
		}
	}
	_ = xml.NewEncoder(w).Encode(out)
}
