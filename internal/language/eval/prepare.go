package eval

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
)

// Prepare demands all cells that the instance's configuration needs, including the dependencies of values and
// ephemeral resources that are evaluated later. Afterwards, evaluating waits only for openings.
func (in *Instance) Prepare(t *future.Task) {
	p := preparer{newVisitor(t)}
	p.instance(in)
}

// prepare demands all cells that read-sets lead to, except through the values and provider configurations in
// except.
func prepare(t *future.Task, r *reads, except ...any) {
	p := preparer{newVisitor(t, except...)}
	p.reads(r)
}

// visitor is a walk along read-sets that visits each object once.
type visitor struct {
	t    *future.Task
	seen map[any]struct{}
}

func newVisitor(t *future.Task, seen ...any) visitor {
	v := visitor{t: t, seen: map[any]struct{}{}}
	for _, what := range seen {
		v.seen[what] = struct{}{}
	}
	return v
}

// first reports whether the walk has not visited the object before.
func (v visitor) first(what any) bool {
	if _, ok := v.seen[what]; ok {
		return false
	}
	v.seen[what] = struct{}{}
	return true
}

type preparer struct{ visitor }

// reads demands all cells in a read-set. A value that may open something is not evaluated, but the objects
// that it reads are prepared, so that evaluating it later need not wait.
func (p preparer) reads(r *reads) {
	for _, v := range r.values {
		if !v.Opens() {
			v.Get(p.t, nil, v.via)
			continue
		}
		if p.first(v.Value) {
			leave := p.t.Enter(v.Value, v.via)
			p.reads(v.readSet(p.t))
			leave()
		}
	}
	for _, rr := range r.resources {
		p.resource(rr)
	}
	for _, mr := range r.modules {
		mr.call.prepare(p.t, mr.sel)
	}
	for _, po := range r.providers {
		if p.first(po) {
			leave := p.t.Enter(po, (*hcl.Range)(nil))
			p.reads(po.readSet(p.t))
			leave()
		}
	}
}

func (p preparer) resource(rr resourceRead) {
	ephemeral := rr.res.Block.Config.Addr.Mode == addr.Ephemeral
	if !ephemeral && rr.res.Undecided(p.t) {
		rr.res.Generic().Value(p.t, rr.via) // it may turn out to be left out, and -target may not name it
	}
	if rr.all && !ephemeral {
		rr.res.whole(p.t, nil, rr.via) // built once, however many refer to it
		return
	}
	for _, in := range rr.inAnyPhase(p.t) {
		if ephemeral {
			leave := p.t.Enter(in, rr.via)
			p.instance(in)
			leave()
		} else {
			in.Value(p.t, rr.via)
		}
	}
}

func (p preparer) instance(in *Instance) {
	if p.first(in) {
		p.reads(in.readSet(p.t))
		p.reads(in.Resource.objectReads(p.t))
	}
}

func (v *Value) rangePtr() *hcl.Range { return &v.block.Range }

// Prepare demands all cells that the value needs.
func (v *Value) Prepare(t *future.Task) {
	prepare(t, v.readSet(t), v)
}

// prepare demands the cells of a selection from all instances.
func (c *Call) prepare(t *future.Task, sel outputSel) {
	_, _ = c.aggregate(sel).prepared.Get(t, c.name, nil, func() bool { // a cycle is reported where the values are demanded
		all := &reads{}
		all.addOneByOne(t, c, sel)
		prepare(t, all)
		return true
	})
}

// Prepare demands all cells that the configuration needs.
func (p *ProviderObject) Prepare(t *future.Task) {
	prepare(t, p.readSet(t), p)
}
