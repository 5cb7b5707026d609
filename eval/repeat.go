package eval

import (
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
)

// expander is what resources and module calls share: how often they are there.
type expander struct {
	module *Module
	repeat blocks.Repetition
	name   string       // for messages
	target *addr.Target // what -exclude names it by, nil for what it cannot name
	block  any          // what is repeated: a *blocks.Resource or *blocks.Call, nil for anything else
	// ephemeral says that it is an ephemeral block.
	ephemeral bool
	// sequences says that for_each may be a tuple or list too, whose indexes are the keys. They are part of
	// no address: they would change with the order.
	sequences bool
	// recorded tells the keys in place of the arguments, if it is set.
	recorded func() []addr.Key
	keys     future.Cell[*expansion]
}

// Form returns the form of repetition.
func (r *expander) Form() blocks.Form { return blocks.FormOf(r.repeat) }

// expansion is the outcome of a count, for_each or enabled argument.
type expansion struct {
	form   blocks.Form
	keys   []addr.Key
	values map[addr.Key]cty.Value // ForEach only
	// failed says that the instances could not be told; the reason was reported. There are no keys then.
	failed bool
	// generic says that the one instance stands for all of them, while validating.
	generic bool
}

func (e *expansion) has(k addr.Key) bool {
	switch e.form {
	case blocks.Counted:
		return k.Kind() == addr.KeyInt && k.Int() >= 0 && k.Int() < len(e.keys)
	case blocks.ForEach:
		_, ok := e.values[k]
		return ok
	default:
		return k == addr.NoKey && len(e.keys) == 1
	}
}

var singleExpansion = &expansion{form: blocks.Single, keys: []addr.Key{addr.NoKey}}

// expand returns the instances, evaluating the arguments on first demand.
func (r *expander) expand(t *future.Task, via *hcl.Range) *expansion {
	if e, ok := r.keys.Peek(); ok {
		return e
	}
	e, cycle := r.keys.Get(t, r.repeat.Argument()+" of "+r.name, via, func() *expansion { return r.evaluate(t) })
	if cycle != nil {
		r.module.run.reportCycle(cycle)
		return failedExpansion
	}
	if e == nil { // the computation panicked
		return failedExpansion
	}
	return e
}

var failedExpansion = &expansion{failed: true}

func (r *expander) evaluate(t *future.Task) *expansion {
	run := r.module.run
	if r.recorded != nil && r.repeat.Repeated() {
		return recordedExpansion(r.Form(), r.recorded())
	}
	var e *expansion
	var diags diag.List
	switch {
	case r.repeat.Count != nil:
		e, diags = r.expandCount(t)
	case r.repeat.ForEach != nil:
		e, diags = r.expandForEach(t)
	case r.repeat.Enabled != nil:
		e, diags = r.expandEnabled(t)
	default:
		return singleExpansion
	}
	if undecided := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Extra == diag.Unknown{} }); undecided {
		r.reportUndecided(diags)
		run.undecided.add(r.block)
	} else {
		run.Report(diags.WithAddress(r.name))
	}
	if diags.HasErrors() {
		return &expansion{form: e.form, failed: true}
	}
	if run.opt.Phase == Validating {
		return &expansion{form: e.form, keys: []addr.Key{addr.NoKey}, generic: true}
	}
	return e
}

// recordedExpansion is an expansion to the given keys, as far as they are of the form. Without any, the
// instances cannot be told. What each.value is for them is not known.
func recordedExpansion(form blocks.Form, recorded []addr.Key) *expansion {
	e := &expansion{form: form}
	switch form {
	case blocks.Counted:
		n := 0
		for _, k := range recorded {
			if k.Kind() == addr.KeyInt {
				n = max(n, k.Int()+1)
			}
		}
		for i := range n {
			e.keys = append(e.keys, addr.IntKey(i))
		}
	case blocks.ForEach:
		e.values = map[addr.Key]cty.Value{}
		for _, k := range recorded {
			if k.Kind() == addr.KeyString {
				e.keys = append(e.keys, k)
				e.values[k] = cty.DynamicVal
			}
		}
		slices.SortFunc(e.keys, addr.Key.Compare)
	default:
		if slices.Contains(recorded, addr.NoKey) {
			e.keys = []addr.Key{addr.NoKey}
		}
	}
	e.failed = len(e.keys) == 0
	return e
}

// Call is a module call object.
type Call struct {
	expander
	block *blocks.Call

	mu       sync.Mutex
	children map[addr.Key]*Module

	aggregates sync.Map // outputSel → *aggregate
}

// Addr returns the address of the call without an instance key.
func (c *Call) Addr() addr.ModuleInstance {
	return c.module.Addr.Child(c.block.Config.Name, addr.NoKey)
}

// Children returns the module instances of the call, ordered by key.
func (c *Call) Children(t *future.Task, via *hcl.Range) []*Module {
	e := c.expand(t, via)
	out := make([]*Module, len(e.keys))
	for i, k := range e.keys {
		out[i] = c.Child(k)
	}
	return out
}

// Child returns the instance with the given key, whether or not the call's arguments say that it exists.
func (c *Call) Child(k addr.Key) *Module {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.children[k]
	if m == nil && c.block.Child != nil {
		m = c.module.run.newModule(c.module.Addr.Child(c.block.Config.Name, k), c.block.Child, c)
		c.children[k] = m
	}
	return m
}
