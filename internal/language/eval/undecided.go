package eval

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
)

// Undecided reports whether a run that defers does not know the instances of the resource yet.
func (r *Resource) Undecided(t *future.Task) bool { return r.undecided(t) }

// Undecided reports whether a run that defers does not know the instances of the call yet, and the called
// module has resources or data sources. Without any, nothing is deferred: its outputs are unknown values.
func (c *Call) Undecided(t *future.Task) bool { return c.undecided(t) && hasObjects(c.block.Child) }

// LeftOut reports whether the instances of the call are not known and -exclude leaves them out.
func (c *Call) LeftOut(t *future.Task) bool { return c.leftOut(t) }

func (r *expander) undecided(t *future.Task) bool {
	return r.module.run.opt.Deferring && r.expand(t, nil).undecided
}

// leftOut reports whether a block with unknown instances is left out.
func (r *expander) leftOut(t *future.Task) bool {
	return r.module.run.opt.Excluded != nil && r.expand(t, nil).leftOut
}

// noteUndecided tells the host of a run that defers that a block is deferred.
func (r *expander) noteUndecided() {
	opt, defers := &r.module.run.opt, false
	switch b := r.block.(type) {
	case *blocks.Resource:
		defers = !b.Config.Addr.Mode.Fleeting()
	case *blocks.Call:
		defers = b.Child != nil && hasObjects(b.Child)
	}
	if defers && opt.Deferring && opt.Undecided != nil {
		opt.Undecided(*r.target)
	}
}

// excludes returns the arguments of -exclude that leave out everything which needs the instances of the
// block: the block itself, the resources that trigger an action, or the users of a provider configuration.
func (r *expander) excludes() (out []string) {
	if r.users != nil {
		return r.users()
	}
	action, ok := r.block.(*blocks.Resource)
	if ok && action.IsAction() {
		for _, b := range r.module.block.Resources {
			if b.Invokes(action) {
				out = append(out, addr.Target{Module: r.module.Addr, Resource: &b.Config.Addr}.String())
			}
		}
		slices.Sort(out)
		return out
	}
	if r.target != nil {
		out = append(out, r.target.String())
	}
	return out
}

// hasObjects reports whether a module, or one that it calls, has resources or data sources.
func hasObjects(m *blocks.Module) bool {
	for _, b := range m.Resources {
		if !b.Config.Addr.Mode.Fleeting() {
			return true
		}
	}
	for _, c := range m.Calls {
		if c.Child != nil && hasObjects(c.Child) {
			return true
		}
	}
	return false
}

// Generic returns the instance that represents all instances of an undecided resource, whose each and count
// are unknown.
func (r *Resource) Generic() *Instance { return r.Instance(addr.AnyKey) }

// Generic returns the module object that represents all instances of an undecided call.
func (c *Call) Generic() *Module { return c.Child(addr.AnyKey) }

// Generic reports whether the module object represents all instances of an undecided call, or lies in one
// that does.
func (m *Module) Generic() bool {
	for ; m.call != nil; m = m.call.module {
		if m.key == addr.AnyKey {
			return true
		}
	}
	return false
}

// RepetitionDeps returns the dependencies of the resource's instances: of its own repetition, and of the
// calls around it.
func (r *Resource) RepetitionDeps(t *future.Task) []plan.Dep {
	out := &reads{}
	r.Block.Exprs(out.adder(r.Module.scope(t), blocks.InRepetition))
	for m := r.Module; m.call != nil; m = m.call.module {
		out.calls = append(out.calls, m.call)
	}
	return out.deps(t, nil)
}

// Reach returns the dependencies of an instance, as Deps does, in two parts: the ones that need no ephemeral
// resource or go through the configuration of its provider, and the ones that only its ephemeral values lead
// to.
// The second part has also the ephemeral resources with unknown instances.
func Reach(t *future.Task, in *Instance) (direct, fleeting []plan.Dep) {
	f, behind := newFlattener(t, in), newFlattener(t, in)
	behind.behind = &behind
	f.behind = &behind
	f.instance(in)
	return f.list(), behind.list()
}

// fleeting follows a read of an ephemeral resource.
func (f flattener) fleeting(rr resourceRead) {
	if rr.res.undecided(f.t) {
		f.deps[plan.Dep{Resource: rr.res.Addr(), All: true}] = struct{}{}
	}
	for _, in := range rr.inAnyPhase(f.t) {
		f.instance(in)
	}
	f.object(rr.res)
}

// inAnyPhase returns the instances of an ephemeral resource that are read and, if tofu.applying decides which
// there are, one that represents all that an apply may have: their dependencies must be in the order of the
// plan.
func (rr resourceRead) inAnyPhase(t *future.Task) []*Instance {
	out := rr.instances(t)
	if rr.res.expand(t, rr.via).phased {
		out = append(slices.Clip(out), rr.res.Generic())
	}
	return out
}
