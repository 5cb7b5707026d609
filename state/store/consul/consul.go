// Package consul keeps states in the key/value store of Consul, under the keys and locks of the backend
// "consul" of other engines: a key for each workspace, with more keys below it for a state that is too large
// for one, and a lock that a session holds.
//
// It may import state, state/store, state/store/remote and the client of Consul. It must not know
// configuration, plans, providers, or what a state contains.
package consul

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/consul/api"

	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/remote"
)

// Options configure a Service. What is "" is taken from the variables of Consul's own programs, such as
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
	client *api.Client
	server string
}

var _ remote.Service = (*Service)(nil)

// New returns a service. It contacts nothing. It fails if files of the options cannot be read or are not
// valid.
func New(opt Options) (*Service, error) {
	config := api.DefaultConfig()
	for _, set := range []struct {
		to    *string
		value string
	}{
		{&config.Address, opt.Address},
		{&config.Scheme, opt.Scheme},
		{&config.Datacenter, opt.Datacenter},
		{&config.Token, opt.Token},
		{&config.TLSConfig.CAFile, opt.CAFile},
		{&config.TLSConfig.CertFile, opt.CertFile},
		{&config.TLSConfig.KeyFile, opt.KeyFile},
	} {
		if set.value != "" {
			*set.to = set.value
		}
	}
	if opt.Auth != "" {
		user, password, _ := strings.Cut(opt.Auth, ":")
		config.HttpAuth = &api.HttpBasicAuth{Username: user, Password: password}
	}
	server := config.Scheme + "://" + config.Address
	if !strings.HasPrefix(config.Address, "unix://") { // which needs another transport, and redirects nowhere
		var err error
		if config.HttpClient, err = api.NewHttpClient(config.Transport, config.TLSConfig); err != nil {
			return nil, err
		}
		config.HttpClient.CheckRedirect = sameHost
	}
	client, err := api.NewClient(config)
	return &Service{opt, client, server}, err
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
	return "consul://" + s.server[strings.Index(s.server, "://")+3:] + "/" + s.opt.Path
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
	keys, _, err := s.client.KV().Keys(prefix, "/", reading(ctx))
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
		Parts: &parts{s.client.KV(), key + "/.journal/"},
	}
	if !s.opt.NoLock {
		p.Lock = &lock{client: s.client, key: key + "/.lock", infoKey: key + "/.lockinfo"}
	}
	return p, nil
}

// reading are the options of requests that read. They ask the leader, because another server may not have the
// last change yet.
func reading(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx)
}

func writing(ctx context.Context) *api.WriteOptions { return (&api.WriteOptions{}).WithContext(ctx) }

// parts is the journal of a state: keys that begin with prefix.
type parts struct {
	kv     *api.KV
	prefix string
}

// List implements remote.Parts.
func (p *parts) List(ctx context.Context) ([]string, error) {
	names, _, err := p.kv.Keys(p.prefix, "", reading(ctx))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], p.prefix)
	}
	return names, classify(err)
}

// Get implements remote.Parts.
func (p *parts) Get(ctx context.Context, name string) ([]byte, error) {
	pair, _, err := p.kv.Get(p.prefix+name, reading(ctx))
	if pair == nil || err != nil {
		return nil, classify(err)
	}
	return pair.Value, nil
}

// Put implements remote.Parts.
func (p *parts) Put(ctx context.Context, name string, data []byte) error {
	_, err := p.kv.Put(&api.KVPair{Key: p.prefix + name, Value: data}, writing(ctx))
	return classify(err)
}

// removals is how many keys one transaction removes.
const removals = 64

// Remove implements remote.Parts.
func (p *parts) Remove(ctx context.Context, names []string) error {
	for len(names) > 0 {
		n := min(removals, len(names))
		ops := make(api.KVTxnOps, n)
		for i, name := range names[:n] {
			ops[i] = &api.KVTxnOp{Verb: api.KVDelete, Key: p.prefix + name}
		}
		if _, _, _, err := p.kv.Txn(ops, reading(ctx)); err != nil {
			return classify(err)
		}
		names = names[n:]
	}
	return nil
}

// classify marks an error that may pass, and adds what to do about others. It returns nil for nil.
func classify(err error) error {
	var status api.StatusError
	var lost *url.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.As(err, &status) && (status.Code == http.StatusTooManyRequests || status.Code >= http.StatusInternalServerError):
		return &remote.Passing{Err: err}
	case errors.As(err, &status) && (status.Code == http.StatusForbidden || status.Code == http.StatusUnauthorized):
		return fmt.Errorf("%w. Check the argument \"access_token\" or the variable CONSUL_HTTP_TOKEN: the token needs the rights key:write and session:write", err)
	case errors.As(err, &lost):
		return &remote.Passing{Err: err}
	case !errors.As(err, &status):
		return fmt.Errorf("the answer is not one of Consul (%w). Check the argument \"address\"", err)
	}
	return err
}
