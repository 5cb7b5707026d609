// Package oss keeps states in OSS of Alibaba Cloud, as objects with the names of the backend "oss" of other
// engines, and under their locks, which are rows in a table of Tablestore.
//
// It may import cloud, cloud/alibaba, state/store, remote and objects. It must not
// know configuration, plans, providers, or what a state contains.
package oss

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/alibaba"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Defaults of Options.
const (
	DefaultPrefix = "env:"
	DefaultKey    = "terraform.tfstate"
)

// Options configure a Service.
type Options struct {
	Bucket  *alibaba.Bucket
	Name    string         // of the bucket
	Prefix  string         // of the names of all objects; DefaultPrefix if ""
	Key     string         // that the names of states end with; DefaultKey if ""
	Table   *alibaba.Table // for locks; nil for none
	ACL     string         // a canned one; "" for none
	Encrypt bool           // on the server
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
	if opt.Prefix == "" {
		opt.Prefix = DefaultPrefix
	}
	if opt.Key == "" {
		opt.Key = DefaultKey
	}
	s := &Service{opt: opt, put: http.Header{}}
	if opt.ACL != "" {
		s.put.Set("X-Oss-Object-Acl", opt.ACL)
	}
	if opt.Encrypt {
		s.put.Set("X-Oss-Server-Side-Encryption", "AES256")
	}
	return s
}

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) (workspaces []string, err error) {
	names, err := s.List(ctx, s.opt.Prefix+"/")
	for _, name := range names {
		name = strings.TrimPrefix(name, s.opt.Prefix+"/")
		if name, ok := strings.CutSuffix(name, "/"+s.opt.Key); ok && !strings.Contains(name, "/") {
			workspaces = append(workspaces, name)
		}
	}
	return workspaces, err
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	name := s.opt.Prefix + "/" + s.opt.Key
	if workspace != store.DefaultWorkspace {
		name = s.opt.Prefix + "/" + workspace + "/" + s.opt.Key
	}
	p := objects.Place(s, "oss://"+s.opt.Name+"/"+name, name, "")
	if s.opt.Table != nil {
		p = objects.WithTable(p, table{s.opt.Table}, s.opt.Name+"/"+name)
	}
	return p, nil
}

// Get implements objects.Bucket. The version of an object is its ETag.
func (s *Service) Get(ctx context.Context, name string) ([]byte, remote.Version, error) {
	data, etag, err := s.opt.Bucket.Get(ctx, name)
	if missing(err) {
		return nil, "", nil
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
			header.Set("X-Oss-Forbid-Overwrite", "true")
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

// table is an objects.Table in Tablestore.
type table struct{ *alibaba.Table }

// Get implements objects.Table.
func (t table) Get(ctx context.Context, id string) (map[string]string, error) {
	got, err := t.Table.Get(ctx, id)
	return got, classify(err)
}

// Put implements objects.Table.
func (t table) Put(ctx context.Context, id string, columns map[string]string, fresh bool) (bool, error) {
	err := t.Table.Put(ctx, id, columns, fresh)
	if errors.Is(err, alibaba.ErrRowExists) {
		return false, nil
	}
	return err == nil, classify(err)
}

// Delete implements objects.Table.
func (t table) Delete(ctx context.Context, id string) error { return classify(t.Table.Delete(ctx, id)) }

// missing reports whether an answer says that an object does not exist, and not its bucket.
func missing(err error) bool {
	e := (*cloud.Error)(nil)
	return errors.As(err, &e) && e.Status == http.StatusNotFound && (e.Code == "NoSuchKey" || e.Code == "")
}

// hints say what to do about answers.
var hints = map[string]string{
	"NoSuchBucket":          "Create the bucket, or check the arguments \"bucket\", \"region\" and \"endpoint\"",
	"InvalidAccessKeyId":    "Check the argument \"access_key\", or the credentials that the environment has",
	"SignatureDoesNotMatch": "Check the argument \"secret_key\", or the credentials that the environment has",
	"InvalidSecurityToken":  "Check the argument \"security_token\"",
	"SecurityTokenExpired":  "Renew the credentials, or the argument \"security_token\"",
	"AccessDenied":          "The credentials need the rights oss:ListObjects for the bucket, and oss:GetObject, oss:PutObject and oss:DeleteObject for the state and its journal. Check also the arguments \"region\" and \"endpoint\"",
	"OTSObjectNotExist":     "Create the table with a primary key \"LockID\" of type String, or check the arguments \"tablestore_table\" and \"tablestore_endpoint\"",
	"OTSInvalidPK":          "The table in the argument \"tablestore_table\" must have one primary key, \"LockID\" of type String",
	"OTSAuthFailed":         "Check the credentials, and the argument \"tablestore_endpoint\", which names an instance",
	"OTSNoPermissionAccess": "The credentials need the rights ots:GetRow, ots:PutRow and ots:DeleteRow for the table",
	"OTSParameterInvalid":   "Check the arguments \"tablestore_table\" and \"tablestore_endpoint\"",
	"RequestTimeTooSkewed":  "Set the clock of this machine",
}

// classify marks an error that may pass, and adds what to do about others. It returns nil for nil.
func classify(err error) error {
	e, lost, unknown := (*cloud.Error)(nil), (*url.Error)(nil), (*net.DNSError)(nil)
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("%w. Check the arguments \"bucket\", \"region\", \"endpoint\" and \"tablestore_endpoint\"", err)
	case errors.As(err, &e) && e.Passes():
		return &remote.Passing{Err: err}
	case errors.As(err, &e) && e.Hint == "":
		e.Hint = hints[e.Code]
	case errors.As(err, &lost):
		return &remote.Passing{Err: err}
	}
	return err
}
