package suite

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// checkProviders reports forbidden references in provider blocks of the file, before any run is carried out:
// to objects of the module under test. Such an object may come from an earlier run, or not be there yet, and
// at the end of the file it may be destroyed before the objects that its provider has made.
func (r *fileRun) checkProviders() diag.List {
	var diags diag.List
	r.providerRefs = map[*config.Provider][]lang.Ref{}
	for _, run := range r.file.Runs {
		tree := r.module(run)
		if len(r.file.Providers) == 0 || tree == nil || !r.selects(r.file.Name, run.Name) {
			continue
		}
		for _, p := range r.passed(tree, run) {
			block := r.file.Providers[p.InParent.String()]
			if _, again := r.providerRefs[block]; again || block == nil || r.file.Mocks[p.InParent.String()] != nil {
				continue
			}
			r.providerRefs[block] = r.refsOfProvider(block, tree.Root.ProviderFor(p.InChild.Name))
			for _, ref := range r.providerRefs[block] {
				if !slices.Contains(inProviders, ref.Kind) {
					diags = append(diags, diag.At(ref.Range, "Invalid reference", "A provider block of a test file can refer only to variables and to outputs of earlier runs, as in var.NAME and run.NAME.OUTPUT, but not to %s.", ref)...)
				}
			}
		}
	}
	return diags
}

// refsOfProvider returns the references of a provider block. A schema that cannot be had is reported by the
// runs that need it.
func (r *fileRun) refsOfProvider(block *config.Provider, source addr.Provider) []lang.Ref {
	refs := refsOf(block.ForEach)
	catalog, diags := r.opt.Project.Catalog(r.ctx, source)
	if diags.HasErrors() {
		return refs
	}
	s, diags := catalog.Provider()
	if diags.HasErrors() {
		return refs
	}
	exprs, _ := lang.CompileBody(block.Body, s.Block)
	for _, x := range exprs {
		x.InTest()
		refs = append(refs, x.Refs...)
	}
	return refs
}

// refsOfProviders returns the references of the provider blocks that a run uses.
func (r *fileRun) refsOfProviders(run *config.TestRun) []lang.Ref {
	var refs []lang.Ref
	if tree := r.module(run); tree != nil && len(r.providerRefs) > 0 {
		for _, p := range r.passed(tree, run) {
			refs = append(refs, r.providerRefs[r.file.Providers[p.InParent.String()]]...)
		}
	}
	return refs
}

// inProviders are the kinds of references in provider blocks of test files: nothing that a module makes. A
// reference that is not available in a particular block, such as each, is found when the block is compiled.
var inProviders = []lang.Kind{lang.Variable, lang.Earlier, lang.Each, lang.Path, lang.Terraform, lang.Unclear}
