package workdir

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
)

// maxSaved bounds a saved plan, in bytes.
const maxSaved = 2 << 30

// Save saves a plan in a file, with everything that applying it needs. Only the owner may read the file.
func (s *Session) Save(p *plan.Plan, path string) diag.List {
	f, err := s.file(p)
	var buf bytes.Buffer
	if err == nil {
		err = planfile.Write(&buf, f)
	}
	content := buf.Bytes()
	if c := s.encryption.Plan; err == nil && c != nil {
		content, err = c.Encrypt(content)
	}
	if err == nil {
		err = safefile.Save(path, content)
	}
	if err != nil {
		return notSaved(path, err)
	}
	return nil
}

// CheckSavable returns an error if Save could not write a file in the end, so that no plan is made in vain.
func CheckSavable(path string) diag.List {
	if err := safefile.CheckWritable(path); err != nil {
		return notSaved(path, err)
	}
	return nil
}

func notSaved(path string, err error) diag.List {
	return diag.Errorf("Failed to write plan file", "The plan file %s cannot be written: %s.", path, diag.Reason(err))
}

// file returns the content of a saved plan: the plan, the configuration that it was made from with its
// modules and locked providers, and where the state is, without secrets.
func (s *Session) file(p *plan.Plan) (f *planfile.File, err error) {
	f = &planfile.File{
		Plan: p, Config: s.Project.Tree.Sources, RootDir: ".", Version: s.dir.opt.Version,
		Backend: planfile.Backend{Type: s.location.kind.Name, Workspace: s.Workspace}, Providers: s.hashes(),
	}
	if s.location.declared() {
		public := s.location.public().cfg
		if f.Backend.Config, err = value.Seal(public, public.Type(), nil); err != nil {
			return nil, err
		}
	}
	if f.Modules, err = readOptional(filepath.Join(s.dir.files.dataDir, "modules", "modules.json")); err != nil {
		return nil, err
	}
	f.Schemas = s.recordings(p)
	f.Lock, err = readOptional(lockfile.FileName)
	return f, err
}

func readOptional(path string) ([]byte, error) {
	src, err := safefile.Read(path, maxSaved)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// hashes returns the hashes of the installed providers in use.
func (s *Session) hashes() map[addr.Provider]string {
	out := map[addr.Provider]string{}
	for p, sel := range s.packages {
		if !sel.Dev {
			out[p] = string(sel.Hash)
		}
	}
	return out
}

// Plans has the saved plans of a directory. It belongs to one goroutine.
type Plans struct {
	dir    *Dir
	loaded *planned // of the saved plan that the configuration of the directory is from; nil for none
}

// Open reads a saved plan, which is decrypted by the configuration of the directory, and has its
// configuration replace the directory's, which is on disk.
func (ps *Plans) Open(ctx context.Context, path string) (*planfile.File, diag.List) {
	src, err := safefile.ReadStream(path, maxSaved)
	if info, statErr := os.Stat(path); err != nil && statErr == nil && info.IsDir() {
		return nil, unloadable("%s is a directory, not a saved plan. For the configuration in it, write -chdir=%s before the command.", path, path)
	}
	if err != nil {
		return nil, unloadable("The file %s could not be read: %s.", path, diag.Reason(err))
	}
	return ps.use(ctx, src, path)
}

// use is Open for the content of a file that was read already. Its name is for messages.
func (ps *Plans) use(ctx context.Context, src []byte, name string) (*planfile.File, diag.List) {
	src, diags := ps.decrypt(ctx, src, name)
	if diags.HasErrors() {
		return nil, diags
	}
	if !planfile.Is(src) {
		return nil, append(diags, unloadable("The file %s is not a saved plan. To save one, run: mayfly plan -out=FILE", name)...)
	}
	f, err := planfile.ReadBytes(src)
	if err != nil {
		return nil, append(diags, unloadable("%s: %s.", name, err)...)
	}
	with := &planned{f.RootDir, f.Backend.Workspace, f.Plan.Variables}
	loader := &config.Loader{FS: snapshot(f.Config), ModuleDir: recordedModules(f.Modules), Static: plannedStatic(ctx, with), StaticMarked: mayfly.StaticMarked(ps.dir.staticOptions(ctx))}
	tree, ds := loader.Load(f.RootDir)
	ps.dir.use(tree, tree.Root, with)
	return f, append(diags, ds...)
}

func unloadable(format string, args ...any) diag.List {
	return diag.Errorf("Failed to load plan file", format, args...)
}

// Resume begins a run that applies a saved plan, after Open: it finds the state that the plan is for,
// which it locks for the named operation, and collects the ephemeral variables, which no plan has. It fails
// if the plan is incomplete or no longer fits: the state has changed, a value is another, or a provider is
// installed from another package. The session must be closed also if there were errors.
func (ps *Plans) Resume(ctx context.Context, f *planfile.File, name string, opt BeginOptions) (*Session, diag.List) {
	d := ps.dir
	s := &Session{dir: d}
	if f.Plan.Errored {
		return s, diag.Errorf("Cannot apply incomplete plan", "Planning ended with errors when the plan was made, so it cannot be applied. Make a new plan.")
	}
	p, diags := d.Backend.plannedPlace(ctx, f, opt.Files)
	if diags.HasErrors() {
		return s, diags
	}
	vars, ds := ps.variables(ctx, f.Plan)
	if diags = append(diags, ds...); ds.HasErrors() {
		return s, diags
	}
	opt.For, opt.Saved = nil, f.Plan
	s, ds = d.lock(ctx, d.tree, p, name, opt)
	if diags = append(diags, ds...); ds.HasErrors() {
		return s, diags
	}
	s.Variables = vars
	if ds := s.checkStale(f.Plan); ds.HasErrors() {
		return s, append(diags, ds...)
	}
	needed := s.Operation.State().Copy()
	needed.AddMissing(f.Plan.Base) // of which others may have removed objects
	ds = s.useProviders(needed)
	if diags = append(diags, ds...); ds.HasErrors() {
		return s, diags
	}
	return s, append(diags, s.checkPackages(f)...)
}

// plannedPlace finds the state that a saved plan is for.
func (b *Backend) plannedPlace(ctx context.Context, f *planfile.File, files StateFiles) (place, diag.List) {
	l, diags := b.locations.undeclared(), diag.List(nil)
	if !f.Backend.Config.IsNull() {
		v, err := f.Backend.Config.Unmarked()
		kind, ds := b.plannedKind(ctx, f.Backend.Type)
		if ds.HasErrors() {
			return place{}, ds
		}
		if err != nil || kind == nil || !v.Type().IsObjectType() {
			return place{}, unloadable("The backend that the plan is for, %q, cannot be used by this version of Mayfly.", f.Backend.Type)
		}
		if l, diags = b.plannedLocation(ctx, locationOf(kind, v.AsValueMap())); diags.HasErrors() {
			return place{}, diags
		}
	}
	return b.placeIn(ctx, l, cmp.Or(f.Backend.Workspace, store.DefaultWorkspace), files)
}

// plannedKind returns the kind of backend of a saved plan, whose configuration is loaded; nil if it is not
// known. A state store is the one in that configuration.
func (b *Backend) plannedKind(ctx context.Context, name string) (*backend.Kind, diag.List) {
	if b.dir.root.Backend == nil || b.dir.root.Backend.Store == nil {
		return b.locations.kinds[name], nil
	}
	kind, diags := b.locations.kindOf(ctx, b.dir.root.Backend)
	if diags.HasErrors() || kind.Name != name {
		return nil, diags
	}
	return kind, nil
}

// plannedLocation returns the location of a saved plan, which has no secrets, with the secrets that this
// directory was initialized with for the same location, and the secrets of the block in the plan, which is
// evaluated again.
func (b *Backend) plannedLocation(ctx context.Context, l location) (location, diag.List) {
	if rec, ok, diags := b.locations.recorded(ctx); ok && !diags.HasErrors() && rec.equal(l) {
		l = rec.location
	}
	block, diags := b.locations.declaredLocation(ctx, b.dir.root, nil)
	return l.withSecretsOf(block), diags
}

// checkStale refuses a plan that was made from another state than the one that is there now. A plan that was
// made from no state belongs to no lineage: a state that is there now came later. Where several runs change
// one state, applying the plan compares the rows that it relies on.
func (s *Session) checkStale(p *plan.Plan) diag.List {
	lineage, serial := "", uint64(0)
	if s.Operation.File != nil {
		lineage, serial = s.Operation.File.Lineage, s.Operation.File.Serial
	}
	if p.Meta.Lineage != "" && p.Meta.Lineage != lineage {
		return diag.Errorf("Saved plan does not match the given state", "The plan was made from a different state: its lineage is not that of the current one. Make a new plan.")
	}
	if _, rows := s.Manager.(store.Claimer); rows && p.Scope != nil && p.Meta.Lineage == lineage {
		return nil
	}
	if p.Meta.Lineage != lineage || p.Meta.Serial != serial {
		return diag.Errorf("Saved plan is stale", "The state has changed since the plan was made, so the plan may no longer fit. Make a new one.")
	}
	return nil
}

// checkPackages refuses provider packages that differ from those that the plan was made with.
func (s *Session) checkPackages(f *planfile.File) diag.List {
	have := s.hashes()
	var diags diag.List
	for _, p := range slices.SortedFunc(maps.Keys(f.Providers), func(x, y addr.Provider) int { return strings.Compare(x.String(), y.String()) }) {
		if have[p] != f.Providers[p] {
			diags = append(diags, diag.Errorf("Inconsistent provider packages", "The installed package of provider %s is not the one that the plan was made with, so its results may differ from the plan. Make a new plan.", p.ForDisplay())...)
		}
	}
	return diags
}
