// Package gcsserver serves the parts of Cloud Storage that tests need: one bucket with generations, for one
// token.
//
// It may import the testing package. It must know no other package of this module than webserver.
package gcsserver

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Bucket is the name of the bucket, and Token the token that requests must bear.
const (
	Bucket = "bucket"
	Token  = "hunter2"
)

// Server is a server with an empty bucket. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Objects     map[string]Object
	Status      int // that every request is answered with; 0 for none
	Damage      int // how many contents arrive with errors
	generations int
}

// Object is an object in the bucket.
type Object struct {
	Content    string
	generation string
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{Objects: map[string]Object{}, generations: 1000}
	s.Start(t, s.serve)
	return s
}

// Refuse answers with an error of Cloud Storage.
func Refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"code": %d, "message": %q}}`, status, message)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	query := r.URL.Query()
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/upload")
	rest, ok := strings.CutPrefix(path, "/storage/v1/b/"+Bucket+"/o")
	if !ok { // the address of contents that other clients use
		rest, ok = strings.CutPrefix(path, "/"+Bucket)
	}
	name, _ := url.PathUnescape(strings.TrimPrefix(rest, "/"))
	got, exists := s.Objects[name]
	switch {
	case s.Status != 0:
		Refuse(w, s.Status, "no")
	case r.Header.Get("Authorization") != "Bearer "+Token:
		Refuse(w, http.StatusUnauthorized, "Invalid Credentials")
	case !ok:
		Refuse(w, http.StatusNotFound, "The specified bucket does not exist.")
	case r.Method == http.MethodPost:
		s.put(w, query, contentOf(r.Header.Get("Content-Type"), body))
	case name == "":
		s.list(w, query.Get("prefix"))
	case !exists:
		Refuse(w, http.StatusNotFound, "No such object: bucket/"+name)
	case r.Method == http.MethodDelete:
		if want := query.Get("ifGenerationMatch"); want != "" && want != got.generation {
			Refuse(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
			return
		}
		delete(s.Objects, name)
		w.WriteHeader(http.StatusNoContent)
	case query.Get("alt") == "json":
		_ = json.NewEncoder(w).Encode(map[string]string{"bucket": Bucket, "name": name, "generation": got.generation})
	default:
		sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum([]byte(got.Content), crc32.MakeTable(crc32.Castagnoli)))
		w.Header().Set("X-Goog-Hash", "crc32c="+base64.StdEncoding.EncodeToString(sum)+",md5=x")
		w.Header().Set("X-Goog-Generation", got.generation)
		if s.Damage > 0 {
			s.Damage--
			got.Content = strings.ToUpper(got.Content)
		}
		fmt.Fprint(w, got.Content)
	}
}

// contentOf returns the content of an upload: the body, or the last of its parts, which follows one with the
// object's attributes.
func contentOf(contentType string, body []byte) string {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return string(body)
	}
	var content []byte
	for parts := multipart.NewReader(bytes.NewReader(body), params["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil {
			return string(content)
		}
		content, _ = io.ReadAll(part) // of memory
	}
}

func (s *Server) put(w http.ResponseWriter, query url.Values, content string) {
	name := query.Get("name")
	got, exists := s.Objects[name]
	if want := query.Get("ifGenerationMatch"); want == "0" && exists || want != "" && want != "0" && want != got.generation {
		Refuse(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
		return
	}
	s.generations++
	s.Objects[name] = Object{content, fmt.Sprint(s.generations)}
	_ = json.NewEncoder(w).Encode(map[string]string{"name": name, "generation": s.Objects[name].generation})
}

func (s *Server) list(w http.ResponseWriter, prefix string) {
	items := []map[string]string{}
	for name := range s.Objects {
		if strings.HasPrefix(name, prefix) {
			items = append(items, map[string]string{"name": name})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}
