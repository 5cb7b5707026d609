package engine

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/jsonvalue"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/provider/builtin"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/scrub"
	"github.com/mayfly-iac/mayfly/value"
)

// prior is the object that planning starts from: upgraded to the current schema and, unless refreshing is
// off, refreshed from the real object.
type prior struct {
	object    *state.Object // nil if there is none
	value     cty.Value     // without marks; null if there is none
	private   []byte
	identity  cty.Value // cty.NilVal if there is none
	importing *plan.Importing
	cleaned   bool // the stored object had write-only values, which value lacks
}

// sensitive returns the paths that are sensitive in the stored object.
func (pr prior) sensitive() []cty.Path {
	if pr.object == nil {
		return nil
	}
	return pr.object.Sensitive
}

func noPrior(b *schema.Block) prior {
	return prior{value: cty.NullVal(b.Type())}
}

// objectOp is the part that all operations on one object share: planning, creating, updating, destroying,
// reading, importing and decoding. Each operation embeds it in a type with its own fields.
type objectOp struct {
	*walk
	obj     addr.Object
	schema  *schema.Schema
	source  addr.Provider
	body    hcl.Body          // of the block that declares the object; nil if none does
	p       provider.Provider // configured for the operation; nil until it is needed
	answers contract.Checker  // holds what p answers about the object against the contract
}

// objectOp begins an operation on an object that the configuration need not declare.
func (w *walk) objectOp(obj addr.Object, sch *schema.Schema, source addr.Provider) objectOp {
	return objectOp{
		walk: w, obj: obj, schema: sch, source: source,
		answers: contract.Checker{Provider: source, Object: obj, Block: sch.Block},
	}
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
	return w.objectOp(obj, sch, source), true
}

// instanceOp begins an operation on the current object of an instance.
func (w *walk) instanceOp(in *eval.Instance) objectOp {
	op := w.objectOp(addr.Object{Instance: in.Addr()}, in.Resource.Block.Schema, in.Resource.Block.Provider)
	op.body = in.Config().Body
	return op
}

func (op *objectOp) typeName() string     { return op.obj.Resource.Type }
func (op *objectOp) block() *schema.Block { return op.schema.Block }

// report reports diagnostics about the object, at the block that declares it unless they have a range.
func (op *objectOp) report(diags diag.List) {
	if len(diags) == 0 {
		return
	}
	op.run.Report(diags.InConfigBody(op.body).WithAddress(op.obj.Instance.String()))
}

// validateConfig has the provider validate a configuration of the block, which has no marks. It skips the
// call if the provider accepted the same configuration while the whole configuration was validated.
func (op *objectOp) validateConfig(mode addr.Mode, b *blocks.Resource, config cty.Value) diag.List {
	if op.accepted.has(acceptedKey(b), config) {
		return nil
	}
	return op.p.ValidateResource(op.ctx, mode, op.typeName(), config)
}

// upgrade decodes a stored object, asking the provider to upgrade it if it was stored under another schema.
// An object that already has the current version and shape costs no call.
func (op *objectOp) upgrade(o *state.Object) (prior, bool) {
	pr := prior{object: o, private: o.Private}
	ty := op.schema.Block.Type()
	if op.isCurrent(o) {
		if v, err := o.DecodeUnmarked(ty); err == nil {
			pr.value, pr.cleaned = op.clean(v)
			return op.loadIdentity(pr, o)
		}
	}
	if o.SchemaVersion > op.schema.Version {
		op.report(diag.Errorf("Resource instance was stored by a newer provider",
			"The state holds %s in version %d of its schema, and the installed provider %s knows only version %d. Install a newer version of the provider.",
			op.obj, o.SchemaVersion, op.source.ForDisplay(), op.schema.Version))
		return pr, false
	}
	v, diags := op.p.UpgradeResource(op.ctx, provider.UpgradeRequest{Type: op.typeName(), Version: o.SchemaVersion, JSON: o.JSON(), Flatmap: o.Flatmap})
	if !diags.HasErrors() {
		v, diags = op.answers.AcceptExisting(v, diags, contract.Upgraded)
	}
	op.report(diags)
	if diags.HasErrors() && v == cty.NilVal {
		return pr, false
	}
	pr.value = v
	return op.loadIdentity(pr, o)
}

// clean nulls the write-only attributes of a stored object. They have values if another engine wrote the
// state, or if the attribute became write-only in a later version of the provider.
func (op *objectOp) clean(v cty.Value) (cty.Value, bool) {
	paths := op.block().WriteOnlyPaths(v)
	if len(paths) == 0 {
		return v, false
	}
	op.report(scrub.Warning(op.obj, paths))
	return op.block().NullWriteOnly(v), true
}

// loadIdentity decodes the stored identity, asking the provider to upgrade it if its version or shape
// differs. A provider whose schemas cannot be read only leaves the identity out: the object can be worked on
// without it.
func (op *objectOp) loadIdentity(pr prior, o *state.Object) (prior, bool) {
	if len(o.Identity) == 0 {
		return pr, true
	}
	c, diags := op.providers.Catalog(op.ctx, op.source)
	if diags.HasErrors() {
		return pr, true
	}
	id, diags := c.Identity(op.typeName())
	op.report(diags)
	if id == nil {
		return pr, true
	}
	if o.IdentityVersion == id.Version {
		if v, err := jsonvalue.Unmarshal(o.Identity, id.Type()); err == nil {
			pr.identity = v
			return pr, true
		}
	}
	v, diags := op.p.UpgradeIdentity(op.ctx, provider.UpgradeRequest{Type: op.typeName(), Version: o.IdentityVersion, JSON: o.Identity})
	op.report(diags)
	if diags.HasErrors() {
		return pr, false
	}
	pr.identity = v
	return pr, true
}

// refresh reads the real object. The result has a null value if the object is gone.
func (op *objectOp) refresh(pr prior, meta cty.Value) (prior, bool) {
	idKey, id := identifying(pr.value, op.schema.Block, pr.sensitive())
	done := op.events.Begin(event.OpRefresh, op.obj, plan.NoOp, idKey, id)
	resp, diags := op.p.ReadResource(op.ctx, provider.ReadRequest{
		Type: op.typeName(), Prior: pr.value, Private: pr.private, Identity: pr.identity, ProviderMeta: meta,
	})
	if !diags.HasErrors() && resp.Deferred != "" {
		diags = append(diags, op.answers.Deferred("reading", resp.Deferred)...)
	}
	v := resp.New
	if !diags.HasErrors() && !v.IsNull() {
		v, diags = op.answers.AcceptKnown(v, diags, contract.Read)
		_, wrong := op.answers.AcceptIdentity(resp.Identity, contract.Read)
		diags = append(diags, wrong...)
	}
	op.report(diags)
	if !diags.HasErrors() && v.IsNull() {
		idKey, id = "", "" // nothing has it any more
	}
	done(diags, idKey, id)
	if diags.HasErrors() && (v == cty.NilVal || v.IsNull()) {
		return pr, false
	}
	if v.IsNull() {
		return noPrior(op.schema.Block), true
	}
	pr.value, pr.private = v, resp.Private
	if resp.Identity != cty.NilVal && !resp.Identity.IsNull() {
		op.noteIdentity("reading", pr.identity, resp.Identity)
		pr.identity = resp.Identity
	}
	return pr, !diags.HasErrors()
}

// mark returns v with the sensitive marks that the schema and the given paths ask for.
func (op *objectOp) mark(v cty.Value, paths []cty.Path) cty.Value {
	if v.IsNull() {
		return v
	}
	v = value.MarkPaths(v, op.schema.Block.SensitivePaths(v), value.Sensitive)
	return value.MarkPaths(v, op.mirrorSensitivity(v, paths), value.Sensitive)
}

// mirrorSensitivity adds paths to the sensitive paths of an object for results in which the built-in
// provider repeats an argument. An unknown result is sensitive only if the whole argument is: it has no
// parts to mark yet, and its other parts may be shown.
func (op *objectOp) mirrorSensitivity(v cty.Value, paths []cty.Path) []cty.Path {
	from, to, ok := builtin.Echo(op.typeName())
	if !ok || op.source != addr.BuiltinProvider || v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return paths
	}
	bare, _ := v.Unmark()
	result, _ := bare.GetAttr(to).Unmark()
	out := slices.Clip(paths)
	for _, p := range paths {
		if !p.HasPrefix(cty.GetAttrPath(from)) {
			continue
		}
		if len(p) == 1 || result.IsWhollyKnown() {
			out = append(out, append(cty.GetAttrPath(to), p[1:]...))
		}
	}
	return out
}

// meta returns the provider_meta of the instance's module for its provider, cty.NilVal if it has none.
func (op *objectOp) meta(in *eval.Instance) cty.Value { return op.metaIn(in.Resource.Module) }

// metaOfModule returns the provider_meta of the module that the object belongs to, cty.NilVal if that module
// is gone.
func (op *objectOp) metaOfModule() cty.Value { return op.metaIn(op.run.Module(op.obj.Module)) }

// metaIn returns the provider_meta of a module for the object's provider, cty.NilVal if there is none or no
// such module.
func (op *objectOp) metaIn(m *eval.Module) cty.Value {
	if m == nil {
		return cty.NilVal
	}
	body := m.ProviderMetaFor(op.source)
	if body == nil {
		return cty.NilVal
	}
	c, diags := op.providers.Catalog(op.ctx, op.source)
	if diags.HasErrors() {
		return cty.NilVal
	}
	sch, diags := c.Meta()
	op.report(diags)
	if sch == nil {
		op.run.Report(diag.At(body.Range, "Provider has no provider_meta", "The provider %s takes no provider_meta block.", op.source.ForDisplay()))
		return cty.NilVal
	}
	v, diags := sch.Block.Decode(body.Body, nil) // constants only, as the language has it
	op.run.Report(diags)
	if diags.HasErrors() {
		return cty.NilVal
	}
	return v
}

// dropMirrored removes from stored paths those that mirrorSensitivity adds, since a state may have been
// written without them.
func (op *objectOp) dropMirrored(paths []cty.Path) []cty.Path {
	_, result, ok := builtin.Echo(op.typeName())
	if !ok || op.source != addr.BuiltinProvider {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p cty.Path) bool { return p.HasPrefix(cty.GetAttrPath(result)) })
}

// seal makes v durable.
func (op *objectOp) seal(v cty.Value, paths []cty.Path) (value.Durable, bool) {
	d, err := value.Seal(value.MarkPaths(v, op.mirrorSensitivity(v, paths), value.Sensitive), op.schema.Block.Type(), op.schema.Block)
	if err != nil {
		op.report(diag.Errorf("Object cannot be stored", "The object of %s cannot be stored: %s.", op.obj, err))
		return value.Durable{}, false
	}
	return d, true
}

// sealIdentity makes an identity durable; absent ones give the zero value.
func (op *objectOp) sealIdentity(id cty.Value) value.Durable {
	if id == cty.NilVal || id.IsNull() {
		return value.Durable{}
	}
	d, err := value.Seal(id, id.Type(), nil)
	if err != nil {
		op.report(diag.Errorf("Identity cannot be stored", "The identity of %s cannot be stored: %s.", op.obj, err))
	}
	return d
}

// identityVersion returns the version of the type's identity schema, 0 if it has none.
func (op *objectOp) identityVersion() int64 {
	c, diags := op.providers.Catalog(op.ctx, op.source)
	if diags.HasErrors() {
		return 0
	}
	if id, _ := c.Identity(op.typeName()); id != nil {
		return id.Version
	}
	return 0
}

// stateObject makes the state object for v, which must be wholly known.
func (op *objectOp) stateObject(v cty.Value, paths []cty.Path, private []byte, identity cty.Value, like *state.Object) *state.Object {
	d, ok := op.seal(v, paths)
	if !ok {
		return nil
	}
	o, err := state.ObjectFrom(d, additions(op.source)...)
	if err != nil {
		op.report(diag.Errorf("Object cannot be stored", "The object of %s cannot be stored: %s.", op.obj, err))
		return nil
	}
	if like != nil {
		o.Tainted, o.Dependencies, o.CreateBeforeDestroy, o.SkipDestroy = like.Tainted, like.Dependencies, like.CreateBeforeDestroy, like.SkipDestroy
	}
	o.SchemaVersion, o.Private = op.schema.Version, private
	if id := op.sealIdentity(identity); !id.IsZero() {
		if o.Identity, err = state.IdentityFrom(id); err != nil {
			op.report(diag.Errorf("Identity cannot be stored", "The identity of %s cannot be stored: %s.", op.obj, err))
		}
		o.IdentityVersion = op.identityVersion()
	}
	return o
}

// Identifying returns the attribute that identifies a stored object to people and its value. Both are empty
// if there is none, it is sensitive, or no schema is known because the provider has not been started.
func (e *Engine) Identifying(p addr.Provider, a addr.Object, o *state.Object) (key, text string) {
	s := e.providers.Loaded(p, a.Resource.Mode, a.Resource.Type)
	if s == nil {
		return "", ""
	}
	v, err := o.DecodeUnmarked(s.Block.Type())
	if err != nil {
		return "", ""
	}
	return identifying(v, s.Block, o.Sensitive)
}

// identifying returns the attribute that identifies an object to people: id, else name. Both results are
// empty if there is none or it is sensitive, by its schema or as one of the given paths.
func identifying(v cty.Value, b *schema.Block, sensitive []cty.Path) (key, text string) {
	v, _ = v.Unmark()
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() {
		return "", ""
	}
	for _, name := range []string{"id", "name"} {
		a := b.Attributes[name]
		hidden := slices.ContainsFunc(sensitive, func(p cty.Path) bool { return len(p) == 0 || p.Equals(cty.GetAttrPath(name)) })
		if a == nil || a.Sensitive || a.WriteOnly || hidden || a.Type != cty.String {
			continue
		}
		if got := v.GetAttr(name); got.IsKnown() && !got.IsMarked() && !got.IsNull() && got.AsString() != "" {
			return name, got.AsString()
		}
	}
	return "", ""
}

// additions returns the arguments of the built-in provider that other engines do not know, which stored
// objects omit as long as they are null. Other providers have none.
func additions(p addr.Provider) []string {
	if p != addr.BuiltinProvider {
		return nil
	}
	return builtin.Additions
}
