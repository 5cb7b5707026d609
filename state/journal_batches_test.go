package state

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestGroupCommit: calls that come while the file is synchronised share the next synchronisation, and no call
// returns before its own record is durable.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, file := newLog(t, testFile())
		file.syncTime = 10 * time.Millisecond
		var wg sync.WaitGroup
		const calls = 100
		for i := range calls {
			wg.Go(func() {
				a := at(fmt.Sprint("n", i), addr.NoKey)
				id, err := l.Begin(a, "create")
				if err != nil {
					t.Error(err)
				}
				if err := l.Commit(id, ObjectChange{Object: a, Provider: testProvider, New: object(t, "x")}); err != nil {
					t.Error(err)
				}
				file.mu.Lock()
				defer file.mu.Unlock()
				if !bytes.Contains(file.buf.Bytes()[:file.durable], fmt.Appendf(nil, `{"commit":{"id":%d,`, id)) {
					t.Errorf("operation %d is not durable", id)
				}
			})
		}
		wg.Wait()
		if file.syncs > 10 {
			t.Errorf("%d calls took %d synchronisations", 2*calls, file.syncs)
		}
		r, err := replay(testFile(), file.buf.Bytes())
		if err != nil || r.Changes != calls || len(r.Unfinished) != 0 {
			t.Errorf("replayed: got %+v, %v, want %d changes", r, err, calls)
		}
	})
}

// slowSealer takes a second before it looks at the content, which it leaves in clear.
type slowSealer struct{}

func (slowSealer) Seal([]byte) ([]byte, error) {
	time.Sleep(time.Second)
	return nil, nil
}
func (slowSealer) Unseal(sealed []byte) ([]byte, error) { return sealed, nil }
func (slowSealer) CheckPlain() error                    { return nil }

// TestRoomOfBatches adds records while those before them are being written, in room that was used before.
func TestRoomOfBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &memLog{}
		l, err := NewLog(file, testFile().Meta, slowSealer{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		const calls = 6
		for i := range calls {
			wg.Go(func() {
				time.Sleep(time.Duration(i/2)*5*time.Second + time.Duration(i%2)*500*time.Millisecond)
				if _, err := l.Begin(at(fmt.Sprint("n", i), addr.NoKey), "create"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		r, err := replay(testFile(), file.buf.Bytes())
		if err != nil || len(r.Unfinished) != calls {
			t.Errorf("replayed: got %+v, %v, want %d operations that have begun", r, err, calls)
		}
	})
}
