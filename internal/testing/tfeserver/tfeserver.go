// Package tfeserver serves the parts of the API of HCP Terraform and Terraform Enterprise that tests need:
// the workspaces of one organization with their locks and states, for one token.
//
// It may import the testing package. It must know no other package of this module than webserver. It lacks
// runs, teams and rights.
package tfeserver

import (
	"cmp"
	"crypto/md5" //nolint:gosec // the checksum of the protocol
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Organization is the name of the organization, and Token the token that requests must bear.
const (
	Organization = "org"
	Token        = "hunter2"
)

// Project is the ID of the only project, whose name is "project".
const Project = "prj-1"

// Server is a server without workspaces. Its fields may be used with Mu held.
type Server struct {
	webserver.Base

	Workspaces map[string]*Workspace // by name
	// NoUploads is set for a server that takes states only as part of a request, and Silent for one that
	// keeps the reasons of locks to itself, as former versions do.
	NoUploads, Silent bool
	// PageSize is how many workspaces are listed at once, 20 if it is 0.
	PageSize int
	ids      int
}

// Workspace is one workspace.
type Workspace struct {
	Name, ID string
	Mode     string // of execution
	Locked   bool
	Reason   string // for the lock
	Tags     []string
	Project  string   // its ID
	States   []*State // in order of time; the last one that has content is the current one
}

// State is a version of a state.
type State struct {
	ID, MD5, Lineage string
	Serial           uint64
	Content          []byte // nil until it is uploaded
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{Workspaces: map[string]*Workspace{}}
	s.Start(t, s.serve)
	return s
}

// API returns the address of the service tfe.v2.
func (s *Server) API() string { return s.URL + "/api/v2/" }

// Add adds a workspace without a state.
func (s *Server) Add(name string) *Workspace {
	w := &Workspace{Name: name, ID: s.id("ws"), Mode: "local"}
	s.Workspaces[name] = w
	return w
}

// Current returns the current state; nil if there is none.
func (w *Workspace) Current() *State {
	for _, state := range slices.Backward(w.States) {
		if state.Content != nil {
			return state
		}
	}
	return nil
}

func (s *Server) id(kind string) string {
	s.ids++
	return fmt.Sprint(kind, "-", s.ids)
}

// Refuse answers with an error in the form of the protocol.
func Refuse(w http.ResponseWriter, status int, title, detail string) {
	answer(w, status, map[string]any{"errors": []any{map[string]string{"status": strconv.Itoa(status), "title": title, "detail": detail}}})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/vnd.api+json")
	w.Header().Set("TFP-API-Version", "2.6")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}

func notFound(w http.ResponseWriter) { Refuse(w, http.StatusNotFound, "not found", "") }

// request is the body of a client's request.
type request struct {
	Data struct {
		Attributes struct {
			Name, Reason, MD5, Lineage, State string
			ExecutionMode                     string `json:"execution-mode"`
			Serial                            *uint64
			Force                             bool
		}
		Relationships struct {
			Tags struct {
				Data []struct{ Attributes struct{ Name string } }
			}
			Project struct{ Data struct{ ID string } }
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	if id, ok := strings.CutPrefix(r.URL.Path, "/objects/"); ok {
		s.serveObject(w, r, id, body)
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v2/")
	var in request
	var err error
	if strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
		err = json.Unmarshal(body, &in)
	}
	switch parts := strings.Split(path, "/"); {
	case !ok:
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != "Bearer "+Token:
		Refuse(w, http.StatusUnauthorized, "unauthorized", "")
	case err != nil:
		Refuse(w, http.StatusBadRequest, "invalid JSON", "")
	case path == "ping":
		answer(w, http.StatusNoContent, nil)
	case parts[0] == "organizations" && len(parts) > 2 && parts[1] == Organization:
		s.serveOrganization(w, r, parts[2:], in)
	case parts[0] == "workspaces" && len(parts) > 1:
		for _, ws := range s.Workspaces {
			if ws.ID == parts[1] {
				s.serveWorkspace(w, r, ws, strings.Join(parts[2:], "/"), in)
				return
			}
		}
		notFound(w)
	case parts[0] == "state-versions" && len(parts) == 2 && s.state(parts[1]) != nil:
		answer(w, http.StatusOK, s.describeState(s.state(parts[1])))
	default:
		notFound(w)
	}
}

func (s *Server) state(id string) *State {
	for _, ws := range s.Workspaces {
		for _, state := range ws.States {
			if state.ID == id {
				return state
			}
		}
	}
	return nil
}

// serveObject takes and returns contents at addresses that need no token.
func (s *Server) serveObject(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	state := s.state(strings.TrimSuffix(id, "/json"))
	switch {
	case state == nil:
		http.NotFound(w, r)
	case strings.HasSuffix(id, "/json"): // which other clients upload too
	case r.Method == http.MethodGet:
		_, _ = w.Write(state.Content)
	case sum(body) != state.MD5:
		http.Error(w, "wrong checksum", http.StatusUnprocessableEntity)
	default:
		state.Content = body
	}
}

func sum(b []byte) string { return fmt.Sprintf("%x", md5.Sum(b)) } //nolint:gosec // see above

func (s *Server) serveOrganization(w http.ResponseWriter, r *http.Request, path []string, in request) {
	switch {
	case path[0] == "entitlement-set":
		answer(w, http.StatusOK, map[string]any{"data": map[string]any{"id": Organization, "type": "entitlement-sets", "attributes": map[string]bool{"operations": true, "state-storage": true}}})
	case path[0] == "projects": // there is one of that name
		answer(w, http.StatusOK, map[string]any{"data": []any{map[string]any{"id": Project, "type": "projects", "attributes": map[string]string{"name": "project"}}}})
	case path[0] != "workspaces":
		notFound(w)
	case len(path) == 2 && s.Workspaces[path[1]] != nil:
		answer(w, http.StatusOK, map[string]any{"data": s.describe(s.Workspaces[path[1]])})
	case len(path) == 2:
		notFound(w)
	case r.Method == http.MethodGet:
		s.list(w, r)
	case s.Workspaces[in.Data.Attributes.Name] != nil:
		Refuse(w, http.StatusUnprocessableEntity, "invalid attribute", "Name has already been taken")
	default:
		ws := s.Add(in.Data.Attributes.Name)
		ws.Mode = cmp.Or(in.Data.Attributes.ExecutionMode, ws.Mode)
		for _, tag := range in.Data.Relationships.Tags.Data {
			ws.Tags = append(ws.Tags, tag.Attributes.Name)
		}
		ws.Project = in.Data.Relationships.Project.Data.ID
		answer(w, http.StatusCreated, map[string]any{"data": s.describe(ws)})
	}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	var found []any
	for _, name := range slices.Sorted(maps.Keys(s.Workspaces)) {
		ws := s.Workspaces[name]
		lacks := func(tag string) bool { return tag != "" && !slices.Contains(ws.Tags, tag) }
		if strings.Contains(name, query.Get("search[name]")) && !slices.ContainsFunc(strings.Split(query.Get("search[tags]"), ","), lacks) &&
			strings.HasPrefix(ws.Project, query.Get("filter[project][id]")) {
			found = append(found, s.describe(ws))
		}
	}
	size := cmp.Or(s.PageSize, 20)
	page, _ := strconv.Atoi(query.Get("page[number]")) // 0 is the first too
	page = max(page, 1)
	pages := max(1, (len(found)+size-1)/size)
	var next any
	if page < pages {
		next = page + 1
	}
	data := append([]any{}, found[min((page-1)*size, len(found)):min(page*size, len(found))]...)
	answer(w, http.StatusOK, map[string]any{"data": data, "meta": map[string]any{"pagination": map[string]any{"current-page": page, "next-page": next, "total-pages": pages, "total-count": len(found)}}})
}

func (s *Server) serveWorkspace(w http.ResponseWriter, r *http.Request, ws *Workspace, action string, in request) {
	switch action {
	case "":
		if r.Method == http.MethodDelete {
			delete(s.Workspaces, ws.Name)
			answer(w, http.StatusNoContent, nil)
			return
		}
	case "actions/lock":
		if ws.Locked {
			Refuse(w, http.StatusConflict, "workspace already locked", "")
			return
		}
		ws.Locked, ws.Reason = true, in.Data.Attributes.Reason
	case "actions/unlock", "actions/force-unlock":
		if !ws.Locked {
			Refuse(w, http.StatusConflict, "workspace already unlocked", "")
			return
		}
		ws.Locked, ws.Reason = false, ""
	case "actions/safe-delete":
		delete(s.Workspaces, ws.Name)
		answer(w, http.StatusNoContent, nil)
		return
	case "current-state-version":
		if state := ws.Current(); state != nil {
			answer(w, http.StatusOK, s.describeState(state))
			return
		}
		notFound(w)
		return
	case "state-versions":
		s.addState(w, ws, in)
		return
	default:
		notFound(w)
		return
	}
	answer(w, http.StatusOK, map[string]any{"data": s.describe(ws)})
}

// addState adds a version of a state, on the conditions of the protocol.
func (s *Server) addState(w http.ResponseWriter, ws *Workspace, in request) {
	a := in.Data.Attributes
	content, err := base64.StdEncoding.DecodeString(a.State)
	current := ws.Current()
	switch {
	case a.Serial == nil || a.MD5 == "":
		Refuse(w, http.StatusBadRequest, "missing required parameter", "serial, md5")
		return
	case !ws.Locked:
		Refuse(w, http.StatusConflict, "conflict", "The workspace must be locked")
		return
	case err != nil || a.State != "" && sum(content) != a.MD5:
		Refuse(w, http.StatusUnprocessableEntity, "invalid attribute", "md5")
		return
	case a.State == "" && s.NoUploads:
		Refuse(w, http.StatusUnprocessableEntity, "invalid attribute", "State can't be blank")
		return
	case current != nil && current.Serial == *a.Serial && current.MD5 == a.MD5:
		answer(w, http.StatusCreated, s.describeState(current))
		return
	case current != nil && !a.Force && (*a.Serial <= current.Serial || a.Lineage != "" && current.Lineage != "" && a.Lineage != current.Lineage):
		Refuse(w, http.StatusConflict, "conflict", "The serial or the lineage does not follow that of the current state")
		return
	}
	state := &State{ID: s.id("sv"), MD5: a.MD5, Lineage: a.Lineage, Serial: *a.Serial}
	if a.State != "" {
		state.Content = content
	}
	ws.States = append(ws.States, state)
	answer(w, http.StatusCreated, s.describeState(state))
}

func (s *Server) describe(ws *Workspace) map[string]any {
	attributes := map[string]any{
		"name": ws.Name, "locked": ws.Locked, "execution-mode": ws.Mode, "operations": ws.Mode != "local", "terraform-version": "1.12.6", "tag-names": ws.Tags,
		"permissions": map[string]bool{
			"can-update": true, "can-lock": true, "can-unlock": true, "can-force-unlock": true, "can-read-settings": true,
			"can-read-state-versions": true, "can-create-state-versions": true, "can-destroy": true, "can-force-delete": true,
		},
	}
	if !s.Silent {
		attributes["locked-reason"] = ws.Reason
	}
	return map[string]any{"id": ws.ID, "type": "workspaces", "attributes": attributes}
}

func (s *Server) describeState(state *State) map[string]any {
	status := "pending"
	if state.Content != nil {
		status = "finalized"
	}
	attributes := map[string]any{"serial": state.Serial, "status": status, "hosted-state-download-url": s.URL + "/objects/" + state.ID}
	if !s.NoUploads {
		attributes["hosted-state-upload-url"] = s.URL + "/objects/" + state.ID
		attributes["hosted-json-state-upload-url"] = s.URL + "/objects/" + state.ID + "/json"
	}
	return map[string]any{"data": map[string]any{"id": state.ID, "type": "state-versions", "attributes": attributes}}
}
