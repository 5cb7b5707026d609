package suite

import (
	"context"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// made remembers who made the objects in a state: their providers, or the stand-ins for these. It may be used
// concurrently, and a nil one remembers nothing.
type made struct {
	mocked sync.Map // of addr.Instance: a stand-in was the last to change them
	real   sync.Map // of addr.Instance: they exist outside of the state
}

// orphan reports whether an object that its provider did not make is in no block of the tree any more: a run
// may override a module of which an earlier run overrode objects. The provider could neither read nor destroy
// it. An object that has a block, and that nothing stands in for, is its provider's from now on.
func (m *made) orphan(tree *config.Tree, i addr.Instance) bool {
	if m == nil {
		return false
	}
	if in := tree.Modules[i.Module.Module()]; in != nil && in.Resources[i.Resource] != nil {
		m.mocked.Delete(i)
		return false
	}
	_, ok := m.mocked.Load(i)
	return ok
}

// noting returns a stand-in whose changes of an object are remembered.
func (m *made) noting(i addr.Instance, p provider.Provider) provider.Provider {
	if m == nil {
		return p
	}
	return noting{p, func(created bool) {
		m.mocked.Store(i, struct{}{})
		if created {
			m.real.Delete(i)
		}
	}}
}

// noting is a provider that calls note when it has changed an object.
type noting struct {
	provider.Provider
	note func(created bool)
}

// ApplyResource implements provider.Changer.
func (n noting) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	resp, diags := n.Provider.ApplyResource(ctx, req)
	if !diags.HasErrors() {
		n.note(req.Prior.IsNull())
	}
	return resp, diags
}

// applied notes which objects a run that applied has left to their providers.
func (s *stand) applied(objects []addr.Object) {
	for _, o := range objects {
		if _, own := s.own.Load(o.Instance); own {
			s.made.real.Store(o.Instance, struct{}{})
		}
	}
}

// destroying is instead for the end of a file: a provider destroys the objects that it has made, also if the
// last run overrode it. Only if the provider is mocked as a whole, it has no configuration to do so with.
func (s *stand) destroying(pc addr.ProviderConfig, i addr.Instance) provider.Provider {
	if s.made != nil && s.mockOf(pc) == nil {
		if _, real := s.made.real.Load(i); real {
			return nil
		}
	}
	return s.instead(pc, i)
}
