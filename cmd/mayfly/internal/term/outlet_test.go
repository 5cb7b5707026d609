package term

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// stall is a pipe that is full: writing to it waits until its reader goes on.
type stall struct {
	full chan struct{}
	text bytes.Buffer
}

func newStall() *stall { return &stall{full: make(chan struct{})} }

func (s *stall) goOn() { close(s.full) }

func (s *stall) Write(p []byte) (int, error) {
	<-s.full
	return s.text.Write(p)
}

func TestOutletLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Patience
		out := newStall()
		o := NewOutlet(out, p.Over())
		text := strings.Repeat("0123456789abcdef", piece/8)
		go p.During(func() { time.Sleep(time.Hour) })
		synctest.Wait()
		p.Interrupt()
		wrote := make(chan error)
		go func() {
			_, err := o.Write([]byte(text))
			wrote <- err
		}()
		time.Sleep(time.Hour - time.Second) // the engine is at work, or no interrupt came
		out.goOn()
		if err := <-wrote; err != nil || out.text.String() != text {
			t.Errorf("Write: got %v and %d bytes, want %d", err, out.text.Len(), len(text))
		}
		time.Sleep(time.Second)
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOutletGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Patience
		out := newStall()
		o := NewOutlet(out, p.Over())
		p.Interrupt()
		begun := time.Now()
		for range 2 {
			if _, err := o.Write([]byte("text")); err != ErrUnread {
				t.Errorf("Write: got %v, want %v", err, ErrUnread)
			}
		}
		if took := time.Since(begun); took != standstill {
			t.Errorf("given up after %s, want %s", took, standstill)
		}
		if err := o.Close(); err != ErrUnread {
			t.Errorf("Close: got %v, want %v", err, ErrUnread)
		}
		out.goOn()
	})
}

// slow takes its time for each piece.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(standstill - time.Second)
	return s.Buffer.Write(p)
}

func TestOutletWaitsForASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Patience
		out := &slow{}
		o := NewOutlet(out, p.Over())
		p.Interrupt()
		text := strings.Repeat("x", 10*piece+1)
		if n, err := o.Write([]byte(text)); n != len(text) || err != nil || out.String() != text {
			t.Errorf("Write: got %d, %v and %d bytes, want %d", n, err, len(out.String()), len(text))
		}
		o.Close()
	})
}

// full fails for want of something.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestOutletRemembersFailures(t *testing.T) {
	for _, test := range []struct{ write, end error }{{syscall.ENOSPC, syscall.ENOSPC}, {syscall.EPIPE, nil}} {
		o := NewOutlet(full{test.write}, nil)
		if _, err := o.Write([]byte("text")); err != test.write {
			t.Error(err)
		}
		if err := o.Close(); err != test.end {
			t.Errorf("Close after %v: got %v, want %v", test.write, err, test.end)
		}
	}
}
