package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// mostElements bounds the elements of the collections that stand in for others.
const mostElements = 16

// StoodIn is an evaluation of a configuration in which other values stand in for computed ones.
type StoodIn struct {
	Value cty.Value           // without marks
	Of    []value.StoodInPart // its parts that are made of such values
}

// StandIns evaluates the configuration of an instance with other values in place of those that providers have
// computed and that are not stored. The results are the same as long as those values stay the same, and
// everything else that the configuration is made of (E97). They must not be sent to a provider. There is
// one for each form that a value may have and that the configuration accepts: truth values are true and
// false, and collections have several lengths, since the separator of a list with one element makes no
// difference. whole reports whether a result is known as far as that matters. If none is, StandIns returns
// one that is not, or none if there are errors, for which the values may be the reason. Known values for
// which keep returns true stay as they are; nil for none.
func StandIns(t *future.Task, in *Instance, o *Opened, whole func(cty.Value) bool, keep func(value.Computed) bool) []StoodIn {
	s := &standIns{t: t, in: in, opened: o, whole: whole}
	s.Keep = keep
	var out, partial []StoodIn
	for s.Elements = 1; s.Elements <= mostElements; s.Elements *= 2 {
		got, ok := s.bothTruths()
		if ok {
			out = append(out, got...)
		} else if len(partial) == 0 {
			partial = slices.DeleteFunc(got, func(g StoodIn) bool { return whole(g.Value) })
		}
		if !s.Uses.Elements {
			break
		}
	}
	if len(out) == 0 {
		return partial
	}
	return out
}

// standIns makes values that stand in for the computed ones.
type standIns struct {
	value.StandIns
	t      *future.Task
	in     *Instance
	opened *Opened
	whole  func(cty.Value) bool
	seen   map[string]struct{} // names by which expressions refer to parts of values
}

// bothTruths evaluates once, or twice if there are truth values, and reports whether all results are whole.
func (s *standIns) bothTruths() ([]StoodIn, bool) {
	s.True = false
	first, ok := s.keyed()
	if !s.Uses.Bool {
		return first, ok
	}
	s.True = true
	second, alsoOK := s.keyed()
	return append(first, second...), ok && alsoOK
}

// keyed evaluates once, with the keys by which expressions refer to elements of maps if they cannot do with
// others.
func (s *standIns) keyed() ([]StoodIn, bool) {
	s.Keys = nil
	got, ok := s.once()
	if ok || !s.Uses.Map {
		return got, ok
	}
	s.Keys = slices.Sorted(maps.Keys(s.seen))
	if others, ok := s.once(); ok {
		return others, true
	}
	return got, false
}

// once evaluates once. It returns nothing if there are errors, and reports whether the result is whole.
func (s *standIns) once() ([]StoodIn, bool) {
	s.seen = map[string]struct{}{}
	v, diags := s.in.EvalBody(s.t, &Opened{values: map[*Value]*result[cty.Value]{}, objects: s.opened.objects, opener: s.opened.opener, standIn: s})
	if diags.HasErrors() {
		return nil, false
	}
	bare, parts := value.PartsStoodIn(v)
	return []StoodIn{{bare, parts}}, s.whole(bare)
}

// see notes the names in the steps of a reference.
func (s *standIns) see(steps hcl.Traversal) {
	for _, step := range steps {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			s.seen[step.Name] = struct{}{}
		case hcl.TraverseIndex:
			if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
				s.seen[step.Key.AsString()] = struct{}{}
			}
		}
	}
}
