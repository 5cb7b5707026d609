// Package listing carries out one list of a query: the provider is asked, and each result is held against the
// contract, shown to the observer and, if asked for, written as configuration.
//
// It may import evaluation and object. It must not know other lists, or when a list is carried out.
package listing

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// mostProblems is how many results of a list are reported as bad one by one. There may be very many.
const mostProblems = 20

// Query is the query that a list is part of. Its functions may be called concurrently.
type Query struct {
	Soft     context.Context // ends on the first interrupt
	Generate bool            // has configuration for the results written
	// Tell calls the observer. It returns false if the query has been ended.
	Tell func(call func(event.ListObserver) bool) bool
	// Name returns a name for the resource block of a result that no other has.
	Name func(list *eval.Instance) string
	// Evaluate evaluates the config block. It returns false if that failed, which was reported.
	Evaluate func(op *object.Op, t *future.Task, s *ephemeral.Session, in *eval.Instance) (object.Config, bool)
	// Meta returns the provider_meta of a module for the object's provider, cty.NilVal if it has none.
	Meta func(op *object.Op, m *eval.Module) cty.Value
}

// List is the query of one list. It belongs to one task.
type List struct {
	object.Op
	Kept []cty.Value // the results for expressions, if they are kept
	OK   bool        // the list is complete

	query Query
	keeps bool
	in    *eval.Instance
	t     *future.Task
	s     *ephemeral.Session
	end   func()
	po    *eval.ProviderObject
	args  eval.ListArguments
	req   provider.ListRequest

	config object.Config

	objects  object.Op // about the objects that are found
	identity *schema.Identity

	failed   bool // a result could not be used
	results  int
	problems int // results with diagnostics
}

// New begins the query of one list, which Run carries out and ends. keeps says that expressions refer to the
// results.
func New(q Query, env *object.Env, t *future.Task, s *ephemeral.Session, in *eval.Instance, keeps bool) *List {
	l := &List{Op: object.New(env, addr.Object{Instance: in.Addr()}, in.Resource.Block.Schema, in.Resource.Block.Provider), query: q, keeps: keeps, in: in, t: t, s: s}
	l.Body = in.Config().Body
	span := l.StartSpan("list", plan.NoOp)
	ctx, cancel := context.WithCancel(l.Ctx)
	forget := context.AfterFunc(q.Soft, cancel) // nothing is changed that would have to be waited for
	l.Ctx = ctx
	l.end = func() {
		forget()
		cancel()
		span(l.OK)
	}
	return l
}

// Run carries the query out and ends it.
func (l *List) Run() {
	defer l.end()
	l.OK = l.prepare() && l.list()
}

// prepare gets the provider and evaluates the arguments.
func (l *List) prepare() bool {
	if l.po = l.in.Provider(l.t); l.po == nil {
		return false
	}
	if l.in.Resource.Block.BodyOpens() && !l.Use(l.s.Provider(l.t, l.po, l.in.Addr(), l.s.BodyNeeds(l.t, l.in)...), l.po.Addr) {
		return false
	}
	var ok bool
	if l.config, ok = l.query.Evaluate(&l.Op, l.t, l.s, l.in); !ok {
		return false
	}
	var diags diag.List
	if l.args, diags = eval.ListArgumentsOf(l.t, l.in); !diags.HasErrors() && !l.config.Value.IsWhollyKnown() {
		diags = append(diags, diag.At(l.in.Config().Range, "Configuration of a list is not known",
			"The config block refers to something that does not exist yet, so there is nothing to ask the provider for. In a query, resources are as in the state.")...)
	}
	l.Report(diags)
	if diags.HasErrors() || l.Provider == nil && !l.Use(l.s.Provider(l.t, l.po, l.in.Addr()), l.po.Addr) {
		return false
	}
	l.req = provider.ListRequest{
		Type: l.TypeName(), Config: l.config.Value, Limit: l.args.Limit, IncludeObject: l.args.Include || l.query.Generate,
	}
	return l.prepareObjects()
}

// prepareObjects finds the schemas of the objects that are to be found.
func (l *List) prepareObjects() bool {
	sch, diags := l.Providers.Resource(l.Ctx, l.Source, addr.Managed, l.TypeName())
	c, more := l.Providers.Catalog(l.Ctx, l.Source)
	if diags = append(diags, more...); !diags.HasErrors() {
		l.identity, more = c.Identity(l.TypeName())
		diags = append(diags, more...)
	}
	if !diags.HasErrors() && (sch == nil || l.identity == nil) {
		diags = diag.At(l.in.Config().TypeRange, "Invalid provider schema",
			"The provider %s has a list of %s but no resource type of that name with an identity. This is a bug in the provider: report it to its developers.", l.Source.ForDisplay(), l.TypeName())
	}
	l.Report(diags)
	if diags.HasErrors() {
		return false
	}
	l.objects = l.objectOf(l.in.Addr(), sch)
	return true
}

// objectOf begins an operation on an object that was found. It is shown and not stored, so its values are
// redacted and not judged.
func (l *List) objectOf(i addr.Instance, sch *schema.Schema) object.Op {
	op := object.New(l.Env, addr.Object{Instance: i}, sch, l.Source)
	op.Ctx, op.Answers.Leaks = l.Ctx, contract.Leaks{}
	op.Use(l.Provider, l.po.Addr)
	return op
}

// list has the provider validate the list and asks for the results.
func (l *List) list() bool {
	diags := l.Provider.ValidateList(l.Ctx, l.req)
	l.Report(diags)
	if diags.HasErrors() {
		return false
	}
	start := event.ListStart{List: l.in.Addr(), Config: l.shownConfig()}
	if !l.query.Tell(func(o event.ListObserver) bool { o.ListStarted(start); return true }) {
		return true
	}
	diags = l.Provider.List(l.Ctx, l.req, l.found)
	if l.problems > mostProblems {
		diags = append(diags, diag.Warnf("More results with problems", "Of the results of %s, %d more have problems, which are not shown.", l.in.Addr(), l.problems-mostProblems)...)
	}
	if b := l.in.Resource.Block; b.Limit == nil && int64(l.results) >= l.args.Limit {
		diags = append(diags, diag.At(b.Config.Range, "List may be incomplete",
			"There are %d results, as many as a list has by default, so there may be more objects. To list them, set the argument limit.", l.results).AsWarnings()...)
	}
	if (l.query.Soft.Err() != nil || l.Ctx.Err() != nil) && !diags.HasErrors() {
		diags = append(diags, l.interrupted()...)
	}
	l.Report(diags)
	if diags.HasErrors() || l.failed {
		return false
	}
	end := event.ListEnd{List: l.in.Addr(), Results: l.results}
	l.query.Tell(func(o event.ListObserver) bool { o.ListCompleted(end); return true })
	return true
}

// interrupted returns the error about a list that ended after an interrupt, which a provider may do without
// one when it stops.
func (l *List) interrupted() diag.List {
	diags := diag.At(l.in.Config().Range, "Operation interrupted", "The query was interrupted, so the results of this list may be incomplete.")
	diags[0].Extra = context.Canceled
	return diags
}

// found takes over a result. It returns false if no more are wanted.
func (l *List) found(r provider.ListResult) bool {
	diags := r.Diags
	if !diags.HasErrors() {
		r, diags = l.accept(r)
	}
	if len(diags) > 0 {
		if l.problems++; l.problems <= mostProblems {
			l.Report(diags)
		}
	}
	if diags.HasErrors() {
		l.failed = true
		return true
	}
	l.results++
	if l.keeps {
		l.keep(r)
	}
	shown, ok := l.show(r)
	if !ok {
		l.failed = true
		return true
	}
	return l.query.Tell(func(o event.ListObserver) bool { return o.ListFound(shown) }) && int64(l.results) < l.args.Limit
}

// accept checks a result against the rules for objects that were read.
func (l *List) accept(r provider.ListResult) (provider.ListResult, diag.List) {
	diags := r.Diags
	if r.Identity == cty.NilVal || r.Identity.IsNull() {
		return r, append(diags, diag.Errorf("Provider returned an object without identity", "The provider %s returned a result of %s that does not say which object it is. This is a bug in the provider: report it to its developers.", l.Source.ForDisplay(), l.in.Addr())...)
	}
	var more diag.List
	r.Identity, more = l.objects.Answers.AcceptIdentity(r.Identity, contract.Read)
	diags = append(diags, more...)
	if r.Object != cty.NilVal {
		r.Object, diags = l.objects.Answers.AcceptExisting(r.Object, diags, contract.Read)
	}
	return r, diags
}

// keep keeps a result for expressions.
func (l *List) keep(r provider.ListResult) {
	whole := cty.NullVal(l.objects.Block().Type())
	if l.args.Include && r.Object != cty.NilVal {
		whole = l.objects.Mark(r.Object, object.Config{}, nil)
	}
	l.Kept = append(l.Kept, cty.ObjectVal(map[string]cty.Value{"display_name": cty.StringVal(r.Name), "identity": r.Identity, "state": whole}))
}
