package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// An instance with for_each evaluates its argument anew if each.value is made of computed values. It needs
// one entry. If each of n instances evaluated all entries, work would be quadratic.

// entries has the collections that an evaluation needs one entry from: the one with the key of the scope.
type entries struct {
	values    map[*Value]struct{}
	resources map[*Resource]struct{}
}

// noteEntries notes the collections that an evaluation of the expression needs one entry from.
func (b *builder) noteEntries(x *lang.Expr) {
	if b.sc.entry == nil {
		return
	}
	b.entries = entries{map[*Value]struct{}{}, map[*Resource]struct{}{}}
	for _, ref := range x.Entries() {
		to := b.sc.resolve(ref)
		switch {
		case to.value != nil:
			b.entries.values[to.value] = struct{}{}
		case to.resource != nil:
			b.entries.resources[to.resource] = struct{}{}
		case to.call != nil && (!to.all || !to.call.Form().Keyed()):
			if child := to.call.Child(to.key); child != nil && child.outputs[ref.Output] != nil {
				b.entries.values[child.outputs[ref.Output]] = struct{}{}
			}
		}
	}
}

// needsEntry reports whether one entry is needed of a resource with for_each.
func (b *builder) needsEntry(r *Resource) bool {
	_, ok := b.entries.resources[r]
	return ok && r.Form() == blocks.ForEach
}

// value returns the value of a variable, local or output for the evaluation.
func (b *builder) value(v *Value, via *hcl.Range) cty.Value {
	if _, ok := b.entries.values[v]; ok && v.keepsEntries() {
		return v.getEntry(b.sc.t, b.sc.opened, *b.sc.entry, via)
	}
	return v.Get(b.sc.t, b.sc.opened, via)
}

// keepsEntries reports whether an entry of the value depends only on the entry of its expression that has the
// same key.
func (v *Value) keepsEntries() bool {
	switch {
	case v.opens() || v.block.Expr == nil:
		return false
	case v.block.Variable != nil:
		ty := v.block.Variable.Type
		return v.module.call != nil && (ty == cty.DynamicPseudoType || ty.IsMapType() && !ty.HasDynamicTypes())
	case v.block.Output != nil:
		_, overridden := v.block.Output.Overridden(v.module.Addr)
		return !overridden && v.block.Output.Constraint == cty.NilType
	}
	return true
}

// getEntry is Get for an evaluation that needs one entry. It leaves out marks of the collection as a whole.
func (v *Value) getEntry(t *future.Task, o *Opened, key addr.Key, via *hcl.Range) cty.Value {
	got := v.Get(t, nil, via) // which finds cycles
	if o == nil || v.block.Borrows.Empty() || v.circular.Load() {
		return got
	}
	got, diags := v.module.run.eval(v.writtenIn(t).with(o).forEntry(key), v.block.Expr)
	if v.block.Variable != nil && !diags.HasErrors() {
		got, diags = v.convert(got)
	}
	if !o.hasStandIns() { // an error that a stand-in leads to is not a mistake
		v.module.run.Report(diags)
	}
	if diags.HasErrors() {
		return cty.DynamicVal
	}
	return copied(v.block.Expr, got)
}
