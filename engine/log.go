package engine

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/schema"
)

// warnf writes a line to the log, if there is one. It must hold addresses and paths only, never values.
func (e *Engine) warnf(format string, args ...any) {
	if e.opt.Log != nil {
		e.opt.Log("[WARN] " + fmt.Sprintf(format, args...))
	}
}

// logTolerated logs violations that are tolerated from providers of the legacy type system, which have
// always committed them and are known to do no harm by it. errs is called only if there is a log.
func (op *objectOp) logTolerated(what contract.Answer, errs func() []error) {
	if op.opt.Log == nil {
		return
	}
	for _, err := range errs() {
		op.warnf("provider %s returned a %s for %s that breaks the rules, which is tolerated because it uses the legacy type system: %s", op.source.ForDisplay(), what, op.obj, contract.Text(err, schema.PathString))
	}
}

// noteIdentity logs that a provider has changed the identity of an object. It may do so, but other tools may
// know the object by the earlier one.
func (op *objectOp) noteIdentity(doing string, before, after cty.Value) {
	if op.opt.Log == nil || before == cty.NilVal || before.IsNull() || !before.IsWhollyKnown() || after == cty.NilVal || after.IsNull() || after.RawEquals(before) {
		return
	}
	op.warnf("provider %s gave %s another identity while %s it", op.source.ForDisplay(), op.obj, doing)
}
