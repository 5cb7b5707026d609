package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/value"
)

// ImportTarget is one object that an import block names, evaluated.
type ImportTarget struct {
	To       addr.Instance
	ID       string    // "" if Identity is used
	Identity cty.Value // cty.NilVal if ID is used
	Block    *config.Import
}

// Imports evaluates the import blocks of the root module. While validating, what is unknown is taken to be right, and there are no targets.
func (r *Run) Imports(t *future.Task) []ImportTarget {
	var out []ImportTarget
	for _, b := range r.cfg.Tree.Root.Imports {
		targets, diags := r.importBlock(t, b)
		r.Report(diags)
		out = append(out, targets...)
	}
	if r.opt.Phase == Validating {
		return nil
	}
	return out
}

func (r *Run) importBlock(t *future.Task, b *config.Import) ([]ImportTarget, diag.List) {
	if b.ForEach == nil {
		target, diags := r.importTarget(t, b, nil)
		return []ImportTarget{target}, diags
	}
	x, diags := r.rootExpr(b.ForEach)
	if diags.HasErrors() {
		return nil, diags
	}
	each := &repeated{module: r.Root, repeat: repetition{forEach: x}, name: "import"}
	var out []ImportTarget
	for _, k := range each.expand(t, nil).keys {
		target, more := r.importTarget(t, b, &rep{key: k, of: each})
		diags = append(diags, more...)
		out = append(out, target)
	}
	return out, diags
}

// rootExpr compiles an expression of the root module that is not part of a compiled block.
func (r *Run) rootExpr(e hcl.Expression) (*lang.Expr, diag.List) {
	x, diags := lang.Compile(e)
	if diags.HasErrors() {
		return x, diags
	}
	c := &compiler{cfg: r.cfg}
	for _, ref := range x.Refs {
		if ref.Kind != lang.Each {
			diags = append(diags, r.Root.block.checkRef(ref, use{}, c)...)
		}
	}
	return x, diags
}

func (r *Run) importTarget(t *future.Task, b *config.Import, rp *rep) (ImportTarget, diag.List) {
	target := ImportTarget{Block: b}
	sc := &scope{m: r.Root, rep: rp, t: t}
	var diags diag.List
	target.To, diags = sc.importTo(b.To)
	if diags.HasErrors() {
		return target, diags
	}
	e, what := b.ID, "id"
	if e == nil {
		e, what = b.Identity, "identity"
	}
	x, more := r.rootExpr(e)
	if diags = append(diags, more...); diags.HasErrors() {
		return target, diags
	}
	v, more := r.eval(sc, x)
	if diags = append(diags, more...); diags.HasErrors() {
		return target, diags
	}
	if refused := r.Root.block.refuseEphemeral(v, x, "The "+what+" of an import must not be ephemeral: it is kept in the plan."); refused != nil {
		return target, append(diags, refused...)
	}
	if value.Contains(v, value.Sensitive) {
		diags = append(diags, diag.At(x.Range(), "Invalid import "+what, "The %s of an import must not be sensitive: it is shown and kept in the plan.", what)...)
	}
	v, _ = v.UnmarkDeep()
	if !v.IsWhollyKnown() && r.opt.Phase == Validating {
		return target, diags
	}
	if !v.IsWhollyKnown() || v.IsNull() {
		return target, append(diags, diag.At(x.Range(), "Invalid import "+what, "The %s of an import must be known during planning, and not null.", what)...)
	}
	if what == "identity" {
		target.Identity = v
		return target, diags
	}
	s, err := convert.Convert(v, cty.String)
	if err != nil || s.AsString() == "" {
		return target, append(diags, diag.At(x.Range(), "Invalid import id", "The id of an import must be a string that is not empty.")...)
	}
	target.ID = s.AsString()
	return target, diags
}

// importTo evaluates the address of an import block, whose instance key may be an expression.
func (sc *scope) importTo(e hcl.Expression) (addr.Instance, diag.List) {
	if t, hd := hcl.AbsTraversalForExpr(e); !hd.HasErrors() {
		target, err := addr.TargetFromTraversal(t)
		if err != nil || target.Resource == nil || target.Resource.Mode != addr.Managed {
			return addr.Instance{}, diag.At(e.Range(), "Invalid import address", "The \"to\" argument must be the address of a managed resource instance.")
		}
		return addr.Instance{Module: target.Module, Resource: *target.Resource, Key: target.Key}, nil
	}
	x, diags := lang.Compile(e)
	if diags.HasErrors() {
		return addr.Instance{}, diags
	}
	for i := range x.Refs {
		ref := &x.Refs[i]
		if ref.Kind == lang.Resource && ref.Range.Start == e.Range().Start && ref.Index != nil {
			if refused := sc.refuseImportKey(ref.Index); refused != nil {
				return addr.Instance{}, refused
			}
			key, ok := sc.key(ref.Index, Single)
			if ok && key != nowhere || !ok && sc.m.run.opt.Phase == Validating {
				return addr.Instance{Resource: ref.Resource, Key: key}, nil
			}
		}
	}
	return addr.Instance{}, diag.At(e.Range(), "Invalid import address", "The \"to\" argument must be the address of a resource instance of the root module, whose instance key may be an expression known during planning, or a constant address in another module.")
}

// refuseImportKey returns an error for an ephemeral instance key in the address of an import.
func (sc *scope) refuseImportKey(idx *lang.Index) diag.List {
	if idx.Expr == nil {
		return nil
	}
	v, diags := sc.m.run.eval(sc, idx.Expr)
	if diags.HasErrors() {
		return diags
	}
	return sc.m.block.refuseEphemeral(v, idx.Expr, "An ephemeral value cannot choose the instance to import to: its address is kept in the plan and in the state.")
}

// ImportProvider returns the provider configuration that imports an object for which the root module has no block: the one that the import block
// names, or the one that the resource type implies.
func (r *Run) ImportProvider(t *future.Task, b *config.Import, to addr.Resource) (*ProviderObject, diag.List) {
	ref, _ := b.ProviderRef()
	key := r.compiledKey(ref.KeyExpr)
	found, diags := r.Root.findProvider(ref, key, func(t *future.Task) *scope { return &scope{m: r.Root, t: t} })
	if diags.HasErrors() {
		return nil, diags
	}
	source := r.Root.block.cfg.ProviderFor(ref.Name)
	if po := r.provider(t, found, source, ref); po != nil {
		return po, nil
	}
	return nil, diag.At(ref.Range, "Provider configuration not present", "The provider configuration %s for the import of %s could not be found.", ref, to)
}
