package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// A computed value that is not stored exists in an apply from the step that makes it to the last step that
// may read it. The run never has it: in the object of its instance, and in everything that is made of it,
// there are unknown values with its marks. An Opened lacks it like the object of an ephemeral instance, and
// values that are made of it are evaluated with the Opened.

// borrows reports whether the objects of a run lack computed values.
func borrows(r *Run) bool { return r.opt.Phase == Applying && r.cfg.Lends() }

// lends reports whether the object of an instance in the run lacks computed values.
func lends(in *Instance, object cty.Value) bool {
	return len(in.Resource.Block.Computed) > 0 && borrows(in.Run()) && value.IsBlank(object)
}

// borrow returns the object of an instance with its computed values, if o has them. object is the one in the
// run.
func borrow(in *Instance, o *Opened, object cty.Value, via *hcl.Range) cty.Value {
	if o == nil || !lends(in, object) {
		return object
	}
	if got, ok := o.objects[in]; ok {
		o.noteLender(in.Resource)
		return got
	}
	o.lack(in, via)
	return object
}

// borrowAll returns the value of a repeated resource object with its computed values, if o has them of all
// instances. all is the one in the run. Most readers of many instances need no computed value: nothing is
// built for them. For the others it is built once.
func borrowAll(r *Resource, t *future.Task, o *Opened, all cty.Value, via *hcl.Range) cty.Value {
	if o == nil || len(r.Block.Computed) == 0 || !borrows(r.Module.run) {
		return all
	}
	lenders, _ := r.lenders.Get(t, r, via, func() (out []*Instance) {
		instances, _ := r.Instances(t)
		return slices.DeleteFunc(instances, func(in *Instance) bool { return !lends(in, in.Value(t, via)) })
	})
	if len(lenders) == 0 {
		return all
	}
	return r.kept.of(r.Module.run, o, form{}, func() cty.Value {
		lacks := false
		for _, in := range lenders {
			if !o.Has(in) {
				o.lack(in, via)
				lacks = true
			}
		}
		if lacks {
			return all
		}
		return r.buildWhole(t, o, via) // which borrows from each
	}).got
}

// borrow returns an element of the value of for_each with its computed values, if o has them, or with others
// that stand in for them. got is the element in the run.
func (r *eachData) borrow(t *future.Task, o *Opened, got cty.Value) cty.Value {
	if o == nil || len(value.MadeOf(got)) == 0 || !o.hasStandIns() && (!borrows(r.of.module.run) || got.IsWhollyKnown()) {
		return got
	}
	if elem, ok := r.of.elementsWith(t, o)[r.key]; ok {
		return elem
	}
	return got
}

// copied returns the result of an expression, as one that is made of computed values unless it copies them.
func copied(x *lang.Expr, got cty.Value) cty.Value {
	if len(value.MadeOf(got)) > 0 && !x.Copies() {
		return value.Derived(got)
	}
	return got
}

// onlyComputedParts reports whether all that is ephemeral in a value is made of computed values that are not
// stored.
func onlyComputedParts(v cty.Value) bool {
	_, marked := v.UnmarkDeepWithPaths()
	return !slices.ContainsFunc(marked, func(pm cty.PathValueMarks) bool {
		_, ephemeral := pm.Marks[value.Ephemeral]
		return ephemeral && len(value.MadeOf(cty.True.WithMarks(pm.Marks))) == 0
	})
}

// lacks reports whether got, a value in the run, may lack computed values that are to be in it with o.
func (o *Opened) lacks(r *Run, got cty.Value) bool {
	if o.hasStandIns() {
		return len(value.MadeOf(got)) > 0
	}
	return o != nil && borrows(r) && !got.IsWhollyKnown()
}

// lacks reports whether got, the value in the run, may lack computed values that are to be in it with o.
func (v *Value) lacks(o *Opened, got cty.Value) bool {
	return (o.hasStandIns() || !v.block.Borrows.Empty()) && o.lacks(v.module.run, got)
}

// borrows reports whether got, the value in the run, may lack computed values.
func (v *Value) borrows(got cty.Value) bool {
	return !v.block.Borrows.Empty() && borrows(v.module.run) && !got.IsWhollyKnown()
}

// Borrows reports whether the configuration may have computed values that are not stored.
func (p *ProviderObject) Borrows() bool {
	return p.block != nil && borrows(p.run) && !p.block.Borrows.Empty()
}

// Run returns the walk that the provider configuration belongs to.
func (p *ProviderObject) Run() *Run { return p.run }

// Borrowed returns the uses of the computed values of blocks.
func Borrowed(r *Run, s *blocks.OpenSet) []Use {
	if !borrows(r) {
		return nil
	}
	return usesOf(s)
}

// LentReaders returns the addresses of the blocks that may read computed values of other blocks, by those.
func (r *Run) LentReaders() map[addr.ConfigResource][]string { return r.cfg.LentReaders() }

// PendingUses returns the uses of the computed values that the conditions of a variable or output may read,
// as long as they are not evaluated.
func (v *Value) PendingUses() []Use {
	if v.guard == nil || v.guard.holds.Done() {
		return nil
	}
	var exprs []*lang.Expr
	for _, c := range v.block.Conditions {
		exprs = append(exprs, c.Expr, c.Message)
	}
	return Borrowed(v.module.run, blocks.BorrowsOf(v.module.block, exprs...))
}

// ReadsLent returns the blocks whose computed values evaluating the value may read.
func (v *Value) ReadsLent() *blocks.OpenSet { return v.block.Borrows }

// ValueAt returns the variable or output at an address in the form of Value.Addr, nil if the configuration
// has none. It evaluates no repetition.
func ValueAt(r *Run, address string) *Value {
	path, in := strings.Split(address, "."), addr.RootInstance
	if len(path) < 2 {
		return nil
	}
	at := len(path) - 2
	if at > 0 {
		var err error
		if in, err = addr.ParseModuleInstance(strings.Join(path[:at], ".")); err != nil {
			return nil
		}
	}
	m := r.Module(in)
	switch {
	case m == nil:
		return nil
	case path[at] == "var":
		return m.variables[path[at+1]]
	default:
		return m.outputs[path[at+1]]
	}
}
