package s3_test

import (
	"crypto/md5"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// server is what the tests need of S3 and DynamoDB: one bucket with conditional writes, and one table. It
// does not check signatures, which the tests of package aws do, and it knows no rights.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	objects map[string]string
	items   map[string]map[string]any
	plain   bool                                              // conditional writes are not implemented
	answer  func(w http.ResponseWriter, r *http.Request) bool // answers in place of the server; nil for never
	seen    []*http.Request
}

func newServer(t *testing.T) *server {
	s := &server{objects: map[string]string{}, items: map[string]map[string]any{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

func etag(content string) string { return fmt.Sprintf(`"%x"`, md5.Sum([]byte(content))) }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
	if s.answer != nil && s.answer(w, r) {
		return
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		s.table(w, strings.TrimPrefix(target, "DynamoDB_20120810."), body)
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != "bucket" {
		refuse(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	content, exists := s.objects[key]
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case key == "":
		s.list(w, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut && s.plain && match+none != "" && !strings.HasSuffix(key, ".tflock"):
		refuse(w, http.StatusNotImplemented, "NotImplemented")
	case r.Method == http.MethodPut && (none == "*" && exists || match != "" && exists && match != etag(content)):
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case match != "" && !exists || r.Method == http.MethodGet && !exists:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodPut:
		s.objects[key] = string(body)
		w.Header().Set("ETag", etag(string(body)))
	default:
		w.Header().Set("ETag", etag(content))
		fmt.Fprint(w, content)
	}
}

func (s *server) list(w http.ResponseWriter, prefix string) {
	type object struct{ Key string }
	var out struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []object
	}
	for key := range s.objects {
		if strings.HasPrefix(key, prefix) {
			out.Contents = append(out.Contents, object{key})
		}
	}
	slices.SortFunc(out.Contents, func(a, b object) int { return strings.Compare(a.Key, b.Key) })
	_ = xml.NewEncoder(w).Encode(out)
}

func (s *server) table(w http.ResponseWriter, operation string, body []byte) {
	var in struct {
		Item, Key           map[string]any
		ConditionExpression string
	}
	_ = json.Unmarshal(body, &in)
	id := func(m map[string]any) string { return fmt.Sprint(m["LockID"]) }
	switch operation {
	case "PutItem":
		if s.items[id(in.Item)] != nil && in.ConditionExpression != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "message": "no"}`)
			return
		}
		s.items[id(in.Item)] = in.Item
	case "DeleteItem":
		delete(s.items, id(in.Key))
	case "GetItem":
		if item := s.items[id(in.Key)]; item != nil {
			_ = json.NewEncoder(w).Encode(map[string]any{"Item": item})
			return
		}
	}
	fmt.Fprint(w, "{}")
}
