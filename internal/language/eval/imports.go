package eval

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// ImportTarget is one object that an import block names, evaluated.
type ImportTarget struct {
	To       addr.Instance
	Module   addr.ModuleInstance // that has the block
	ID       string              // "" if Identity is used
	Identity cty.Value           // cty.NilVal if ID is used
	Block    *config.Import
	Failed   bool       // it could not be evaluated, which was reported
	Unknown  bool       // ID or Identity is known only after apply, in a run that defers
	Deps     []plan.Dep // of ID or Identity, if that is unknown or the run leaves something out
}

// ImportTargets evaluates the for_each of an import block of the module. It returns a function for each
// object that the block names, which evaluates address and id. While validating, unknown values are accepted,
// and the targets mean nothing.
func (m *Module) ImportTargets(t *future.Task, b *config.Import) (targets []func(*future.Task) ImportTarget) {
	r := m.run
	target := func(each *eachData) func(*future.Task) ImportTarget {
		return func(t *future.Task) (target ImportTarget) {
			r.Guard("an import block", func() {
				var diags diag.List
				target, diags = m.importTarget(t, b, each)
				target.Failed = diags.HasErrors()
				r.Report(diags)
			})
			return target
		}
	}
	if b.ForEach == nil {
		return []func(*future.Task) ImportTarget{target(nil)}
	}
	x, diags := m.importExpr(b.ForEach, nil)
	if diags.HasErrors() {
		r.Report(diags)
		return nil
	}
	each := &expander{module: m, repeat: blocks.Repetition{ForEach: x}, name: "import", target: m.importedBlock(b), sequences: true}
	e := each.expand(t, nil)
	if e.undecided && r.opt.Deferring { // the block may name any instance
		return []func(*future.Task) ImportTarget{func(t *future.Task) ImportTarget {
			out := &reads{}
			out.addExprs(m.scope(t), x)
			return ImportTarget{Module: m.Addr, Block: b, Unknown: true, Deps: out.deps(t, nil)}
		}}
	}
	for _, k := range e.keys {
		targets = append(targets, target(&eachData{key: k, of: each}))
	}
	return targets
}

// importedBlock returns the resource whose objects an import block of the module names; nil if the address is
// wrong, which package config reports.
func (m *Module) importedBlock(b *config.Import) *addr.Target {
	to, err := addr.TargetFromTraversal(b.To.Steps)
	if err != nil || to.Resource == nil {
		return nil
	}
	block := addr.Target{Module: m.Addr, Resource: to.Resource}
	for _, call := range to.Module.Module().Calls() {
		block.Module = block.Module.Child(call, addr.NoKey)
	}
	return &block
}

// instanceTarget returns the target that selects one instance.
func instanceTarget(a addr.Instance) addr.Target {
	return addr.Target{Module: a.Module, Resource: &a.Resource, Key: a.Key}
}

// importExpr compiles an expression of an import block, which is not part of a compiled block.
func (m *Module) importExpr(e hcl.Expression, rp *eachData) (*lang.Expr, diag.List) {
	var repeat blocks.Repetition
	if rp != nil {
		repeat = rp.of.repeat
	}
	return m.block.CompileExpr(e, repeat)
}

// importTarget evaluates the address and the id or identity of one target. Both end up in the plan and on
// the screen, so neither may be ephemeral or sensitive, and both must be known while planning, when the
// object is read.
func (m *Module) importTarget(t *future.Task, b *config.Import, rp *eachData) (ImportTarget, diag.List) {
	r, target := m.run, ImportTarget{Module: m.Addr, Block: b}
	sc := &scope{m: m, each: rp, t: t}
	var diags diag.List
	target.To, diags = sc.importTo(b.To)
	if diags.HasErrors() {
		return target, diags
	}
	e, what := b.ID, "id"
	if e == nil {
		e, what = b.Identity, "identity"
	}
	x, more := m.importExpr(e, rp)
	if diags = append(diags, more...); diags.HasErrors() {
		return target, diags
	}
	v, more := r.eval(sc, x)
	if diags = append(diags, more...); diags.HasErrors() {
		return target, diags
	}
	if refused := m.block.RefuseEphemeral(v, x, "The "+what+" of an import must not be ephemeral: it is kept in the plan."); refused != nil {
		return target, append(diags, refused...)
	}
	refused := func(format string, args ...any) diag.List {
		d := diag.Diagnostic{Summary: "Invalid import " + what + " argument", Detail: "The " + what + " of an import " + fmt.Sprintf(format, args...)}
		return append(diags, r.about(sc, x, d)...)
	}
	if value.Contains(v, value.Sensitive) {
		return target, refused("must not be sensitive: it is shown and kept in the plan.")
	}
	v, _ = v.UnmarkDeep()
	unknown := !v.IsWhollyKnown()
	if r.opt.Excluded != nil || unknown && r.opt.Deferring {
		target.Deps = sc.importDeps(x)
	}
	switch {
	case unknown && r.opt.Phase == Validating:
		return target, diags
	case unknown && r.opt.Excluded != nil && r.opt.Excluded(instanceTarget(target.To), target.Deps):
		return target, diags // nothing is imported
	case unknown && r.opt.Deferring:
		target.Unknown = true
		return target, diags
	case unknown:
		diags = refused("must be known when planning, because the object is read then, but this one is known only after apply. Write it out, or take it from a variable or a data source.")
		diags[len(diags)-1].Extra = diag.Unknown{Exclude: []string{target.To.String()}}
		return target, diags
	case v.IsNull():
		return target, refused("must not be null. Remove the import block, or select which objects to import with its for_each argument.")
	case what == "identity":
		target.Identity = v
		return target, diags
	}
	s, err := convert.Convert(v, cty.String)
	switch {
	case err != nil:
		return target, refused("must be a string, but this is %s.", value.Kind(v))
	case s.AsString() == "":
		return target, refused("must not be empty.")
	}
	target.ID = s.AsString()
	return target, diags
}

// importDeps returns the dependencies of the id or identity of an import, and demands them, so that it is
// known which are left out. Where something may be, the for_each of the block counts too.
func (sc *scope) importDeps(x *lang.Expr) []plan.Dep {
	out := &reads{}
	out.addExprs(sc, x)
	if sc.each != nil && sc.m.run.opt.Excluded != nil {
		out.addExprs(sc.m.scope(sc.t), sc.each.of.repeat.ForEach)
	}
	prepare(sc.t, out)
	return out.deps(sc.t, nil)
}

// importTo evaluates the address of an import block, which is relative to its module and whose keys may be
// expressions. While validating, it returns the zero address if a key is unknown.
func (sc *scope) importTo(a config.ImportAddress) (addr.Instance, diag.List) {
	steps := slices.Clone(a.Steps)
	known := true
	for i, e := range a.Keys {
		v, diags := sc.importKey(e)
		if diags.HasErrors() {
			return addr.Instance{}, diags
		}
		known = known && v.IsKnown()
		steps[i] = hcl.TraverseIndex{Key: v, SrcRange: e.Range()}
	}
	if !known {
		return addr.Instance{}, nil
	}
	target, err := addr.TargetFromTraversal(steps)
	if err != nil { // package config checks the rest
		return addr.Instance{}, diag.At(a.Range, "Invalid import address", "The argument \"to\" must be the address of a resource instance: %s.", err)
	}
	module := sc.m.Addr
	for _, step := range target.Module.Path() {
		_, call, key := step.Parent()
		module = module.Child(call, key)
	}
	return addr.Instance{Module: module, Resource: *target.Resource, Key: target.Key}, nil
}

// importKey evaluates an instance key in the address of an import. It is unknown only while validating.
func (sc *scope) importKey(e hcl.Expression) (cty.Value, diag.List) {
	const summary = "Invalid import address"
	run := sc.m.run
	x, diags := sc.m.importExpr(e, sc.each)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	v, diags := run.eval(sc, x)
	if diags.HasErrors() {
		return v, diags
	}
	if refused := sc.m.block.RefuseEphemeral(v, x, "An ephemeral value cannot choose the instance to import to: its address is kept in the plan and in the state."); refused != nil {
		return v, refused
	}
	if value.Contains(v, value.Sensitive) {
		return v, diag.At(e.Range(), summary, "A sensitive value cannot choose the instance to import to: its address is shown and kept in the plan.")
	}
	v, _ = v.Unmark()
	if v.IsKnown() {
		if _, err := addr.KeyFromValue(v); err != nil {
			return v, diag.At(e.Range(), summary, "The instance key is not suitable: %s.", err)
		}
	} else if run.opt.Phase != Validating {
		return v, diag.At(e.Range(), summary, "The instance key depends on what is known only after apply, so the instance to import to is not known yet. Use values that are known when planning.")
	}
	return v, nil
}

// ForImport returns the provider configuration that imports an object for which the root module has no
// block: the one that the import block names, or the one that the resource type implies.
func (ps *Providers) ForImport(t *future.Task, b *config.Import, to addr.Resource) (*ProviderObject, diag.List) {
	ref, _ := b.ProviderRef()
	var key *lang.Expr
	if ref.KeyExpr != nil {
		x, diags := lang.Compile(ref.KeyExpr)
		if diags.HasErrors() {
			return nil, diags
		}
		key = x
	}
	found, diags := ps.run.Root.findProvider(ref, key, ps.run.Root.scope)
	if diags.HasErrors() {
		return nil, diags
	}
	source := ps.run.Root.block.Config.ProviderFor(ref.Name)
	if po := ps.get(t, found, source, ref); po != nil {
		return po, nil
	}
	return nil, diag.At(ref.Range, "Provider configuration not present", "The provider configuration %s for the import of %s could not be found.", ref, to)
}
