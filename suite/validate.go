package suite

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
)

// Validate checks the runs of the files without carrying them out: it returns errors in their modules,
// assertions, mocks and variables, as far as these do not depend on outputs of other runs.
func Validate(ctx context.Context, opt Options) diag.List {
	s := &suite{opt: opt, ctx: ctx}
	var diags diag.List
	add := func(found diag.List) { diags = append(diags, found.Except(diags)...) }
	for _, f := range opt.Files {
		r := &fileRun{suite: s, file: f, apart: true, earlier: map[string]cty.Value{}}
		ds := append(r.fileVariables(), r.checkProviders()...)
		if add(ds); ds.HasErrors() {
			continue
		}
		add(r.unused())
		for _, run := range f.Runs {
			tree, _, stand, ds := r.configured(run)
			if add(ds); !ds.HasErrors() {
				add(opt.Project.Beside(mayfly.BesideOptions{Tree: tree, Instead: stand.instead}).Validate(ctx))
			}
			r.earlier[run.Name] = cty.DynamicVal
			r.follow(run.Name)
		}
	}
	return diags
}
