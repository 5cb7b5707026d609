package lease

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"
)

// TestE55_NothingKeepsTheValueWhileClosing looks from within Close, which may take long, whether anything can
// still reach the value: not the pool, and not a lease that was forgotten or has been released.
func TestE55_NothingKeepsTheValueWhileClosing(t *testing.T) {
	type secret [64]byte
	for name, end := range map[string]func(*Pool[int, *secret], *Lease[int, *secret]){
		"the last release": func(_ *Pool[int, *secret], l *Lease[int, *secret]) { l.Release() },
		"shutdown":         func(p *Pool[int, *secret], _ *Lease[int, *secret]) { p.Shutdown() },
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPool[int, *secret](Options[int]{CloseLimit: time.Minute})
			var ref weak.Pointer[secret]
			kept := make(chan bool, 1)
			l, err := p.Acquire(1, await(t.Context()), func() (Thing[*secret], error) {
				s := &secret{}
				ref = weak.Make(s)
				return Thing[*secret]{Value: s, Close: func(context.Context) {
					runtime.GC()
					kept <- ref.Value() != nil
				}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if v, err := l.Value(t.Context()); err != nil || v != ref.Value() {
				t.Fatal(err)
			}
			end(p, l)
			if <-kept {
				t.Error("the value can be reached while it is closed")
			}
			if _, err := l.Value(t.Context()); err == nil {
				t.Error("the lease has a value although it is closed")
			}
			p.Drained()
			runtime.KeepAlive(l)
			runtime.KeepAlive(p)
		})
	}
}
