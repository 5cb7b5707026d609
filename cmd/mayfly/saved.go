package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install/lockfile"
	"github.com/mayfly-iac/mayfly/install/modules"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/plan/planfile"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/value"
)

// save writes the plan with everything that applying it needs.
func (r *changeRun) save(p *plan.Plan, path string) diag.List {
	f := &planfile.File{
		Plan: p, Config: r.dir.tree.Sources, RootDir: ".", Version: version,
		Backend: planfile.Backend{Type: localBackend, Workspace: r.workspace}, Providers: r.packages(),
	}
	var err error
	if v := r.backend.value(); v != cty.NilVal {
		f.Backend.Config, err = value.Seal(v, v.Type(), nil)
	}
	if err == nil {
		f.Modules, err = readOptional(filepath.Join(r.dir.dataDir, "modules", "modules.json"))
	}
	if err == nil {
		f.Lock, err = readOptional(lockfile.FileName)
	}
	var buf bytes.Buffer
	if err == nil {
		err = planfile.Write(&buf, f)
	}
	if err == nil {
		err = writePrivate(path, buf.Bytes())
	}
	if err != nil {
		return notSaved(path, err)
	}
	return nil
}

// checkSavable reports that a plan could not be saved in the end, before it is made. path is "" if it is not
// to be saved.
func checkSavable(path string) diag.List {
	if path == "" {
		return nil
	}
	if err := safefile.CheckWritable(path); err != nil {
		return notSaved(path, err)
	}
	return nil
}

func notSaved(path string, err error) diag.List {
	return diag.Errorf("Failed to write plan file", "The plan file %s cannot be written: %s.", path, diag.Reason(err))
}

func readOptional(path string) ([]byte, error) {
	src, err := safefile.Read(path, maxGiven)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// packages are the hashes of the installed providers in use.
func (s *session) packages() map[addr.Provider]string {
	out := map[addr.Provider]string{}
	for p, sel := range s.selections {
		if !sel.Dev {
			out[p] = string(sel.Hash)
		}
	}
	return out
}

// openPlan reads a saved plan and makes it the content of the directory: its configuration, not that on disk,
// is what is applied.
func (d *directory) openPlan(path string) (*planfile.File, diag.List) {
	src, diags := readPlan(path)
	if diags.HasErrors() {
		return nil, diags
	}
	return d.usePlan(src, path)
}

// readPlan reads the file of a saved plan.
func readPlan(path string) ([]byte, diag.List) {
	src, err := readGiven(path)
	if err != nil {
		return nil, diag.Errorf("Failed to load plan file", "The file %s could not be read: %s.", path, diag.Reason(err))
	}
	return src, nil
}

// usePlan is openPlan for a file that was read already.
func (d *directory) usePlan(src []byte, path string) (*planfile.File, diag.List) {
	if !planfile.Is(src) {
		return nil, diag.Errorf("Failed to load plan file", "The file %s is not a saved plan. To save one, run: mayfly plan -out=FILE", path)
	}
	f, err := planfile.ReadBytes(src)
	if err != nil {
		return nil, diag.Errorf("Failed to load plan file", "%s: %s.", path, err)
	}
	snapshot := &config.Loader{FS: snapshot(f.Config), ModuleDir: recordedModules(f.Modules), Static: plannedStatic(f)}
	tree, diags := snapshot.Load(f.RootDir)
	d.tree = tree
	d.app.useTree(tree)
	return f, diags
}

func recordedModules(manifest []byte) func(*config.Module, *config.ModuleCall) (string, diag.List) {
	return func(parent *config.Module, call *config.ModuleCall) (string, diag.List) {
		var m struct{ Modules []modules.Record }
		if len(manifest) > 0 {
			if err := json.Unmarshal(manifest, &m); err != nil {
				return "", diag.Errorf("Failed to load plan file", "The list of modules in the saved plan cannot be read: %s.", err)
			}
		}
		key := strings.Join(append(parent.Path.Calls(), call.Name), ".")
		for _, r := range m.Modules {
			if r.Key == key {
				return r.Dir, nil
			}
		}
		return "", diag.Errorf("Failed to load plan file", "The saved plan does not say where module %q is.", key)
	}
}

// planPlace returns where the plan's state is.
func planPlace(f *planfile.File, files stateFlags) (place, diag.List) {
	p := place{workspace: f.Backend.Workspace, files: files}
	if p.workspace == "" {
		p.workspace = store.DefaultWorkspace
	}
	if f.Backend.Config.IsNull() {
		return p, nil
	}
	v, err := f.Backend.Config.Unmarked()
	if err != nil || f.Backend.Type != localBackend || !v.Type().IsObjectType() {
		return p, diag.Errorf("Failed to load plan file", "The backend that the plan is for, %q, cannot be used by this version of Mayfly.", f.Backend.Type)
	}
	p.backend.declared = true
	for name, attr := range v.AsValueMap() {
		if !attr.IsNull() && attr.Type() == cty.String {
			p.backend.assign(name, attr.AsString())
		}
	}
	return p, nil
}

// savedConflicts reports options that would make another plan of a saved one. Whether to refresh is no such
// option, since applying a saved plan never does: test frameworks give -refresh=false to each apply. They
// also give -refresh-only to the apply of a plan that they have lying there, and other engines heed no option
// then.
func (c *changeFlags) savedConflicts() diag.List {
	if c.destroy || c.lazyEphemeral || len(c.targets)+len(c.targetFiles)+len(c.excludes)+len(c.excludeFiles)+len(c.replace) > 0 {
		return diag.Errorf("Can't change the options of a saved plan", "A saved plan is applied as it is: -destroy, -target, -exclude, -replace and -lazy-ephemeral are options for making a plan. Make a new plan instead.")
	}
	var diags diag.List
	if c.refreshOnly {
		diags = diag.Warnf("Option without effect", "A saved plan is applied as it is, whether or not -refresh-only is given.")
	}
	return append(diags, c.check()...)
}

func (a *app) applySaved(ctx context.Context, f *applyFlags, path string) int {
	if !a.report(f.savedConflicts()) {
		return exitError
	}
	return a.drawn(f.timeline, func() int { return a.carryOutSaved(ctx, f, path) })
}

func (a *app) carryOutSaved(ctx context.Context, f *applyFlags, path string) int {
	hard, soft, stop := a.interruptible(ctx)
	defer stop()
	r := &changeRun{flags: &f.changeFlags, hard: hard, soft: soft}
	defer func() { r.end() }()
	d := a.directory()
	saved, diags := d.openPlan(path)
	if !a.report(diags) {
		return exitError
	}
	if saved.Plan.Errored {
		return a.fail("Cannot apply incomplete plan", "Planning ended with errors when the plan in %s was made, so it cannot be applied. Make a new plan.", path)
	}
	p, diags := planPlace(saved, f.stateFlags)
	if !a.report(diags) {
		return exitError
	}
	m, diags := p.manager()
	if !a.report(diags) {
		return exitError
	}
	if r.variables, diags = a.savedVariables(soft, d.tree.Root, saved.Plan, f); !a.report(diags) {
		return exitError
	}
	r.session, diags = a.open(hard, d, p, m, a.observer(), f.parallelism)
	if !a.report(diags) || !a.report(r.begin(soft, operationName("apply"), f.lockFlags)) {
		return exitError
	}
	if !a.report(r.checkStale(saved.Plan)) || !a.report(r.useProviders(r.op.State())) || !a.report(r.checkPackages(saved)) {
		return exitError
	}
	for _, s := range a.streams() {
		s.Saved(saved.Plan)
	}
	return r.apply(saved.Plan)
}

// checkStale refuses a plan that was made from another state than the one that is there now. A plan that was
// made from no state belongs to no lineage: a state that is there now came later.
func (r *changeRun) checkStale(p *plan.Plan) diag.List {
	lineage, serial := "", uint64(0)
	if r.op.File != nil {
		lineage, serial = r.op.File.Lineage, r.op.File.Serial
	}
	if p.Meta.Lineage != "" && p.Meta.Lineage != lineage {
		return diag.Errorf("Saved plan does not match the given state", "The plan was made from a different state: its lineage is not that of the current one. Make a new plan.")
	}
	if p.Meta.Lineage != lineage || p.Meta.Serial != serial {
		return diag.Errorf("Saved plan is stale", "The state has changed since the plan was made, so the plan may no longer fit. Make a new one.")
	}
	return nil
}

// checkPackages refuses provider packages that differ from those that the plan was made with.
func (r *changeRun) checkPackages(f *planfile.File) diag.List {
	have := r.packages()
	var diags diag.List
	for _, p := range slices.SortedFunc(maps.Keys(f.Providers), func(x, y addr.Provider) int { return strings.Compare(x.String(), y.String()) }) {
		if have[p] != f.Providers[p] {
			diags = append(diags, diag.Errorf("Inconsistent provider packages", "The installed package of provider %s is not the one that the plan was made with, so its results may differ from the plan. Make a new plan.", p.ForDisplay())...)
		}
	}
	return diags
}

// savedVariables returns the values to apply a saved plan with: those in the plan, and the ephemeral ones,
// which it cannot hold, given again.
func (a *app) savedVariables(ctx context.Context, root *config.Module, p *plan.Plan, f *applyFlags) (mayfly.Variables, diag.List) {
	in, diags := a.gather(root, f.given)
	if !diags.HasErrors() {
		diags = nil // of undeclared values in files, making the plan has warned
	}
	names := slices.Sorted(slices.Values(p.EphemeralVariables))
	for _, name := range names {
		if root.Variables[name] == nil {
			return nil, diag.Errorf("Failed to load plan file", "The plan was made with a variable %q, which its configuration does not declare.", name)
		}
	}
	diags = append(diags, in.completePlanned(ctx, names, f.input && !diags.HasErrors())...)
	given, ds := in.values()
	diags = append(diags, ds...)
	out := mayfly.Variables{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		v := root.Variables[name]
		switch {
		case v.Ephemeral && !slices.Contains(names, name):
			diags = append(diags, diag.Errorf("Mismatch between input and plan variable value", "The ephemeral variable %q was not set when the plan was made, but is set now. Leave it out, or make a new plan.", name)...)
		case v.Ephemeral:
			out[name] = given[name]
		case !sameAsPlanned(v, p, given[name]):
			diags = append(diags, diag.Errorf("Mismatch between input and plan variable value", "The value of the variable %q differs from the one that the plan was made with. Leave it out, or make a new plan.", name)...)
		}
	}
	for name, d := range p.Variables {
		v, err := d.Unmarked()
		if err != nil {
			diags = append(diags, diag.Errorf("Failed to load plan file", "The value of the variable %q in the saved plan cannot be read: %s.", name, err)...)
			continue
		}
		out[name] = v
	}
	return out, diags
}

// sameAsPlanned reports whether a value is the one of the plan, or the default if the plan has none.
func sameAsPlanned(v *config.Variable, p *plan.Plan, given cty.Value) bool {
	given, _ = given.UnmarkDeep()
	planned := v.Default
	if d, ok := p.Variables[v.Name]; ok {
		var err error
		if planned, err = d.Unmarked(); err != nil {
			return false
		}
	}
	return planned != cty.NilVal && planned.RawEquals(given)
}

// completePlanned asks for the required ones among the ephemeral variables that were set when the plan was
// made. If one with a default is missing, nothing is asked: it may have been left out by mistake or on
// purpose, and the plan may not fit the default.
func (in *inputs) completePlanned(ctx context.Context, names []string, ask bool) diag.List {
	for _, name := range names {
		ask = ask && (in.candidates[name] != nil || in.root.Variables[name].Required())
	}
	return in.complete(ctx, names, ask, missingEphemeral)
}

func missingEphemeral(vars []*config.Variable) diag.List {
	var diags diag.List
	for _, v := range vars {
		summary, fallback := "No value for required ephemeral variable", ""
		if !v.Required() {
			summary, fallback = "No value for ephemeral variable", " Its default is not used in place of that value. To apply with the default, make a new plan without the variable."
		}
		diags = append(diags, diag.At(v.Range, summary,
			"The ephemeral variable %q was set when the plan was made. Since ephemeral values are never saved, it must be given again to apply the plan: use -var, -var-file or the environment variable TF_VAR_%s.%s", v.Name, v.Name, fallback)...)
	}
	return diags
}
