package eval

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// reportUndecided reports that the instances of a block cannot be told yet, if that is news: nothing of the block is left out on purpose, and it does not
// follow from an error that was reported, or from another block whose instances cannot be told.
func (r *repeated) reportUndecided(diags diag.List) {
	run := r.module.run
	if r.excluded() || run.Diags.certain() {
		return
	}
	f := failureFinder{failed: &run.undecided, seen: map[any]struct{}{}}
	f.exprs(r.module.block, r.repeat.count, r.repeat.forEach, r.repeat.enabled)
	if !f.found {
		run.Report(diags.WithAddress(r.name))
	}
}

// excluded reports whether nothing of the block is wanted.
func (r *repeated) excluded() bool {
	of := r.module.run.opt.Excluded
	return of != nil && r.target != nil && of(*r.target)
}

// failureFinder looks for blocks whose instances cannot be told among all that an expression refers to, directly or through others, by blocks.
type failureFinder struct {
	failed *syncSet
	seen   map[any]struct{}
	found  bool
}

// visit reports whether a block is new.
func (f *failureFinder) visit(block any) bool {
	if _, seen := f.seen[block]; seen {
		return false
	}
	f.seen[block] = struct{}{}
	f.found = f.found || f.failed.has(block)
	return !f.found
}

func (f *failureFinder) exprs(m *moduleBlock, exprs ...*lang.Expr) {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			f.ref(m, &x.Refs[i])
		}
	}
}

func (f *failureFinder) ref(m *moduleBlock, ref *lang.Ref) {
	switch ref.Kind {
	case lang.Variable:
		f.value(m.variables[ref.Name])
	case lang.Local:
		f.value(m.locals[ref.Name])
	case lang.Resource:
		if b := m.resources[ref.Resource]; b != nil && f.visit(b) {
			f.exprs(m, b.repeat.count, b.repeat.forEach, b.repeat.enabled)
			f.exprs(m, b.body...)
		}
	case lang.Module:
		call := m.calls[ref.Name]
		if call == nil || call.child == nil {
			return
		}
		if f.visit(call) {
			f.exprs(m, call.repeat.count, call.repeat.forEach, call.repeat.enabled)
		}
		for _, name := range slices.Sorted(maps.Keys(call.child.outputs)) {
			if ref.Output == "" || ref.Output == name {
				f.value(call.child.outputs[name])
			}
		}
	}
}

func (f *failureFinder) value(v *valueBlock) {
	if v == nil || !f.visit(v) {
		return
	}
	m := v.module
	if v.kind == variableValue {
		m = m.parent
	}
	if m != nil {
		f.exprs(m, v.expr)
	}
}
