package histories

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blockhash"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// hashes are the hashes of a configuration, by the entries' names with their modules. Blocks that look at the
// world have none.
type hashes map[string]blockhash.Hash

// hashesOf hashes the configuration of a project.
func hashesOf(p *mayfly.Project) (hashes, error) {
	cfg, diags := blocks.Compile(p.Tree, catalogs{p})
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	set, err := blockhash.Of(cfg, blockhash.Inputs{
		Key: []byte("key"), Functions: funcs.Table(funcs.Options{BaseDir: "."}), Workspace: "default", RootDir: ".", WorkDir: "/",
		Version: func(addr.Provider) (string, bool) { return "1.0.0", true },
	})
	if err != nil {
		return nil, err
	}
	out := hashes{}
	for _, m := range set.Modules() {
		for _, e := range m.Entries {
			if e.Known {
				out[m.Path.Join(e.Name)] = e.Hash
			}
		}
	}
	return out, nil
}

// catalogs are the schemas that compiling needs.
type catalogs struct{ *mayfly.Project }

func (c catalogs) of(p addr.Provider) (provider.Catalog, diag.List) {
	return c.Catalog(context.Background(), p)
}

// Provider implements blocks.Schemas.
func (c catalogs) Provider(p addr.Provider) (*schema.Schema, diag.List) {
	of, diags := c.of(p)
	if diags.HasErrors() {
		return nil, diags
	}
	return of.Provider()
}

// Resource implements blocks.Schemas.
func (c catalogs) Resource(p addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	of, diags := c.of(p)
	if diags.HasErrors() {
		return nil, diags
	}
	return of.Resource(mode, typeName)
}

// Types implements blocks.Schemas.
func (c catalogs) Types(p addr.Provider, mode addr.Mode) []string {
	of, diags := c.of(p)
	if diags.HasErrors() {
		return nil
	}
	return of.Types(mode)
}

// Functions implements blocks.Schemas.
func (c catalogs) Functions(p addr.Provider) (map[string]*schema.Function, diag.List) {
	of, diags := c.of(p)
	if diags.HasErrors() {
		return nil, diags
	}
	return of.Functions()
}

// entriesOf returns the entries that decide whether there is an instance, the one of its block first.
func entriesOf(a addr.Instance) []string {
	name := a.Resource.String()
	if a.Resource.Mode == addr.Managed {
		name = "resource." + name
	}
	out := []string{a.Module.Module().Join(name), a.Module.Module().Join("repetition." + name)}
	for m := a.Module; !m.IsRoot(); {
		parent, call, _ := m.Parent()
		out = append(out, parent.Module().Join("module."+call))
		m = parent
	}
	return out
}

// unit is what the store says about an instance.
type unit struct {
	row     bool // it has a current object
	valid   bool // with a record of this version
	reads   []string
	seen    hashes // of the run that has written the record
	marked  bool
	object  bool // one of the marks is for the object itself
	telling bool // its rows say that it is due
}

// stock is all that a store says about what is due.
type stock struct {
	units   map[string]*unit
	entries hashes // see dues.entries
}

// differs reports whether a node of a configuration has another hash than the entry of it.
func (s *stock) differs(entry string, now hashes) bool {
	was, is := s.entries[entry]
	return !is || was != now[entry]
}

// due returns why an instance is due by itself in a configuration. For one that comes or goes, the
// repetitions around it count, too.
func (s *stock) due(d *design, a addr.Instance, now hashes, comes bool) (why []string) {
	u := s.units[a.String()]
	if u == nil {
		u = &unit{}
	}
	because := func(is bool, reason string) {
		if is && !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	entries := entriesOf(a)
	because(u.marked, "mark")
	because(u.telling, "row")
	because(u.row && !u.valid, "record")
	because(s.differs(entries[0], now), "hash")
	if !comes {
		return why
	}
	for _, e := range entries[1:] {
		_, repeated := now[e]
		_, was := s.entries[e]
		because((repeated || was) && s.differs(e, now), "hash of a repetition")
	}
	// The repetition of a block that reads something stored has no record, so it is always due.
	name := a.Resource.Name
	if !a.Module.IsRoot() {
		_, name, _ = a.Module.Path()[0].Parent()
	}
	because(d.readsState(name), "repetition")
	return why
}

// alters returns the instances of everything stored that a plan gives another value, or that comes or goes
// with it.
func alters(p *plan.Plan) map[addr.Instance]bool {
	out := map[addr.Instance]bool{}
	for _, c := range p.Changes {
		if c.Deposed == addr.Current && (c.Action != plan.NoOp || c.Moved() || c.Importing != nil) {
			out[c.Addr], out[c.PrevAddr] = true, true
		}
	}
	for i := range p.Prior.AllInstances() {
		if o := (addr.Object{Instance: i}); !p.Base.Object(o).SameValue(p.Prior.Object(o)) {
			out[i] = true
		}
	}
	for _, d := range p.Deferrals {
		out[d.Change.Addr] = true
	}
	return out
}

// overlooked returns what a full plan finds to do and a plan for what is due alone would not: it looks at
// what is due, and at what has read something that is altered. It counts what is found for one reason only.
func (s *stock) overlooked(d *design, p planned, sum map[string]int) (out []string) {
	what := map[addr.Instance]string{}
	why := map[addr.Instance][]string{}
	look := func(a addr.Instance, comes bool, text string) { what[a], why[a] = text, s.due(d, a, p.now, comes) }
	for _, c := range p.Changes {
		if c.Addr.Resource.Mode == addr.Managed && c.Deposed == addr.Current && (c.Action != plan.NoOp || c.Moved()) {
			comes := p.Base.Object(c.Object()) == nil || c.Action == plan.Delete || c.Action == plan.Forget
			look(c.Addr, comes, fmt.Sprintf("is to be changed (%s, %s)", c.Action, c.Reason))
		}
	}
	for _, f := range p.diags {
		if a, err := addr.ParseInstance(f.Address); err == nil && f.Severity == diag.Error && a.Resource.Mode == addr.Managed {
			look(a, true, "has an error: "+f.Summary)
		}
	}
	found := map[string]bool{} // keys of what is altered, once that was found
	find := func(a addr.Instance) {
		for _, k := range state.Around(a) {
			found[k.Key()] = true
		}
	}
	rest := alters(p.Plan)
	for progress := true; progress; {
		progress = false
		for a := range rest {
			u := s.units[a.String()]
			reads := u != nil && slices.ContainsFunc(u.reads, func(key string) bool { return found[key] })
			if _, looked := what[a]; !looked || len(why[a]) > 0 || reads { // data sources are always due
				find(a)
				delete(rest, a)
				progress = true
			}
		}
	}
	for a, text := range what {
		if u := s.units[a.String()]; u != nil && slices.ContainsFunc(u.reads, func(key string) bool { return found[key] }) {
			why[a] = append(why[a], "reads")
		}
		switch len(why[a]) {
		case 0:
			out = append(out, a.String()+" is not due, and "+text)
		case 1:
			sum["found by "+why[a][0]+" alone"]++
		}
	}
	slices.Sort(out)
	return out
}

// inconsistent returns what contradicts the rules about records and entries.
func (s *stock) inconsistent(now hashes) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.units)) {
		u := s.units[name]
		if u.row && !u.valid && !u.marked {
			out = append(out, name+" has no valid record, and no mark")
		}
		a, err := addr.ParseInstance(name)
		if err != nil || !u.valid || u.seen == nil {
			continue
		}
		block := entriesOf(a)[0]
		if !s.differs(block, now) && u.seen[block] != now[block] {
			out = append(out, name+" has seen another hash than its block has")
		}
	}
	return out
}
