package eval

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/future"
)

// Prepare demands everything durable that the instance's configuration needs, also behind the values and ephemeral resources that are
// evaluated later, so that evaluating within a session waits for nothing but openings.
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
		if _, ok := p.seen[v.Value]; !ok {
			p.seen[v.Value] = struct{}{}
			p.reads(v.readSet(p.t))
		}
	}
	for _, rr := range r.resources {
		p.resource(rr)
	}
	for _, mr := range r.modules {
		mr.call.prepare(p.t, mr.part)
	}
	for _, po := range r.providers {
		if _, ok := p.seen[po]; !ok {
			p.seen[po] = struct{}{}
			p.reads(po.readSet(p.t))
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
			p.instance(in)
		} else {
			in.Value(p.t, rr.via)
		}
	}
}

func (p *preparer) instance(in *Instance) {
	if _, ok := p.seen[in]; ok {
		return
	}
	p.seen[in] = struct{}{}
	p.reads(in.readSet(p.t))
	p.reads(in.Resource.objectReads(p.t))
}

func (v *Value) rangePtr() *hcl.Range { return &v.block.rng }

// Prepare demands everything durable that the value needs.
func (v *Value) Prepare(t *future.Task) {
	p := preparer{t: t, seen: map[any]struct{}{v: {}}}
	p.reads(v.readSet(t))
}
