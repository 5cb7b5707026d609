package http_test

import (
	"crypto/md5"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mayfly-iac/mayfly/state/store"
)

// server keeps one state and its lock, as the documentation of the protocol says.
type server struct {
	*httptest.Server
	// answer, unless nil, answers in place of the server if it returns true. It sees each request first.
	answer func(w http.ResponseWriter, r *http.Request) bool
	// again accepts a lock whose ID already holds it.
	again bool
	// conflict is the status for a held lock.
	conflict int

	mu       sync.Mutex
	state    []byte
	lock     []byte // the information as it was sent
	requests []string
}

func newServer(t *testing.T) *server {
	s := &server{conflict: http.StatusLocked}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method)
	if s.answer != nil && s.answer(w, r) {
		return
	}
	if sum := md5.Sum(body); len(body) > 0 && r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(sum[:]) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch r.Method {
	case http.MethodGet:
		if s.state == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		sum := md5.Sum(s.state)
		w.Header().Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
		_, _ = w.Write(s.state)
	case http.MethodPost, http.MethodDelete:
		if s.lock != nil && r.URL.Query().Get("ID") != s.holder() {
			s.refuse(w)
			return
		}
		s.state = body
		if r.Method == http.MethodDelete {
			s.state = nil
		}
	case "LOCK":
		if info, err := store.ParseLockInfo(body); s.lock != nil && (err != nil || !s.again || info.ID != s.holder()) {
			s.refuse(w)
			return
		}
		s.lock = body
	case "UNLOCK":
		if info, err := store.ParseLockInfo(body); s.lock != nil && (err != nil || info.ID != s.holder()) {
			s.refuse(w)
			return
		}
		s.lock = nil
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *server) holder() string {
	info, err := store.ParseLockInfo(s.lock)
	if err != nil {
		return ""
	}
	return info.ID
}

func (s *server) refuse(w http.ResponseWriter) {
	w.WriteHeader(s.conflict)
	_, _ = w.Write(s.lock)
}

// swap replaces the state and the lock behind the back of all clients.
func (s *server) swap(state, lock []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.lock = state, lock
}
