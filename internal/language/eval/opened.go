package eval

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Opened has the values that one operation has open: the objects of ephemeral instances, and the values
// computed from them. Evaluation reads it and notes in it which instances it lacks; their objects are unknown
// until the opener adds them. An Opened belongs to one task.
type Opened struct {
	values  map[*Value]*result[cty.Value]
	objects map[*Instance]cty.Value
	lacking []Need      // by the evaluation under way
	partial map[any]any // the results in it that lack something, by their kept
	opener  Opener
	standIn *standIns // makes values that stand in for computed ones; nil for none
	notes   *notes    // of the evaluation under way; nil if its result is not kept
}

// Need is an instance that an evaluation lacks, with the reference to it, nil if there is none. It is an
// ephemeral one, or a managed one with computed values that are not stored.
type Need struct {
	*Instance
	Via *hcl.Range
}

// Opener opens the instances that evaluations lack.
type Opener interface {
	// Open opens the instances, which may have duplicates, and adds the object of each to the Opened that it
	// belongs to: an unknown one if it cannot be opened, which was reported.
	Open(t *future.Task, needs []Need)
}

// NewOpened returns an Opened without objects. Objects that evaluations lack stay unknown if opener is nil.
func NewOpened(opener Opener) *Opened {
	return &Opened{values: map[*Value]*result[cty.Value]{}, objects: map[*Instance]cty.Value{}, opener: opener}
}

// hasStandIns reports whether other values stand in for computed ones. o may be nil.
func (o *Opened) hasStandIns() bool { return o != nil && o.standIn != nil }

// Add adds the object of an instance that is open. It must carry the ephemeral mark.
func (o *Opened) Add(in *Instance, object cty.Value) { o.objects[in] = object }

// Has reports whether the object of the instance was added.
func (o *Opened) Has(in *Instance) bool {
	_, ok := o.objects[in]
	return ok
}

// lack notes that the evaluation under way lacks an instance.
func (o *Opened) lack(in *Instance, via *hcl.Range) {
	o.lacking = append(o.lacking, Need{in, via})
	if o.notes != nil {
		o.notes.lacks = true
	}
}

// Drop forgets all objects and values. Nothing may be evaluated with o any more.
func (o *Opened) Drop() { o.values, o.objects, o.lacking, o.partial = nil, nil, nil, nil }

// evaluate evaluates with o, which may be nil, and returns the needs that the result lacks. If there are any,
// values computed on the way are not kept.
func (o *Opened) evaluate(eval func() (cty.Value, diag.List)) (evaluated, []Need) {
	if o == nil {
		v, diags := eval()
		return evaluated{v, diags}, nil
	}
	before := maps.Clone(o.values)
	o.lacking, o.partial = nil, nil
	v, diags := eval()
	lacking := o.lacking
	o.lacking, o.partial = nil, nil
	if len(lacking) > 0 {
		o.values = before
	}
	return evaluated{v, diags}, lacking
}

// settle evaluates with o and has the instances opened that the result lacks, until it lacks none or done
// reports that they do not matter; done may be nil.
func settle(t *future.Task, o *Opened, eval func() (cty.Value, diag.List), done func(evaluated) bool) (cty.Value, diag.List) {
	for {
		got, lacking := o.evaluate(eval)
		if len(lacking) == 0 || o.opener == nil || got.canceled() || done != nil && done(got) {
			return got.value, got.diags
		}
		o.opener.Open(t, lacking)
		for _, n := range lacking {
			if !o.Has(n.Instance) { // whatever the opener has left out, or this would never end
				o.Add(n.Instance, Unopened(n.Instance))
			}
		}
	}
}

// canceled reports whether the evaluation was ended by an interrupt, after which nothing is opened for it.
func (e evaluated) canceled() bool {
	return slices.ContainsFunc(e.diags, func(d diag.Diagnostic) bool { return d.Extra == context.Canceled })
}

// independent reports whether a result that lacks something is valid: nothing in it is ephemeral, or unknown
// because a resource was not opened. References may select more than is used, such as all outputs of a module
// for the sake of one. Since a mark is passed on to everything computed from a value, a result without marks
// did not need the ephemeral part.
func independent(r *Run, e evaluated) bool {
	return !e.diags.HasErrors() && !value.Contains(e.value, value.Ephemeral) && (!r.cfg.ClearsEphemeral() || e.value.IsWhollyKnown())
}

// Unopened returns the object of an ephemeral instance that is not open: unknown and ephemeral.
func Unopened(in *Instance) cty.Value {
	return cty.UnknownVal(in.Resource.Block.Schema.Block.Type()).Mark(value.Ephemeral)
}

// NoteOpening notes, for the coverage, that the instance is about to be opened.
func (n Need) NoteOpening() {
	n.Run().cover(coverage.Resource, n.Config().Range, coverage.If(n.Run().opt.Phase == Planning))
}

// BodyRequires returns the ephemeral instances that the configuration of an ephemeral instance refers to, and
// whether it is wholly known as soon as their objects are.
func (in *Instance) BodyRequires(t *future.Task) (needs []Need, known bool) {
	o := NewOpened(nil)
	got, needs := o.evaluate(func() (cty.Value, diag.List) { return in.evalBody(t, o) })
	known = true
	_ = cty.Walk(got.value, func(_ cty.Path, part cty.Value) (bool, error) { // the function returns no error
		unopened := part.HasMark(value.Ephemeral)
		known = known && (unopened || part.IsKnown())
		return !unopened, nil
	})
	return needs, known
}

// BodyLacks returns the instances that evaluating the configuration with o would open first. It returns false
// if the evaluation was interrupted, which was reported.
func (in *Instance) BodyLacks(t *future.Task, o *Opened) ([]Need, bool) {
	if !in.Resource.Block.BodyOpens() {
		return nil, true
	}
	got, lacking := o.evaluate(func() (cty.Value, diag.List) { return in.evalBody(t, o) })
	switch {
	case got.canceled():
		in.Run().Report(got.diags)
		return nil, false
	case bodySettled(in, got):
		return nil, true
	}
	return lacking, true
}
