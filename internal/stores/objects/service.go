package objects

import (
	"context"
	"net/http"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// DefaultKey is the usual name of a state.
const DefaultKey = "terraform.tfstate"

// Service is a remote.Service in a bucket, in which a state has the name PREFIX/WORKSPACE/KEY, or PREFIX/KEY
// in the default workspace. The bucket's service has no condition for replacing an object, but one for
// creating it.
type Service struct {
	Bucket *cloud.Bucket
	Scheme string      // of addresses in messages, such as "oss"
	Name   string      // of the bucket
	Prefix string      // of the names of all objects, without a slash at its end; may be ""
	Key    string      // that the names of states end with
	Header http.Header // of requests that store objects
	Create string      // name of the header that forbids to replace an object
	Answers
	// Lock adds the lock to the place of a state with that name; nil for none.
	Lock func(p remote.Place, name string) remote.Place
}

var (
	_ remote.Service = (*Service)(nil)
	_ Bucket         = (*Service)(nil)
)

// Under returns the name of an object below a prefix, which may be "".
func Under(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "/" + name
}

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) ([]string, error) {
	return Between(ctx, s, Under(s.Prefix, ""), "/"+s.Key)
}

// Between returns the middles between prefix and suffix in the names of objects, except ones with a slash.
func Between(ctx context.Context, b Bucket, prefix, suffix string) (middles []string, err error) {
	names, err := b.List(ctx, prefix)
	for _, name := range names {
		if middle, ok := strings.CutSuffix(strings.TrimPrefix(name, prefix), suffix); ok && !strings.Contains(middle, "/") {
			middles = append(middles, middle)
		}
	}
	return middles, err
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	name := s.Key
	if workspace != store.DefaultWorkspace {
		name = workspace + "/" + name
	}
	name = Under(s.Prefix, name)
	p := Place(s, s.Scheme+"://"+s.Name+"/"+name, name, "")
	if s.Lock != nil {
		p = s.Lock(p, name)
	}
	return p, nil
}

// Get implements Bucket. The version of an object is its ETag.
func (s *Service) Get(ctx context.Context, name string) ([]byte, remote.Version, error) {
	return s.Got(s.Bucket.Get(ctx, name, nil))
}

// Put implements Bucket. The version of the present object is compared just before it is replaced.
func (s *Service) Put(ctx context.Context, name string, data []byte, was *remote.Version) (remote.Version, error) {
	header := s.Header.Clone()
	if was != nil {
		etag, err := s.Bucket.ETag(ctx, name)
		if err != nil && !s.IsMissing(err) {
			return "", s.Classify(err)
		}
		if etag != string(*was) {
			return "", remote.ErrChanged
		}
		if *was == "" {
			header.Set(s.Create, "true")
		}
	}
	etag, err := s.Bucket.Put(ctx, name, data, header)
	if cloud.Code(err) == "FileAlreadyExists" {
		return "", remote.ErrChanged
	}
	return remote.Version(etag), s.Classify(err)
}

// Delete implements Bucket.
func (s *Service) Delete(ctx context.Context, name string) error {
	return s.Classify(s.Bucket.Delete(ctx, name))
}

// List implements Bucket.
func (s *Service) List(ctx context.Context, prefix string) ([]string, error) {
	names, err := cloud.All(s.Bucket.List(ctx, prefix))
	return names, s.Classify(err)
}

// NoSuchKey reports whether an answer says that an object does not exist. One to a request for headers has
// no code.
func NoSuchKey(e *cloud.Error) bool {
	return e.Status == http.StatusNotFound && (e.Code == "NoSuchKey" || e.Code == "")
}
