package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
)

// EvalConnection evaluates the connection of one provisioner, that of the resource overridden by the
// provisioner's own; it may carry marks. The value is cty.NilVal if the provisioner has no use for one. self
// is the instance's object.
func (in *Instance) EvalConnection(t *future.Task, s *Session, index int, self cty.Value) (cty.Value, diag.List) {
	sc := in.scope(t, s)
	sc.self, sc.own = func() cty.Value { return self }, in
	return in.Run().connection(sc, &in.Resource.Block.Provisioners[index])
}

// EvalConnection evaluates the connection of one provisioner, as that of Instance does. self is the object
// that is about to be destroyed.
func (d *DestroyProvisioners) EvalConnection(t *future.Task, s *Session, index int, self cty.Value) (cty.Value, diag.List) {
	p := &d.blocks[index]
	if d.checkKeys(p).HasErrors() {
		return cty.NilVal, nil // EvalProvisioner reports it
	}
	sc := d.scope(t, s)
	sc.self = func() cty.Value { return self }
	return d.run.connection(sc, p)
}

func (r *Run) connection(sc *scope, p *blocks.Provisioner) (cty.Value, diag.List) {
	used := p.IsRemote()
	if p.Connected == nil || !used && r.opt.Phase != Validating {
		return cty.NilVal, nil
	}
	r.Stats.Evaluations.Add(1)
	v, diags := blocks.ConnectionSchema.Decode(p.Connected, r.context(sc, p.Connection...))
	if !used { // no more than its arguments must be right
		v = cty.NilVal
	}
	return v, sc.forget(diags).WithAddress(sc.address)
}

// ConnectionBody returns the body that EvalConnection evaluates, for the positions of its arguments; nil if
// there is none.
func (in *Instance) ConnectionBody(index int) hcl.Body {
	return in.Resource.Block.Provisioners[index].ConnectionBody()
}

// ConnectionBody returns the body that EvalConnection evaluates, for the positions of its arguments; nil if
// there is none.
func (d *DestroyProvisioners) ConnectionBody(index int) hcl.Body {
	return d.blocks[index].ConnectionBody()
}
