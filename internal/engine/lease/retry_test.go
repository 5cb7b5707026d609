package lease

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestRetry(t *testing.T) {
	p := NewPool[string, int](Options[string]{CloseLimit: time.Minute})
	defer p.Shutdown()
	opened := 0
	open := func(context.Context) (Opened[int], error) {
		if opened++; opened < 2 {
			return Opened[int]{}, errors.New("not yet")
		}
		return Opened[int]{Value: opened}, nil
	}
	for range 2 {
		if _, err := p.Acquire(t.Context(), "a", nil, open); err == nil || opened != 1 {
			t.Fatalf("opened %d times: %v", opened, err)
		}
	}
	p.Retry()
	l, err := p.Acquire(t.Context(), "a", nil, open)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	p.Retry()
	if v, err := l.Value(t.Context()); v != 2 || err != nil {
		t.Errorf("%d %v", v, err)
	}
}
