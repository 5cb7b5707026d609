package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// priorObject is the object that planning an instance starts from.
type priorObject struct {
	// stored is the object as the state has it; loaded the same upgraded, converted or imported, and prior
	// refreshed too.
	stored        *state.Object
	loaded, prior object.Prior
}

// priorLoader loads the object that planning an instance starts from: from the state, or by an import.
type priorLoader struct {
	*objectOp
	*priorObject
	planner   *planner
	t         *future.Task
	in        *eval.Instance
	importing *object.ImportTarget // nil if nothing is imported
	generated string               // the configuration, if it was generated for this import
	later     *later               // set if the object to import is not known yet
}

// object finds the object in the state, or imports it, and brings it up to date. If it may contain values
// that must not be stored, which are known once the configuration is evaluated, the answers are judged then.
func (l *priorLoader) object() (ok bool) {
	pl := l.planner
	pl.mu.Lock()
	l.stored = pl.prior.Object(pl.req.Part.Look(l.Obj))
	pl.mu.Unlock()
	if l.Answers.Later = pl.req.Mode != plan.RefreshOnly; !l.Answers.Later {
		l.learnConfig()
	}
	meta := l.meta(l.in)
	l.loaded = object.NoPrior(l.Block())
	from, moved := pl.moved[l.in.Addr()]
	switch {
	case l.stored != nil && moved && l.converts(from):
		l.loaded, ok = l.convertMoved(l.stored, from)
	case l.stored != nil:
		l.loaded, ok = l.Upgrade(l.stored)
	case l.importing != nil && l.importing.Unknown:
		l.later = &later{plan.DeferredAbsent, pl.deferral.unsettled(l.importing.Deps)}
		return false
	case l.importing != nil:
		l.loaded, ok = l.imported(meta)
		l.Withheld.Imported = ok
	default:
		ok = true
	}
	if l.prior = l.loaded; !ok || l.stored == nil || pl.start.stands(l.Obj) {
		return ok
	}
	_, forced := pl.forced[l.in.Addr()]
	l.Leaves = pl.req.Mode == plan.Normal && (forced || l.stored.Tainted)
	l.prior, ok = pl.deferral.attempts.reads.Once(&l.Op, func() (object.Prior, bool) { return l.Refresh(l.loaded, meta) })
	return ok
}

// learnConfig gives the checker of answers as much of the configuration as is known without opening anything,
// where nothing else evaluates it. Its errors make no difference here.
func (l *priorLoader) learnConfig() {
	cfg, diags := l.in.EvalBody(l.t, nil)
	if !diags.HasErrors() {
		l.Answers.Given(cfg)
	}
}

// review judges the answers that made the prior object, and keeps the parts that may be stored.
func (l *priorLoader) review() bool {
	var private []byte
	if l.stored != nil {
		private = l.stored.Private
	}
	if !l.Review(&l.loaded, private) || !l.Review(&l.prior, private) {
		return false
	}
	if l.prior.Identity == cty.NilVal {
		l.prior.Identity = l.loaded.Identity
	}
	return l.keep()
}

// keep stores the loaded object in the state that planning starts from.
func (l *priorLoader) keep() bool {
	if _, moved := l.planner.moved[l.in.Addr()]; moved {
		l.planner.mu.Lock()
		l.planner.takenOver[l.in.Addr()] = struct{}{}
		l.planner.mu.Unlock()
	}
	switch o := l.stored; {
	case o == nil && l.importing != nil:
		return l.keepImported()
	case o == nil:
	case l.loaded.Object != o && !l.keepConverted(o):
		return false
	case l.planner.start.stands(l.Obj):
		l.keepUpgraded(o)
	default:
		l.planner.start.noteRefreshed(l.objectOp, l.loaded, l.prior)
	}
	return true
}

// keepUpgraded stores an object that was upgraded or converted but not refreshed.
func (l *priorLoader) keepUpgraded(o *state.Object) {
	if o.SchemaVersion == l.Schema.Version && o.Flatmap == nil && !l.prior.Cleaned {
		return
	}
	if n := l.StateObject(l.prior.Value, o.Sensitive, l.prior.Private, l.prior.Identity, o); n != nil {
		l.KeepIdentity(n, o)
		l.planner.start.set(l.Obj, n)
		l.prior.Object = n
	}
}
