package mayfly

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/internal/engine/hashes"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// PlanScope says which objects a plan looks at.
type PlanScope uint8

// The scopes.
const (
	// ScopeAll is everything that the configuration declares and the state has, as far as targets and
	// excludes leave it in.
	ScopeAll PlanScope = iota
	// ScopeChanged is everything that has changed since it was last applied, with all that follows from it.
	// It takes a store that keeps records of changes: see plan.Extent.
	ScopeChanged
)

// refuseScope reports options that a plan of changes can't have, and a store that doesn't know them.
func refuseScope(o *Operation, opt PlanOptions) diag.List {
	const summary = "Scope of a change not possible"
	if _, parts := o.p.opt.State.Store.(store.PartReader); !parts || changeReader(o) == nil {
		return diag.Errorf(summary, "Only a state in rows has records of what has changed since the last apply. Keep the state in the backend \"postgres\", or plan without -scope=changed.")
	}
	with := ""
	switch {
	case opt.Mode == plan.Destroy:
		with = "the mode that destroys everything"
	case opt.Mode == plan.RefreshOnly:
		with = "the mode that only refreshes"
	case len(opt.Targets)+len(opt.Excludes) > 0:
		with = "targets or excludes"
	case len(opt.Invoke) > 0:
		with = "actions to invoke"
	case opt.AllowDeferral:
		with = "deferral or in rounds"
	default:
		return nil
	}
	return diag.Errorf(summary, "A plan of what has changed can't be made with %s, because that looks at other objects. Plan without the one or the other.", with)
}

// readChanged finds all changes, and reads the part of the state that planning them begins with. If
// everything has to be planned, it reads the state as a whole.
func (o *Operation) readChanged(ctx context.Context, cfg *blocks.Config, opt PlanOptions) (*changed.Work, *hashes.Set, diag.List) {
	if diags := refuseScope(o, opt); diags.HasErrors() {
		return nil, nil, diags
	}
	reader, from := changeReader(o), o.p.opt.State.Store.(store.PartReader)
	rows := o.rows // of the state as it was read when the operation began
	if o.rows = nil; rows == nil {
		rows = &rowCount{}
	}
	ctx = store.WithRowCount(ctx, rows)
	set, diags := o.hashes(ctx, soft(ctx, opt.Soft), cfg, opt.Variables)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	var work *changed.Work
	err := spanned(ctx, "read changes", func(ctx context.Context) error {
		found, err := reader.ReadChanged(ctx, set.Blocks())
		if err != nil {
			return err
		}
		asked := changed.Asked{Replace: opt.ForceReplace, Refresh: opt.Refresh}
		if opt.RefreshOlder > 0 && found.Complete {
			if asked.Old, err = reader.LastRead(ctx, opt.RefreshOlder); err != nil {
				return err
			}
		}
		var first state.Part
		work, first = changed.New(cfg, set.Components(), changed.Source{Found: found, Unversioned: o.unversioned(cfg), Rows: rows, Records: func(ctx context.Context, q state.RecordQuery) ([]state.Record, error) {
			return reader.Records(store.WithRowCount(ctx, rows), q)
		}, Fetch: func(ctx context.Context, p state.Part, keep func(addr.Instance) bool) (*state.State, error) {
			return o.readMore(store.WithRowCount(ctx, rows), from, p, keep)
		}}, asked)
		work.GiveUp(opt.RequireEphemeral, "all objects are searched for sensitive attributes")
		if !work.Partial() {
			f, err := o.p.opt.State.Store.Read(ctx)
			o.hold(f, nil)
			return err
		}
		f, err := from.ReadPart(ctx, first)
		o.hold(f, work.Part)
		return err
	})
	if err != nil {
		return nil, nil, diag.Errorf("Error reading the state", "%s", diag.Sentence(err))
	}
	if o.more != nil {
		o.more(o.State())
	}
	return work, set, nil
}

// rowCount is a number of rows that the store has sent.
type rowCount = atomic.Int64

// counting returns a context in which the rows of the next plan are counted from zero.
func counting(ctx context.Context, o *Operation) context.Context {
	o.rows = &rowCount{}
	return store.WithRowCount(ctx, o.rows)
}

// soft returns the context that ends on the first interrupt, ctx if there is none.
func soft(ctx, first context.Context) context.Context {
	if first == nil {
		return ctx
	}
	return first
}

// hashes hashes the configuration for a store that keeps hashes. It returns nil if the store has no key for
// that.
func (o *Operation) hashes(ctx, soft context.Context, cfg *blocks.Config, variables Variables) (*hashes.Set, diag.List) {
	key, at, err := changeReader(o).HashKey(ctx)
	o.asked = at
	if err != nil {
		return nil, diag.Errorf("Error reading the state", "%s", diag.Sentence(err))
	}
	if key == nil {
		return nil, nil
	}
	opt := &o.p.opt
	set, err := hashes.Of(cfg, hashes.Options{
		Key: key, Variables: variables, Workspace: opt.State.Workspace, RootDir: filepath.ToSlash(opt.Dir), WorkDir: opt.WorkDir,
		Version: o.p.version, Interrupted: soft.Done(),
	})
	if err != nil {
		return nil, diag.Errorf("Configuration not compared", "The configuration could not be compared with the one that was applied last: %s.", diag.Reason(err))
	}
	return set, nil
}

// unversioned returns the addresses of the providers without a version that the resources of a configuration
// have, in order.
func (o *Operation) unversioned(cfg *blocks.Config) []string {
	found := map[string]bool{}
	cfg.EachResource(func(r *blocks.Resource) {
		if _, known := o.p.version(r.Provider); !known && !r.Config.Addr.Mode.Fleeting() {
			found[r.Provider.String()] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// version returns the version of a provider; false if nothing says whether it is the one that it was.
func (p *Project) version(of addr.Provider) (string, bool) {
	if Embedded(of) { // its schema has a version, and all that it does follows from the schema
		return "", true
	}
	switch l := p.opt.Launcher.(type) {
	case *Launcher:
		if l != nil && l.Version != nil {
			return l.Version(of)
		}
	case interface {
		Version(addr.Provider) (string, bool)
	}:
		return l.Version(of)
	}
	return "", false
}

// changeReader returns the store of the state if it notes changes; nil otherwise.
func changeReader(o *Operation) store.ChangeReader {
	reader, _ := o.p.opt.State.Store.(store.ChangeReader)
	return reader
}
