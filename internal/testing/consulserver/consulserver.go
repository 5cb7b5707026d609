// Package consulserver serves the parts of Consul that tests need: keys and values with conditional changes,
// transactions, queries that wait, and sessions that expire and hold keys. It knows no rights, no datacenters
// and no lock delay.
//
// It may import the testing package. It must know no other package of this module than webserver.
package consulserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// MaxValue is the largest size of a value in bytes.
const MaxValue = 512 << 10

// Entry is a key with its value.
type Entry struct {
	Key, Session                        string
	Value                               []byte
	Flags                               uint64
	CreateIndex, ModifyIndex, LockIndex uint64
}

// session is a session with a time to live, after which it ends unless it is renewed.
type session struct {
	ttl      time.Duration // 0 for no end
	expires  *time.Timer
	deletes  bool // its keys when it ends, and does not merely release them
	settings map[string]any
}

// Server is a server without keys. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Entries  map[string]*Entry
	sessions map[string]*session
	index    uint64
	changed  chan struct{} // closed by the next change
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{Entries: map[string]*Entry{}, sessions: map[string]*session{}, index: 1, changed: make(chan struct{})}
	s.Start(t, s.serve)
	t.Cleanup(s.CloseClientConnections) // of queries that wait
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	if key, ok := strings.CutPrefix(path, "kv/"); ok {
		s.serveKey(w, r, key, body)
		return
	}
	action, id, _ := strings.Cut(strings.TrimPrefix(path, "session/"), "/")
	switch {
	case path == "txn":
		s.transact(w, body)
	case path == "session/create":
		s.create(w, body)
	case s.sessions[id] == nil:
		if action == "info" {
			s.answer(w, []any{})
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "Session id '%s' not found", id)
	case action == "renew":
		s.sessions[id].renew()
		s.answer(w, []any{s.sessions[id].settings})
	case action == "info":
		s.answer(w, []any{s.sessions[id].settings})
	case action == "destroy":
		s.end(id)
		s.answer(w, true)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *Server) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Consul-Index", strconv.FormatUint(s.index, 10))
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) create(w http.ResponseWriter, body []byte) {
	settings := map[string]any{}
	_ = json.Unmarshal(body, &settings)
	text, _ := settings["TTL"].(string)
	ttl, _ := time.ParseDuration(text)
	id := fmt.Sprintf("00000000-0000-0000-0000-%012d", len(s.sessions)+1)
	settings["ID"] = id
	one := &session{ttl: ttl, deletes: settings["Behavior"] == "delete", settings: settings}
	if ttl > 0 {
		one.expires = time.AfterFunc(ttl, func() {
			s.Mu.Lock()
			defer s.Mu.Unlock()
			s.end(id)
		})
	}
	s.sessions[id] = one
	s.answer(w, map[string]string{"ID": id})
}

func (s *session) renew() {
	if s.expires != nil {
		s.expires.Reset(s.ttl)
	}
}

// Set stores a value behind the back of all clients.
func (s *Server) Set(key string, value []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.apply(operation{Verb: "set", Key: key, Value: value})
}

// EndSessions ends all sessions, as if they had not been renewed.
func (s *Server) EndSessions() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for id, one := range s.sessions {
		if one != nil {
			s.end(id)
		}
	}
}

// end ends a session. s.Mu is held.
func (s *Server) end(id string) {
	one := s.sessions[id]
	if one == nil {
		return
	}
	if one.expires != nil {
		one.expires.Stop()
	}
	s.sessions[id] = nil
	for key, e := range s.Entries {
		switch {
		case e.Session != id:
		case one.deletes:
			s.remove(key)
		default:
			s.change(e).Session = ""
		}
	}
}

// change notes that an entry changes, and returns it. s.Mu is held.
func (s *Server) change(e *Entry) *Entry {
	s.index++
	e.ModifyIndex = s.index
	close(s.changed)
	s.changed = make(chan struct{})
	return e
}

func (s *Server) remove(key string) {
	s.change(s.Entries[key])
	delete(s.Entries, key)
}

func (s *Server) serveKey(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	query := r.URL.Query()
	number := func(name string) uint64 { n, _ := strconv.ParseUint(query.Get(name), 10, 64); return n }
	switch r.Method {
	case http.MethodGet:
		s.get(w, r, key)
	case http.MethodDelete:
		e := s.Entries[key]
		switch {
		case query.Has("recurse"):
			for _, key := range s.keys(key) {
				s.remove(key)
			}
		case e == nil:
		case query.Has("cas") && e.ModifyIndex != number("cas"):
			s.answer(w, false)
			return
		default:
			s.remove(key)
		}
		s.answer(w, true)
	default:
		op := operation{Verb: "set", Key: key, Value: body, Flags: number("flags")}
		switch {
		case query.Has("cas"):
			op.Verb, op.Index = "cas", number("cas")
		case query.Has("acquire"):
			op.Verb, op.Session = "lock", query.Get("acquire")
		case query.Has("release"):
			op.Verb, op.Session = "unlock", query.Get("release")
		}
		if len(body) > MaxValue {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			fmt.Fprintf(w, "Request body(%d bytes) too large, max size: %d bytes.", len(body), MaxValue)
			return
		}
		if op.Verb == "lock" && s.sessions[op.Session] == nil {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, "invalid session %q", op.Session)
			return
		}
		s.answer(w, s.apply(op) == "")
	}
}

// keys returns the keys that begin with prefix, in order.
func (s *Server) keys(prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Entries)), func(key string) bool { return !strings.HasPrefix(key, prefix) })
}

// get answers with one key, or with all that begin with it. It waits for a change if the query says so.
func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	query := r.URL.Query()
	if since, err := strconv.ParseUint(query.Get("index"), 10, 64); err == nil {
		s.wait(r.Context(), since, query.Get("wait"))
	}
	keys := s.keys(key)
	switch {
	case query.Has("keys"):
		if len(keys) == 0 {
			break
		}
		s.answer(w, keys)
		return
	case !query.Has("recurse"):
		keys = slices.DeleteFunc(keys, func(k string) bool { return k != key })
	}
	if len(keys) == 0 {
		w.Header().Set("X-Consul-Index", strconv.FormatUint(s.index, 10))
		w.WriteHeader(http.StatusNotFound)
		return
	}
	out := make([]map[string]any, len(keys))
	for i, key := range keys {
		out[i] = s.Entries[key].json()
	}
	s.answer(w, out)
}

func (e *Entry) json() map[string]any {
	out := map[string]any{
		"Key": e.Key, "Value": e.Value, "Flags": e.Flags,
		"CreateIndex": e.CreateIndex, "ModifyIndex": e.ModifyIndex, "LockIndex": e.LockIndex,
	}
	if e.Session != "" {
		out["Session"] = e.Session
	}
	return out
}

// wait returns after a change since the index, or after the time. s.Mu is held, but not while it waits.
func (s *Server) wait(ctx context.Context, since uint64, limit string) {
	d, err := time.ParseDuration(limit)
	if err != nil {
		d = 5 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for s.index <= since && ctx.Err() == nil {
		changed := s.changed
		s.Mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		s.Mu.Lock()
	}
}

// operation is a change of a key, with the names of transactions.
type operation struct {
	Verb, Key, Session string
	Value              []byte
	Flags, Index       uint64
}

// fails returns why an operation cannot be done; "" if it can.
func (s *Server) fails(op operation) string {
	e := s.Entries[op.Key]
	switch {
	case op.Verb == "cas" && (e == nil && op.Index != 0 || e != nil && e.ModifyIndex != op.Index):
		return "failed to set key, index is stale"
	case op.Verb == "lock" && (s.sessions[op.Session] == nil || e != nil && e.Session != "" && e.Session != op.Session):
		return "failed to lock key, lock is already held"
	case op.Verb == "unlock" && (e == nil || e.Session != op.Session):
		return "failed to unlock key, lock isn't held, or is held by another session"
	case op.Verb == "check-session" && (e == nil || e.Session != op.Session):
		return "current session does not match"
	case op.Verb == "check-index" && (e == nil || e.ModifyIndex != op.Index):
		return "current modify index does not match"
	case op.Verb == "check-not-exists" && e != nil:
		return "key exists"
	}
	return ""
}

// apply does an operation, unless it returns why not.
func (s *Server) apply(op operation) string {
	if why := s.fails(op); why != "" || strings.HasPrefix(op.Verb, "check-") || op.Verb == "get" {
		return why
	}
	e := s.Entries[op.Key]
	if op.Verb == "delete" {
		if e != nil {
			s.remove(op.Key)
		}
		return ""
	}
	if e == nil {
		e = &Entry{Key: op.Key, CreateIndex: s.index + 1}
		s.Entries[op.Key] = e
	}
	s.change(e)
	e.Value, e.Flags = op.Value, op.Flags
	switch op.Verb {
	case "lock":
		if e.Session == "" {
			e.LockIndex++
		}
		e.Session = op.Session
	case "unlock":
		e.Session = ""
	}
	return ""
}

// transact does all operations or none.
func (s *Server) transact(w http.ResponseWriter, body []byte) {
	var ops []struct{ KV operation }
	if err := json.Unmarshal(body, &ops); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, "Failed to parse body: ", err)
		return
	}
	type failure struct {
		OpIndex int
		What    string
	}
	var failures []failure
	for i, op := range ops {
		if len(op.KV.Value) > MaxValue {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			fmt.Fprintf(w, "Value for key %q is too large (%d > %d bytes)", op.KV.Key, len(op.KV.Value), MaxValue)
			return
		}
		if why := s.fails(op.KV); why != "" {
			failures = append(failures, failure{i, fmt.Sprintf("failed to %s key %q: %s", op.KV.Verb, op.KV.Key, why)})
		}
	}
	if failures != nil {
		w.WriteHeader(http.StatusConflict)
		s.answer(w, map[string]any{"Results": nil, "Errors": failures})
		return
	}
	results := []map[string]any{}
	for _, op := range ops {
		s.apply(op.KV)
		if e := s.Entries[op.KV.Key]; e != nil {
			out := e.json()
			if op.KV.Verb != "get" {
				out["Value"] = nil
			}
			results = append(results, map[string]any{"KV": out})
		}
	}
	s.answer(w, map[string]any{"Results": results, "Errors": nil})
}
