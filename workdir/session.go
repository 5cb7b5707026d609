package workdir

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"sync"
	"syscall"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/timing"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/schemacache"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/stores/encryption"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// SessionOptions are the options of every session.
type SessionOptions struct {
	Observer    event.Observer
	Parallelism int               // 0 for the default
	Log         func(line string) // lines about oddities that are not errors, without values; nil for none
	LeakPolicy  mayfly.LeakPolicy // see mayfly.Options
	// ShowSensitive shows the output of provisioners with sensitive arguments; see mayfly.SecretOptions.
	ShowSensitive bool
	// ProviderLog is called with each line that a provider writes to standard error, which may contain
	// secrets; nil drops them.
	ProviderLog func(p addr.Provider, line string)
}

// BeginOptions control Dir.Begin and Plans.Resume.
type BeginOptions struct {
	SessionOptions
	mayfly.BeginOptions
	Files StateFiles
	// Explore is for looking at values only: nothing is recorded in the directory, and variables without a
	// value stay unset, instead of being asked for and reported.
	Explore bool
	// SkipState leaves out the providers that only objects in the state need.
	SkipState bool
}

// Session is a project of a working directory with its installed providers and, after Begin or Resume, its
// state, which is locked until Close. It belongs to one goroutine.
type Session struct {
	Project   *mayfly.Project
	Operation *mayfly.Operation // nil without state
	Manager   store.Manager     // of the state, nil without
	Workspace string
	Variables mayfly.Variables // for the plan, or of the saved plan

	dir        *Dir
	location   location
	encryption *encryption.Set
	launcher   *mayfly.Launcher
	mu         sync.Mutex
	packages   install.Selections     // protected by mu
	ready      map[addr.Provider]bool // found for objects, also those without a package; protected by mu
	durations  *timing.Record         // stored by Close
	openings   *local.Openings        // ended by Close
}

// Place says for people where the state is, without credentials; "" if the session was opened without looking
// for it. In a service, the name of the workspace tells apart the states in one place.
func (s *Session) Place() string {
	if s.location.kind == nil {
		return ""
	}
	return s.location.kind.PlaceIn(s.dir.Backend.locations.filled(s.location), s.Workspace)
}

// Begin begins a run with the loaded configuration: it finds the state, which it locks for the named
// operation ("OperationTypePlan"), collects the values of variables, and verifies the installed providers. If
// nothing was recorded in the directory, it is initialized for the backend of the configuration unless that
// would leave state behind. The session must be closed also if there were errors.
func (d *Dir) Begin(ctx context.Context, name string, opt BeginOptions) (*Session, diag.List) {
	s := &Session{dir: d}
	if !opt.Explore {
		if diags := d.Backend.selfInit(ctx); diags.HasErrors() {
			return s, diags
		}
	}
	p, diags := d.Backend.place(ctx, opt.Files)
	if diags.HasErrors() {
		return s, diags
	}
	vars, ds := d.Variables.Read(ctx, opt.Explore)
	if diags = append(diags, ds...); ds.HasErrors() {
		return s, diags
	}
	s, ds = d.lock(ctx, d.tree, p, name, opt)
	if diags = append(diags, ds...); ds.HasErrors() {
		return s, diags
	}
	s.Variables = vars
	needed := s.Operation.State()
	if opt.SkipState {
		needed = nil
	}
	return s, append(diags, s.useProviders(needed)...)
}

// BeginState begins a change of the state by hand, without configuration, variables and providers. The
// session must be closed also if there were errors.
func (d *Dir) BeginState(ctx context.Context, name string, opt BeginOptions) (*Session, diag.List) {
	if diags := d.loadedRoot(ctx); diags.HasErrors() {
		return &Session{dir: d}, diags
	}
	p, diags := d.Backend.place(ctx, opt.Files)
	if diags.HasErrors() {
		return &Session{dir: d}, diags
	}
	s, ds := d.lock(ctx, nil, p, name, opt)
	return s, append(diags, ds...)
}

// lock opens a project and locks and reads its state. Without a configuration, tree is nil.
func (d *Dir) lock(ctx context.Context, tree *config.Tree, p place, name string, opt BeginOptions) (*Session, diag.List) {
	s, diags := d.open(ctx, tree, p, opt.SessionOptions)
	if diags.HasErrors() {
		return s, diags
	}
	if _, can := p.manager.(store.PartReader); opt.For != nil && tree != nil && (can || opt.For.Scope == mayfly.ScopeChanged) {
		if s.useProviders(nil).HasErrors() { // which those for the state will have, too
			opt.For = nil
		} else {
			opt.More = s.addProviders
		}
	} else {
		opt.For = nil
	}
	op, ds := s.Project.Begin(ctx, name, opt.BeginOptions)
	s.Operation = op
	if diags = append(diags, ds...); tree != nil && !ds.HasErrors() {
		diags = append(diags, s.LeftOpen()...)
	}
	return s, diags
}

// LeftOpen returns a warning about the ephemeral instances that earlier processes have left open in the
// directory, as they were killed. It must be called only once; Begin and Resume do so.
func (s *Session) LeftOpen() diag.List {
	open, err := s.openings.Left()
	diags := store.LeftOpen(store.RecoveredBy(s.Manager).WithoutListed(open))
	if err != nil {
		diags = append(diags, diag.Warnf("Open ephemeral resources are not known", "An earlier run ended abnormally, and what it had open cannot be read: %s.", diag.Reason(err))...)
	}
	return diags
}

// Open opens the loaded configuration without state, for commands that need none, and verifies the installed
// providers that it needs and, unless st is nil, that the objects in st need. The session must be closed also
// if there were errors.
func (d *Dir) Open(ctx context.Context, st *state.State, opt SessionOptions) (*Session, diag.List) {
	s, diags := d.open(ctx, d.tree, place{workspace: store.DefaultWorkspace}, opt)
	if diags.HasErrors() {
		return s, diags
	}
	return s, append(diags, s.useProviders(st)...)
}

// OpenState is Open without configuration, for the schemas of the objects in a state. Providers that are not
// installed are not errors: their schemas are not known.
func (d *Dir) OpenState(ctx context.Context, st *state.State, opt SessionOptions) (*Session, diag.List) {
	s, diags := d.open(ctx, nil, place{workspace: store.DefaultWorkspace}, opt)
	if !diags.HasErrors() {
		s.useProviders(st)
	}
	return s, diags
}

// open prepares a project at a place without reading its state. Providers are found but not started. Without
// a configuration, tree is nil.
func (d *Dir) open(ctx context.Context, tree *config.Tree, p place, opt SessionOptions) (*Session, diag.List) {
	s := &Session{dir: d, Manager: p.manager, Workspace: p.workspace, location: p.location, ready: map[addr.Provider]bool{}, durations: d.files.durations(), openings: local.NewOpenings(d.files.dataDir)}
	var diags, ds diag.List
	if s.encryption, diags = d.Backend.encryption(ctx); diags.HasErrors() {
		return s, diags
	}
	var root *config.Module
	if tree != nil {
		root = tree.Root
	} else {
		tree = emptyTree()
	}
	environ := providerEnviron(d.opt.Environ, root)
	s.launcher = &mayfly.Launcher{
		Executable: s.executable, Version: s.version, Verify: func(p addr.Provider) error { return s.installed(p).Verify() }, Schemas: schemaCaches(d.files, environ, s.installed), Log: opt.ProviderLog, Dir: ".", ReadState: s.readRemote, CheckBackend: d.Backend.locations.checkRemote, Env: environ,
		Plain: d.files.vars["TF_DISABLE_PLUGIN_TLS"] != "",
	}
	s.Project, ds = mayfly.Open(ctx, mayfly.Options{
		Tree: tree, Launcher: s.launcher, Compatible: d.opt.User.engine(), Observer: opt.Observer, Parallelism: opt.Parallelism, Durations: s.durations,
		State:   mayfly.StateOptions{Store: p.manager, Cipher: stateCipher(s.encryption.State), Workspace: p.workspace},
		Secrets: mayfly.SecretOptions{Guard: d.opt.Leaks, Policy: opt.LeakPolicy, ShowSensitive: opt.ShowSensitive, Openings: s.openings},
		Process: mayfly.ProcessOptions{Environ: commandEnviron(d.opt.Environ, root), Log: opt.Log},
	})
	return s, append(diags, ds...)
}

func (s *Session) executable(p addr.Provider) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sel, ok := s.packages[p]
	return sel.Executable, ok
}

// version returns the version of an installed provider; false for one under development, or that runs
// elsewhere.
func (s *Session) version(p addr.Provider) (string, bool) {
	sel := s.installed(p)
	return sel.Version.String(), sel.Executable != "" && !sel.Dev
}

// schemaCaches returns the caches of the schemas of installed providers. A package without a checksum, such
// as a development override, has none.
func schemaCaches(f *files, environ []string, selected func(addr.Provider) install.Selection) func(addr.Provider) plugin.SchemaCache {
	c := schemacache.Open(f.vars)
	return func(p addr.Provider) plugin.SchemaCache {
		if entry := c.For(string(selected(p).Hash), environ); entry != nil {
			return entry
		}
		return nil
	}
}

// useProviders verifies the installed providers that the configuration and a state, which may be nil, need,
// and uses them from now on.
func (s *Session) useProviders(st *state.State) diag.List {
	sel, diags := s.dir.Packages.installed(s.Project.Tree, st)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packages, s.launcher.Reattach = sel, s.dir.Packages.running
	return diags
}

// addProviders verifies and uses the providers that objects need which were read after the session began. One
// that is not installed is reported when it is to be started. Packages are verified once: that takes time
// for the size of a package, and a plan of a change reads objects many times.
func (s *Session) addProviders(st *state.State) {
	missing := s.missing(st)
	if len(missing) == 0 {
		return
	}
	sel, diags := s.dir.Packages.installed(s.Project.Tree, st)
	if diags.HasErrors() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.packages)
	maps.Copy(all, sel)
	maps.Copy(s.ready, missing)
	s.packages = all
}

// missing returns the providers of objects in a state that were not found yet.
func (s *Session) missing(st *state.State) map[addr.Provider]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[addr.Provider]bool{}
	for _, in := range st.AllInstances() {
		p := in.Provider.Provider
		if _, used := s.packages[p]; !used && !s.ready[p] {
			out[p] = true
		}
	}
	return out
}

// installed returns the package of a provider; an empty one if it is not known.
func (s *Session) installed(p addr.Provider) install.Selection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.packages[p]
}

// Reread reads the state again, for another plan after one that is stale, and finds the providers for it.
func (s *Session) Reread(ctx context.Context) diag.List {
	diags := s.Operation.Reread(ctx)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, s.useProviders(s.Operation.State())...)
}

// Unlock ends providers, stores how long their operations took, releases the lock, and returns when all
// events were received. Instances that the run could not close stay recorded until Close. It is safe to call
// more than once.
func (s *Session) Unlock() diag.List {
	if s.Project != nil {
		s.Project.Close()
		s.dir.files.keepDurations(s.durations)
	}
	if s.Operation == nil {
		return nil
	}
	return s.Operation.End()
}

// Forget forgets instances recorded as open, so that no later run lists them: the user must have read the
// list. It is for a session that goes on after that.
func (s *Session) Forget() {
	if s.openings != nil {
		s.openings.Forget()
	}
}

// Close is Unlock and Forget. It is safe to call more than once.
func (s *Session) Close() diag.List {
	diags := s.Unlock()
	if s.Project != nil {
		diags = append(diags, notRecorded(s.openings.Close())...)
	}
	return diags
}

// notRecorded returns the warning that openings of ephemeral instances were not recorded. It is empty if err
// is nil, or if the user may not write to the directory, which is often intended.
func notRecorded(err error) diag.List {
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	return diag.Warnf("Open ephemeral resources were not recorded", "It could not be recorded which ephemeral resources were open: %s. If this run had been killed, no later run could have listed them.", diag.Reason(err))
}
