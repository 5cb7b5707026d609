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

// TestVersionIsOfTheRow requires that the version of a stored object is neither encoded nor kept by a changed
// object.
func TestVersionIsOfTheRow(t *testing.T) {
	o := &Object{attrs: []byte(`{"id":"a"}`)}
	stored := *o
	stored.Version = Version{1}
	if !stored.Equal(o) {
		t.Error("the version is part of the content")
	}
	if v := stored.Clone().Version; v != (Version{}) {
		t.Errorf("got the version %x of a changed object, want none", v)
	}
}
