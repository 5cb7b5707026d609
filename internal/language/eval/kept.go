package eval

import (
	"maps"
	"strings"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Values that are made of computed ones are evaluated in each operation, and n operations that each evaluated
// a value with n elements, for the sake of one of them, would be quadratic work. So the results of one
// operation are kept for the others, for as long as the pool keeps the computed values: until the first of
// these is dropped. No reader comes after that, since all readers of a value claim all that it is made of.

// kept has results of one evaluation as operations have got them. It may be used concurrently.
type kept[T any] struct {
	mu     sync.Mutex
	byForm map[form]*result[T]
}

// form is the form of an evaluation: with the computed values that the run lacks, which is the zero value, or
// with others that stand in for them.
type form struct {
	standIns, keeps, truth bool
	number                 int
	keys                   string
}

// form returns the form of evaluations with o.
func (o *Opened) form() form {
	s := o.standIn
	if s == nil {
		return form{}
	}
	return form{standIns: true, keeps: s.Keep != nil, truth: s.True, number: s.Elements, keys: strings.Join(s.Keys, "\x00")}
}

// result is the result of an evaluation.
type result[T any] struct {
	got T
	notes
}

// notes are about the values that a result is made of.
type notes struct {
	lenders  map[*Resource]struct{} // whose computed values were read
	lacks    bool                   // the Opened did not have all that was read
	standIns standInUse             // needs of values that stand in for others
}

// resultOf returns the result of evaluating with o, for which nothing is noted yet.
func resultOf[T any](o *Opened, evaluate func() T) *result[T] {
	r, around := &result[T]{}, o.notes
	o.notes = &r.notes
	defer func() { o.notes = around }()
	if !o.hasStandIns() {
		r.got = evaluate()
		return r
	}
	r.standIns = o.standIn.noting(func() { r.got = evaluate() })
	return r
}

// note adds notes about a result to the notes about the evaluation with o that uses it.
func (o *Opened) note(n notes) {
	if o.hasStandIns() {
		o.standIn.add(n.standIns)
	}
	if o.notes == nil {
		return
	}
	o.notes.lacks = o.notes.lacks || n.lacks
	for r := range n.lenders {
		o.noteLender(r)
	}
}

// noteLender notes that computed values of a resource were read.
func (o *Opened) noteLender(r *Resource) {
	if o.notes == nil {
		return
	}
	if o.notes.lenders == nil {
		o.notes.lenders = map[*Resource]struct{}{}
	}
	o.notes.lenders[r] = struct{}{}
}

// of returns the result in the form, for the evaluation with o that uses it. If none is kept, it is evaluated
// with o. The result is kept if it is the same for other operations: not if the run was interrupted, nor if o
// lacks something. Then it is the same for the rest of the evaluation under way only.
func (k *kept[T]) of(run *Run, o *Opened, f form, evaluate func() T) *result[T] {
	r := k.get(f)
	if r == nil {
		r, _ = o.partial[k].(*result[T])
	}
	if r == nil {
		r = resultOf(o, evaluate)
		switch {
		case r.lacks && o.partial == nil:
			o.partial = map[any]any{k: r}
		case r.lacks:
			o.partial[k] = r
		case !run.opt.interrupted():
			k.put(f, r)
		}
	}
	o.note(r.notes)
	return r
}

// with returns the result that is kept for evaluations with o, nil for none.
func (k *kept[T]) with(o *Opened) *result[T] { return k.get(o.form()) }

func (k *kept[T]) get(f form) *result[T] {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byForm[f]
}

// put keeps a result, unless one of the values that it is made of is dropped already.
func (k *kept[T]) put(f form, r *result[T]) {
	k.mu.Lock()
	if k.byForm == nil {
		k.byForm = map[form]*result[T]{}
	}
	k.byForm[f] = r
	k.mu.Unlock()
	for lender := range r.lenders {
		lender.lent.add(k)
	}
}

func (k *kept[T]) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byForm = nil
}

// madeOfLent has the results that are kept and are made of the computed values of a resource.
type madeOfLent struct {
	mu      sync.Mutex
	dropped bool // some of the values are dropped, so nothing is kept any more
	kept    []interface{ drop() }
}

func (m *madeOfLent) add(k interface{ drop() }) {
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
