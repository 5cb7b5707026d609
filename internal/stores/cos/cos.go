// Package cos keeps states in COS of Tencent Cloud, as objects with the names of the backend "cos" of other
// engines, and under their locks, which are objects that are made while a tag exists.
//
// It may import cloud, cloud/tencent, state/store, remote and objects. It must not
// know configuration, plans, providers, or what a state contains.
package cos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/tencent"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Defaults of Options.
const (
	DefaultKey = "terraform.tfstate"
	DefaultACL = "private"
)

// Options configure a Service.
type Options struct {
	Account *tencent.Account // for tags
	Bucket  *tencent.Bucket
	Name    string // of the bucket
	Prefix  string // of the names of all objects, without a slash at its end; may be ""
	Key     string // that the names of states end with; DefaultKey if ""
	ACL     string // a canned one; DefaultACL if ""
	Encrypt bool   // on the server
}

// Service is a remote.Service in a bucket.
type Service struct {
	opt Options
	put http.Header // for requests that store objects
}

var (
	_ remote.Service = (*Service)(nil)
	_ objects.Bucket = (*Service)(nil)
)

// New returns a service. It contacts nothing.
func New(opt Options) *Service {
	if opt.Key == "" {
		opt.Key = DefaultKey
	}
	if opt.ACL == "" {
		opt.ACL = DefaultACL
	}
	s := &Service{opt: opt, put: http.Header{"X-Cos-Acl": {opt.ACL}}}
	if opt.Encrypt {
		s.put.Set("X-Cos-Server-Side-Encryption", "AES256")
	}
	return s
}

// name returns the name of an object.
func (s *Service) name(base string) string {
	if s.opt.Prefix == "" {
		return base
	}
	return s.opt.Prefix + "/" + base
}

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) (workspaces []string, err error) {
	prefix := s.name("")
	names, err := s.List(ctx, prefix)
	for _, name := range names {
		name = strings.TrimPrefix(name, prefix)
		if name, ok := strings.CutSuffix(name, "/"+s.opt.Key); ok && !strings.Contains(name, "/") {
			workspaces = append(workspaces, name)
		}
	}
	return workspaces, err
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	name := s.name(s.opt.Key)
	if workspace != store.DefaultWorkspace {
		name = s.name(workspace + "/" + s.opt.Key)
	}
	p := objects.Place(s, "cos://"+s.opt.Name+"/"+name, name, "")
	p.Lock = objects.NewLock(newLockFile(s, name+".tflock"))
	return p, nil
}

// Get implements objects.Bucket. The version of an object is its ETag.
func (s *Service) Get(ctx context.Context, name string) ([]byte, remote.Version, error) {
	data, etag, err := s.opt.Bucket.Get(ctx, name)
	switch {
	case missing(err):
		return nil, "", nil
	case errors.Is(err, tencent.ErrChecksum):
		return nil, "", &remote.Passing{Err: err}
	}
	return data, remote.Version(etag), classify(err)
}

// Put implements objects.Bucket. The service has no condition for replacing an object, so its version is
// compared just before.
func (s *Service) Put(ctx context.Context, name string, data []byte, was *remote.Version) (remote.Version, error) {
	header := s.put.Clone()
	if was != nil {
		etag, err := s.opt.Bucket.ETag(ctx, name)
		if err != nil && !missing(err) {
			return "", classify(err)
		}
		if etag != string(*was) {
			return "", remote.ErrChanged
		}
		if *was == "" {
			header.Set("X-Cos-Forbid-Overwrite", "true")
		}
	}
	etag, err := s.opt.Bucket.Put(ctx, name, data, header)
	if e := (*cloud.Error)(nil); errors.As(err, &e) && e.Code == "FileAlreadyExists" {
		return "", remote.ErrChanged
	}
	return remote.Version(etag), classify(err)
}

// Delete implements objects.Bucket.
func (s *Service) Delete(ctx context.Context, name string) error {
	return classify(s.opt.Bucket.Delete(ctx, name))
}

// List implements objects.Bucket.
func (s *Service) List(ctx context.Context, prefix string) ([]string, error) {
	names, err := s.opt.Bucket.List(ctx, prefix)
	return names, classify(err)
}

// missing reports whether an answer says that an object does not exist, and not its bucket.
func missing(err error) bool {
	e := (*cloud.Error)(nil)
	return errors.As(err, &e) && e.Status == http.StatusNotFound && (e.Code == "NoSuchKey" || e.Code == "")
}

const checkKeys = "Check the arguments \"secret_id\" and \"secret_key\", and the clock of this machine"

// hints say what to do about answers.
var hints = map[string]string{
	"NoSuchBucket":                      "Create the bucket, or check the arguments \"bucket\" and \"region\"",
	"InvalidAccessKeyId":                checkKeys,
	"SignatureDoesNotMatch":             checkKeys,
	"RequestTimeTooSkewed":              checkKeys,
	"AuthFailure.SecretIdNotFound":      checkKeys,
	"AuthFailure.SignatureFailure":      checkKeys,
	"AuthFailure.SignatureExpire":       checkKeys,
	"AuthFailure.TokenFailure":          "Check the argument \"security_token\"",
	"InvalidToken":                      "Check the argument \"security_token\"",
	"ExpiredToken":                      "Renew the credentials, or the argument \"security_token\"",
	"AccessDenied":                      "The credentials need the rights to list the bucket, and to get, put and delete the state, its lock and its journal",
	"AuthFailure.UnauthorizedOperation": "The credentials need the rights CreateTag and DeleteTag on the tag key \"tencentcloud-terraform-lock\"",
	"UnauthorizedOperation":             "The credentials need the rights CreateTag and DeleteTag on the tag key \"tencentcloud-terraform-lock\"",
}

// busy are codes of the services for tags and keys that may pass. Their answers have the status 200.
var busy = map[string]bool{"InternalError": true, "RequestLimitExceeded": true, "ServiceUnavailable": true, "LimitExceeded": true, "FailedOperation": true}

// classify marks an error that may pass, and adds what to do about others. It returns nil for nil.
func classify(err error) error {
	e, lost, unknown := (*cloud.Error)(nil), (*url.Error)(nil), (*net.DNSError)(nil)
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("%w. Check the arguments \"bucket\" and \"region\"", err)
	case errors.As(err, &e) && (e.Passes() || busy[e.Code]):
		return &remote.Passing{Err: err}
	case errors.As(err, &e) && e.Hint == "":
		e.Hint = hints[e.Code]
	case errors.As(err, &lost):
		return &remote.Passing{Err: err}
	}
	return err
}
