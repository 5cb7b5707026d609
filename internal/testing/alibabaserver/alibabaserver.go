// Package alibabaserver serves the parts of Alibaba Cloud that tests need: one bucket of OSS, one table of
// Tablestore with conditional writes, and temporary keys. It does not check signatures, and it knows no
// rights.
//
// It may import the testing package. It must know no other package of this module than webserver.
package alibabaserver

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Names of the bucket and the table.
const (
	Bucket = "bucket"
	Table  = "locks"
)

// Server is a server with an empty bucket and an empty table. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Objects map[string]string
	Rows    map[string][]byte // encoded, by the encoded primary key
}

// Start starts a server that ends with the test. It serves the bucket below its URL, and at any other host
// whose name begins with the bucket's, and the table at any.
func Start(t testing.TB) *Server {
	s := &Server{Objects: map[string]string{}, Rows: map[string][]byte{}}
	s.Start(t, s.serve)
	return s
}

// Refuse answers with an error of OSS.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>In words.</Message><RequestId>1</RequestId></Error>", code)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	key := strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case r.Header.Get("X-Ots-Date") != "":
		s.table(w, r.URL.Path, body)
		return
	case strings.HasPrefix(r.Host, "location"):
		fmt.Fprint(w, `{"Endpoints": {"Endpoint": [{"Endpoint": "oss-cn-beijing.aliyuncs.com", "Id": "cn-beijing", "Type": "openAPI"}]}}`)
		return
	case strings.HasPrefix(r.Host, "sts"), strings.Contains(r.URL.Path, "/ram/security-credentials/"):
		const keys = `{"AccessKeyId": "STS.id", "AccessKeySecret": "temporary", "SecurityToken": "hunter2", "Expiration": "2090-01-01T00:00:00Z"}`
		if strings.HasPrefix(r.Host, "sts") {
			fmt.Fprintf(w, `{"Credentials": %s}`, keys)
			return
		}
		fmt.Fprint(w, keys)
		return
	case !strings.HasPrefix(r.Host, Bucket+"."):
		var bucket string
		if bucket, key, _ = strings.Cut(key, "/"); bucket != Bucket {
			Refuse(w, http.StatusNotFound, "NoSuchBucket")
			return
		}
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "OSS ") {
		Refuse(w, http.StatusForbidden, "AccessDenied")
		return
	}
	s.object(w, r, key, string(body))
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, key, body string) {
	content, exists := s.Objects[key]
	switch {
	case key == "":
		webserver.ListBucket(w, s.Objects, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodDelete:
		delete(s.Objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut && exists && r.Header.Get("X-Oss-Forbid-Overwrite") == "true":
		Refuse(w, http.StatusConflict, "FileAlreadyExists")
	case r.Method == http.MethodPut:
		s.Objects[key] = body
		w.Header().Set("ETag", etag(body))
	case !exists:
		Refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", etag(content))
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		fmt.Fprint(w, content)
	}
}

func etag(content string) string { return fmt.Sprintf(`"%X"`, md5.Sum([]byte(content))) }

// table serves one request about the table. A row is stored as it came, without the prefix of its primary key
// in other requests.
func (s *Server) table(w http.ResponseWriter, operation string, body []byte) {
	fields := fieldsOf(body)
	if string(fields[1]) != Table {
		refuseRow(w, http.StatusNotFound, "OTSObjectNotExist")
		return
	}
	row := fields[2]
	key := string(row[:keyEnd(row)])
	switch operation {
	case "/DescribeTable":
		_, _ = w.Write(description())
		return
	case "/PutRow":
		if s.Rows[key] != nil && bytes.Equal(fields[3], []byte{8, 2}) {
			refuseRow(w, http.StatusForbidden, "OTSConditionCheckFail")
			return
		}
		s.Rows[key] = row
	case "/DeleteRow":
		delete(s.Rows, key)
	case "/GetRow":
		row = s.Rows[key]
	default:
		refuseRow(w, http.StatusBadRequest, "OTSUnsupportedOperation")
		return
	}
	answer := message(1, message(1, append(number(1, 1), number(2, 1)...)))
	if operation == "/GetRow" {
		answer = append(answer, message(2, row)...)
	}
	_, _ = w.Write(answer)
}

func refuseRow(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = w.Write(append(message(1, []byte(code)), message(2, []byte("In words."))...))
}

// keyEnd returns where the primary key of a row ends: after the header and a tag of its own come its name and
// value, each with its length, and a checksum.
func keyEnd(row []byte) int {
	const name, lengths = 7, 4
	if len(row) < name+lengths {
		return 0
	}
	end := name + lengths + int(binary.LittleEndian.Uint32(row[name:]))
	if len(row) < end+1+lengths {
		return 0
	}
	return end + 1 + lengths + int(binary.LittleEndian.Uint32(row[end+1:]))
}

func fieldsOf(body []byte) map[protowire.Number][]byte {
	out := map[protowire.Number][]byte{}
	for len(body) > 0 {
		number, kind, n := protowire.ConsumeTag(body)
		if n < 0 {
			return out
		}
		body = body[n:]
		if kind == protowire.BytesType {
			out[number], _ = protowire.ConsumeBytes(body)
		}
		if n = protowire.ConsumeFieldValue(number, kind, body); n < 0 {
			return out
		}
		body = body[n:]
	}
	return out
}

func message(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func number(field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), n)
}

// description describes the table.
func description() []byte {
	key := append(message(1, []byte("LockID")), number(2, 2)...)
	throughput := slices.Concat(message(1, append(number(1, 0), number(2, 0)...)), number(2, 0))
	options := slices.Concat(number(1, 1), number(2, 1), number(5, 1))
	return slices.Concat(message(1, append(message(1, []byte(Table)), message(2, key)...)), message(2, throughput), message(3, options), number(4, 1))
}
