package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Info returns lock information for tests.
func Info(who string) store.LockInfo {
	return store.LockInfo{ID: "id-" + who, Operation: "test", Who: who, Version: "1.0.0", Created: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// Provider is the provider configuration of Object's objects.
var Provider = addr.ProviderConfig{Provider: addr.DefaultProvider("test")}

// Address returns the address of the current object of test_thing.NAME[n].
func Address(name string, n int) addr.Object {
	return addr.Object{Instance: addr.Instance{Resource: addr.Resource{Type: "test_thing", Name: name}, Key: addr.IntKey(n)}}
}

// Object returns an object with one attribute.
func Object(t testing.TB, text string) *state.Object {
	t.Helper()
	v := cty.ObjectVal(map[string]cty.Value{"text": cty.StringVal(text)})
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// File returns a file with a number of objects.
func File(t testing.TB, lineage string, serial uint64, objects int) *state.File {
	t.Helper()
	f := &state.File{Meta: state.Meta{Lineage: lineage, Serial: serial, Version: "1.0.0"}, State: state.New()}
	for i := range objects {
		f.State.SetObject(Address("a", i), Object(t, fmt.Sprint("object ", i)), Provider)
	}
	return f
}

func manager(t *testing.T, h Harness, workspace string) store.Manager {
	t.Helper()
	m, err := h.Open().Manager(workspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lock(t *testing.T, m store.Manager, who string) (unlock func()) {
	t.Helper()
	id, err := m.Lock(t.Context(), Info(who))
	if err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := m.Unlock(context.WithoutCancel(t.Context()), id); err != nil {
			t.Error(err)
		}
	})
}

// read reads through a new handle and returns the encoded state, or "" for none.
func read(t *testing.T, h Harness, workspace string) string {
	t.Helper()
	f, err := manager(t, h, workspace).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text(t, f)
}

func text(t *testing.T, f *state.File) string {
	t.Helper()
	if f == nil {
		return ""
	}
	b, err := state.Write(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
