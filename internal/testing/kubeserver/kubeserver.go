// Package kubeserver serves the parts of a Kubernetes API server that tests need: Secrets and Leases in
// namespaces, for one token. Writes are conditional by the version of an object, as there.
//
// It may import the testing package. It must know no other package of this module than webserver. It lacks
// watches, patches, collections to be deleted and rights of single users.
package kubeserver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Token is the token that requests must bear.
const Token = "hunter2"

// The largest request and the largest Secret that a server accepts, in bytes.
const (
	maxRequest = 3 << 20
	maxSecret  = 1 << 20
)

// Server is a server without objects. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Objects map[string]*Object // by the path of their addresses
	// Namespaces are those that exist; all of them if it is nil.
	Namespaces []string
	version    int
}

// Object is a Secret or a Lease. Of its other fields, those that clients set are kept.
type Object struct {
	APIVersion string            `json:"apiVersion,omitempty"`
	Kind       string            `json:"kind,omitempty"`
	Metadata   Metadata          `json:"metadata"`
	Type       string            `json:"type,omitempty"`
	Data       map[string][]byte `json:"data,omitempty"`
	Spec       map[string]any    `json:"spec,omitempty"`
}

// Metadata is the metadata of any object.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
}

// State returns the state in a Secret, which is usually compressed.
func (o *Object) State() ([]byte, error) {
	data := o.Data["tfstate"]
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{Objects: map[string]*Object{}, version: 1000}
	s.Prepare(t, s.serve)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that tests cut
	s.StartTLS()
	return s
}

// CA returns the certificate of the server in PEM. Clients send credentials to servers with one only.
func (s *Server) CA() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// Refuse answers with an error in the form of the protocol, about the object of that name.
func Refuse(w http.ResponseWriter, status int, reason, message, of string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": message, "reason": reason, "details": map[string]string{"name": of}, "code": status,
	})
}

var (
	address = regexp.MustCompile(`^/(?:api/v1/namespaces/([^/]+)/(secrets)|apis/coordination\.k8s\.io/v1/namespaces/([^/]+)/(leases))(?:/([^/]+))?$`)
	name    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	label   = regexp.MustCompile(`^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$`)
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	parts := address.FindStringSubmatch(r.URL.Path)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+Token:
		Refuse(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized", "")
	case parts == nil:
		Refuse(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case len(body) > maxRequest:
		Refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", "")
	case parts[5] == "":
		s.serveAll(w, r, parts[1]+parts[3], parts[2]+parts[4], body)
	default:
		s.serveOne(w, r, parts[2]+parts[4], parts[5], body)
	}
}

// serveAll serves the address of all objects of a kind in a namespace.
func (s *Server) serveAll(w http.ResponseWriter, r *http.Request, namespace, kind string, body []byte) {
	switch r.Method {
	case http.MethodGet:
		s.list(w, r, kind)
	case http.MethodPost:
		if s.Namespaces != nil && !slices.Contains(s.Namespaces, namespace) {
			Refuse(w, http.StatusNotFound, "NotFound", fmt.Sprintf("namespaces %q not found", namespace), namespace)
			return
		}
		o, err := decode(body)
		if err != nil {
			Refuse(w, http.StatusBadRequest, "BadRequest", err.Error(), "")
			return
		}
		path := r.URL.Path + "/" + o.Metadata.Name
		if s.Objects[path] != nil {
			Refuse(w, http.StatusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", kind, o.Metadata.Name), o.Metadata.Name)
			return
		}
		o.Metadata.Namespace, o.Metadata.UID, o.Metadata.CreationTimestamp = namespace, fmt.Sprint("uid-", s.version), "2030-01-02T03:04:05Z"
		s.store(w, http.StatusCreated, path, &o)
	default:
		Refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")
	}
}

// decode returns the object in a body: in JSON, or a Lease in the binary form.
func decode(body []byte) (o Object, err error) {
	if envelope, ok := bytes.CutPrefix(body, []byte(binaryMark)); ok {
		return decodeLease(envelope)
	}
	err = json.Unmarshal(body, &o)
	return o, err
}

// list answers with the objects that have the labels of a selector, which consists of equalities, in as many
// pages as the client asks for.
func (s *Server) list(w http.ResponseWriter, r *http.Request, kind string) {
	query := r.URL.Query()
	items, next := []*Object{}, ""
	limit, _ := strconv.Atoi(query.Get("limit")) // 0 is without a limit
	for _, path := range slices.Sorted(maps.Keys(s.Objects)) {
		switch o := s.Objects[path]; {
		case !strings.HasPrefix(path, r.URL.Path+"/") || path <= query.Get("continue") || !selected(o, query.Get("labelSelector")):
		case limit > 0 && len(items) == limit:
			next = r.URL.Path + "/" + items[limit-1].Metadata.Name
		case strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList"):
			items = append(items, &Object{Metadata: o.Metadata})
		default:
			items = append(items, o)
		}
	}
	list := map[string]any{"apiVersion": "v1", "kind": "SecretList", "metadata": map[string]any{"resourceVersion": fmt.Sprint(s.version), "continue": next}, "items": items}
	if kind == "leases" {
		list["apiVersion"], list["kind"] = "coordination.k8s.io/v1", "LeaseList"
	}
	answer(w, http.StatusOK, list)
}

func selected(o *Object, selector string) bool {
	for _, equality := range strings.Split(selector, ",") {
		key, value, ok := strings.Cut(equality, "=")
		if ok && o.Metadata.Labels[key] != strings.TrimPrefix(value, "=") {
			return false
		}
	}
	return true
}

// serveOne serves the address of an object.
func (s *Server) serveOne(w http.ResponseWriter, r *http.Request, kind, name string, body []byte) {
	got := s.Objects[r.URL.Path]
	var options struct {
		Preconditions struct{ UID, ResourceVersion string }
	}
	switch {
	case got == nil:
		Refuse(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", kind, name), name)
	case r.Method == http.MethodGet:
		answer(w, http.StatusOK, got)
	case r.Method == http.MethodPut:
		next, err := decode(body)
		if err != nil || next.Metadata.Name != name {
			Refuse(w, http.StatusBadRequest, "BadRequest", "the name of the object does not match the name on the URL", name)
			return
		}
		if v := next.Metadata.ResourceVersion; v != "" && v != got.Metadata.ResourceVersion || v == "" && kind == "leases" {
			s.conflict(w, kind, name)
			return
		}
		next.Metadata.Namespace, next.Metadata.UID, next.Metadata.CreationTimestamp = got.Metadata.Namespace, got.Metadata.UID, got.Metadata.CreationTimestamp
		s.store(w, http.StatusOK, r.URL.Path, &next)
	case r.Method == http.MethodDelete:
		_ = json.Unmarshal(body, &options) // without a body, there are no conditions
		if c := options.Preconditions; c.UID != "" && c.UID != got.Metadata.UID || c.ResourceVersion != "" && c.ResourceVersion != got.Metadata.ResourceVersion {
			s.conflict(w, kind, name)
			return
		}
		delete(s.Objects, r.URL.Path)
		answer(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success"})
	default:
		Refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")
	}
}

func (s *Server) conflict(w http.ResponseWriter, kind, name string) {
	Refuse(w, http.StatusConflict, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: the object has been modified; please apply your changes to the latest version and try again", kind, name), name)
}

// store stores an object that the protocol allows.
func (s *Server) store(w http.ResponseWriter, status int, path string, o *Object) {
	size := 0
	for _, data := range o.Data {
		size += len(data)
	}
	problem := ""
	switch {
	case len(o.Metadata.Name) > 253 || !name.MatchString(o.Metadata.Name):
		problem = fmt.Sprintf("metadata.name: Invalid value: %q: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'", o.Metadata.Name)
	case size > maxSecret:
		problem = "data: Too long: may not be more than 1048576 bytes"
	}
	for _, value := range o.Metadata.Labels {
		if !label.MatchString(value) {
			problem = fmt.Sprintf("metadata.labels: Invalid value: %q", value)
		}
	}
	if problem != "" {
		Refuse(w, http.StatusUnprocessableEntity, "Invalid", fmt.Sprintf("%s %q is invalid: %s", o.Kind, o.Metadata.Name, problem), o.Metadata.Name)
		return
	}
	if o.APIVersion, o.Kind = "v1", "Secret"; strings.HasPrefix(path, "/apis/") {
		o.APIVersion, o.Kind = "coordination.k8s.io/v1", "Lease"
	}
	s.version++
	o.Metadata.ResourceVersion = fmt.Sprint(s.version)
	s.Objects[path] = o
	answer(w, status, o)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
