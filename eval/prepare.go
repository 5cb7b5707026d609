package eval

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/future"
)

// Prepare demands everything durable that the instance's configuration needs, also behind the values and
// ephemeral resources that are evaluated later, so that evaluating within a session waits for nothing but
// openings.
func (in *Instance) Prepare(t *future.Task) {
	p := preparer{t: t, seen: map[any]struct{}{}}
	p.instance(in)
}

type preparer struct {
	t    *future.Task
	seen map[any]struct{}
}

func (p *preparer) reads(r *reads) {
	for _, v := range r.values {
		if !v.opens() {
			v.Get(p.t, nil, v.via)
			continue
		}
		if p.first(v.Value) {
			p.t.Within(v.Value, v.via, func() { p.reads(v.readSet(p.t)) })
		}
	}
	for _, rr := range r.resources {
		p.resource(rr)
	}
	for _, mr := range r.modules {
		mr.call.prepare(p.t, mr.part)
	}
	for _, po := range r.providers {
		if p.first(po) {
			p.t.Within(po, (*hcl.Range)(nil), func() { p.reads(po.readSet(p.t)) })
		}
	}
}

func (p *preparer) resource(rr resourceRead) {
	ephemeral := rr.res.Block.Config.Addr.Mode == addr.Ephemeral
	if rr.all && !ephemeral {
		rr.res.whole(p.t, nil, rr.via) // built once, however many refer to it
		return
	}
	var instances []*Instance
	if rr.all {
		instances, _ = rr.res.Instances(p.t)
	} else if rr.res.expand(p.t, rr.via).has(rr.key) {
		instances = []*Instance{rr.res.Instance(rr.key)}
	}
	for _, in := range instances {
		if ephemeral {
			p.t.Within(in, rr.via, func() { p.instance(in) })
		} else {
			in.Value(p.t, rr.via)
		}
	}
}

func (p *preparer) instance(in *Instance) {
	if p.first(in) {
		p.reads(in.readSet(p.t))
		p.reads(in.Resource.objectReads(p.t))
	}
}

// first reports whether the preparer comes to something for the first time.
func (p *preparer) first(what any) bool {
	if _, ok := p.seen[what]; ok {
		return false
	}
	p.seen[what] = struct{}{}
	return true
}

func (v *Value) rangePtr() *hcl.Range { return &v.block.Range }

// Prepare demands everything durable that the value needs.
func (v *Value) Prepare(t *future.Task) {
	p := preparer{t: t, seen: map[any]struct{}{v: {}}}
	p.reads(v.readSet(t))
}
