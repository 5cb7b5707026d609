// Package tencentserver serves the parts of Tencent Cloud that tests need: one bucket of COS, tags, and
// temporary keys. It does not check signatures, and it knows no rights.
//
// It may import the testing package. It must know no other package of this module than webserver.
package tencentserver

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"hash/crc64"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Bucket is the name of the bucket.
const Bucket = "bucket-1250000000"

// Server is a server with an empty bucket. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Objects map[string]Object
	Tags    map[string]bool // as KEY:VALUE
}

// Object is an object in the bucket.
type Object struct {
	Content string
	Header  http.Header // that is returned with it
}

// Start starts a server that ends with the test. It serves the bucket, tags and keys at any host, which it
// tells apart by the request.
func Start(t testing.TB) *Server {
	s := &Server{Objects: map[string]Object{}, Tags: map[string]bool{}}
	s.Start(t, s.serve)
	return s
}

// Refuse answers with an error of COS.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s</Code><Message>In words.</Message><RequestId>1</RequestId></Error>", code)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	switch action := r.Header.Get("X-Tc-Action"); {
	case action != "":
		s.act(w, action, body)
	case !strings.Contains(r.Header.Get("Authorization"), "q-signature="):
		Refuse(w, http.StatusForbidden, "AccessDenied")
	case strings.HasSuffix(r.Host, ".myqcloud.com") && !strings.HasPrefix(r.Host, Bucket+"."):
		Refuse(w, http.StatusNotFound, "NoSuchBucket")
	default:
		s.object(w, r, strings.TrimPrefix(r.URL.Path, "/"), string(body))
	}
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, key, body string) {
	got, exists := s.Objects[key]
	switch {
	case key == "":
		webserver.ListBucket(w, s.Objects, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodDelete:
		delete(s.Objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut && exists && r.Header.Get("X-Cos-Forbid-Overwrite") == "true":
		Refuse(w, http.StatusConflict, "FileAlreadyExists")
	case r.Method == http.MethodPut:
		header := http.Header{
			"Etag":                 {fmt.Sprintf(`"%x"`, md5.Sum([]byte(body)))},
			"X-Cos-Hash-Crc64ecma": {fmt.Sprint(crc64.Checksum([]byte(body), crc64.MakeTable(crc64.ECMA)))},
		}
		s.Objects[key] = Object{body, header}
		maps.Copy(w.Header(), header)
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-Cos-Meta-") {
				header[name] = values
			}
		}
	case !exists:
		Refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		maps.Copy(w.Header(), got.Header)
		w.Header().Set("Content-Length", fmt.Sprint(len(got.Content)))
		fmt.Fprint(w, got.Content)
	}
}

// act serves requests about tags, and for keys. Errors have the status 200.
func (s *Server) act(w http.ResponseWriter, action string, body []byte) {
	var in struct{ TagKey, TagValue string }
	_ = json.Unmarshal(body, &in)
	tag := in.TagKey + ":" + in.TagValue
	w.Header().Set("Content-Type", "application/json")
	const answer = `{"Response": {"RequestId": "1"%s}}`
	refuse := func(code string) { fmt.Fprintf(w, answer, `, "Error": {"Code": "`+code+`", "Message": "In words."}`) }
	switch action {
	case "AssumeRole":
		fmt.Fprintf(w, answer, `, "Credentials": {"Token": "hunter2", "TmpSecretId": "temporary", "TmpSecretKey": "secret"}, "ExpiredTime": 3786912000, "Expiration": "2090-01-01T00:00:00Z"`)
	case "CreateTag":
		if s.Tags[tag] {
			refuse("ResourceInUse.TagDuplicate")
			return
		}
		s.Tags[tag] = true
		fmt.Fprintf(w, answer, "")
	case "DescribeTags":
		tags := "[]"
		if s.Tags[tag] {
			tags = fmt.Sprintf(`[{"TagKey": %q, "TagValue": %q, "CanDelete": 1}]`, in.TagKey, in.TagValue)
		}
		fmt.Fprintf(w, answer, `, "TotalCount": `+fmt.Sprint(min(len(tags)-2, 1))+`, "Offset": 0, "Limit": 15, "Tags": `+tags)
	case "DeleteTag":
		if !s.Tags[tag] {
			refuse("ResourceNotFound.TagNonExist")
			return
		}
		delete(s.Tags, tag)
		fmt.Fprintf(w, answer, "")
	default:
		refuse("InvalidAction")
	}
}
