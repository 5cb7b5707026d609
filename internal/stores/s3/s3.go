//go:build !mayfly_no_s3

// Package s3 keeps states in S3 and services that are compatible with it, as objects with the names of the
// backend "s3" of other engines, and under their locks: an object beside the state, an item in a table of
// DynamoDB, or both.
//
// It may import backend, cloud, cloud/aws, state/store, remote and objects. It must not know other
// configuration, plans, providers, or the content of states.
package s3

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the checksum that S3 and other engines define
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/aws"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// defaultPrefix is the default of Options.WorkspacePrefix.
const defaultPrefix = "env:"

// Options configure a Service.
type Options struct {
	Bucket          *aws.Bucket
	Name            string // of the bucket
	Key             string // of the state of the default workspace
	WorkspacePrefix string // of the keys of other workspaces; "env:" if ""

	LockFile bool       // lock with an object beside the state
	Table    *aws.Table // lock with an item in this table; nil for none

	ACL         string // a canned one; "" for none
	Encrypt     bool   // on the server
	KMSKey      string // for Encrypt; "" for a key of S3
	CustomerKey []byte // for encryption on the server with a key that it does not keep; nil for none

	// Tags tag states and journals, LockTags tag locks in the bucket.
	Tags, LockTags map[string]string
}

// Service is a remote.Service in a bucket.
type Service struct {
	opt            Options
	read           http.Header // for requests about encrypted objects
	put            http.Header // for requests that store objects, apart from tags
	tags, lockTags string      // as parameters of a URL
}

var (
	_ remote.Service = (*Service)(nil)
	_ objects.Bucket = (*Service)(nil)
)

// New returns a service. It contacts nothing.
func New(opt Options) *Service {
	opt.WorkspacePrefix = cmp.Or(opt.WorkspacePrefix, defaultPrefix)
	s := &Service{opt: opt, read: http.Header{}, put: http.Header{}}
	const encryption = "X-Amz-Server-Side-Encryption"
	switch {
	case opt.CustomerKey != nil:
		sum := md5.Sum(opt.CustomerKey) //nolint:gosec // see above
		s.read.Set(encryption+"-Customer-Algorithm", "AES256")
		s.read.Set(encryption+"-Customer-Key", base64.StdEncoding.EncodeToString(opt.CustomerKey))
		s.read.Set(encryption+"-Customer-Key-Md5", base64.StdEncoding.EncodeToString(sum[:]))
		s.put = s.read.Clone()
	case opt.Encrypt && opt.KMSKey != "":
		s.put.Set(encryption, "aws:kms")
		s.put.Set(encryption+"-Aws-Kms-Key-Id", opt.KMSKey)
	case opt.Encrypt:
		s.put.Set(encryption, "AES256")
	}
	if opt.ACL != "" {
		s.put.Set("X-Amz-Acl", opt.ACL)
	}
	s.put.Set("Content-Type", "application/json")
	s.tags, s.lockTags = parameters(opt.Tags), parameters(opt.LockTags)
	return s
}

// parameters returns tags in the form that a request has them in.
func parameters(tags map[string]string) string {
	out := url.Values{}
	for name, value := range tags {
		out.Set(name, value)
	}
	return strings.ReplaceAll(out.Encode(), "+", "%20")
}

// lockSuffix ends the names of locks in the bucket.
const lockSuffix = ".tflock"

// putHeader returns the header of a request that stores an object.
func (s *Service) putHeader(name string) http.Header {
	header, tags := s.put.Clone(), s.tags
	if strings.HasSuffix(name, lockSuffix) {
		tags = s.lockTags
	}
	if tags != "" {
		header.Set("X-Amz-Tagging", tags)
	}
	return header
}

// key returns the key of a workspace's state.
func (s *Service) key(workspace string) string {
	if workspace == store.DefaultWorkspace {
		return s.opt.Key
	}
	return s.opt.WorkspacePrefix + "/" + workspace + "/" + s.opt.Key
}

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) ([]string, error) {
	return objects.Between(ctx, s, s.opt.WorkspacePrefix+"/", "/"+s.opt.Key)
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	key, lock := s.key(workspace), ""
	if s.opt.LockFile {
		lock = s.key(workspace) + lockSuffix
	}
	p := objects.Place(s, "s3://"+s.opt.Name+"/"+key, key, lock)
	if s.opt.Table == nil {
		return p, nil
	}
	file := p.Lock
	p = objects.WithTable(p, s.opt.Table, &answers, s.opt.Name+"/"+key)
	if file != nil {
		p.Lock = both{file, p.Lock}
	}
	return p, nil
}

// answers classify the errors of the service.
var answers = objects.Answers{
	Missing: func(e *cloud.Error) bool { return e.Status == http.StatusNotFound && e.Code != "NoSuchBucket" },
	Passes: func(e *cloud.Error) bool {
		return e.Passes() || e.Code == "ProvisionedThroughputExceededException" || e.Code == "ThrottlingException"
	},
	Explain: explain,
}

// explain adds advice to an answer.
func explain(e *cloud.Error) {
	switch {
	case e.Code == "NoSuchBucket":
		e.Hint = "Create the bucket, or check the arguments \"bucket\", \"region\" and \"endpoints\""
	case e.Code == "RequestTimeTooSkewed":
		e.Hint = "Set the clock of this machine"
	case e.Code == "PermanentRedirect" || e.Code == "AuthorizationHeaderMalformed":
		e.Hint = strings.TrimPrefix(e.Hint+". Check the arguments \"region\" and \"endpoints\"", ". ")
	case e.Code == "SignatureDoesNotMatch" || e.Code == "InvalidAccessKeyId":
		e.Hint = "Check the arguments \"access_key\" and \"secret_key\", or the credentials that the environment has"
	case e.Status == http.StatusForbidden && e.Hint == "":
		e.Hint = "The credentials need the rights s3:ListBucket for the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject for the state, its lock and its journal"
	}
}

// Get implements objects.Bucket. The version of an object is its ETag.
func (s *Service) Get(ctx context.Context, name string) ([]byte, remote.Version, error) {
	return answers.Got(s.opt.Bucket.Get(ctx, name, s.read))
}

// Put implements objects.Bucket.
func (s *Service) Put(ctx context.Context, name string, data []byte, was *remote.Version) (remote.Version, error) {
	header := s.putHeader(name)
	switch {
	case was == nil:
	case *was == "":
		header.Set("If-None-Match", "*")
	default:
		header.Set("If-Match", string(*was))
	}
	etag, err := s.opt.Bucket.Put(ctx, name, data, header)
	if cloud.Status(err) == http.StatusNotImplemented && was != nil {
		etag, err = s.putCompared(ctx, name, data, *was)
	}
	if errors.Is(err, remote.ErrChanged) || cloud.Status(err) == http.StatusPreconditionFailed || answers.IsMissing(err) { // there is nothing that If-Match could match
		return "", remote.ErrChanged
	}
	return remote.Version(etag), answers.Classify(err)
}

// putCompared is for a service without conditional writes.
func (s *Service) putCompared(ctx context.Context, name string, data []byte, was remote.Version) (etag string, err error) {
	_, now, err := s.opt.Bucket.Get(ctx, name, s.read)
	if err != nil && !answers.IsMissing(err) {
		return "", err
	}
	if now != string(was) {
		return "", remote.ErrChanged
	}
	return s.opt.Bucket.Put(ctx, name, data, s.putHeader(name))
}

// Delete implements objects.Bucket.
func (s *Service) Delete(ctx context.Context, name string) error {
	return answers.Classify(s.opt.Bucket.Delete(ctx, name))
}

// List implements objects.Bucket.
func (s *Service) List(ctx context.Context, prefix string) ([]string, error) {
	names, err := cloud.All(s.opt.Bucket.List(ctx, prefix))
	return names, answers.Classify(err)
}

// both takes two locks, so that runs that know only one of them are kept out.
type both [2]remote.Lock

// Take implements remote.Lock.
func (b both) Take(ctx context.Context, info store.LockInfo) error {
	if err := b[0].Take(ctx, info); err != nil {
		return err
	}
	err := b[1].Take(ctx, info)
	if held, ok := errors.AsType[*store.LockError](err); ok && held.Info != nil && held.Info.ID == info.ID {
		return nil
	}
	if err != nil {
		return errors.Join(err, b[0].Release(context.WithoutCancel(ctx), info.ID))
	}
	return nil
}

// Holder implements remote.Lock.
func (b both) Holder(ctx context.Context) (*store.LockInfo, error) {
	info, err := b[0].Holder(ctx)
	if info != nil || err != nil {
		return info, err
	}
	return b[1].Holder(ctx)
}

// Release implements remote.Lock.
func (b both) Release(ctx context.Context, id string) error {
	second := b[1].Release(ctx, id)
	if second != nil && !errors.Is(second, store.ErrNotLocked) {
		return second
	}
	first := b[0].Release(ctx, id)
	if errors.Is(first, store.ErrNotLocked) {
		return second
	}
	return first
}

// Check implements remote.Lock.
func (b both) Check(ctx context.Context, id string) error {
	if err := b[0].Check(ctx, id); err != nil {
		return err
	}
	return b[1].Check(ctx, id)
}
