package given

import (
	"bytes"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/effort"
)

func TestMain(m *testing.M) {
	effort.Save()
	m.Run()
}

// TestSecrets has a bounded number of different values hashed, each as often as it is needed. The same value
// has another hash for each purpose, and none is the value.
func TestSecrets(t *testing.T) {
	s := newSecrets([]byte("key"), 2)
	one, two, three := cty.StringVal("canary-1"), cty.StringVal("canary-2"), cty.StringVal("canary-3")
	a, okA := s.sum(one, "a")
	b, okB := s.sum(one, "b")
	again, _ := s.sum(one, "a")
	if !okA || !okB || bytes.Equal(a, b) || !bytes.Equal(a, again) || bytes.Contains(a, []byte("canary")) {
		t.Errorf("got %x and %x for two purposes, and %x for the first again, want it to be the same, and the others to differ", a, b, again)
	}
	other, ok := s.sum(two, "a")
	if !ok || bytes.Equal(a, other) {
		t.Errorf("got %x, %v for another value, want another hash than %x", other, ok, a)
	}
	if got, ok := s.sum(three, "a"); ok {
		t.Errorf("got %x for one value too many, want none", got)
	}
	if _, ok := s.sum(two, "c"); !ok {
		t.Error("got no hash of a value that was hashed before, want one")
	}
	if got, ok := s.sum(cty.UnknownVal(cty.String).Mark("x"), "a"); ok {
		t.Errorf("got %x for a value that can't be encoded, want none", got)
	}
}

// TestNone hashes nothing without a key.
func TestNone(t *testing.T) {
	h := New(nil, nil)
	if h != nil || h.ForRun() != nil {
		t.Errorf("got %v without a key, want none", h)
	}
}
