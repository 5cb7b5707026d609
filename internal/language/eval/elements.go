package eval

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// An instance with for_each needs one element of the argument. If each.value is made of computed values, it
// is evaluated in each operation, and n operations that each evaluated n elements would be quadratic work. So
// the elements that one operation has evaluated are kept for the others, for as long as the pool keeps the
// computed values: until the first of these is dropped. No reader comes after that, since all readers of the
// elements claim all that the argument is made of.

// keptElements has the elements of one for_each argument as operations have evaluated them. They may be used
// concurrently.
type keptElements struct {
	mu     sync.Mutex
	byForm map[elementForm]*elements
}

// elementForm is the form of an evaluation: with the computed values that the run lacks, which is the zero
// value, or with others that stand in for them.
type elementForm struct {
	standIns, keeps, truth bool
	number                 int
	keys                   string
}

// elements are the elements of for_each from one evaluation.
type elements struct {
	byKey    map[addr.Key]cty.Value // empty if there were errors
	lenders  []*Resource            // whose computed values they are made of
	standIns standInUse             // needs of values that stand in for others
}

// elementForm returns the form of the elements that are evaluated with o.
func (o *Opened) elementForm() elementForm {
	s := o.standIn
	if s == nil {
		return elementForm{}
	}
	return elementForm{standIns: true, keeps: s.Keep != nil, truth: s.True, number: s.Elements, keys: strings.Join(s.Keys, "\x00")}
}

// elementsWith returns the elements of for_each with the computed values that o has, or with others that
// stand in for them. Where o lacks some, elements may be unknown.
func (r *expander) elementsWith(t *future.Task, o *Opened) *elements {
	form := o.elementForm()
	e := r.kept.get(form)
	if e == nil {
		var keep bool
		if e, keep = r.evaluateElements(t, o); keep {
			r.kept.put(form, e)
		}
	}
	for _, lender := range e.lenders {
		o.noteLender(lender)
	}
	if o.hasStandIns() {
		o.standIn.add(e.standIns)
	}
	return e
}

// evaluateElements evaluates for_each with an Opened of its own, so that all that the elements are made of is
// noted. It reports whether they are the same for other operations: not if o lacks something or the run was
// interrupted.
func (r *expander) evaluateElements(t *future.Task, o *Opened) (*elements, bool) {
	run, x, e := r.module.run, r.repeat.ForEach, &elements{byKey: map[addr.Key]cty.Value{}}
	own := &Opened{values: map[*Value]cty.Value{}, objects: o.objects, opener: o.opener, standIn: o.standIn, lenders: map[*Resource]struct{}{}}
	var got evaluated
	evaluate := func() { got.value, got.diags = run.eval(r.module.scope(t).with(own), x) }
	if o.hasStandIns() {
		e.standIns = o.standIn.noting(evaluate)
	} else {
		evaluate()
		run.Report(got.diags.WithAddress(r.name)) // the values in the run may not have led to them
	}
	o.lacking = append(o.lacking, own.lacking...)
	e.lenders = slices.Collect(maps.Keys(own.lenders))
	all, _ := got.value.Unmark()
	if !got.diags.HasErrors() && all.IsKnown() && !all.IsNull() {
		for it := all.ElementIterator(); it.Next(); {
			k, elem := it.Element()
			if key, err := addr.KeyFromValue(k); err == nil {
				e.byKey[key] = copied(x, elem)
			}
		}
	}
	return e, len(own.lacking) == 0 && !got.canceled()
}

func (k *keptElements) get(form elementForm) *elements {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byForm[form]
}

// put keeps elements, unless one of the values that they are made of is dropped already.
func (k *keptElements) put(form elementForm, e *elements) {
	k.mu.Lock()
	if k.byForm == nil {
		k.byForm = map[elementForm]*elements{}
	}
	k.byForm[form] = e
	k.mu.Unlock()
	for _, r := range e.lenders {
		r.lent.add(k)
	}
}

func (k *keptElements) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byForm = nil
}

// madeOfLent has the elements that are kept and are made of the computed values of a resource.
type madeOfLent struct {
	mu      sync.Mutex
	dropped bool // some of the values are dropped, so nothing is kept any more
	kept    []*keptElements
}

func (m *madeOfLent) add(k *keptElements) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dropped {
		k.drop()
		return
	}
	m.kept = append(m.kept, k)
}

// DropLent drops the results that the run has kept of evaluations with the computed values of the instance,
// which nothing reads any more.
func DropLent(in *Instance) {
	m := &in.Resource.lent
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kept {
		k.drop()
	}
	m.dropped, m.kept = true, nil
}

// noteLender notes that computed values of a resource were read.
func (o *Opened) noteLender(r *Resource) {
	if o.lenders != nil {
		o.lenders[r] = struct{}{}
	}
}

// standInUse has the needs of evaluations with values that stand in for computed ones.
type standInUse struct {
	value.StandInUses
	seen map[string]struct{}
}

// noting calls f, and returns its needs of values that stand in for others.
func (s *standIns) noting(f func()) standInUse {
	before := standInUse{s.Uses, s.seen}
	s.Uses, s.seen = value.StandInUses{}, map[string]struct{}{}
	f()
	noted := standInUse{s.Uses, s.seen}
	s.Uses, s.seen = before.StandInUses, before.seen
	return noted
}

// add notes the needs of an evaluation.
func (s *standIns) add(u standInUse) {
	s.Uses.Add(u.StandInUses)
	maps.Copy(s.seen, u.seen)
}
