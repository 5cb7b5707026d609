package eval

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// Held returns the ephemeral instances that depends_on names, in the instance's block and in the calls of the
// modules around it. They must be open during operations on the instance: a tunnel may be needed by a block
// that never reads its attributes. A module represents the ephemeral resources in it.
func (in *Instance) Held(t *future.Task) []Need {
	if !in.Resource.Block.HoldsOpen() {
		return nil
	}
	var held []Need
	for _, rr := range in.held(t).resources {
		for _, dep := range rr.instances(t) {
			held = append(held, Need{dep, rr.via})
		}
	}
	return held
}

// PrepareHeld demands all cells that Held needs.
func (in *Instance) PrepareHeld(t *future.Task) { prepare(t, in.held(t)) }

func (in *Instance) held(t *future.Task) *reads {
	r := &reads{}
	r.addHeld(in.scope(t, nil), in)
	return r
}

// addHeld adds the resources that Held returns. sc is the scope of the instance.
func (r *reads) addHeld(sc *scope, in *Instance) {
	if !in.Resource.Block.HoldsOpen() {
		return
	}
	r.addEphemerals(sc, in.Resource.Block.DependsOn)
	for m := in.Resource.Module; m.call != nil; m = m.call.module {
		outer := m.callScope(sc.t)
		outer.early = sc.early
		r.addEphemerals(outer, m.call.block.DependsOn)
	}
}

// addEphemerals adds the ephemeral resources that depends_on names, either directly or as part of a module.
func (r *reads) addEphemerals(sc *scope, refs []lang.Ref) {
	for i := range refs {
		to := sc.resolve(&refs[i])
		switch {
		case to.resource != nil && to.resource.ephemeral:
			r.addTarget(sc, to, &refs[i])
		case to.call != nil && sc.early:
			r.modules = append(r.modules, moduleRead{call: to.call, sel: outputSel{inside: true}})
		case to.call != nil:
			r.addEphemeralsIn(sc.t, to.call)
		}
	}
}

// addEphemeralsIn adds the ephemeral resources in the instances of a call and below them, except those
// nested in checks.
func (r *reads) addEphemeralsIn(t *future.Task, call *Call) {
	if !call.mayOpen(outputSel{inside: true}) {
		return
	}
	for _, child := range call.Children(t, nil) {
		for _, res := range child.Resources() {
			if res.ephemeral && res.Block.Config.Check == nil {
				r.resources = append(r.resources, resourceRead{res: res, selection: selection{all: true}})
			}
		}
		for _, below := range child.Calls() {
			r.addEphemeralsIn(t, below)
		}
	}
}

// HeldInstance returns the declared instance whose depends_on keeps something ephemeral open while the
// object at the address is read or destroyed, nil if there is none. If the module instance is gone, so are
// the ephemeral resources in it.
func (r *Run) HeldInstance(t *future.Task, a addr.Instance) *Instance {
	if !r.Declared(a) {
		return nil
	}
	m := r.Module(a.Module)
	in := m.resources[a.Resource].Instance(a.Key)
	if !in.Resource.Block.HoldsOpen() {
		return nil
	}
	for ; m.call != nil; m = m.call.module {
		if !m.call.expand(t, nil).has(m.key) {
			return nil
		}
	}
	return in
}
