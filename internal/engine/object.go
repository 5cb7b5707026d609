package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/accepted"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/given"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// objectOp is an operation on one object with the walk that it belongs to. Each operation embeds it in a type
// with its own fields.
type objectOp struct {
	walk *walk
	object.Op
}

// objectOp begins an operation on an object that the configuration need not declare.
func (w *walk) objectOp(obj addr.Object, sch *schema.Schema, source addr.Provider) objectOp {
	return objectOp{walk: w, Op: object.New(w.env, obj, sch, source)}
}

// managedOp begins an operation on a managed object that the configuration need not declare. It reports false
// if the provider does not have the type any more, or cannot say, which was reported.
func (w *walk) managedOp(obj addr.Object, source addr.Provider) (objectOp, bool) {
	sch, diags := w.providers.Resource(w.ctx, source, addr.Managed, obj.Resource.Type)
	if sch == nil && !diags.HasErrors() {
		diags = append(diags, diag.Errorf("No schema available for resource type",
			"The state holds %s, but the provider %s no longer has the resource type %q, so it cannot be destroyed. Install a version of the provider that has it, or remove the object from the state.",
			obj, source.ForDisplay(), obj.Resource.Type).WithAddress(obj.Instance.String())...)
	}
	w.run.Report(diags)
	if diags.HasErrors() {
		return objectOp{}, false
	}
	op := w.objectOp(obj, sch, source)
	if m := w.run.Module(obj.Module); m != nil && m.Resource(obj.Resource) != nil {
		withhold(&op.Withheld, m.Resource(obj.Resource).Block)
		op.Answers.Withheld = op.Withheld.Names
	}
	return op, true
}

// instanceOp begins an operation on the current object of an instance.
func (w *walk) instanceOp(in *eval.Instance) objectOp {
	op := w.objectOp(addr.Object{Instance: in.Addr()}, in.Resource.Block.Schema, in.Resource.Block.Provider)
	op.Body = in.Config().Body
	if b := in.Resource.Block; len(b.Withheld) > 0 {
		withhold(&op.Withheld, b)
		op.Answers.Withheld = op.Withheld.Names
		op.Withheld.Ignored = func(p cty.Path) bool { return contract.Ignores(b.Schema.Block, &in.Config().Lifecycle, p) }
	}
	return op
}

// withhold names the attributes of a resource whose values are kept out of the state.
func withhold(w *withheld.Attributes, b *blocks.Resource) {
	w.Names, w.Computed, w.ByPolicy = b.Withheld, b.Computed, b.ByPolicy
}

// validateConfig has the provider validate a configuration of the block, which has no marks. It skips the
// call if the provider accepted the same configuration while the whole configuration was validated.
func (op *objectOp) validateConfig(mode addr.Mode, b *blocks.Resource, config cty.Value) diag.List {
	if op.walk.accepted.Has(accepted.Key(b), config) {
		return nil
	}
	return op.Provider.ValidateResource(op.Ctx, mode, op.TypeName(), config)
}

// meta returns the provider_meta of the instance's module for its provider, cty.NilVal if it has none.
func (op *objectOp) meta(in *eval.Instance) cty.Value { return op.metaIn(in.Resource.Module) }

// metaOfModule returns the provider_meta of the module that the object belongs to, cty.NilVal if that module
// is gone.
func (op *objectOp) metaOfModule() cty.Value { return op.metaIn(op.walk.run.Module(op.Obj.Module)) }

// metaIn returns the provider_meta of a module for the object's provider, cty.NilVal if there is none or no
// such module.
func (op *objectOp) metaIn(m *eval.Module) cty.Value {
	if m == nil {
		return cty.NilVal
	}
	body := m.ProviderMetaFor(op.Source)
	if body == nil {
		return cty.NilVal
	}
	c, diags := op.walk.providers.Catalog(op.walk.ctx, op.Source)
	if diags.HasErrors() {
		return cty.NilVal
	}
	sch, diags := c.Meta()
	op.Report(diags)
	if sch == nil {
		op.walk.run.Report(diag.At(body.Range, "Provider has no provider_meta", "The provider %s takes no provider_meta block.", op.Source.ForDisplay()))
		return cty.NilVal
	}
	v, diags := sch.Block.Decode(body.Body, nil) // constants only, as the language has it
	op.walk.run.Report(diags)
	if diags.HasErrors() {
		return cty.NilVal
	}
	return v
}

// Label returns the label of the new object of a change; "" if its provider has not been started.
func (e *Engine) Label(c state.ObjectChange) string {
	return object.Label(c.New, e.providers.Loaded(c.Provider.Provider, c.Object.Resource.Mode, c.Object.Resource.Type))
}

// evaluate evaluates the configuration of an instance. It returns false if that failed, which was reported.
func (op *objectOp) evaluate(t *future.Task, s *ephemeral.Session, in *eval.Instance) (object.Config, bool) {
	cfg, diags := in.EvalBody(t, s.Opened)
	op.walk.run.Report(diags)
	if diags.HasErrors() || s.Failed() {
		return object.Config{}, false
	}
	if !s.Fresh() { // evaluating may have outlasted a lease
		return object.Config{}, false
	}
	return configOf(op, cfg)
}

// configOf returns a configuration, which was evaluated, in the form that its provider receives. It returns
// false if a part cannot be stored, which was reported.
func configOf(op *objectOp, cfg cty.Value) (object.Config, bool) {
	e := object.Config{Value: op.Answers.Given(cfg)}
	if value.IsMarked(cfg) {
		e.Sensitive = op.Withheld.Outside(value.PathsWith(cfg, value.Sensitive))
		e.Ephemeral = value.Contains(cfg, value.Ephemeral)
		e.Computed = value.PathsMadeOf(cfg)
	}
	var ok bool
	e.Value, ok = op.StorableConfig(e.Value)
	return e, ok
}

// hashGiven returns the hash of a configuration with all that its provider is given beside it; zero for none.
func hashGiven(op *objectOp, h *given.Hasher, t *future.Task, in *eval.Instance, c object.Config) state.Hash {
	return h.Of(t, in, &op.Op, c, func() cty.Value { return op.meta(in) })
}
