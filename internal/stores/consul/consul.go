//go:build !mayfly_no_consul

// Package consul keeps states in the key/value store of Consul, under the keys and locks of the backend
// "consul" of other engines: a key for each workspace, with more keys below it for a state that is too large
// for one, and a lock that a session holds.
//
// It may import backend, cloud, state, state/store and remote. It must not know other configuration, plans,
// providers, or the content of states.
package consul

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Options configure a Service. Empty fields are taken from the variables of Consul's own programs, such as
// CONSUL_HTTP_ADDR, or has their default.
type Options struct {
	Path       string // of the key of the default workspace
	Address    string // host and port of an agent
	Scheme     string // "http" or "https"
	Datacenter string
	Token      string
	Auth       string // the user and the password for HTTP's basic authentication, separated by a colon
	CAFile     string
	CertFile   string // of the client
	KeyFile    string // of the client

	Gzip   bool // states are compressed
	NoLock bool
}

// Service is a remote.Service below one path.
type Service struct {
	opt    Options
	client *client
}

var _ remote.Service = (*Service)(nil)

// New returns a service. It contacts nothing. It fails if files of the options cannot be read or are not
// valid.
func New(opt Options) (*Service, error) {
	client, err := connect(opt)
	return &Service{opt, client}, err
}

// sameHost refuses to send the token to another host.
func sameHost(r *http.Request, via []*http.Request) error {
	if r.URL.Host != via[0].URL.Host || len(via) > 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// Path names the key of the default workspace in messages.
func (s *Service) Path() string {
	return "consul://" + s.client.base.Host + s.client.base.Path + "/" + s.opt.Path
}

// environments ends the path in the keys of the other workspaces.
const environments = "-env:"

// key returns the key of a workspace.
func (s *Service) key(workspace string) string {
	if workspace == store.DefaultWorkspace {
		return s.opt.Path
	}
	return s.opt.Path + environments + workspace
}

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) (workspaces []string, err error) {
	prefix := s.opt.Path + environments
	keys, err := s.client.keys(ctx, prefix, "/")
	for _, key := range keys {
		if name := strings.TrimPrefix(key, prefix); !strings.HasSuffix(name, "/") { // which has only keys below it
			workspaces = append(workspaces, name)
		}
	}
	return workspaces, classify(err)
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	key := s.key(workspace)
	p := remote.Place{
		Path:  s.Path() + strings.TrimPrefix(key, s.opt.Path),
		State: &value{client: s.client, key: key, gzip: s.opt.Gzip},
		Parts: &parts{s.client, key + "/.journal/"},
	}
	if !s.opt.NoLock {
		p.Lock = &lock{client: s.client, key: key + "/.lock", infoKey: key + "/.lockinfo"}
	}
	return p, nil
}

// parts is the journal of a state: keys that begin with prefix.
type parts struct {
	client *client
	prefix string
}

// List implements remote.Parts.
func (p *parts) List(ctx context.Context) ([]string, error) {
	names, err := p.client.keys(ctx, p.prefix, "")
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], p.prefix)
	}
	return names, classify(err)
}

// Get implements remote.Parts.
func (p *parts) Get(ctx context.Context, name string) ([]byte, error) {
	pair, err := p.client.get(ctx, p.prefix+name)
	if pair == nil || err != nil {
		return nil, classify(err)
	}
	return pair.Value, nil
}

// Put implements remote.Parts.
func (p *parts) Put(ctx context.Context, name string, data []byte) error {
	return classify(p.client.put(ctx, p.prefix+name, data))
}

// removals is how many keys one transaction removes.
const removals = 64

// Remove implements remote.Parts.
func (p *parts) Remove(ctx context.Context, names []string) error {
	for len(names) > 0 {
		n := min(removals, len(names))
		operations := make([]operation, n)
		for i, name := range names[:n] {
			operations[i] = operation{Verb: opDelete, Key: p.prefix + name}
		}
		if _, _, err := p.client.transact(ctx, operations...); err != nil {
			return classify(err)
		}
		names = names[n:]
	}
	return nil
}

// classify marks an error that may pass, and adds advice to others. It returns nil for nil.
func classify(err error) error {
	var refused *cloud.Error
	var lost net.Error // in the request, or in the middle of the answer
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.As(err, &refused) && strings.Contains(refused.Message, "No path to datacenter"):
		return fmt.Errorf("%w. Check the argument \"datacenter\"", err)
	case errors.As(err, &refused) && (refused.Status == http.StatusTooManyRequests || refused.Status >= http.StatusInternalServerError):
		return &remote.Passing{Err: err}
	case errors.As(err, &refused) && (refused.Status == http.StatusForbidden || refused.Status == http.StatusUnauthorized):
		return fmt.Errorf("%w. Check the argument \"access_token\" or the variable CONSUL_HTTP_TOKEN: the token needs the rights key:write and session:write", err)
	case errors.As(err, &lost), errors.Is(err, io.ErrUnexpectedEOF):
		return &remote.Passing{Err: err}
	}
	return err
}
