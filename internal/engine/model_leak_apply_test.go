package engine_test

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/plan"
)

// applied goes through an apply. updates are the things that are to be updated, by name.
func (rp *leakReplay) applied(p *leakPhase, mode plan.Mode, updates map[string]bool) {
	rp.phase()
	stopped := slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(p.calls))...), func(c leakCall) bool { return c.failed })
	rp.state = maps.Clone(rp.prior)
	for _, n := range rp.things() {
		calls := rp.calls(p, n)
		rp.messages(n, calls)
		env := &leakEnv{objects: rp.objects, applying: true}
		if n.kind == "leak_lookup" {
			if rp.read(n, calls, env); mode == plan.Destroy {
				delete(rp.state, n)
			}
		} else {
			if len(calls) == 0 && updates[n.name] && !n.deposed {
				rp.refuse(n, env, leakFindings(p.diags), stopped || rp.errors)
			}
			rp.applyThing(n, calls, env, rp.upgraded(p, n))
		}
		if rec := rp.state[n]; rec != nil {
			rp.objects[n] = rec.value
		}
	}
}

// applyThing goes through the changes of one thing.
func (rp *leakReplay) applyThing(n *leakThing, calls []leakCall, env *leakEnv, identity cty.Value) {
	prior, replaced := rp.prior[n], rp.prior[n]
	if len(calls) > 0 && calls[0].rpc == "delete" {
		replaced = nil
		c := calls[0]
		if calls = calls[1:]; !rp.deleted(n, c, env) {
			if len(calls) > 0 {
				rp.say("error", "unexpected call", n.name+" "+calls[0].rpc)
			}
			return
		}
		prior = nil
	}
	if len(calls) == 0 {
		return
	}
	if creates := calls[0].gen == leakNew; creates {
		prior = nil
	} else {
		replaced = nil
	}
	j := rp.judge(n, env, rp.base[n], true)
	if prior != nil { // what was read for the plan is judged again
		prior = rp.again(j, n, prior, identity)
		if j.errors {
			rp.say("error", "unexpected call", n.name+" "+calls[0].rpc)
			return
		}
	}
	again := rp.stored(j, n, calls[0], "plan", prior)
	if j.errors || len(calls) == 1 {
		if rp.settle(j) && prior != nil { // nothing is left to do
			rp.state[n] = &leakRecord{value: again.value, private: prior.private, identity: prior.identity, address: again.address}
		}
		return
	}
	c := calls[1]
	rec := rp.stored(j, n, c, "object", prior)
	if c.value == cty.NilVal { // the record stands, if there is one
		rp.settle(j)
		return
	}
	if failed := c.failed || j.errors; failed && prior == nil {
		rec.tainted = c.failed || j.exposed
	}
	rp.settle(j)
	rp.state[n] = rec
	if replaced != nil {
		rp.depose(n, replaced, calls[2:], env)
	}
}

// refuse goes through an update that the provider is not asked for: what the plan has recorded must not be
// stored, or something has failed before.
func (rp *leakReplay) refuse(n *leakThing, env *leakEnv, reported []string, stopped bool) {
	j := rp.judge(n, env, rp.base[n], true)
	rp.again(j, n, rp.prior[n], cty.NilVal)
	if stopped && slices.ContainsFunc(j.found, func(f string) bool { return !slices.Contains(reported, f) }) {
		return
	}
	if rp.settle(j) && !stopped {
		rp.say("error", "no call", n.name)
	}
}

// again judges what the plan has recorded of an object, now that more may be known, with its identity if that
// was upgraded again.
func (rp *leakReplay) again(j *leakJudge, n *leakThing, prior *leakRecord, identity cty.Value) *leakRecord {
	before := &leakRecord{}
	if b := rp.base[n]; b != nil {
		before.private = b.private
	}
	if identity == cty.NilVal {
		identity = prior.identity
	} else {
		before.identity = prior.identity
	}
	got := rp.stored(j, n, leakCall{value: prior.value, private: prior.private, identity: identity}, "object read", before)
	got.tainted = prior.tainted
	return got
}

// deleted goes through a destruction, and reports whether the object is gone.
func (rp *leakReplay) deleted(n *leakThing, c leakCall, env *leakEnv) bool {
	switch {
	case c.value == cty.NilVal:
		c.value = rp.prior[n].value // it must be taken to exist
	case c.value.IsNull():
		delete(rp.state, n)
		return true
	}
	j := rp.judge(n, env, rp.base[n], false)
	rec := rp.stored(j, n, c, "object", rp.prior[n])
	rec.tainted = rp.prior[n].tainted
	rp.settle(j)
	rp.state[n] = rec
	return false
}
