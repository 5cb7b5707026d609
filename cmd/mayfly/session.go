package main

import (
	"context"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/install"
	"github.com/mayfly-iac/mayfly/install/schemacache"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/provider/plugin"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/view"
)

// session is a project that is being worked on, with its state locked from begin to close.
type session struct {
	app        *app
	dir        *directory
	project    *mayfly.Project
	op         *mayfly.Operation
	manager    store.Manager
	backend    backendConfig
	workspace  string
	launcher   *mayfly.Launcher
	selections install.Selections
	stopLog    func()
}

// place is where a session's state is.
type place struct {
	backend   backendConfig
	workspace string
	files     stateFlags
}

// place finds the state of the directory.
func (d *directory) place(files stateFlags) (place, diag.List) {
	b, diags := d.backend()
	if diags.HasErrors() {
		return place{}, diags
	}
	ws, _, ds := d.workspace()
	return place{b, ws, files}, append(diags, ds...)
}

func (p place) manager() (store.Manager, diag.List) {
	m, err := p.backend.store(p.files).Manager(p.workspace)
	if err != nil {
		return nil, diag.Errorf("Error loading the backend", "%s", diag.Sentence(err))
	}
	return m, nil
}

// open makes a session for the loaded configuration of a directory. m is nil for work without state.
func (a *app) open(ctx context.Context, d *directory, p place, m store.Manager, observer event.Observer, parallelism int) (*session, diag.List) {
	s := &session{app: a, dir: d, manager: m, backend: p.backend, workspace: p.workspace}
	log, stop := a.providerLog()
	core, stopCore := a.coreLog()
	s.stopLog = func() { stop(); stopCore() }
	environ := childEnviron(a.env.Environ, d.tree.Root)
	s.launcher = &mayfly.Launcher{
		Executable: s.executable, Schemas: s.schemaCaches(schemacache.Open(a.vars), environ), Log: log, Dir: ".", Env: environ, Version: version,
		Plain: a.vars["TF_DISABLE_PLUGIN_TLS"] != "",
	}
	var diags diag.List
	s.project, diags = mayfly.Open(ctx, mayfly.Options{
		Tree: d.tree, Launcher: s.launcher, Store: m, Workspace: p.workspace, Observer: observer, Parallelism: parallelism, Environ: environ, Log: core,
	})
	if a.vars["TF_ENCRYPTION"] != "" {
		diags = append(diags, diag.Errorf("Not supported yet",
			"The environment variable TF_ENCRYPTION is set, but this version of Mayfly cannot encrypt state and plan files: they would be stored unencrypted. To go on without encryption, unset the variable.")...)
	}
	return s, diags
}

func (s *session) executable(p addr.Provider) (string, bool) {
	sel, ok := s.selections[p]
	return sel.Executable, ok
}

// schemaCaches returns the caches of the schemas of installed providers. A package without a checksum, such
// as a development override, has none.
func (s *session) schemaCaches(c *schemacache.Cache, environ []string) func(addr.Provider) plugin.SchemaCache {
	return func(p addr.Provider) plugin.SchemaCache {
		if entry := c.For(string(s.selections[p].Hash), environ); entry != nil {
			return entry
		}
		return nil
	}
}

// begin locks and reads the state.
func (s *session) begin(ctx context.Context, name string, l lockFlags) diag.List {
	op, diags := s.project.Begin(ctx, name, mayfly.BeginOptions{
		NoLock: !l.lock, LockTimeout: l.timeout, Reads: name == operationName("plan") || name == operationName("console"),
	})
	s.op = op
	return diags
}

// useProviders verifies the installed providers that the configuration and the state need.
func (s *session) useProviders(st *state.State) diag.List {
	sel, diags := s.dir.providers(st)
	s.selections, s.launcher.Reattach = sel, s.dir.running
	return diags
}

// release ends providers, releases the lock, and waits until all events are written. It is safe to call more
// than once.
func (s *session) release() diag.List {
	if s.project != nil {
		s.project.Close()
	}
	if s.op == nil {
		return nil
	}
	return s.op.End()
}

// close ends the session; what went wrong is reported.
func (s *session) close() {
	s.app.report(s.release())
	s.stopLog()
}

// relevant gives renderers the attributes that contributed to a plan.
func (s *session) relevant(ctx context.Context, p *plan.Plan) view.Relevant {
	return func() []plan.RelevantAttribute { return s.project.Relevant(ctx, p) }
}

// schemas gives renderers the schemas of the session's providers. A provider that cannot be started has none;
// renderers then go by the values.
func (s *session) schemas(ctx context.Context) *catalogs {
	return &catalogs{ctx: ctx, project: s.project, known: map[addr.Provider]provider.Catalog{}}
}

// catalogs implements view.ConfigSchemas.
type catalogs struct {
	ctx     context.Context
	project *mayfly.Project
	known   map[addr.Provider]provider.Catalog
}

func (c *catalogs) catalog(p addr.Provider) provider.Catalog {
	got, ok := c.known[p]
	if !ok {
		var diags diag.List
		if got, diags = c.project.Catalog(c.ctx, p); diags.HasErrors() {
			got = nil
		}
		c.known[p] = got
	}
	return got
}

// Identity finds the schema of a type's identity, for renderers of documents.
func (c *catalogs) Identity(p addr.Provider, typeName string) *schema.Identity {
	cat := c.catalog(p)
	if cat == nil {
		return nil
	}
	id, diags := cat.Identity(typeName)
	if diags.HasErrors() {
		return nil
	}
	return id
}

// Resource implements view.Schemas.
func (c *catalogs) Resource(p addr.Provider, mode addr.Mode, typeName string) *schema.Schema {
	cat := c.catalog(p)
	if cat == nil {
		return nil
	}
	s, diags := cat.Resource(mode, typeName)
	if diags.HasErrors() {
		return nil
	}
	return s
}

// Provider implements view.ConfigSchemas.
func (c *catalogs) Provider(p addr.Provider) *schema.Schema {
	cat := c.catalog(p)
	if cat == nil {
		return nil
	}
	s, diags := cat.Provider()
	if diags.HasErrors() {
		return nil
	}
	return s
}
