package engine

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/listing"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang/generate"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// QueryRequest is the input of a query.
type QueryRequest struct {
	Config    *blocks.Config // with the query files
	State     *state.State   // has the objects that expressions refer to; not changed
	Variables map[string]cty.Value
	Observer  event.ListObserver
	Generate  bool            // has configuration for the results written
	Soft      context.Context // ends on the first interrupt; nil for never
}

// Query lists the objects that the list blocks of a configuration ask for. Data sources that they refer to
// are read, and managed resources are as in the state.
func Query(ctx context.Context, e *Engine, req QueryRequest) diag.List {
	p := e.newPlanner(ctx, PlanRequest{Config: req.Config, State: req.State, Mode: plan.Normal, Variables: req.Variables, Soft: req.Soft}, nil)
	q := &querier{planner: p, req: req, read: req.Config.ReadLists(), names: &generate.Names{
		Taken: func(r addr.Resource) bool { return req.Config.Tree.Root.Resources[r] != nil },
	}}
	p.pool.OnlyKnown = true // nothing becomes known by a query
	p.startRun(p.newRun(req.Config, eval.Planning, q.result, req.Variables, p.plan.Timestamp))
	defer e.expose(req.Config, req.Variables, req.State)()
	defer e.stopOn(p.req.Soft)()
	defer func() { e.stats.Evaluations += p.run.Stats.Evaluations.Load() }()
	defer p.pool.Finish()
	p.run.Guard("the query", q.query)
	p.pool.Finish()
	return provider.OneInterrupt(provider.WithoutRepeats(p.run.Diags.List()))
}

// querier carries out a query. It takes managed resources from the state, and has data sources read.
type querier struct {
	planner *planner
	req     QueryRequest
	read    map[*blocks.Resource]bool // lists whose results are kept for expressions

	mu    sync.Mutex // protects all below, and serializes calls of the observer
	names *generate.Names
	ended bool // by the observer
}

// query queries all lists.
func (q *querier) query() {
	p := q.planner
	if !p.valid() {
		return
	}
	defer func() { p.run.Report(p.warnings.Except(p.run.Diags.List())) }()
	lists := q.lists()
	for _, r := range lists {
		p.pool.Claim(eval.BlockClaims(r.Block)...)
	}
	p.run.Root.CheckVariablesEarly(&future.Task{})
	if p.run.Diags.HasErrors() {
		return
	}
	pool := future.NewPool(p.workers())
	for _, r := range lists {
		pool.Go(func(t *future.Task) { p.run.Guard(r.Addr(), func() { q.visit(pool, t, r) }) })
	}
	pool.Wait()
}

// lists returns the lists of the configuration.
func (q *querier) lists() (lists []*eval.Resource) {
	for _, r := range q.planner.run.Root.Resources() {
		if r.Block.IsList() {
			lists = append(lists, r)
		}
	}
	return lists
}

// visit queues the instances of a list. It claims the uses of each before it waives the claim of the block.
func (q *querier) visit(pool *future.Pool, t *future.Task, r *eval.Resource) {
	p := q.planner
	p.checkRepetition(t, r)
	instances, _ := r.Instances(t)
	for _, in := range instances {
		uses := in.Claims(t)
		p.pool.Claim(uses...)
		pool.Go(func(t *future.Task) {
			defer p.pool.Waive(uses...)
			p.run.Guard(in, func() { in.Value(t, nil) })
		})
	}
	p.pool.Waive(eval.BlockClaims(r.Block)...)
}

// result returns the object of an instance, or the results of a list.
func (q *querier) result(t *future.Task, in *eval.Instance) cty.Value {
	switch in.Config().Addr.Mode {
	case addr.List:
		return q.list(t, in)
	case addr.Data:
		return q.planner.data.plan(t, in)
	default:
		return q.planner.recorded(t, q.req.State, in)
	}
}

// list queries one list, and returns its results if expressions refer to them.
func (q *querier) list(t *future.Task, in *eval.Instance) cty.Value {
	p := q.planner
	if p.invalid(t, in) {
		return eval.UnknownList()
	}
	in.Prepare(t)
	if in.Circular() || p.dependencyFailed(in.Deps(t)) {
		p.fail(in.Addr())
		return eval.UnknownList()
	}
	p.awaitOpenings(t, in)
	var l *listing.List
	ran := p.inSession(t, in, event.OpRead, func(s *ephemeral.Session) {
		l = listing.New(q.listing(), p.env, t, s, in, q.read[in.Resource.Block])
		l.Run()
	})
	if !ran {
		interrupt := diag.At(in.Config().Range, "Interrupted", "The query was interrupted before this list.")
		interrupt[0].Extra = context.Canceled
		p.run.Report(interrupt)
	}
	if !ran || !l.OK {
		p.fail(in.Addr())
		return eval.UnknownList()
	}
	return eval.ListResult(l.Kept)
}

// listing returns the query as its lists see it.
func (q *querier) listing() listing.Query {
	w := q.planner.walk
	return listing.Query{
		Soft: w.soft, Generate: q.req.Generate, Tell: q.tell, Name: q.name,
		Evaluate: func(op *object.Op, t *future.Task, s *ephemeral.Session, in *eval.Instance) (object.Config, bool) {
			o := objectOp{w, *op}
			defer func() { *op = o.Op }()
			return o.evaluate(t, s, in)
		},
		Meta: func(op *object.Op, m *eval.Module) cty.Value { return (&objectOp{w, *op}).metaIn(m) },
	}
}

// tell calls the observer. It returns false if the query has been ended.
func (q *querier) tell(call func(event.ListObserver) bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		q.ended = !call(q.req.Observer)
	}
	return !q.ended
}

// name returns a name for the resource block of a result that no other has.
func (q *querier) name(list *eval.Instance) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.names.Next(list.Config().Addr.Type, generate.Identifier(list.Config().Addr.Name, list.Key))
}
