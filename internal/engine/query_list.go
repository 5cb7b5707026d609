package engine

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
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

// listing is the query of one list.
type listing struct {
	objectOp
	q    *querier
	in   *eval.Instance
	t    *future.Task
	s    *ephemeral.Session
	end  func()
	po   *eval.ProviderObject
	args eval.ListArguments
	req  provider.ListRequest

	config object.Config

	objects  objectOp // about the objects that are found
	identity *schema.Identity

	ok       bool // the list is complete
	failed   bool // a result could not be used
	results  int
	problems int // results with diagnostics
	kept     []cty.Value
}

func (q *querier) newListing(t *future.Task, s *ephemeral.Session, in *eval.Instance) *listing {
	l := &listing{objectOp: q.planner.objectOp(addr.Object{Instance: in.Addr()}, in.Resource.Block.Schema, in.Resource.Block.Provider), q: q, in: in, t: t, s: s}
	l.Body = in.Config().Body
	span := l.startSpan("list", plan.NoOp)
	ctx, cancel := context.WithCancel(l.Ctx)
	forget := context.AfterFunc(q.planner.soft, cancel) // nothing is changed that would have to be waited for
	l.Ctx = ctx
	l.end = func() {
		forget()
		cancel()
		span(l.ok)
	}
	return l
}

// prepare gets the provider and evaluates the arguments.
func (l *listing) prepare() bool {
	if l.po = l.in.Provider(l.t); l.po == nil {
		return false
	}
	if l.in.Resource.Block.BodyOpens() && !l.Use(l.s.Provider(l.t, l.po, l.in.Addr(), l.s.BodyNeeds(l.t, l.in)...), l.po.Addr) {
		return false
	}
	var ok bool
	if l.config, ok = l.evaluate(l.t, l.s, l.in); !ok {
		return false
	}
	var diags diag.List
	if l.args, diags = eval.ListArgumentsOf(l.t, l.in); !diags.HasErrors() && !l.config.Value.IsWhollyKnown() {
		if diags = useIn(&l.objectOp, l.config.Computed, computed.Use{User: "The configuration of " + l.in.Addr().String()}); len(diags) == 0 {
			diags = diag.At(l.in.Config().Range, "Configuration of a list is not known",
				"The config block refers to something that does not exist yet, so there is nothing to ask the provider for. In a query, resources are as in the state.")
		}
	}
	l.Report(diags)
	if diags.HasErrors() || l.Provider == nil && !l.Use(l.s.Provider(l.t, l.po, l.in.Addr()), l.po.Addr) {
		return false
	}
	l.req = provider.ListRequest{
		Type: l.TypeName(), Config: l.config.Value, Limit: l.args.Limit, IncludeObject: l.args.Include || l.q.req.Generate,
	}
	return l.prepareObjects()
}

// prepareObjects finds the schemas of the objects that are to be found.
func (l *listing) prepareObjects() bool {
	p := l.q.planner
	sch, diags := p.providers.Resource(l.Ctx, l.Source, addr.Managed, l.TypeName())
	c, more := p.providers.Catalog(l.Ctx, l.Source)
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
func (l *listing) objectOf(i addr.Instance, sch *schema.Schema) objectOp {
	op := l.q.planner.objectOp(addr.Object{Instance: i}, sch, l.Source)
	op.Ctx, op.Answers.Leaks = l.Ctx, contract.Leaks{}
	op.Use(l.Provider, l.po.Addr)
	return op
}

// list has the provider validate the list and asks for the results.
func (l *listing) list() bool {
	diags := l.Provider.ValidateList(l.Ctx, l.req)
	l.Report(diags)
	if diags.HasErrors() {
		return false
	}
	start := event.ListStart{List: l.in.Addr(), Config: l.shownConfig()}
	if !l.q.tell(func(o event.ListObserver) bool { o.ListStarted(start); return true }) {
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
	l.Report(diags)
	if diags.HasErrors() || l.failed {
		return false
	}
	end := event.ListEnd{List: l.in.Addr(), Results: l.results}
	l.q.tell(func(o event.ListObserver) bool { o.ListCompleted(end); return true })
	return true
}

// found takes over a result. It returns false if no more are wanted.
func (l *listing) found(r provider.ListResult) bool {
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
	if l.q.read[l.in.Resource.Block] {
		l.keep(r)
	}
	shown, ok := l.show(r)
	if !ok {
		l.failed = true
		return true
	}
	return l.q.tell(func(o event.ListObserver) bool { return o.ListFound(shown) }) && int64(l.results) < l.args.Limit
}

// accept checks a result against the rules for objects that were read.
func (l *listing) accept(r provider.ListResult) (provider.ListResult, diag.List) {
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
func (l *listing) keep(r provider.ListResult) {
	whole := cty.NullVal(l.objects.Block().Type())
	if l.args.Include && r.Object != cty.NilVal {
		whole = l.objects.Mark(r.Object, object.Config{}, nil)
	}
	l.kept = append(l.kept, cty.ObjectVal(map[string]cty.Value{"display_name": cty.StringVal(r.Name), "identity": r.Identity, "state": whole}))
}
