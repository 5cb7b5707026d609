package plan

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// Leg is the half of a change that a step carries out.
type Leg uint8

// The legs.
const (
	Gate       Leg = iota // no work: stands for all its predecessors
	ApplyLeg              // create, update or read
	DestroyLeg            // delete the current, replaced or deposed object
	ForgetLeg
)

// Rule is the reason for an edge between two steps.
type Rule string

// The rules.
const (
	RuleDependency     Rule = "create after dependency"
	RuleDependents     Rule = "destroy after dependents"
	RuleUpdates        Rule = "destroy after dependents' updates"
	RuleDestroyFirst   Rule = "destroy before create"
	RuleCreateFirst    Rule = "create before destroy"
	RuleGate           Rule = "all of a resource"
	maxCycleStepsShown      = 20
)

// Edge leads to a step that must wait.
type Edge struct {
	To   int32
	Rule Rule
}

// Step is one unit of work of an apply.
type Step struct {
	Leg    Leg
	Change *Change // nil for a Gate
	Name   string  // of a Gate
	Needs  int32   // number of steps that come before
	Next   []Edge
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
	default:
		return s.Change.Object().String()
	}
}

// Steps orders the plan's changes. It is a pure function of the changes, their dependencies and their replace order: the result doesn't depend on
// map order, and its size is linear in the number of changes and dependencies. An error means that the plan contradicts itself.
func (p *Plan) Steps() ([]Step, diag.List) {
	b := newStepBuilder(p.Changes)
	for i, c := range p.Changes {
		b.legs(i, c)
	}
	b.findEarly()
	for i, c := range p.Changes {
		b.edges(i, c)
	}
	return b.steps, b.acyclic()
}

type stepBuilder struct {
	changes []*Change
	steps   []Step
	apply   []int32 // by change, -1 if none
	destroy []int32

	current  map[addr.Instance]int
	resource map[addr.AbsResource][]int
	block    map[Span][]int

	early     []bool          // by change: see findEarly
	created   map[group]int32 // gate after all apply legs of a group
	destroys  map[group]int32 // gate before all destroy legs of a group: its dependents are destroyed
	updates   map[group]int32 // gate before destroy legs that wait for dependents' updates
	seenEdges map[[2]int32]struct{}
}

// group is a set of changes that the same steps come before: those of a resource, of a block, or the deletions of a block.
type group struct {
	resource  addr.AbsResource // if block is zero
	block     Span             // deposed objects included
	deletions bool             // of the block
}

// groupOf returns the group that a dependency on more than one instance is on.
func groupOf(d Dep) group {
	if d.Modules {
		return group{block: d.Span()}
	}
	return group{resource: d.Resource}
}

func (g group) String() string {
	switch {
	case g.block == (Span{}):
		return g.resource.String()
	case g.block.Within.IsRoot():
		return g.block.Block.String()
	}
	return g.block.Block.String() + " within " + g.block.Within.String()
}

func newStepBuilder(changes []*Change) *stepBuilder {
	b := &stepBuilder{
		changes: changes, apply: make([]int32, len(changes)), destroy: make([]int32, len(changes)),
		current: make(map[addr.Instance]int, len(changes)), resource: map[addr.AbsResource][]int{}, block: map[Span][]int{},
		created: map[group]int32{}, destroys: map[group]int32{}, updates: map[group]int32{},
		early: make([]bool, len(changes)), seenEdges: map[[2]int32]struct{}{},
	}
	for i, c := range changes {
		if c.Deposed == addr.Current {
			b.current[c.Addr] = i
			b.resource[c.Addr.Abs()] = append(b.resource[c.Addr.Abs()], i)
		}
		for _, span := range Spans(c.Addr) {
			b.block[span] = append(b.block[span], i)
		}
	}
	return b
}

func (b *stepBuilder) step(s Step) int32 {
	b.steps = append(b.steps, s)
	return int32(len(b.steps) - 1)
}

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

// legs makes the steps of a change and, for a replacement, the edge between them. An object that doesn't change stands as a gate between what it
// depends on and what depends on it.
func (b *stepBuilder) legs(i int, c *Change) {
	b.apply[i], b.destroy[i] = -1, -1
	switch c.Action {
	case NoOp:
		if c.Deposed == addr.Current && len(c.Deps) > 0 {
			b.apply[i] = b.step(Step{Leg: Gate, Name: c.Addr.String() + " (unchanged)"})
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
		b.edge(b.destroy[i], b.apply[i], RuleDestroyFirst)
	case CreateThenDelete:
		b.apply[i] = b.step(Step{Leg: ApplyLeg, Change: c})
		b.destroy[i] = b.step(Step{Leg: DestroyLeg, Change: c})
		b.edge(b.apply[i], b.destroy[i], RuleCreateFirst)
	}
}

// destroysLate reports whether the destroy leg of change j waits until dependents no longer use the object.
func (b *stepBuilder) destroysLate(j int) bool {
	return b.changes[j].Action == CreateThenDelete || b.changes[j].Action == Delete && !b.early[j]
}

// findEarly finds the deletions that cannot wait for updates of dependents: they depend on an object that is destroyed before it is created anew, and
// the updates may have to wait for the new one.
func (b *stepBuilder) findEarly() {
	exact, whole, block := map[addr.Instance][]int{}, map[addr.AbsResource][]int{}, map[Span][]int{}
	var queue []int
	for i, c := range b.changes {
		if c.Action == DeleteThenCreate {
			queue = append(queue, i)
		}
		if c.Action != Delete {
			continue
		}
		for _, d := range c.Deps {
			if d.Modules {
				block[d.Span()] = append(block[d.Span()], i)
			} else if d.All {
				whole[d.Resource] = append(whole[d.Resource], i)
			} else {
				exact[d.Resource.Instance(d.Key)] = append(exact[d.Resource.Instance(d.Key)], i)
			}
		}
		for _, r := range c.StateDeps {
			if r != c.Addr.Config() {
				block[Span{Block: r}] = append(block[Span{Block: r}], i)
			}
		}
	}
	for len(queue) > 0 {
		at := b.changes[queue[len(queue)-1]].Addr
		queue = queue[:len(queue)-1]
		waiting := [][]int{exact[at], whole[at.Abs()]}
		for _, span := range Spans(at) {
			waiting = append(waiting, block[span])
			delete(block, span)
		}
		for _, dependents := range waiting {
			for _, i := range dependents {
				if !b.early[i] {
					b.early[i] = true
					queue = append(queue, i)
				}
			}
		}
		delete(exact, at)
		delete(whole, at.Abs())
	}
}

func (b *stepBuilder) edges(i int, c *Change) {
	precise := make(map[addr.ConfigResource]struct{}, len(c.Deps))
	for _, d := range c.Deps {
		precise[d.Resource.Config()] = struct{}{}
		if d.All {
			g := groupOf(d)
			b.edge(b.createdGate(g), b.apply[i], RuleDependency)
			if d.Resource != c.Addr.Abs() {
				b.beforeDestroys(i, g)
			}
			continue
		}
		if j, ok := b.current[d.Resource.Instance(d.Key)]; ok {
			b.edge(b.apply[j], b.apply[i], RuleDependency)
			b.destroyEdges(i, j)
		}
	}
	self := c.Addr.Config()
	for _, r := range c.StateDeps {
		if r == self || len(b.block[Span{Block: r}]) == 0 {
			continue
		}
		// The configuration tells precisely which instances are used, but not which of those that it no longer has were used before.
		_, deletions := precise[r]
		b.beforeDestroys(i, group{block: Span{Block: r}, deletions: deletions})
	}
}

// destroyEdges orders the destruction of change j, which change i depends on, after i's own legs.
func (b *stepBuilder) destroyEdges(i, j int) {
	if b.destroy[j] < 0 || i == j {
		return
	}
	b.edge(b.destroy[i], b.destroy[j], RuleDependents)
	if b.destroysLate(j) {
		b.edge(b.apply[i], b.destroy[j], RuleUpdates)
	}
}

// beforeDestroys orders the destruction of a group that change i depends on after i's own legs.
func (b *stepBuilder) beforeDestroys(i int, g group) {
	if b.destroy[i] >= 0 {
		b.edge(b.destroy[i], b.destroyGate(g), RuleDependents)
	}
	if b.apply[i] >= 0 {
		b.edge(b.apply[i], b.updateGate(g), RuleUpdates)
	}
}

// members returns the changes of a group.
func (b *stepBuilder) members(g group) []int {
	if g.block != (Span{}) {
		return b.block[g.block]
	}
	return b.resource[g.resource]
}

// destroyed calls f for the changes of a group that destroy something.
func (b *stepBuilder) destroyed(g group, f func(j int)) {
	for _, j := range b.members(g) {
		if b.destroy[j] >= 0 && (!g.deletions || b.changes[j].Action == Delete) {
			f(j)
		}
	}
}

func (b *stepBuilder) createdGate(of group) int32 {
	if g, ok := b.created[of]; ok {
		return g
	}
	g := int32(-1)
	for _, j := range b.members(of) {
		if b.apply[j] < 0 {
			continue
		}
		if g < 0 {
			g = b.step(Step{Leg: Gate, Name: of.String() + " (all instances)"})
		}
		b.edge(b.apply[j], g, RuleGate)
	}
	b.created[of] = g
	return g
}

func (b *stepBuilder) destroyGate(g group) int32 {
	return b.gate(b.destroys, g, " (dependents destroyed)", RuleDependents, func(int) bool { return true })
}

func (b *stepBuilder) updateGate(g group) int32 {
	return b.gate(b.updates, g, " (dependents updated)", RuleUpdates, b.destroysLate)
}

// gate returns the gate before those destroy legs of a group that wait, -1 if there are none.
func (b *stepBuilder) gate(gates map[group]int32, g group, what string, rule Rule, waits func(j int) bool) int32 {
	if at, ok := gates[g]; ok {
		return at
	}
	at := int32(-1)
	b.destroyed(g, func(j int) {
		if !waits(j) {
			return
		}
		if at < 0 {
			at = b.step(Step{Leg: Gate, Name: g.String() + what})
		}
		b.edge(at, b.destroy[j], rule)
	})
	gates[g] = at
	return at
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
	return diag.Errorf("Contradicting order of changes", "The planned changes cannot be put in an order, because they wait for each other:\n%s\n\n"+
		"This usually comes from create_before_destroy on only some of the resources in a chain. Set it alike on all of them, or apply part of the change first with -target.", b.describeCycle(needs))
}

func (b *stepBuilder) describeCycle(needs []int32) string {
	at := int32(-1)
	for i, n := range needs {
		if n > 0 {
			at = int32(i)
			break
		}
	}
	// Every step left over waits for another one left over: walking back along such waits must come round.
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
