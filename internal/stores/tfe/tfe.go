//go:build !mayfly_no_remote

// Package tfe keeps states in HCP Terraform, Terraform Enterprise, or another service with their API: the
// backends "remote" and "cloud" of other engines. Runs are local; the service keeps states and locks.
//
// It may import backend, cloud, state/store and remote. It must not know other configuration, plans,
// providers, or the content of states, other than lineage and serial.
package tfe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Options configure a Service.
type Options struct {
	// Find finds the service tfe.v2 of the host. It is called before the first request.
	Find func(ctx context.Context) (Connection, error)
	Host string // for messages

	Organization string
	// Name is the only workspace if it is not "". It is the default one, and has its own name too. Otherwise,
	// there is no default workspace, and the names of the others begin with Prefix in the service, where
	// they have all of Tags.
	Name   string
	Prefix string
	Tags   []string
	// Project is the name of the project that workspaces are made in, and that those with Tags are in; "" for
	// any.
	Project string
	// IgnoreMode uses a workspace for runs of this machine, whatever the service says where its runs are.
	IgnoreMode bool
}

// Connection is how the service is reached.
type Connection struct {
	API       *url.URL
	Token     string            // "" if the user has none
	Transport http.RoundTripper // nil for the usual one
}

// Service is a remote.Service in one organization.
type Service struct {
	opt    Options
	client *client
}

var _ remote.Service = (*Service)(nil)

// New returns a service. It contacts nothing.
func New(opt Options) *Service {
	return &Service{opt, &client{find: opt.Find, host: opt.Host}}
}

// remoteName returns the name of a workspace in the service; "" for a default workspace that is not there.
func (s *Service) remoteName(workspace string) (string, error) {
	switch {
	case s.opt.Name != "" && (workspace == store.DefaultWorkspace || workspace == s.opt.Name):
		return s.opt.Name, nil
	case s.opt.Name != "":
		return "", remote.ErrNoWorkspaces
	case workspace == store.DefaultWorkspace:
		return "", nil
	}
	return s.opt.Prefix + workspace, nil
}

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) (names []string, err error) {
	if s.opt.Name != "" {
		return nil, nil
	}
	query := url.Values{"page[size]": {"100"}}
	if s.opt.Prefix != "" {
		query.Set("search[name]", s.opt.Prefix)
	}
	if len(s.opt.Tags) > 0 {
		query.Set("search[tags]", strings.Join(s.opt.Tags, ","))
	}
	if s.opt.Project != "" {
		id, err := s.project(ctx)
		if err != nil {
			return nil, err
		}
		query.Set("filter[project][id]", id)
	}
	for page := 1; page > 0; {
		query.Set("page[number]", strconv.Itoa(page))
		var list struct {
			Data []workspace
			Meta struct {
				Pagination struct {
					Next int `json:"next-page"` // 0 for null
				}
			}
		}
		if err := s.client.send(ctx, http.MethodGet, "organizations/"+s.opt.Organization+"/workspaces", query, nil, &list); err != nil {
			return nil, s.explainMissing(err)
		}
		for _, w := range list.Data {
			if name, ok := strings.CutPrefix(w.Attributes.Name, s.opt.Prefix); ok && name != "" {
				names = append(names, name)
			}
		}
		page = list.Meta.Pagination.Next
	}
	return names, nil
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	name, err := s.remoteName(workspace)
	if err != nil {
		return remote.Place{}, err
	}
	if name == "" {
		return remote.Place{Path: s.opt.Host + "/" + s.opt.Organization, State: absent{}, Lock: absent{}}, nil
	}
	h := &hosted{Service: s, name: name}
	return remote.Place{Path: s.opt.Host + "/" + h.id(), State: h, Lock: &lock{hosted: h}}, nil
}

// workspace describes a workspace.
type workspace struct {
	ID         string
	Attributes struct {
		Name   string
		Locked bool
		Reason *string `json:"locked-reason"` // nil if the service does not tell
		Mode   string  `json:"execution-mode"`
	}
}

// find returns a workspace; nil if there is none.
func (s *Service) find(ctx context.Context, name string) (*workspace, error) {
	var answer struct{ Data workspace }
	err := s.client.send(ctx, http.MethodGet, "organizations/"+s.opt.Organization+"/workspaces/"+name, nil, nil, &answer)
	if missing(err) {
		return nil, s.checkOrganization(ctx)
	}
	return &answer.Data, err
}

// findOrCreate returns a workspace, which is created, for runs of this machine, if there is none.
func (s *Service) findOrCreate(ctx context.Context, name string) (*workspace, error) {
	w, err := s.find(ctx, name)
	if w != nil || err != nil {
		return w, err
	}
	data, err := s.newWorkspace(ctx, name)
	if err != nil {
		return nil, err
	}
	var answer struct{ Data workspace }
	err = s.client.send(ctx, http.MethodPost, "organizations/"+s.opt.Organization+"/workspaces", nil, map[string]any{"data": data}, &answer)
	if cloud.Status(err) == http.StatusUnprocessableEntity { // another run may have been faster
		if w, _ := s.find(ctx, name); w != nil {
			return w, nil
		}
	}
	return &answer.Data, err
}

// newWorkspace returns the document for a workspace to be created.
func (s *Service) newWorkspace(ctx context.Context, name string) (map[string]any, error) {
	related := map[string]any{}
	if len(s.opt.Tags) > 0 {
		var tags []any
		for _, tag := range s.opt.Tags {
			tags = append(tags, map[string]any{"type": "tags", "attributes": map[string]any{"name": tag}})
		}
		related["tags"] = map[string]any{"data": tags}
	}
	if s.opt.Project != "" {
		id, err := s.project(ctx)
		if err != nil {
			return nil, err
		}
		related["project"] = map[string]any{"data": map[string]any{"type": "projects", "id": id}}
	}
	return map[string]any{"type": "workspaces", "attributes": map[string]any{"name": name, "execution-mode": "local"}, "relationships": related}, nil
}

// project returns the ID of the project.
func (s *Service) project(ctx context.Context) (string, error) {
	var list struct {
		Data []struct {
			ID         string
			Attributes struct{ Name string }
		}
	}
	query := url.Values{"filter[names]": {s.opt.Project}}
	if err := s.client.send(ctx, http.MethodGet, "organizations/"+s.opt.Organization+"/projects", query, nil, &list); err != nil {
		return "", s.explainMissing(err)
	}
	for _, p := range list.Data {
		if p.Attributes.Name == s.opt.Project {
			return p.ID, nil
		}
	}
	return "", fmt.Errorf("the organization %q has no project %q: check the argument \"project\", or create the project", s.opt.Organization, s.opt.Project)
}

// checkOrganization returns an error if the organization is missing.
func (s *Service) checkOrganization(ctx context.Context) error {
	err := s.client.send(ctx, http.MethodGet, "organizations/"+s.opt.Organization+"/entitlement-set", nil, nil, nil)
	return s.explainMissing(err)
}

// explainMissing adds to an error about a missing object that it must be the organization. It returns nil for
// nil.
func (s *Service) explainMissing(err error) error {
	if missing(err) {
		return fmt.Errorf("%w. There is no organization %q at %s, or the token is not for it: check the arguments \"organization\" and \"token\"", err, s.opt.Organization, s.opt.Host)
	}
	return err
}

// absent is the default workspace where there is none: it has no state, and cannot get one.
type absent struct{}

var errNoDefault = errors.New("there is no default workspace: the workspaces are those that the block \"workspaces\" selects by \"prefix\" or \"tags\". Select one with: mayfly workspace select NAME, or create one with: mayfly workspace new NAME")

// Get implements remote.Blob.
func (absent) Get(context.Context) ([]byte, remote.Version, error) { return nil, "", nil }

// Put implements remote.Blob.
func (absent) Put(context.Context, []byte, remote.Version) (remote.Version, error) {
	return "", errNoDefault
}

// Delete implements remote.Blob.
func (absent) Delete(context.Context) error { return nil }

// Take implements remote.Lock.
func (absent) Take(context.Context, store.LockInfo) error { return errNoDefault }

// Release implements remote.Lock.
func (absent) Release(context.Context, string) error { return store.ErrNotLocked }

// Holder implements remote.Lock.
func (absent) Holder(context.Context) (*store.LockInfo, error) { return nil, nil }

// Check implements remote.Lock.
func (absent) Check(context.Context, string) error { return store.ErrLockLost }
