package state

import "testing"

func TestID(t *testing.T) {
	for want, o := range map[string]*Object{
		"":  nil,
		"x": {Flatmap: map[string]string{"id": "x"}},
		"y": {attrs: []byte(`{"id":"y"}`)},
	} {
		if got := o.ID(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (&Object{attrs: []byte(`{"id":7}`)}).ID(); got != "" {
		t.Errorf("ID of an object whose id is a number: got %q, want none", got)
	}
}
