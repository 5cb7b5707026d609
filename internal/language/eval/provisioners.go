package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Provisioners returns the provisioner blocks that run when the instance is created, in order.
func (in *Instance) Provisioners() []*config.Provisioner {
	return provisionerConfigs(in.Resource.Block.Provisioners)
}

func provisionerConfigs(blocks []blocks.Provisioner) []*config.Provisioner {
	out := make([]*config.Provisioner, len(blocks))
	for i := range blocks {
		out[i] = blocks[i].Config
	}
	return out
}

// EvalProvisioner evaluates the arguments of one provisioner, which may carry marks. self is the instance's
// object.
func (in *Instance) EvalProvisioner(t *future.Task, o *Opened, index int, self cty.Value) (cty.Value, diag.List) {
	sc := in.scope(t, o)
	sc.self, sc.own = func() cty.Value { return self }, in
	return in.Run().provisioner(sc, &in.Resource.Block.Provisioners[index])
}

func (r *Run) provisioner(sc *scope, p *blocks.Provisioner) (cty.Value, diag.List) {
	v, diags := settle(sc.t, sc.opened, func() (cty.Value, diag.List) { return r.decode(sc, p.View, p.Exprs) }, nil)
	return v, sc.located(diags)
}

// EvalConnection evaluates the connection of one provisioner: the resource's, overridden by the provisioner's
// own. The value may carry marks, and is cty.NilVal if the provisioner uses no connection. self is the
// instance's object.
func (in *Instance) EvalConnection(t *future.Task, o *Opened, index int, self cty.Value) (cty.Value, diag.List) {
	sc := in.scope(t, o)
	sc.self, sc.own = func() cty.Value { return self }, in
	return in.Run().connection(sc, &in.Resource.Block.Provisioners[index])
}

func (r *Run) connection(sc *scope, p *blocks.Provisioner) (cty.Value, diag.List) {
	used := p.IsRemote()
	if p.Connected == nil || !used && r.opt.Phase != Validating {
		return cty.NilVal, nil
	}
	v, diags := settle(sc.t, sc.opened, func() (cty.Value, diag.List) {
		return r.decodeBy(sc, p.Connected, blocks.ConnectionSchema.Type(), p.Connection, func(ctx *hcl.EvalContext) (cty.Value, diag.List) {
			return blocks.ConnectionSchema.Decode(p.Connected, ctx)
		})
	}, nil)
	if !used { // only its arguments are checked
		v = cty.NilVal
	}
	return v, sc.located(diags)
}

// ConnectionBody returns the body that EvalConnection evaluates, for the positions of its arguments; nil if
// there is none.
func (in *Instance) ConnectionBody(index int) hcl.Body {
	return in.Resource.Block.Provisioners[index].ConnectionBody()
}
