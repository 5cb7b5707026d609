//go:build !mayfly_no_kubernetes

// Package kubernetes keeps states in a Kubernetes cluster, in the Secrets and under the Leases of the backend
// "kubernetes" of other engines: a Secret and a Lease for each workspace. The journals of runs are Secrets
// too.
//
// It may import backend, cloud, cloud/kubeconfig, state/store, remote and objects. It must not know other
// configuration, plans, providers, or the content of states.
package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/kubeconfig"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Options configure a Service.
type Options struct {
	Suffix    string // of the names of Secrets and Leases
	Namespace string // defaultNamespace if ""
	Labels    map[string]string
	Access    kubeconfig.Access
}

// defaultNamespace is the namespace of states, whatever a kubeconfig file says.
const defaultNamespace = "default"

// Service is a remote.Service in one namespace.
type Service struct {
	opt    Options
	client *client
}

var _ remote.Service = (*Service)(nil)

// New returns a service. It reads the files of opt.Access, and contacts nothing. An error names arguments of
// the backend, and has no credentials.
func New(opt Options) (*Service, error) {
	opt.Namespace = cmp.Or(opt.Namespace, defaultNamespace)
	if err := labelValue.check(opt.Suffix); err != nil {
		return nil, fmt.Errorf("the argument \"secret_suffix\" cannot be part of a Secret: %w", err)
	}
	if err := label.check(opt.Namespace); err != nil {
		return nil, fmt.Errorf("the argument \"namespace\" is not the name of one: %w", err)
	}
	c, err := newClient(opt.Access, opt.Namespace)
	if err != nil {
		return nil, err
	}
	return &Service{opt, c}, nil
}

// Labels and annotations of states. Other engines find states by them.
const (
	labelState     = "tfstate"
	labelSuffix    = "tfstateSecretSuffix"
	labelWorkspace = "tfstateWorkspace"
	labelManager   = "app.kubernetes.io/managed-by"
	manager        = "terraform"
	labelJournal   = "mayflyJournal"
	isTrue         = "true"
)

// labels returns the labels of a workspace's objects, of which kind is the label of one kind of objects.
func (s *Service) labels(workspace, kind string) map[string]string {
	labels := maps.Clone(s.opt.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[kind], labels[labelSuffix], labels[labelWorkspace], labels[labelManager] = isTrue, s.opt.Suffix, workspace, manager
	return labels
}

// name returns the name of the Secret with a workspace's state.
func (s *Service) name(workspace string) string { return "tfstate-" + workspace + "-" + s.opt.Suffix }

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) (workspaces []string, err error) {
	secrets, err := s.client.list(ctx, map[string]string{labelState: isTrue, labelSuffix: s.opt.Suffix})
	for _, secret := range secrets {
		if workspace := secret.Labels[labelWorkspace]; secret.Name == s.name(workspace) {
			workspaces = append(workspaces, workspace)
		}
	}
	return workspaces, err
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	name := s.name(workspace)
	err := labelValue.check(workspace)
	if err == nil {
		err = subdomain.check(name)
	}
	if err != nil {
		return remote.Place{}, fmt.Errorf("the state of the workspace %q cannot be kept in Kubernetes, since its Secret would be %q: %w", workspace, name, err)
	}
	labels := s.labels(workspace, labelState)
	l := &lease{client: s.client, name: "lock-" + name, labels: labels}
	return remote.Place{
		Path:  s.Path() + "/" + name,
		State: &secret{client: s.client, name: name, labels: labels, lease: l},
		Lock:  objects.NewLock(l),
		Parts: &parts{s.client, name + ".journal.", s.labels(workspace, labelJournal)},
	}, nil
}

// Path names the namespace in messages: the server and the name.
func (s *Service) Path() string {
	return "kubernetes://" + strings.TrimPrefix(s.client.server.Host+s.client.server.Path, "/") + "/" + s.opt.Namespace
}
