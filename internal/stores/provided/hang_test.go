package provided

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// silent is a provider that never answers when it reads.
type silent struct{ provider.StateStores }

func (silent) ReadState(ctx context.Context, _, _ string) ([]byte, diag.List) {
	<-ctx.Done()
	d := diag.Errorf("Provider took too long", "It did not answer.")
	d[0].Extra = ctx.Err()
	return nil, d
}

func (silent) States(context.Context, string) ([]string, diag.List) {
	return []string{store.DefaultWorkspace}, nil
}

// TestSilence requires that a run ends, and can be interrupted, although its provider never answers.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &blob{&service{stores: silent{}}, store.DefaultWorkspace}
		begun := time.Now()
		if _, _, err := b.Get(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != answerTime {
			t.Errorf("Get: got %v after %s, want %v after %s", err, time.Since(begun), context.DeadlineExceeded, answerTime)
		}
		stop := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		begun = time.Now()
		if _, err := b.Put(ctx, []byte(storetest.Info("a").Who), ""); !errors.Is(err, stop) || time.Since(begun) != time.Second {
			t.Errorf("Put: got %v after %s, want %v after 1s", err, time.Since(begun), stop)
		}
	})
}
