//go:build !mayfly_no_cos

package cos

import (
	"context"
	"crypto/md5" //nolint:gosec // how other engines name the tag
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/tencent"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

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

// removeTag deletes the tag that guards a lock file. It tries again after failures that may pass, with
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
