package workdir

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Check checks the backend or cloud block of the loaded configuration by itself, without the values of
// variables and without arguments that the command line may add. A mistake that init would refuse is only a
// warning: a module can be valid on a machine, or in a version of this program, that cannot use its backend.
// A secret in an argument that says where the state is, is an error everywhere.
func (b *Backend) Check(ctx context.Context) diag.List {
	if b.dir.root == nil || b.dir.root.Backend == nil {
		return nil
	}
	block := b.dir.root.Backend
	if block.Store != nil {
		if _, ds := b.dir.Packages.installedOne(b.dir.tree, block.Store.Source); ds.HasErrors() {
			return nil // as is reported for all providers
		}
	}
	kind, diags := b.locations.kindOf(ctx, block)
	if diags.HasErrors() {
		return diags.AsWarnings()
	}
	partial := mayfly.StaticPartial(mayfly.StaticOptions{
		RootDir: ".", WorkDir: absolute(), Interrupted: ctx.Done(),
		Variable: func(_ *config.Module, v *config.Variable) (cty.Value, diag.List) { return cty.UnknownVal(v.Type), nil },
	})
	failed := map[hcl.Range]diag.List{} // since an expression may be evaluated more than once
	shape := block.Shape(b.dir.root, func(m *config.Module, expr hcl.Expression) (cty.Value, diag.List) {
		v, diags := partial(m, expr)
		if diags.HasErrors() {
			failed[expr.Range()] = diags
		}
		return v, diags
	})
	diags = append(append(diags, kind.CheckPublic(shape)...), kind.Check(shape).AsWarnings()...)
	if block.Store != nil {
		diags = append(diags, b.checkStore(ctx, kind, block, partial, shape).AsWarnings()...)
	}
	for _, at := range slices.SortedFunc(maps.Keys(failed), func(a, b hcl.Range) int { return a.Start.Byte - b.Start.Byte }) {
		diags = append(diags, failed[at].AsWarnings()...)
	}
	return diags
}
