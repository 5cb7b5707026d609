//go:build !mayfly_no_cos

// Package cos keeps states in COS of Tencent Cloud, as objects with the names of the backend "cos" of other
// engines, and under their locks, which are objects that are made while a tag exists.
//
// It may import backend, cloud, cloud/tencent, state/store, remote and objects. It must not know other
// configuration, plans, providers, or the content of states.
package cos

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // how other engines name the tag
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/tencent"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// defaultACL is the default of Options.ACL.
const defaultACL = "private"

// Options configure a service.
type Options struct {
	Account *tencent.Account // for tags
	Bucket  *cloud.Bucket
	Name    string // of the bucket
	Prefix  string // of the names of all objects, without a slash at its end; may be ""
	Key     string // that the names of states end with; objects.DefaultKey if ""
	ACL     string // a canned one; defaultACL if ""
	Encrypt bool   // on the server
}

// New returns a service. It contacts nothing.
func New(opt Options) *objects.Service {
	s := &objects.Service{
		Bucket: opt.Bucket, Scheme: "cos", Name: opt.Name, Prefix: opt.Prefix, Key: cmp.Or(opt.Key, objects.DefaultKey),
		Header: http.Header{"X-Cos-Acl": {cmp.Or(opt.ACL, defaultACL)}}, Create: "X-Cos-Forbid-Overwrite", Answers: answers,
	}
	if opt.Encrypt {
		s.Header.Set("X-Cos-Server-Side-Encryption", "AES256")
	}
	s.Lock = func(p remote.Place, name string) remote.Place {
		p.Lock = objects.NewLock(newLockFile(s, opt.Account, name+".tflock"))
		return p
	}
	return s
}

// answers classify the errors of the service.
var answers = objects.Answers{
	Missing: objects.NoSuchKey, Explain: objects.Hints(hints), Arguments: "\"bucket\" and \"region\"",
	Passes: func(e *cloud.Error) bool { return e.Passes() || busy[e.Code] },
}

const checkKeys = "Check the arguments \"secret_id\" and \"secret_key\", and the clock of this machine"

// hints are the advice for each error code.
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

// lockFile is an objects.Record that is an object. A bucket with versions writes it even if there is one, so
// a tag of the account keeps others from writing meanwhile.
type lockFile struct {
	*objects.Service
	account *tencent.Account
	name    string
	tag     string // the value of the tag
	unsure  bool   // whether the tag was made by this run is not known
}

// tagKey is the key of the tags that other engines make.
const tagKey = "tencentcloud-terraform-lock"

func newLockFile(s *objects.Service, a *tencent.Account, name string) *lockFile {
	sum := md5.Sum([]byte(s.Name + ":" + name)) //nolint:gosec // see above
	return &lockFile{Service: s, account: a, name: name, tag: hex.EncodeToString(sum[:])}
}

// Create implements objects.Record.
func (f *lockFile) Create(ctx context.Context, text []byte) (created bool, err error) {
	if held, err := f.Read(ctx); held != nil || err != nil {
		return false, err
	}
	err = f.account.CreateTag(ctx, tagKey, f.tag)
	if errors.Is(err, cloud.ErrExists) && !f.unsure {
		return false, &store.LockError{Err: fmt.Errorf("another run is about to lock it. If this remains so, that run has ended, and the tag %s:%s has to be deleted", tagKey, f.tag)}
	}
	if err != nil && !errors.Is(err, cloud.ErrExists) {
		err = f.Classify(err)
		passing := (*remote.Passing)(nil)
		f.unsure = errors.As(err, &passing)
		return false, err
	}
	f.unsure = true // until the tag is gone
	defer func() { err = errors.Join(err, f.removeTag(context.WithoutCancel(ctx))) }()
	var nothing remote.Version
	_, err = f.Put(ctx, f.name, text, &nothing)
	if errors.Is(err, remote.ErrChanged) {
		return false, nil
	}
	return err == nil, err
}

// tagAttempts is how often deleting the tag is tried: as long as it exists, nothing can lock the state.
const tagAttempts = 4

// removeTag deletes the tag that protects a lock file. It tries again after failures that may pass, with
// pauses that double: a tag that is left keeps all others out.
func (f *lockFile) removeTag(ctx context.Context) (err error) {
	for n := range tagAttempts {
		if err = f.Classify(f.account.DeleteTag(ctx, tagKey, f.tag)); err == nil {
			f.unsure = false
			return nil
		}
		passing := (*remote.Passing)(nil)
		if !errors.As(err, &passing) {
			return err
		}
		time.Sleep(time.Second / 8 << n)
	}
	return err
}

// Read implements objects.Record.
func (f *lockFile) Read(ctx context.Context) ([]byte, error) {
	text, _, err := f.Get(ctx, f.name)
	return text, err
}

// Remove implements objects.Record. A tag that a run has left while it took the lock goes first: as long as
// the object exists, no other run needs the tag.
func (f *lockFile) Remove(ctx context.Context) error {
	if err := f.account.DeleteTag(ctx, tagKey, f.tag); err != nil {
		return f.Classify(err)
	}
	return f.Delete(ctx, f.name)
}
