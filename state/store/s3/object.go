package s3

import (
	"context"
	"crypto/md5" //nolint:gosec // the checksum that other engines keep in DynamoDB
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/cloud/aws"
	"github.com/mayfly-iac/mayfly/state/store/remote"
)

// object is the state of a workspace. Its version is its ETag.
type object struct {
	*Service
	key     string
	digests *aws.Table // has the checksum of the state; nil for none
}

// digestID returns the name of the item with the state's checksum.
func (o *object) digestID() string { return o.opt.Name + "/" + o.key + "-md5" }

// Get implements remote.Blob. A checksum in DynamoDB that does not match may be that of a write that S3
// does not show yet.
func (o *object) Get(ctx context.Context) (data []byte, v remote.Version, err error) {
	data, etag, err := o.opt.Bucket.Get(ctx, o.key, o.read)
	if missing(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", classify(err)
	}
	if o.digests == nil {
		return data, remote.Version(etag), nil
	}
	item, err := o.digests.Get(ctx, o.digestID())
	if err != nil {
		return nil, "", classify(err)
	}
	if want := item["Digest"]; want != "" && want != digest(data) {
		return nil, "", &remote.Passing{Err: fmt.Errorf("the state s3://%s/%s does not match the checksum that the item %q of the table has: it was changed by something that does not know the table, or the last write is not visible yet",
			o.opt.Name, o.key, o.digestID())}
	}
	return data, remote.Version(etag), nil
}

func digest(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// Put implements remote.Blob.
func (o *object) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	header := o.put.Clone()
	if was == "" {
		header.Set("If-None-Match", "*")
	} else {
		header.Set("If-Match", string(was))
	}
	etag, err := o.opt.Bucket.Put(ctx, o.key, data, header)
	if status(err) == http.StatusNotImplemented {
		etag, err = o.putCompared(ctx, data, was)
	}
	switch {
	case status(err) == http.StatusPreconditionFailed || missing(err): // there is nothing that If-Match could match
		return "", remote.ErrChanged
	case err != nil:
		return "", classify(err)
	}
	return remote.Version(etag), o.recordDigest(ctx, data)
}

// digestAttempts is how often storing a checksum is tried: the state beside it is stored already, and
// cannot be read without it.
const digestAttempts = 5

// recordDigest stores the checksum of the state.
func (o *object) recordDigest(ctx context.Context, data []byte) (err error) {
	if o.digests == nil {
		return nil
	}
	for n := range digestAttempts {
		if err = o.digests.Put(ctx, aws.Item{"LockID": o.digestID(), "Digest": digest(data)}, false); err == nil {
			return nil
		}
		time.Sleep(time.Second << n)
	}
	return fmt.Errorf("the state is stored, but its checksum could not be. Set the attribute \"Digest\" of the item %q to %q: %w", o.digestID(), digest(data), err)
}

// putCompared is for a service without conditional writes.
func (o *object) putCompared(ctx context.Context, data []byte, was remote.Version) (etag string, err error) {
	_, now, err := o.opt.Bucket.Get(ctx, o.key, o.read)
	if err != nil && !missing(err) {
		return "", err
	}
	if now != string(was) {
		return "", remote.ErrChanged
	}
	return o.opt.Bucket.Put(ctx, o.key, data, o.put)
}

// Delete implements remote.Blob.
func (o *object) Delete(ctx context.Context) error {
	err := o.opt.Bucket.Delete(ctx, o.key)
	if err == nil && o.digests != nil {
		err = o.digests.Delete(ctx, o.digestID())
	}
	return classify(err)
}

// parts is the journal of one workspace: objects whose keys begin with prefix.
type parts struct {
	*Service
	prefix string
}

// List implements remote.Parts.
func (p *parts) List(ctx context.Context) (names []string, err error) {
	for key, err := range p.opt.Bucket.List(ctx, p.prefix) {
		if err != nil {
			return nil, classify(err)
		}
		names = append(names, strings.TrimPrefix(key, p.prefix))
	}
	return names, nil
}

// Get implements remote.Parts.
func (p *parts) Get(ctx context.Context, name string) ([]byte, error) {
	data, _, err := p.opt.Bucket.Get(ctx, p.prefix+name, p.read)
	if missing(err) {
		return nil, nil
	}
	return data, classify(err)
}

// Put implements remote.Parts.
func (p *parts) Put(ctx context.Context, name string, data []byte) error {
	_, err := p.opt.Bucket.Put(ctx, p.prefix+name, data, p.put)
	return classify(err)
}

// Remove implements remote.Parts.
func (p *parts) Remove(ctx context.Context, names []string) error {
	errs := make(chan error, len(names))
	room := make(chan struct{}, removals)
	for _, name := range names {
		room <- struct{}{}
		go func() {
			errs <- p.opt.Bucket.Delete(ctx, p.prefix+name)
			<-room
		}()
	}
	var all []error
	for range names {
		all = append(all, <-errs)
	}
	return classify(errors.Join(all...))
}

// removals is how many parts are removed at once.
const removals = 8
