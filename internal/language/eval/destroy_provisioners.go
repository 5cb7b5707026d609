package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/plan"
)

// DestroyProvisioners are the provisioners that run before an object is destroyed. They are declared in its
// resource block or, if that is gone, in a removed block. Their references see the objects as they were
// before the apply, when the object was still in use.
type DestroyProvisioners struct {
	run    *Run
	module *Module // in which their expressions are evaluated
	addr   addr.Instance
	each   *eachData
	blocks blocks.DestroyProvisioners
}

// DestroyProvisioners returns the destroy-time provisioners of the object at the address, nil if there are
// none.
func (r *Run) DestroyProvisioners(a addr.Instance) *DestroyProvisioners {
	if a.Resource.Mode != addr.Managed {
		return nil
	}
	d := &DestroyProvisioners{run: r, addr: a, module: r.Module(a.Module)}
	if d.module != nil && d.module.resources[a.Resource] != nil {
		res := d.module.resources[a.Resource]
		d.each, d.blocks = res.eachData(a.Key), res.Block.DestroyProvisioners
	} else if removal := r.cfg.Tree.Removal(a.Config()); removal != nil && removal.Destroy {
		d.module = r.Module(enclosing(a.Module, len(removal.Module().Path.Calls())))
		d.each, d.blocks = &eachData{key: a.Key, of: &expander{module: d.module}}, r.cfg.Removed[removal]
	}
	if len(d.blocks) == 0 {
		return nil
	}
	return d
}

// enclosing returns the module instance around m that is depth calls below the root, or m itself.
func enclosing(m addr.ModuleInstance, depth int) addr.ModuleInstance {
	if depth == 0 {
		return addr.RootInstance
	}
	return m.Path()[depth-1]
}

// Removals returns, for validation, the destroy-time provisioners that removed blocks of the module object
// declare, each for an instance without keys.
func (m *Module) Removals() []*DestroyProvisioners {
	var out []*DestroyProvisioners
	for _, removal := range m.block.Config.Removed {
		if blocks := m.run.cfg.Removed[removal]; len(blocks) > 0 {
			target := removal.Target()
			at := m.Addr
			for _, call := range target.Module.Calls()[len(m.block.Config.Path.Calls()):] {
				at = at.Child(call, addr.NoKey)
			}
			a := addr.AbsResource{Module: at, Resource: target.Resource}.Instance(addr.NoKey)
			out = append(out, &DestroyProvisioners{run: m.run, module: m, addr: a, each: &eachData{of: &expander{module: m}}, blocks: blocks})
		}
	}
	return out
}

// Addr returns the address of the object.
func (d *DestroyProvisioners) Addr() addr.Instance { return d.addr }

// Provisioners returns the destroy-time provisioners in order.
func (d *DestroyProvisioners) Provisioners() []*config.Provisioner {
	return provisionerConfigs(d.blocks)
}

func (d *DestroyProvisioners) scope(t *future.Task, o *Opened) *scope {
	return &scope{m: d.module, each: d.each, t: t, opened: o, of: d.addr}
}

// EvalProvisioner evaluates the arguments of one provisioner, which may carry marks. self is the object that
// is about to be destroyed.
func (d *DestroyProvisioners) EvalProvisioner(t *future.Task, o *Opened, index int, self cty.Value) (cty.Value, diag.List) {
	p := &d.blocks[index]
	if diags := d.checkKeys(p); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	sc := d.scope(t, o)
	sc.self = func() cty.Value { return self }
	return d.run.provisioner(sc, p)
}

// checkKeys reports references to each or count if the object has a key of another kind, because it was
// created before the block had its present form of repetition.
func (d *DestroyProvisioners) checkKeys(p *blocks.Provisioner) diag.List {
	if d.run.opt.Phase == Validating {
		return nil
	}
	var diags diag.List
	for _, x := range p.Exprs {
		for _, ref := range x.Refs {
			want := map[lang.Kind]addr.KeyKind{lang.Each: addr.KeyString, lang.Count: addr.KeyInt}
			if kind, keyed := want[ref.Kind]; keyed && d.addr.Key.Kind() != kind {
				diags = append(diags, diag.At(ref.Range, "Invalid reference from destroy provisioner",
					"%s.%s has no value for %s, whose instance key is of another kind.", ref.Root, ref.Name, d.addr).WithAddress(d.addr.String())...)
			}
		}
	}
	return diags
}

// Uses returns the ephemeral instances that the provisioners lead to.
func (d *DestroyProvisioners) Uses(t *future.Task) []Use {
	return d.readSet(d.scope(t, nil).setEarly()).uses(t)
}

func (d *DestroyProvisioners) readSet(sc *scope) *reads {
	r := &reads{}
	d.blocks.Exprs(r.adder(sc, blocks.InDestroyProvisioner))
	return r
}

// Prepare demands all cells that the provisioners need.
func (d *DestroyProvisioners) Prepare(t *future.Task) { prepare(t, d.readSet(d.scope(t, nil))) }

// Deps returns the dependencies of the provisioners through ephemeral resources, which must still exist when
// the object is destroyed.
func (d *DestroyProvisioners) Deps(t *future.Task) []plan.Dep {
	return d.readSet(d.scope(t, nil)).deps(t, nil)
}

// EvalConnection evaluates the connection of one provisioner, like Instance.EvalConnection. self is the
// object that is about to be destroyed.
func (d *DestroyProvisioners) EvalConnection(t *future.Task, o *Opened, index int, self cty.Value) (cty.Value, diag.List) {
	p := &d.blocks[index]
	if d.checkKeys(p).HasErrors() {
		return cty.NilVal, nil // EvalProvisioner reports it
	}
	sc := d.scope(t, o)
	sc.self = func() cty.Value { return self }
	return d.run.connection(sc, p)
}

// ConnectionBody returns the body that EvalConnection evaluates, for the positions of its arguments; nil if
// there is none.
func (d *DestroyProvisioners) ConnectionBody(index int) hcl.Body {
	return d.blocks[index].ConnectionBody()
}
