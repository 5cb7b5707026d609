package lease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestBusy asks what is in the way of a task before, during and after an opening and a closing.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// d and e use each other, so that neither is closed before the end.
		uses := map[string][]string{"a": {"b", "c"}, "c": {"d", "e"}, "d": {"e"}, "e": {"d"}}
		p := NewPool[string, string](Options[string]{
			Uses:       func(k string) []string { return uses[k] },
			CloseLimit: time.Hour,
		})
		busy := map[string]<-chan struct{}{}
		check := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			is := map[string]bool{}
			for _, k := range want {
				is[k] = true
			}
			for _, k := range []string{"a", "b", "c", "d", "e", "f"} {
				if busy[k] = p.Busy(k); (busy[k] != nil) != is[k] {
					t.Errorf("%s: got %s busy: %t, want %t", when, k, busy[k] != nil, is[k])
				}
			}
			if p.Busy("f", "a") != busy["a"] {
				t.Errorf("%s: got another thing busy of f and a, want a (busy: %t)", when, busy["a"] != nil)
			}
		}
		ended := func(k string) {
			t.Helper()
			synctest.Wait()
			select {
			case <-busy[k]:
			default:
				t.Errorf("%s is still waited for", k)
			}
		}
		leases := make(chan *Lease[string, string], 1)
		open := func(k string) {
			l, err := p.Acquire(k, await(context.Background()), func() (Thing[string], error) {
				time.Sleep(time.Minute)
				return Thing[string]{Close: func(context.Context) { time.Sleep(time.Minute) }}, nil
			})
			if err != nil {
				t.Error(err)
			}
			leases <- l
		}
		check("at first")
		go open("e")
		check("while e is opened", "a", "c", "d", "e")
		e := <-leases
		ended("a")
		check("while e is open")
		go open("c")
		check("while c is opened", "a", "c")
		c := <-leases
		ended("c")
		e.Release()
		check("while e is open because c may use it")
		go open("d")
		check("while d is opened, which c has not used", "d")
		d := <-leases
		ended("d")
		d.Release()
		c.Release()
		check("while c is closed", "a", "c")
		time.Sleep(time.Minute)
		ended("a")
		p.Shutdown()
		check("at the end")
	})
}
