//go:build !mayfly_no_gcs

// Package gcs keeps states in Cloud Storage of Google, as objects with the names of the backend "gcs" of
// other engines, and under their locks, which are objects too.
//
// It may import backend, cloud, cloud/google, state/store, remote and objects. It must not know other
// configuration, plans, providers, or the content of states.
package gcs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/google"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Options configure a Service.
type Options struct {
	Bucket *google.Bucket
	Name   string // of the bucket
	Prefix string // of the names of objects, without slashes around it; may be ""

	CustomerKey []byte // for encryption on the server with a key that it does not keep; nil for none
	KMSKey      string // for encryption with a key of the key management service; "" for none
}

// Service is a remote.Service in a bucket.
type Service struct {
	opt   Options
	key   http.Header
	query url.Values // of requests that store objects
}

var (
	_ remote.Service = (*Service)(nil)
	_ objects.Bucket = (*Service)(nil)
)

// New returns a service. It contacts nothing.
func New(opt Options) *Service {
	s := &Service{opt: opt, key: http.Header{}, query: url.Values{}}
	if opt.CustomerKey != nil {
		sum := sha256.Sum256(opt.CustomerKey)
		s.key.Set("X-Goog-Encryption-Algorithm", "AES256")
		s.key.Set("X-Goog-Encryption-Key", base64.StdEncoding.EncodeToString(opt.CustomerKey))
		s.key.Set("X-Goog-Encryption-Key-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	if opt.KMSKey != "" {
		s.query.Set("kmsKeyName", opt.KMSKey)
	}
	return s
}

const stateSuffix = ".tfstate"

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) ([]string, error) {
	return objects.Between(ctx, s, objects.Under(s.opt.Prefix, ""), stateSuffix)
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	state := objects.Under(s.opt.Prefix, workspace+stateSuffix)
	return objects.Place(s, "gs://"+s.opt.Name+"/"+state, state, objects.Under(s.opt.Prefix, workspace+".tflock")), nil
}

// Get implements objects.Bucket. The version of an object is its generation.
func (s *Service) Get(ctx context.Context, name string) ([]byte, remote.Version, error) {
	return answers.Got(s.opt.Bucket.Get(ctx, name, s.key))
}

// Put implements objects.Bucket.
func (s *Service) Put(ctx context.Context, name string, data []byte, was *remote.Version) (remote.Version, error) {
	query := url.Values{}
	maps.Copy(query, s.query)
	switch {
	case was == nil:
	case *was == "":
		query.Set("ifGenerationMatch", "0")
	default:
		query.Set("ifGenerationMatch", string(*was))
	}
	generation, err := s.opt.Bucket.Put(ctx, name, data, query, s.key)
	if cloud.Status(err) == http.StatusPreconditionFailed {
		return "", remote.ErrChanged
	}
	return remote.Version(generation), answers.Classify(err)
}

// Delete implements objects.Bucket.
func (s *Service) Delete(ctx context.Context, name string) error {
	return answers.Deleted(s.opt.Bucket.Delete(ctx, name))
}

// List implements objects.Bucket.
func (s *Service) List(ctx context.Context, prefix string) ([]string, error) {
	names, err := cloud.All(s.opt.Bucket.List(ctx, prefix))
	return names, answers.Classify(err)
}

// answers classify the errors of the service. An answer about a missing bucket names it. The service never
// says that an object does not exist by a page for people: such an answer, which has a hint, comes from a
// proxy or a wrong address. Emulators say it in plain text.
var answers = objects.Answers{
	Missing: func(e *cloud.Error) bool {
		return e.Status == http.StatusNotFound && e.Hint == "" && !strings.Contains(e.Message, "bucket does not exist")
	},
	Passes: (*cloud.Error).Passes, Explain: explain,
}

// explain adds advice to an answer.
func explain(e *cloud.Error) {
	switch {
	case e.Status == http.StatusNotFound && e.Hint != "":
		e.Hint += ". Check the argument \"storage_custom_endpoint\" if it is set, and the environment variables HTTPS_PROXY and NO_PROXY"
	case e.Status == http.StatusNotFound:
		e.Hint = "Create the bucket, or check the argument \"bucket\""
	case e.Status == http.StatusForbidden && e.Hint == "":
		e.Hint = "The credentials need the role \"Storage Object Admin\" (roles/storage.objectAdmin) for the bucket"
	}
}
