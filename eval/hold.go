package eval

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
)

// Hold opens the ephemeral instances that depends_on names, of the instance and of the modules around it, and
// keeps them open until s ends: a tunnel is needed by what never reads its attributes. A module that is named
// stands for the ephemeral resources in it. What cannot be opened is reported by the host.
func (in *Instance) Hold(t *future.Task, s *Session) {
	b := in.Resource.Block
	if !b.HoldsOpen() {
		return
	}
	sc := in.scope(t, s)
	for i := range b.DependsOn {
		sc.hold(&b.DependsOn[i])
	}
	for m := in.Resource.Module; m.call != nil; m = m.call.module {
		outer := m.callScope(t)
		outer.sess = s
		for i := range m.call.block.DependsOn {
			outer.hold(&m.call.block.DependsOn[i])
		}
	}
}

func (sc *scope) hold(ref *lang.Ref) {
	switch ref.Kind {
	case lang.Resource:
		if res := sc.m.resources[ref.Resource]; res != nil && ref.Resource.Mode == addr.Ephemeral {
			sc.holdResource(res, ref)
		}
	case lang.Module:
		if call := sc.m.calls[ref.Name]; call != nil && call.block.Child != nil && call.holdsEphemeral() {
			sc.holdModules(call)
		}
	}
}

func (sc *scope) holdResource(res *Resource, ref *lang.Ref) {
	key, one := sc.key(ref.Index, res.Form())
	instances, _ := res.Instances(sc.t)
	for _, dep := range instances {
		if !one || !res.repeat.Repeated() || dep.Addr().Key == key {
			dep.get(sc.t, sc.sess, &ref.Range)
		}
	}
}

// holdModules holds everything ephemeral in the instances of a call and below them.
func (sc *scope) holdModules(call *Call) {
	for _, child := range call.Children(sc.t, nil) {
		for _, res := range child.Resources() {
			if res.Block.Config.Addr.Mode != addr.Ephemeral {
				continue
			}
			instances, _ := res.Instances(sc.t)
			for _, in := range instances {
				in.get(sc.t, sc.sess, nil)
			}
		}
		for _, below := range child.Calls() {
			if below.holdsEphemeral() {
				sc.holdModules(below)
			}
		}
	}
}

// held collects what depends_on holds open, of the instance and of the modules around it. Of a module it is
// told by blocks.
func (c *useCollector) held(in *Instance, sc *scope) {
	b := in.Resource.Block
	if !b.HoldsOpen() {
		return
	}
	c.dependsOn(sc, b.DependsOn)
	for m := in.Resource.Module; m.call != nil; m = m.call.module {
		c.dependsOn(m.callScope(c.t), m.call.block.DependsOn)
	}
}

func (c *useCollector) dependsOn(sc *scope, refs []lang.Ref) {
	for i := range refs {
		if refs[i].Kind == lang.Resource {
			c.ref(sc, &refs[i])
			continue
		}
		for r := range blocks.HeldBy(refs[i:i+1], sc.m.block).All {
			c.uses[Use{Kind: UseBlock, Block: r}] = struct{}{}
		}
	}
}

// HeldInstance returns the declared instance whose depends_on holds something ephemeral open while the object
// at the address is read or destroyed, nil if there is none. What a module instance that is gone would hold
// of its own is gone with it.
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

// PrepareHeld demands everything durable that Hold needs.
func (in *Instance) PrepareHeld(t *future.Task) {
	held := &reads{}
	for _, u := range in.HeldUses(t) {
		for _, m := range in.Run().modulesAt(t, u) {
			if res := m.resources[u.resource()]; res != nil {
				held.resources = append(held.resources, resourceRead{res: res, key: u.Instance.Key, all: u.Kind != UseInstance})
			}
		}
	}
	p := preparer{t: t, seen: map[any]struct{}{}}
	p.reads(held)
}

// modulesAt returns the module objects in which a use of ephemeral resources may be.
func (r *Run) modulesAt(t *future.Task, u Use) []*Module {
	if u.Kind == UseBlock {
		return r.modulesOf(t, addr.RootInstance, u.Block.Module)
	}
	return []*Module{r.Module(u.Instance.Module)}
}

// resource returns the block's address within its module.
func (u Use) resource() addr.Resource {
	if u.Kind == UseBlock {
		return u.Block.Resource
	}
	return u.Instance.Resource
}

// HeldUses returns what Hold may open.
func (in *Instance) HeldUses(t *future.Task) []Use {
	c := useCollector{t: t, seen: map[any]struct{}{}, uses: map[Use]struct{}{}}
	c.held(in, in.scope(t, nil))
	return c.list()
}
