// Package s3server serves the parts of S3 and DynamoDB that tests need: one bucket with conditional writes,
// and one table. It does not check signatures, and it knows no rights.
//
// It may import the testing package. It must know no other package of this module than webserver.
package s3server

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Bucket is the name of the bucket.
const Bucket = "bucket"

// Server is a server with an empty bucket and an empty table. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Objects map[string]string
	Items   map[string]map[string]any
	Plain   bool // conditional writes are not implemented, except for objects whose names end with ".tflock"
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{Objects: map[string]string{}, Items: map[string]map[string]any{}}
	s.Start(t, s.serve)
	return s
}

// Refuse answers with an error of S3.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

func etag(content string) string { return fmt.Sprintf(`"%x"`, md5.Sum([]byte(content))) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		s.table(w, strings.TrimPrefix(target, "DynamoDB_20120810."), body)
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != Bucket {
		Refuse(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	content, exists := s.Objects[key]
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case key == "":
		webserver.ListBucket(w, s.Objects, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodDelete:
		delete(s.Objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut && s.Plain && match+none != "" && !strings.HasSuffix(key, ".tflock"):
		Refuse(w, http.StatusNotImplemented, "NotImplemented")
	case r.Method == http.MethodPut && (none == "*" && exists || match != "" && exists && match != etag(content)):
		Refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case match != "" && !exists || r.Method == http.MethodGet && !exists:
		Refuse(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodPut:
		s.Objects[key] = string(body)
		w.Header().Set("ETag", etag(string(body)))
	default:
		w.Header().Set("ETag", etag(content))
		fmt.Fprint(w, content)
	}
}

func (s *Server) table(w http.ResponseWriter, operation string, body []byte) {
	var in struct {
		Item, Key           map[string]any
		ConditionExpression string
	}
	_ = json.Unmarshal(body, &in)
	id := func(m map[string]any) string { return fmt.Sprint(m["LockID"]) }
	switch operation {
	case "PutItem":
		if s.Items[id(in.Item)] != nil && in.ConditionExpression != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "message": "no"}`)
			return
		}
		s.Items[id(in.Item)] = in.Item
	case "DeleteItem":
		delete(s.Items, id(in.Key))
	case "GetItem":
		if item := s.Items[id(in.Key)]; item != nil {
			_ = json.NewEncoder(w).Encode(map[string]any{"Item": item})
			return
		}
	}
	fmt.Fprint(w, "{}")
}
