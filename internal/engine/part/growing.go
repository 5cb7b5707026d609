package part

import (
	"context"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Growing is the state that one attempt at a plan starts from, if only a part of the stored state was read.
// Without a part, its methods do nothing.
type Growing struct {
	Part   *Part
	Plan   *plan.Plan
	Report func(diag.List)
	// Stored is the state as it was read, and Prior the one that the changes start from. Both change only
	// while no task runs.
	Stored, Prior **state.State

	later    *state.State // that this attempt has not seen; nil for none
	mu       sync.Mutex
	demanded []*state.State // that Prior has, and the other states have not
}

// Demand reads the objects of an instance that planning is about to look for, unless it has them. It may be
// called while tasks run, which hold prior when they use Prior.
func (g *Growing) Demand(ctx context.Context, prior sync.Locker, a addr.Instance) {
	found, err := g.Part.Demand(ctx, a)
	if err != nil {
		g.add(nil, err)
	}
	if found == nil {
		return
	}
	prior.Lock()
	(*g.Prior).AddMissing(found)
	prior.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.demanded = append(g.demanded, found)
}

// Load adds objects that were read, and those that tasks have demanded, to all states. No task may run.
func (g *Growing) Load(found *state.State) {
	g.holdDemanded()
	g.add(found, nil)
}

// holdDemanded adds objects that were demanded to the states as they were read. It returns true if there are
// some.
func (g *Growing) holdDemanded() bool {
	some := len(g.demanded) > 0
	for _, st := range g.demanded { // planning may have removed objects from Prior since
		g.hold(st)
	}
	g.demanded = nil
	return some
}

// add adds found to both states. It returns true if found has objects. It reports err, an error in reading
// them.
func (g *Growing) add(found *state.State, err error) bool {
	if err != nil {
		g.Report(diag.Errorf("Error reading the state", "%s", diag.Sentence(err)))
	}
	if found == nil || len(found.Resources) == 0 {
		return false
	}
	g.hold(found)
	(*g.Prior).AddMissing(found)
	return true
}

// hold adds objects to the states as they were read.
func (g *Growing) hold(found *state.State) {
	stored, base := (*g.Stored).Copy(), g.Plan.Base.Copy() // base may have been cleaned
	stored.AddMissing(found)
	base.AddMissing(found)
	*g.Stored, g.Plan.Base = stored, base
}

// Missed reads the objects that the attempt has missed. It returns true if another attempt must be made. No
// task may run: objects that were demanded last, for invocations of actions, are added to all states.
func (g *Growing) Missed(ctx context.Context) bool {
	g.holdDemanded()
	found, again, err := g.Part.Again(ctx)
	again = g.add(g.later, nil) || again
	g.add(found, err)
	return again && err == nil
}

// Gone reads the objects that depend on objects which are to be destroyed, and may have to be destroyed with
// them. It returns true if the attempt has not seen them all: another one must be made then.
func (g *Growing) Gone(ctx context.Context, objects []addr.Object) bool {
	var blocks []addr.ConfigResource
	for _, o := range objects {
		blocks = append(blocks, o.Config())
	}
	found, err := g.Part.Dependents(ctx, blocks, true)
	if err != nil {
		g.Report(diag.Errorf("Error reading the state", "%s", diag.Sentence(err)))
	}
	if found == nil || len(found.Resources) == 0 {
		return false
	}
	g.later = found
	return true
}

// Made reads the dependents of objects that the plan destroys or replaces: they may connect two changes.
func (g *Growing) Made(ctx context.Context) {
	var blocks []addr.ConfigResource
	for _, c := range g.Plan.Changes {
		if c.Action == plan.Delete || c.Action.DestroysReplaced() {
			blocks = append(blocks, c.Addr.Config())
		}
	}
	g.add(g.Part.Dependents(ctx, blocks, false))
}

// Relied reads the objects that only the scope of the plan needs. It returns true if there are some, or if
// making the scope has demanded some: it must be made again then.
func (g *Growing) Relied(ctx context.Context, scope *state.Scope) bool {
	again := g.holdDemanded()
	return g.add(g.Part.Relied(ctx, scope)) || again
}
