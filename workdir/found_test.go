package workdir

import (
	"testing"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/state"
)

// TestProvidersAreFoundOnce reads objects of providers again. Packages that were found are not searched for,
// and others may be installed by then.
func TestProvidersAreFoundOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	used, other := addr.Provider{Type: "used", Namespace: "n", Hostname: "h.example"}, addr.Provider{Type: "other", Namespace: "n", Hostname: "h.example"}
	objects := func(of ...addr.Provider) *state.State {
		st := state.New()
		for _, p := range of {
			a := addr.Instance{Resource: addr.Resource{Mode: addr.Managed, Type: p.Type, Name: "a"}}
			st.SetObject(addr.Object{Instance: a}, &state.Object{}, addr.ProviderConfig{Provider: p})
		}
		return st
	}
	s := &Session{dir: New(Options{Environ: []string{}}), Project: &mayfly.Project{Tree: emptyTree()}, packages: install.Selections{used: {Executable: "e"}}, ready: map[addr.Provider]bool{}}
	s.addProviders(objects(addr.BuiltinProvider))
	s.addProviders(objects(used, other))
	if !s.ready[addr.BuiltinProvider] || s.ready[other] || s.packages[used].Executable != "e" {
		t.Errorf("got %v ready and the packages %v, want the built-in provider ready, and one package", s.ready, s.packages)
	}
	s.dir = nil // with which nothing can be found
	s.addProviders(objects(used, addr.BuiltinProvider))
}
