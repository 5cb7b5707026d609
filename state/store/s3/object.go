package s3

import (
	"context"
	"crypto/md5" //nolint:gosec // the checksum that other engines keep in DynamoDB
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mayfly-iac/mayfly/cloud/aws"
	"github.com/mayfly-iac/mayfly/state/store/remote"
)

// bucket is an objects.Bucket. The version of an object is its ETag.
type bucket struct{ *Service }

// Get implements objects.Bucket.
func (b bucket) Get(ctx context.Context, name string) (data []byte, v remote.Version, err error) {
	data, etag, err := b.opt.Bucket.Get(ctx, name, b.read)
	if missing(err) {
		return nil, "", nil
	}
	return data, remote.Version(etag), classify(err)
}

// Put implements objects.Bucket.
func (b bucket) Put(ctx context.Context, name string, data []byte, was *remote.Version) (remote.Version, error) {
	header := b.put.Clone()
	switch {
	case was == nil:
	case *was == "":
		header.Set("If-None-Match", "*")
	default:
		header.Set("If-Match", string(*was))
	}
	etag, err := b.opt.Bucket.Put(ctx, name, data, header)
	if status(err) == http.StatusNotImplemented && was != nil {
		etag, err = b.putCompared(ctx, name, data, *was)
	}
	if errors.Is(err, remote.ErrChanged) || status(err) == http.StatusPreconditionFailed || missing(err) { // there is nothing that If-Match could match
		return "", remote.ErrChanged
	}
	return remote.Version(etag), classify(err)
}

// putCompared is for a service without conditional writes.
func (b bucket) putCompared(ctx context.Context, name string, data []byte, was remote.Version) (etag string, err error) {
	_, now, err := b.opt.Bucket.Get(ctx, name, b.read)
	if err != nil && !missing(err) {
		return "", err
	}
	if now != string(was) {
		return "", remote.ErrChanged
	}
	return b.opt.Bucket.Put(ctx, name, data, b.put)
}

// Delete implements objects.Bucket.
func (b bucket) Delete(ctx context.Context, name string) error {
	return classify(b.opt.Bucket.Delete(ctx, name))
}

// List implements objects.Bucket.
func (b bucket) List(ctx context.Context, prefix string) (names []string, err error) {
	for key, err := range b.opt.Bucket.List(ctx, prefix) {
		if err != nil {
			return nil, classify(err)
		}
		names = append(names, key)
	}
	return names, nil
}

// digested is a state whose checksum is an item in a table of DynamoDB, as other engines keep it.
type digested struct {
	remote.Blob
	digests *aws.Table
	id      string // of the item
}

// Get implements remote.Blob. A checksum that does not match may be that of a write that S3 does not show
// yet.
func (d *digested) Get(ctx context.Context) (data []byte, v remote.Version, err error) {
	data, v, err = d.Blob.Get(ctx)
	if err != nil || v == "" {
		return data, v, err
	}
	item, err := d.digests.Get(ctx, d.id)
	if err != nil {
		return nil, "", classify(err)
	}
	if want := item["Digest"]; want != "" && want != digest(data) {
		return nil, "", &remote.Passing{Err: fmt.Errorf("the state does not match the checksum that the item %q of the table has: it was changed by something that does not know the table, or the last write is not visible yet", d.id)}
	}
	return data, v, nil
}

func digest(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// Put implements remote.Blob.
func (d *digested) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	v, err := d.Blob.Put(ctx, data, was)
	if err != nil {
		return "", err
	}
	return v, d.recordDigest(ctx, data)
}

// Delete implements remote.Blob.
func (d *digested) Delete(ctx context.Context) error {
	if err := d.Blob.Delete(ctx); err != nil {
		return err
	}
	return classify(d.digests.Delete(ctx, d.id))
}

// digestAttempts is how often storing a checksum is tried: the state beside it is stored already, and
// cannot be read without it.
const digestAttempts = 5

// recordDigest stores the checksum of the state.
func (d *digested) recordDigest(ctx context.Context, data []byte) (err error) {
	for n := range digestAttempts {
		if err = d.digests.Put(ctx, aws.Item{"LockID": d.id, "Digest": digest(data)}, false); err == nil {
			return nil
		}
		time.Sleep(time.Second << n)
	}
	return fmt.Errorf("the state is stored, but its checksum could not be. Set the attribute \"Digest\" of the item %q to %q: %w", d.id, digest(data), err)
}
