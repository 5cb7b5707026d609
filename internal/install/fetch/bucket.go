package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/aws"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/google"
)

// The forms of addresses in clouds, for errors about addresses that have none of them.
var (
	errAmazonForm = errors.New("an address at S3 has the form s3::https://s3-REGION.amazonaws.com/BUCKET/PATH")
	errGoogleForm = errors.New("an address at Google Cloud Storage has the form gcs::https://www.googleapis.com/storage/v1/BUCKET/PATH")
)

// bucket is a store of objects in a cloud.
type bucket interface {
	// List returns the names of the objects that begin with prefix.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Open returns the content of an object, which the caller closes, and its size, negative if unknown.
	// version is "" for the latest.
	Open(ctx context.Context, name, version string) (io.ReadCloser, int64, error)
}

// object is the parsed address of an object. bucket is "" if the address has another form.
type object struct {
	bucket, name, version string
	suffix, region        string // of S3; suffix is "" for servers of others than AWS
}

// objectOfAmazon reads an address of S3, with the bucket in the path or in the host, or one of a compatible
// server, with the bucket in the path.
func objectOfAmazon(u *url.URL) object {
	q := u.Query()
	o := object{version: q.Get("version"), suffix: aws.Suffix(u.Host)}
	name := strings.TrimPrefix(u.Path, "/")
	if o.suffix == "" {
		o.region = cmp.Or(q.Get("region"), "us-east-1")
		o.bucket, o.name, _ = strings.Cut(name, "/")
		return o
	}
	labels := strings.Split(strings.TrimSuffix(u.Host, "."+o.suffix), ".")
	last := len(labels) - 1
	if last > 0 && labels[last-1] == "s3" { // s3.REGION
		o.region = labels[last]
		last--
	} else if region, ok := strings.CutPrefix(labels[last], "s3-"); ok {
		o.region = region
	} else if labels[last] != "s3" {
		return object{}
	}
	if o.bucket, o.name = strings.Join(labels[:last], "."), name; o.bucket == "" {
		o.bucket, o.name, _ = strings.Cut(name, "/")
	}
	return o
}

// objectOfGoogle reads an address of Google Cloud Storage: the path is /storage/VERSION/BUCKET/NAME. The
// fragment may be the generation of the object.
func objectOfGoogle(u *url.URL) object {
	words := strings.SplitN(u.Path, "/", 5)
	if !strings.HasSuffix(u.Host, ".googleapis.com") || len(words) < 5 {
		return object{}
	}
	return object{bucket: words[3], name: words[4], version: u.Fragment}
}

// object returns the bucket that an address is in, and which of its objects.
func (r *run) object(ctx context.Context, scheme string, u *url.URL) (bucket, object, error) {
	if scheme == "gcs" {
		o := objectOfGoogle(u)
		if o.bucket == "" {
			return nil, o, errGoogleForm
		}
		b, err := google.OpenBucket(ctx, o.bucket, google.ReadObjects, r.web.Services)
		return b, o, err
	}
	o := objectOfAmazon(u)
	if o.bucket == "" {
		return nil, o, errAmazonForm
	}
	q := u.Query()
	settings := aws.Settings{Profile: q.Get("aws_profile"), Region: o.region}
	if q.Has("aws_access_key_id") || q.Has("aws_access_key_secret") || q.Has("aws_access_token") {
		settings.Keys = &aws.Keys{ID: q.Get("aws_access_key_id"), Secret: q.Get("aws_access_key_secret"), Token: q.Get("aws_access_token")}
	}
	account, err := aws.Load(ctx, settings, r.web.Services)
	if err != nil {
		return nil, o, err
	}
	if o.suffix == "" {
		return account.BucketAt(o.bucket, u.Scheme+"://"+u.Host), o, nil
	}
	b, err := account.Bucket(ctx, o.bucket, o.suffix)
	return b, o, err
}

// directory downloads the objects whose names begin with a directory's.
func (r *run) directory(ctx context.Context, scheme string, u *url.URL, dir string) error {
	b, o, err := r.object(ctx, scheme, u)
	if err != nil {
		return err
	}
	prefix := strings.TrimSuffix(o.name, "/")
	if prefix != "" {
		prefix += "/"
	}
	files := 0
	for name, err := range b.List(ctx, prefix) {
		if err != nil {
			return err
		}
		rel, ok := strings.CutPrefix(name, prefix)
		if !ok || rel == "" || strings.HasSuffix(rel, "/") { // an empty object that stands for a directory
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(rel)) || path.Clean(rel) != rel {
			return fmt.Errorf("the bucket has an object whose name points outside of the package: %q", name)
		}
		if files++; files > r.limits.Files {
			return fmt.Errorf("it is larger than the limit: it has more than %d files", r.limits.Files)
		}
		if err := r.member(ctx, b, name, filepath.Join(dir, filepath.FromSlash(rel))); err != nil {
			return err
		}
	}
	if files == 0 {
		return fmt.Errorf("the bucket %s has no objects whose names begin with %q. If it is an archive, add its format to the address, such as \"?archive=zip\"", o.bucket, prefix)
	}
	return nil
}

// member downloads an object of a directory.
func (r *run) member(ctx context.Context, b bucket, name, file string) error {
	body, size, err := b.Open(ctx, name, "")
	if err != nil {
		return err
	}
	defer body.Close()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return r.save(body, size, file)
}
