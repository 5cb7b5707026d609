package suite

import (
	"context"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/provider"
)

// made remembers which objects in a state were last changed by what stands in for their providers. It may be
// used concurrently, and a nil one remembers nothing.
type made struct{ objects sync.Map } // of addr.Instance

// orphan reports whether an object that its provider did not make is in no block of the tree any more: a run
// may override a module of which an earlier run overrode objects. The provider could neither read nor destroy
// it. An object that has a block, and that nothing stands in for, is its provider's from now on.
func (m *made) orphan(tree *config.Tree, i addr.Instance) bool {
	if m == nil {
		return false
	}
	if in := tree.Modules[i.Module.Module()]; in != nil && in.Resources[i.Resource] != nil {
		m.objects.Delete(i)
		return false
	}
	_, ok := m.objects.Load(i)
	return ok
}

// noting returns a stand-in whose changes of an object are remembered.
func (m *made) noting(i addr.Instance, p provider.Provider) provider.Provider {
	if m == nil {
		return p
	}
	return noting{p, func() { m.objects.Store(i, struct{}{}) }}
}

// noting is a provider that calls note when it has changed an object.
type noting struct {
	provider.Provider
	note func()
}

// ApplyResource implements provider.Changer.
func (n noting) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	resp, diags := n.Provider.ApplyResource(ctx, req)
	if !diags.HasErrors() {
		n.note()
	}
	return resp, diags
}
