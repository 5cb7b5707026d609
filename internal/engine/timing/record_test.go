package timing_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/timing"
)

func instance(t *testing.T, s string) addr.Instance {
	t.Helper()
	a, err := addr.ParseInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestExpected asks for durations before and after the record was stored.
func TestExpected(t *testing.T) {
	var empty timing.Record
	known, like, fast, other := instance(t, `a_thing.x["k"]`), instance(t, "module.m.a_thing.y"), instance(t, "b_thing.x"), instance(t, "c_thing.x")
	if d := empty.Expected(known, event.OpCreate); d != 1 {
		t.Errorf("an empty record expects: got %d, want 1", d)
	}
	var r timing.Record
	r.Took(known, event.OpCreate, 400*time.Millisecond)
	r.Took(known, event.OpCreate, 600*time.Millisecond)
	r.Took(fast, event.OpCreate, time.Millisecond)
	stored, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := timing.Decode(stored).Encode()
	if err != nil || !bytes.Equal(stored, again) {
		t.Errorf("stored again: got %v\n%s\nwant\n%s", err, again, stored)
	}
	for name, r := range map[string]*timing.Record{"recorded": &r, "stored": timing.Decode(stored)} {
		for _, c := range []struct {
			object addr.Instance
			op     event.Op
			want   time.Duration
		}{
			{known, event.OpCreate, 500 * time.Millisecond},
			{like, event.OpCreate, 500 * time.Millisecond},
			{fast, event.OpCreate, time.Millisecond},
		} {
			if got := r.Expected(c.object, c.op); got != c.want {
				t.Errorf("%s: %s %s takes %s, want %s", name, c.op, c.object, got, c.want)
			}
		}
		if got := r.Expected(other, event.OpDelete); got <= time.Millisecond || got >= 500*time.Millisecond {
			t.Errorf("%s: an operation of which nothing is known takes %s", name, got)
		}
	}
}

func TestDecodeAnything(t *testing.T) {
	for _, stored := range []string{
		"", "{", "[]", `{"version":2,"types":[{"mode":"managed","type":"a","operation":"create","millis":5,"count":1}]}`,
		`{"version":1,"types":[{"mode":"managed","type":"a","operation":"create","millis":-5,"count":1},{"mode":"x","type":"a","millis":1,"count":1}]}`,
		`{"version":1,"objects":[{"object":"no address","operation":"create","millis":5},{"object":"a.x","operation":"create","millis":9000000000000000000}]}`,
	} {
		if d := timing.Decode([]byte(stored)).Expected(instance(t, "a.x"), event.OpCreate); d != 1 {
			t.Errorf("%s: expects: got %s, want 1", stored, d)
		}
	}
}

// TestSizeIsBounded records more objects than are kept.
func TestSizeIsBounded(t *testing.T) {
	var r timing.Record
	for i := range 20_000 {
		r.Took(instance(t, fmt.Sprintf("a.x[%d]", i)), event.OpCreate, time.Duration(i)*time.Millisecond)
	}
	stored, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(stored) > 1<<20 {
		t.Errorf("%d bytes are stored", len(stored))
	}
	if d := timing.Decode(stored).Expected(instance(t, "a.x[19999]"), event.OpCreate); d != 19_999*time.Millisecond {
		t.Errorf("the longest is remembered as: got %s, want %s", d, 19_999*time.Millisecond)
	}
}
