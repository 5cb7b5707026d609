//go:build !mayfly_no_s3

package s3

import (
	"context"
	"errors"
	"net/http"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// bucket is an objects.Bucket. The version of an object is its ETag.
type bucket struct{ *Service }

// Get implements objects.Bucket.
func (b bucket) Get(ctx context.Context, name string) ([]byte, remote.Version, error) {
	return answers.Got(b.opt.Bucket.Get(ctx, name, b.read))
}

// Put implements objects.Bucket.
func (b bucket) Put(ctx context.Context, name string, data []byte, was *remote.Version) (remote.Version, error) {
	header := b.putHeader(name)
	switch {
	case was == nil:
	case *was == "":
		header.Set("If-None-Match", "*")
	default:
		header.Set("If-Match", string(*was))
	}
	etag, err := b.opt.Bucket.Put(ctx, name, data, header)
	if cloud.Status(err) == http.StatusNotImplemented && was != nil {
		etag, err = b.putCompared(ctx, name, data, *was)
	}
	if errors.Is(err, remote.ErrChanged) || cloud.Status(err) == http.StatusPreconditionFailed || answers.IsMissing(err) { // there is nothing that If-Match could match
		return "", remote.ErrChanged
	}
	return remote.Version(etag), answers.Classify(err)
}

// putCompared is for a service without conditional writes.
func (b bucket) putCompared(ctx context.Context, name string, data []byte, was remote.Version) (etag string, err error) {
	_, now, err := b.opt.Bucket.Get(ctx, name, b.read)
	if err != nil && !answers.IsMissing(err) {
		return "", err
	}
	if now != string(was) {
		return "", remote.ErrChanged
	}
	return b.opt.Bucket.Put(ctx, name, data, b.putHeader(name))
}

// Delete implements objects.Bucket.
func (b bucket) Delete(ctx context.Context, name string) error {
	return answers.Classify(b.opt.Bucket.Delete(ctx, name))
}

// List implements objects.Bucket.
func (b bucket) List(ctx context.Context, prefix string) ([]string, error) {
	names, err := cloud.All(b.opt.Bucket.List(ctx, prefix))
	return names, answers.Classify(err)
}
