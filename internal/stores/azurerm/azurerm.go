//go:build !mayfly_no_azurerm

// Package azurerm keeps states in Blob Storage of Azure, as blobs with the names of the backend "azurerm" of
// other engines, and under their locks, which are leases of these blobs.
//
// It may import backend, cloud, cloud/azure, state/store, remote and objects. It must not know other
// configuration, plans, providers, or the content of states.
package azurerm

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Options configure a Service.
type Options struct {
	Container *azure.Container
	Key       string // name of the blob of the default workspace
	Snapshot  bool   // keep a snapshot of each state that is replaced
}

// Service is a remote.Service in a container.
type Service struct {
	opt Options

	mu     sync.Mutex
	leases map[string]lease // by the name of the blob
}

// lease is the lease of a blob that this process has: without its ID, the service refuses to change the blob.
type lease struct {
	id   string // of the lock
	text string // that the metadata has about it
	gone bool   // the blob was deleted, and the lease with it
}

var (
	_ remote.Service = (*Service)(nil)
	_ objects.Bucket = (*Service)(nil)
)

// New returns a service. It contacts nothing.
func New(opt Options) *Service { return &Service{opt: opt, leases: map[string]lease{}} }

func (s *Service) lease(name string) lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases[name]
}

func (s *Service) setLease(name string, l lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[name] = l
}

// header returns the header of requests that change a blob.
func (s *Service) header(name string) http.Header {
	h := http.Header{}
	if l := s.lease(name); l.id != "" && !l.gone {
		h.Set(azure.HeaderLease, leaseID(l.id))
	}
	return h
}

// workspaceMark is between the key and the name of a workspace.
const workspaceMark = "env:"

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) ([]string, error) {
	return objects.Between(ctx, s, s.opt.Key+workspaceMark, "")
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	name := s.opt.Key
	if workspace != store.DefaultWorkspace {
		name += workspaceMark + workspace
	}
	p := objects.Place(s, s.opt.Container.URL(name), name, "")
	p.State, p.Lock = &blob{s, name}, &lock{s, name}
	return p, nil
}

// Get implements objects.Bucket, for parts of journals, which have no versions.
func (s *Service) Get(ctx context.Context, name string) ([]byte, remote.Version, error) {
	data, _, err := s.opt.Container.Get(ctx, name)
	return answers.Got(data, "", err)
}

// Put implements objects.Bucket.
func (s *Service) Put(ctx context.Context, name string, data []byte, _ *remote.Version) (remote.Version, error) {
	_, err := s.opt.Container.Put(ctx, name, data, nil, nil)
	return "", answers.Classify(err)
}

// Delete implements objects.Bucket.
func (s *Service) Delete(ctx context.Context, name string) error {
	return answers.Deleted(s.opt.Container.Delete(ctx, name, nil))
}

// List implements objects.Bucket.
func (s *Service) List(ctx context.Context, prefix string) ([]string, error) {
	names, err := s.opt.Container.List(ctx, prefix)
	return names, answers.Classify(err)
}

// answers classify the errors of the service.
var answers = objects.Answers{
	Missing: func(e *cloud.Error) bool { return e.Code == "BlobNotFound" },
	Passes: func(e *cloud.Error) bool {
		return e.Passes() && e.Status != http.StatusConflict || e.Code == "OperationTimedOut" || e.Code == "ServerBusy"
	},
	Explain: objects.Hints(hints), Arguments: "\"storage_account_name\" and \"environment\"",
}

// hints are the advice for each error code.
var hints = map[string]string{
	"ContainerNotFound":                  "Create the container, or check the argument \"container_name\"",
	"AuthenticationFailed":               "Check the argument \"access_key\" or \"sas_token\", which may have expired, and the clock of this machine",
	"InvalidAuthenticationInfo":          "Check the arguments of the credentials, such as \"access_key\", \"sas_token\" or \"tenant_id\"",
	"AuthorizationFailure":               "Check the argument \"access_key\" or \"sas_token\", and whether the firewall of the storage account lets this machine in",
	"AuthorizationPermissionMismatch":    "The credentials need the role \"Storage Blob Data Owner\" for the container. A \"sas_token\" needs the permissions racwdl",
	"AuthorizationServiceMismatch":       "A \"sas_token\" needs the service b (blobs)",
	"AuthorizationResourceTypeMismatch":  "A \"sas_token\" needs the resource types c and o (containers and objects)",
	"KeyBasedAuthenticationNotPermitted": "The storage account permits no keys: remove \"access_key\" and set \"use_azuread_auth\" to true",
	"InvalidResourceName":                "Check the arguments \"container_name\" and \"key\"",
	"LeaseIdMissing":                     "Another run holds the lock of the state",
	"AuthorizationSourceIPMismatch":      "The \"sas_token\" is for other addresses than that of this machine",
	"AccountIsDisabled":                  "Enable the storage account, or check the argument \"storage_account_name\"",
	"BlobImmutableDueToPolicy":           "The container must have no policy that makes blobs immutable",
	"InsufficientAccountPermissions":     "The credentials need the role \"Storage Blob Data Owner\" for the container",
	"NoAuthenticationInformation":        "Check the arguments of the credentials, such as \"access_key\"",
	"UnauthorizedBlobOverwrite":          "A \"sas_token\" needs the permissions racwdl",
	"AuthorizationProtocolMismatch":      "The \"sas_token\" is for HTTPS only",
	"ResourceNotFound":                   "Check the arguments \"storage_account_name\" and \"container_name\"",
}

// blob is a state. Locking a state that does not exist makes an empty blob, which reads as none.
type blob struct {
	*Service
	name string
}

// versionOf returns the version of a blob: the identity of its content, since its ETag changes with the lock.
func versionOf(p azure.Properties) remote.Version {
	switch {
	case p.Size == 0:
		return ""
	case p.MD5 != "":
		return remote.Version(p.MD5)
	}
	return remote.Version(p.ETag)
}

// Get implements remote.Blob.
func (b *blob) Get(ctx context.Context) ([]byte, remote.Version, error) {
	data, p, err := b.opt.Container.Get(ctx, b.name)
	if answers.IsMissing(err) || err == nil && len(data) == 0 {
		return nil, "", nil
	}
	return data, versionOf(p), answers.Classify(err)
}

// Put implements remote.Blob. The blob is compared with was, and must not change between this and the write.
func (b *blob) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	p, err := b.opt.Container.Properties(ctx, b.name)
	if err != nil && !answers.IsMissing(err) {
		return "", b.explain(err)
	}
	if versionOf(p) != was {
		return "", remote.ErrChanged
	}
	if b.opt.Snapshot && p.Size > 0 {
		if err := b.opt.Container.Snapshot(ctx, b.name, b.header(b.name)); err != nil {
			return "", b.explain(err)
		}
	}
	header := b.header(b.name)
	if p.ETag == "" {
		header.Set("If-None-Match", "*")
	} else {
		header.Set("If-Match", p.ETag)
	}
	p, err = b.opt.Container.Put(ctx, b.name, data, withLock(p.Metadata, b.lease(b.name).text), header)
	if cloud.Code(err) == "ConditionNotMet" || cloud.Code(err) == "BlobAlreadyExists" {
		return "", remote.ErrChanged
	}
	return versionOf(p), b.explain(err)
}

// Delete implements remote.Blob.
func (b *blob) Delete(ctx context.Context) error {
	err := b.opt.Container.Delete(ctx, b.name, b.header(b.name))
	if err != nil && !answers.IsMissing(err) {
		return b.explain(err)
	}
	if l := b.lease(b.name); l.id != "" {
		l.gone = true
		b.setLease(b.name, l)
	}
	return nil
}

// explain is Classify for a request that has the ID of the lease.
func (b *blob) explain(err error) error {
	switch cloud.Code(err) {
	case "LeaseLost", "LeaseNotPresentWithBlobOperation", "LeaseIdMismatchWithBlobOperation":
		return fmt.Errorf("%w: %w", store.ErrLockLost, err)
	}
	return answers.Classify(err)
}
