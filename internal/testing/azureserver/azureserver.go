// Package azureserver serves the parts of Azure that tests need: one container of Blob Storage with
// conditional writes, metadata, snapshots and leases, the services that give tokens and keys for it, and a
// vault with one key. Requests are authorized by any signature, or by one token. It knows no rights.
//
// It may import the testing package. It must know no other package of this module than webserver.
package azureserver

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Names and credentials that requests must have.
const (
	Account   = "account"
	Container = "container"
	Token     = "hunter2"
	Key       = "aHVudGVyMmh1bnRlcjI="
)

// Server is a server with an empty container. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Blobs     map[string]*Blob
	Snapshots []string // contents
	Damage    int      // how many contents arrive with errors
	changes   int

	versions []keyVersion // of the key in the vault; made when first needed
}

// Blob is a blob in the container.
type Blob struct {
	Content  string
	Lease    string // the ID of its lease; "" for none
	Metadata http.Header
	etag     string
}

// Start starts a server that ends with the test. It serves the account below its URL, and at any other host
// whose name begins with the account's.
func Start(t testing.TB) *Server {
	s := &Server{Blobs: map[string]*Blob{}}
	s.Start(t, s.serve)
	return s
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Ms-Error-Code", code)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s</Code><Message>In words.\nRequestId:1</Message></Error>", code)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	if serveOther(w, r, string(body)) {
		return
	}
	if r.Host == VaultHost {
		if len(s.versions) == 0 {
			s.versions = append(s.versions, newKeyVersion())
		}
		s.serveVault(w, r, string(body))
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if !strings.HasPrefix(r.Host, Account+".") {
		path = strings.TrimPrefix(path, Account+"/")
	}
	container, name, _ := strings.Cut(path, "/")
	name, _ = url.PathUnescape(name)
	auth := r.Header.Get("Authorization")
	switch {
	case !strings.HasPrefix(auth, "SharedKey "+Account+":") && auth != "Bearer "+Token && r.URL.Query().Get("sig") == "":
		Refuse(w, http.StatusForbidden, "AuthenticationFailed")
	case container != Container:
		Refuse(w, http.StatusNotFound, "ContainerNotFound")
	case name == "":
		s.list(w, r.URL.Query().Get("prefix"))
	default:
		s.serveBlob(w, r, name, string(body))
	}
}

func (s *Server) list(w http.ResponseWriter, prefix string) {
	type blob struct{ Name string }
	var out struct {
		XMLName xml.Name `xml:"EnumerationResults"`
		Blobs   []blob   `xml:"Blobs>Blob"`
	}
	for _, name := range slices.Sorted(maps.Keys(s.Blobs)) {
		if strings.HasPrefix(name, prefix) {
			out.Blobs = append(out.Blobs, blob{name})
		}
	}
	_ = xml.NewEncoder(w).Encode(out)
}

func (s *Server) serveBlob(w http.ResponseWriter, r *http.Request, name, body string) {
	b := s.Blobs[name]
	comp, lease := r.URL.Query().Get("comp"), r.Header.Get("X-Ms-Lease-Id")
	put := r.Method == http.MethodPut && comp == ""
	changes := r.Method == http.MethodDelete || put || comp == "metadata"
	switch {
	case b == nil && !put:
		Refuse(w, http.StatusNotFound, "BlobNotFound")
	case comp == "lease":
		b.lease(w, r.Header)
	case b != nil && changes && b.Lease != "" && lease == "":
		Refuse(w, http.StatusPreconditionFailed, "LeaseIdMissing")
	case b != nil && changes && lease != "" && b.Lease == "" || b == nil && lease != "":
		Refuse(w, http.StatusPreconditionFailed, "LeaseNotPresentWithBlobOperation")
	case b != nil && changes && b.Lease != lease:
		Refuse(w, http.StatusConflict, "LeaseIdMismatchWithBlobOperation")
	case b != nil && r.Header.Get("If-None-Match") == "*":
		Refuse(w, http.StatusConflict, "BlobAlreadyExists")
	case r.Header.Get("If-Match") != "" && (b == nil || r.Header.Get("If-Match") != b.etag):
		Refuse(w, http.StatusPreconditionFailed, "ConditionNotMet")
	case r.Method == http.MethodDelete:
		delete(s.Blobs, name)
		w.WriteHeader(http.StatusAccepted)
	case comp == "snapshot":
		s.Snapshots = append(s.Snapshots, b.Content)
		w.WriteHeader(http.StatusCreated)
	case comp == "metadata":
		b.Metadata, b.etag = metadataOf(r.Header), s.next()
	case put:
		s.Blobs[name] = &Blob{Content: body, Lease: lease, Metadata: metadataOf(r.Header), etag: s.next()}
		w.Header().Set("ETag", s.Blobs[name].etag)
		w.Header().Set("Content-MD5", sum(body))
		w.WriteHeader(http.StatusCreated)
	default:
		s.get(w, r, b)
	}
}

func (s *Server) next() string {
	s.changes++
	return fmt.Sprintf(`"0x%X"`, s.changes)
}

func sum(content string) string {
	sum := md5.Sum([]byte(content))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func metadataOf(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		if strings.HasPrefix(name, "X-Ms-Meta-") {
			out[name] = values
		}
	}
	return out
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, b *Blob) {
	maps.Copy(w.Header(), b.Metadata)
	w.Header().Set("ETag", b.etag)
	w.Header().Set("Content-MD5", sum(b.Content))
	w.Header().Set("Content-Length", fmt.Sprint(len(b.Content)))
	status := "locked"
	if b.Lease == "" {
		status = "unlocked"
	}
	w.Header().Set("X-Ms-Lease-Status", status)
	if r.Method == http.MethodHead {
		return
	}
	content := b.Content
	if s.Damage > 0 {
		s.Damage--
		content = strings.ToUpper(content)
	}
	fmt.Fprint(w, content)
}

// lease serves requests about the lease of a blob.
func (b *Blob) lease(w http.ResponseWriter, h http.Header) {
	id, action := h.Get("X-Ms-Lease-Id"), h.Get("X-Ms-Lease-Action")
	switch {
	case action == "acquire" && b.Lease != "" && b.Lease != h.Get("X-Ms-Proposed-Lease-Id"):
		Refuse(w, http.StatusConflict, "LeaseAlreadyPresent")
	case action == "acquire":
		b.Lease = h.Get("X-Ms-Proposed-Lease-Id")
		w.Header().Set("X-Ms-Lease-Id", b.Lease)
		w.WriteHeader(http.StatusCreated)
	case action == "break":
		b.Lease = ""
		w.WriteHeader(http.StatusAccepted)
	case b.Lease != id:
		Refuse(w, http.StatusConflict, "LeaseIdMismatchWithLeaseOperation")
	case action == "release":
		b.Lease = ""
	}
}
