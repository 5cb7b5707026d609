// Package coverage records which points of a configuration runs have exercised. A point is a block, a
// condition or an expression with one or two outcomes, such as the branches of a conditional expression. The
// compiled configuration determines the points; outcomes are noted by evaluation and by the callers that plan
// and apply.
//
// A point is its position in the source text, so that runs of copies of a module, calls of one module from
// several places, and all instances of a block count as one. It has names and positions, never a value.
//
// It may import lang, lang/marked and eval/blocks.
package coverage

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Kind is the kind of a point. It decides which outcomes the point has.
type Kind uint8

// The kinds of points.
const (
	Resource    Kind = iota // a resource, data or ephemeral block: planned, applied
	Conditional             // a conditional expression: its branches
	Repetition              // count, for_each or enabled: some instances, no instances
	Output                  // an output: read by the calling module, an assertion or a later run
	Condition               // a validation, pre- or postcondition or assertion: held, failed
	kinds
)

// Kinds returns all kinds.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

// Outcomes returns descriptions of the one or two possible outcomes of a point of this kind.
func (k Kind) Outcomes() []string {
	return [...][]string{
		{"planned", "applied"}, {"true", "false"}, {"with instances", "without instances"}, {"read"}, {"held", "failed"},
	}[k]
}

// Outcome is one of the outcomes of a point, by its place in [Kind.Outcomes].
type Outcome uint8

// The outcomes of points.
const (
	Planned, Applied Outcome = 0, 1
	True, False      Outcome = 0, 1
	Some, None       Outcome = 0, 1
	Read             Outcome = 0
	Held, Failed     Outcome = 0, 1
)

// If returns the first outcome of a kind with two if first is set, and the second one otherwise.
func If(first bool) Outcome {
	if first {
		return 0
	}
	return 1
}

// Point is a part of the configuration.
type Point struct {
	Kind  Kind
	Range hcl.Range
	Name  string // its name or place, within its module
	Came  []bool // which outcomes came, in the order of Kind.Outcomes
}

// Set is a set of points with their outcomes. It is safe for concurrent use. Nothing is noted in a nil Set.
type Set struct {
	dirs map[string]struct{}

	mu     sync.Mutex
	points map[key]*Point
}

// key identifies a point: a count may be a conditional expression, so that positions alone do not.
type key struct {
	kind Kind
	at   hcl.Range
}

// New returns an empty set for the modules in the given directories, which are written as in path.module.
func New(dirs map[string]struct{}) *Set { return &Set{dirs: dirs, points: map[key]*Point{}} }

// Declare adds the points of a configuration.
func (s *Set) Declare(cfg *blocks.Config) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range cfg.Modules {
		lister{s}.module(m)
	}
}

// declares reports whether the points of a module belong to the set.
func (s *Set) declares(m *blocks.Module) bool {
	_, ok := s.dirs[m.Config.Dir]
	return ok
}

// add adds a point unless it is there.
func (s *Set) add(k Kind, at hcl.Range, name string) {
	if s.points[key{k, at}] == nil {
		s.points[key{k, at}] = &Point{Kind: k, Range: at, Name: name, Came: make([]bool, len(k.Outcomes()))}
	}
}

// Note notes an outcome of the point of a kind at a position. Points that were not declared are of no
// interest.
func (s *Set) Note(k Kind, at hcl.Range, o Outcome) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.points[key{k, at}]; p != nil {
		p.Came[o] = true
	}
}

// Branch notes which branch of a conditional expression was chosen.
func (s *Set) Branch(at hcl.Range, onTrue bool) { s.Note(Conditional, at, If(onTrue)) }

// Points returns copies of all points by position.
func (s *Set) Points() []Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Point, 0, len(s.points))
	for _, p := range s.points {
		c := *p
		c.Came = slices.Clone(p.Came)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Range.Filename, b.Range.Filename), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}
