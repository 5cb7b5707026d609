// Package httpserver serves one state and its lock for tests, by the protocol that the http backend of
// OpenTofu documents.
//
// It may import the testing package. It must know no other package of this module than webserver.
package httpserver

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Server is a server without a state. Answer, Again and Conflict may be set before the first request; the
// other fields may be used with Mu held.
type Server struct {
	webserver.Base

	// Again accepts a lock whose ID already holds it.
	Again bool
	// Conflict is the status for a held lock.
	Conflict int

	State []byte
	Lock  []byte // the information as it was sent
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{Conflict: http.StatusLocked}
	s.Start(t, s.serve)
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
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
