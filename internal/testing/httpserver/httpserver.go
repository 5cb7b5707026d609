// Package httpserver serves one state and its lock for tests, by the protocol that the http backend of
// OpenTofu documents.
//
// It may import the testing package. It must not know any other package of this module.
package httpserver

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server is a server without a state. Answer, Again and Conflict may be set before the first request; the
// other fields may be used with Mu held.
type Server struct {
	*httptest.Server
	// Answer answers in place of the server if it returns true. It sees each request first; nil for none.
	Answer func(w http.ResponseWriter, r *http.Request) bool
	// Again accepts a lock whose ID already holds it.
	Again bool
	// Conflict is the status for a held lock.
	Conflict int

	Mu       sync.Mutex
	State    []byte
	Lock     []byte   // the information as it was sent
	Requests []string // methods
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{Conflict: http.StatusLocked}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Requests = append(s.Requests, r.Method)
	if s.Answer != nil && s.Answer(w, r) {
		return
	}
	if sum := md5.Sum(body); len(body) > 0 && r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(sum[:]) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch r.Method {
	case http.MethodGet:
		if s.State == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		sum := md5.Sum(s.State)
		w.Header().Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
		_, _ = w.Write(s.State)
	case http.MethodPost, http.MethodDelete:
		if s.Lock != nil && r.URL.Query().Get("ID") != s.holder() {
			s.refuse(w)
			return
		}
		s.State = body
		if r.Method == http.MethodDelete {
			s.State = nil
		}
	case "LOCK":
		if s.Lock != nil && (!s.Again || idOf(body) != s.holder()) {
			s.refuse(w)
			return
		}
		s.Lock = body
	case "UNLOCK":
		if s.Lock != nil && idOf(body) != s.holder() {
			s.refuse(w)
			return
		}
		s.Lock = nil
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *Server) holder() string { return idOf(s.Lock) }

// idOf returns the ID in the information about a lock, "" if it has none.
func idOf(lock []byte) string {
	var info struct{ ID string }
	_ = json.Unmarshal(lock, &info)
	return info.ID
}

func (s *Server) refuse(w http.ResponseWriter) {
	w.WriteHeader(s.Conflict)
	_, _ = w.Write(s.Lock)
}

// Swap replaces the state and the lock behind the back of all clients.
func (s *Server) Swap(state, lock []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.State, s.Lock = state, lock
}
