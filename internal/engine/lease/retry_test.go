package lease

import (
	"errors"
	"testing"
	"time"
)

func TestRetry(t *testing.T) {
	p := NewPool[string, int](Options[string]{CloseLimit: time.Minute})
	defer p.Shutdown()
	opened := 0
	open := func() (Thing[int], error) {
		if opened++; opened < 2 {
			return Thing[int]{}, errors.New("not yet")
		}
		return Thing[int]{Value: opened}, nil
	}
	for range 2 {
		if _, err := p.Acquire("a", await(t.Context()), open); err == nil || opened != 1 {
			t.Fatalf("opened %d times, want 1: %v", opened, err)
		}
	}
	p.Retry()
	l, err := p.Acquire("a", await(t.Context()), open)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	p.Retry()
	if v, err := l.Value(t.Context()); v != 2 || err != nil {
		t.Errorf("got %d %v, want 2", v, err)
	}
}
