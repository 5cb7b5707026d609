package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// Leg is the half of a change that a step carries out.
type Leg uint8

// The legs of changes. A replacement has two of them, with an edge between them.
const (
	Gate       Leg = iota // no work: comes after all its predecessors
	ApplyLeg              // create, update or read
	DestroyLeg            // delete the current, replaced or deposed object
	ForgetLeg
	OutputLeg // evaluate an output; nothing comes after it
	InvokeLeg // invoke actions that the change triggers
)

// Rule is the reason for an edge between two steps.
type Rule string

// The rules. An object is destroyed early or late: see timing. They are shown in the error about a cycle.
const (
	ruleDependency     Rule = "create after dependency"
	ruleDestroyFirst   Rule = "destroy before create"
	ruleCreateFirst    Rule = "create before destroy"
	ruleDependents     Rule = "after dependents are destroyed"
	ruleDependencies   Rule = "after dependencies are destroyed"
	ruleUpdates        Rule = "destroy after dependents' updates"
	ruleSettled        Rule = "destroy after dependencies' updates"
	ruleGate           Rule = "all of a resource"
	ruleBefore         Rule = "after its actions"
	ruleAfter          Rule = "actions after the change"
	maxCycleStepsShown      = 20
)

// Edge leads to a step that must wait. The rule is only for messages.
type Edge struct {
	To   int32
	Rule Rule
}

// Step is one unit of work of an apply, about one change, or an output. A step may begin when as many steps
// as Needs says have ended: the scheduler counts, and looks at no graph.
type Step struct {
	Leg    Leg
	Change *Change // nil for a Gate and an OutputLeg
	Output *OutputChange
	// Invocations are the actions of an InvokeLeg, in their order. Before says that they precede the change.
	Invocations []*Invocation
	Before      bool
	Name        string // of a Gate
	Needs       int32  // number of steps that come before
	Next        []Edge

	block string // of a Gate: its name in a graph of blocks
}

// String names the step in messages.
func (s *Step) String() string {
	switch s.Leg {
	case Gate:
		return s.Name
	case DestroyLeg:
		return s.Change.Object().String() + " (destroy)"
	case ForgetLeg:
		return s.Change.Object().String() + " (forget)"
	case OutputLeg:
		return "output." + s.Output.Name
	case InvokeLeg:
		return s.Change.Object().String() + s.moment()
	default:
		return s.Change.Object().String()
	}
}

// moment returns the words for the actions of an InvokeLeg.
func (s *Step) moment() string {
	if s.Before {
		return " (actions before)"
	}
	return " (actions after)"
}

// Steps orders the plan's changes and outputs. It is a pure function of the changes, their dependencies and
// order of replacement, and the records of the prior state for objects without a change. The result doesn't
// depend on map order, and its size is linear in the number of changes and dependencies. An error means that
// the changes depend on each other in a cycle.
//
// There are three phases, and no edge leads back to an earlier one: early destructions, then creations and
// updates, then late destructions. So only configurations that refer to each other can form a cycle; see
// relation for destructions.
func (p *Plan) Steps() ([]Step, diag.List) {
	b := newStepBuilder(p.Changes)
	for i, c := range p.Changes {
		b.legs(i, c)
	}
	b.done = slices.Clone(b.apply)
	b.invocations(p.Invocations)
	for i, c := range p.Changes {
		b.after(b.apply[i], c.Deps) // the dependencies of its configuration come first
	}
	b.afterDependencies()
	if slices.ContainsFunc(b.destroy, func(leg int32) bool { return leg >= 0 }) {
		b.connect(p.Changes, p.Prior)
		b.timing()
		b.destruction()
	}
	if p.Mode != Destroy {
		for _, o := range p.Outputs {
			b.output(o)
		}
	}
	return b.steps, b.acyclic()
}

// output adds the step of an output, after the apply legs of its dependencies.
func (b *stepBuilder) output(o *OutputChange) {
	b.after(b.step(Step{Leg: OutputLeg, Output: o}), o.Deps)
}

// stepBuilder builds the steps of a plan. Steps are identified by index, so that edges are small and the
// result does not depend on map order.
type stepBuilder struct {
	*relation
	changes []*Change
	steps   []Step
	apply   []int32 // by change, -1 if none
	done    []int32 // by change: the step that its dependents wait for: apply, or the one with the actions after it
	destroy []int32
	late    []bool // by change: its destroy leg is late

	current   map[addr.Instance]int
	created   map[group]int32 // gate after all of a group
	changed   map[group]int32 // gate after all apply legs of a group, without the actions after them
	seenEdges map[[2]int32]struct{}
}

// newStepBuilder returns a builder without steps.
func newStepBuilder(changes []*Change) *stepBuilder {
	b := &stepBuilder{
		relation: newRelation(changes), changes: changes, apply: make([]int32, len(changes)), destroy: make([]int32, len(changes)), late: make([]bool, len(changes)),
		current: make(map[addr.Instance]int, len(changes)), created: map[group]int32{}, changed: map[group]int32{}, seenEdges: map[[2]int32]struct{}{},
	}
	steps := 0 // or more
	for i, c := range changes {
		if c.Deposed == addr.Current {
			b.current[c.Addr] = i
		}
		if c.Action != NoOp {
			steps++
		}
	}
	b.steps = make([]Step, 0, steps)
	return b
}

// step adds a step and returns its index.
func (b *stepBuilder) step(s Step) int32 {
	b.steps = append(b.steps, s)
	return int32(len(b.steps) - 1)
}

// gate adds a gate for a node of the relation.
func (b *stepBuilder) gate(node int32, what string) int32 {
	if int(node) < len(b.changes) {
		a := b.changes[node].Addr
		return b.step(Step{Leg: Gate, Name: a.String() + what, block: a.Config().String() + what})
	}
	g := b.groups[int(node)-len(b.changes)]
	return b.step(Step{Leg: Gate, Name: g.String() + what, block: g.node() + what})
}

// edge makes one step wait for another. An edge from or to -1, to itself, or that exists already is left
// out.
func (b *stepBuilder) edge(from, to int32, rule Rule) {
	if from < 0 || to < 0 || from == to {
		return
	}
	key := [2]int32{from, to}
	if _, ok := b.seenEdges[key]; ok {
		return
	}
	b.seenEdges[key] = struct{}{}
	b.steps[from].Next = append(b.steps[from].Next, Edge{to, rule})
	b.steps[to].Needs++
}

// legs adds the steps of a change and, for a replacement, the edge between them. An unchanged object
// becomes a gate between its dependencies and its dependents.
func (b *stepBuilder) legs(i int, c *Change) {
	b.apply[i], b.destroy[i] = -1, -1
	switch c.Action {
	case NoOp:
		if c.Deposed == addr.Current && len(c.Deps) > 0 {
			b.apply[i] = b.gate(int32(i), " (unchanged)")
		}
	case Create, Update, Read, ForgetThenCreate:
		b.apply[i] = b.step(Step{Leg: ApplyLeg, Change: c})
	case Delete:
		b.destroy[i] = b.step(Step{Leg: DestroyLeg, Change: c})
	case Forget:
		b.step(Step{Leg: ForgetLeg, Change: c})
	case DeleteThenCreate:
		b.destroy[i] = b.step(Step{Leg: DestroyLeg, Change: c})
		b.apply[i] = b.step(Step{Leg: ApplyLeg, Change: c})
		b.edge(b.destroy[i], b.apply[i], ruleDestroyFirst)
	case CreateThenDelete:
		b.apply[i] = b.step(Step{Leg: ApplyLeg, Change: c})
		if c.KeepsReplaced {
			return
		}
		b.destroy[i] = b.step(Step{Leg: DestroyLeg, Change: c})
		b.edge(b.apply[i], b.destroy[i], ruleCreateFirst)
	}
}

// after orders a step after the changes that dependencies are on, with their actions.
func (b *stepBuilder) after(step int32, deps []Dep) { b.afterLegs(step, deps, b.done, b.created) }

// afterLegs orders a step after the steps in legs, by change, that dependencies are on. gates has the
// gates after all of a group.
func (b *stepBuilder) afterLegs(step int32, deps []Dep, legs []int32, gates map[group]int32) {
	for _, d := range deps {
		if d.All {
			b.edge(b.createdGate(d, legs, gates), step, ruleDependency)
		} else if j, ok := b.current[d.Resource.Instance(d.Key)]; ok {
			b.edge(legs[j], step, ruleDependency)
		}
	}
}

// createdGate returns the gate after the given steps of a dependency, or -1 if there are none.
func (b *stepBuilder) createdGate(d Dep, legs []int32, gates map[group]int32) int32 {
	of, members := group{resource: d.Resource}, b.resources[d.Resource]
	if d.Modules {
		of, members = group{block: d.Span()}, b.blocks[d.Span()]
	}
	if g, ok := gates[of]; ok {
		return g
	}
	g := int32(-1)
	for _, j := range members {
		if legs[j] < 0 {
			continue
		}
		if g < 0 {
			g = b.step(Step{Leg: Gate, Name: of.String() + " (all instances)", block: of.node() + " (all instances)"})
		}
		b.edge(legs[j], g, ruleGate)
	}
	gates[of] = g
	return g
}

// acyclic reports a cycle among the steps, with the rule behind each hop.
func (b *stepBuilder) acyclic() diag.List {
	needs := make([]int32, len(b.steps))
	var ready []int32
	for i := range b.steps {
		needs[i] = b.steps[i].Needs
		if needs[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	done := 0
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		done++
		for _, e := range b.steps[i].Next {
			if needs[e.To]--; needs[e.To] == 0 {
				ready = append(ready, e.To)
			}
		}
	}
	if done == len(b.steps) {
		return nil
	}
	return diag.Errorf("Contradicting order of changes", "The planned changes cannot be ordered, because they wait for each other:\n%s\n\n"+
		"Remove one of these dependencies.", b.describeCycle(needs))
}

// describeCycle lists the steps of one cycle with their rules. needs has, for each step, how many it still
// waits for.
func (b *stepBuilder) describeCycle(needs []int32) string {
	at := int32(-1)
	for i, n := range needs {
		if n > 0 {
			at = int32(i)
			break
		}
	}
	// Every remaining step waits for another remaining step, so walking back along these edges leads into a
	// cycle.
	before := make([]Edge, len(b.steps))
	for i := range b.steps {
		for _, e := range b.steps[i].Next {
			if needs[i] > 0 && needs[e.To] > 0 {
				before[e.To] = Edge{int32(i), e.Rule}
			}
		}
	}
	seen := map[int32]bool{}
	for !seen[at] {
		seen[at] = true
		at = before[at].To
	}
	var sb strings.Builder
	for i, start := 0, at; i < maxCycleStepsShown; i++ {
		e := before[at]
		fmt.Fprintf(&sb, "\n  %s waits for %s (%s)", &b.steps[at], &b.steps[e.To], e.Rule)
		if at = e.To; at == start {
			break
		}
	}
	return sb.String()
}
