package ephemeral

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// openings is a record that gives the ids 1, 2, and so on, or fails.
type openings struct {
	fails   error
	nothing bool // it cannot record, and says so by the id 0
	names   []string
	closed  []uint64
}

func (o *openings) Opening(i addr.Instance, _ addr.Provider, _ time.Time) (uint64, error) {
	if o.fails != nil || o.nothing {
		return 0, o.fails
	}
	o.names = append(o.names, i.String())
	return uint64(len(o.names)), nil
}

func (o *openings) Closed(id uint64) error {
	o.closed = append(o.closed, id)
	return nil
}

// TestRemembering moves what is open, and only that. What cannot be recorded elsewhere stays in the journal.
func TestRemembering(t *testing.T) {
	open := func(name string) addr.Instance {
		return addr.Instance{Resource: addr.Resource{Mode: addr.Ephemeral, Type: "x", Name: name}}
	}
	for name, test := range map[string]struct {
		to     *openings
		moved  []string
		closed []uint64
	}{
		"recorded":     {&openings{}, []string{"ephemeral.x.left"}, []uint64{1, 2}},
		"not recorded": {&openings{nothing: true}, nil, []uint64{1}},
		"failing":      {&openings{fails: errors.New("full")}, nil, []uint64{1}},
	} {
		from := &openings{}
		j := Remember(from)
		for _, n := range []string{"gone", "left"} {
			if _, err := j.Opening(open(n), addr.Provider{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Closed(1); err != nil {
			t.Fatal(err)
		}
		j.MoveTo(nil)
		if j.MoveTo(test.to); !slices.Equal(test.to.names, test.moved) || !slices.Equal(from.closed, test.closed) {
			t.Errorf("%s: got %q moved, %v closed, want %q, %v", name, test.to.names, from.closed, test.moved, test.closed)
		}
	}
	j, to := Remember(&openings{nothing: true}), &openings{}
	if _, err := j.Opening(open("x"), addr.Provider{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if j.MoveTo(to); len(to.names) > 0 {
		t.Errorf("got %q moved, want none of a recorder that cannot record", to.names)
	}
	j = Remember(&openings{fails: errors.New("full")})
	if _, err := j.Opening(open("x"), addr.Provider{}, time.Unix(1, 0)); err == nil {
		t.Error("an error of the journal is lost")
	}
	if j.MoveTo(to); len(to.names) > 0 {
		t.Errorf("what was not opened is recorded: %q", to.names)
	}
}
