package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// rootOutput evaluates an output of the root module, opening the instances it needs. The output must be
// prepared.
func (w *walk) rootOutput(t *future.Task, o *eval.Value) (cty.Value, bool) {
	v, ok := o.Durable(t)
	if !ok && value.Contains(v, value.Ephemeral) {
		return v, false // which was reported
	}
	if !ok && !w.inSession(t, o, event.OpEvaluate, func(s *ephemeral.Session) { v = o.Final(t, s.Opened) }) {
		return v, false
	}
	return v, !value.Contains(v, value.Ephemeral)
}

// dueOutput is an output of the root module with its claims.
type dueOutput struct {
	*eval.Value
	uses []eval.Use
}

// claimOutputs returns the outputs of the root module and claims the uses of evaluating each: without
// ephemeralasnull and fingerprint they need nothing to be open. It is for planning.
func (w *walk) claimOutputs(t *future.Task, cfg *blocks.Config) []dueOutput {
	var out []dueOutput
	for _, o := range w.run.Root.Outputs() {
		due := dueOutput{o, w.outputUses(t, o, cfg)}
		w.pool.Claim(due.uses...)
		out = append(out, due)
	}
	return out
}

// outputUses returns the uses of evaluating an output; o may be nil.
func (w *walk) outputUses(t *future.Task, o *eval.Value, cfg *blocks.Config) []eval.Use {
	if o == nil || !cfg.ClearsEphemeral() {
		return nil
	}
	return o.Uses(t)
}
