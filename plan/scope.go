package plan

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// ScopeOptions have the facts about the scope of a plan that are not in the plan.
type ScopeOptions struct {
	// Stored is the state as it was read: its objects have the versions of their rows.
	Stored *state.State
	// Checks are the read-sets of the conditions of blocks, by static address.
	Checks map[string][]Dep
	// Units are the units of checks, with their read-sets, by static address.
	Units map[string][]state.Finding
	// Turns are the outputs and checks that each run evaluates at its end which has changed an object behind
	// them. They are claimed only by plans that change them otherwise.
	Turns map[state.Subject]bool
	// Records are instances without a change of which an apply brings the record in the state up to date.
	Records []addr.Instance
	// Left are instances that the configuration doesn't declare and the plan leaves in the state.
	Left []addr.Instance
}

// Scope returns the claims of applying a plan, and the rows that the plan relies on. It is a pure function of
// both arguments.
func Scope(p *Plan, opt ScopeOptions) *state.Scope {
	b := scopeBuilder{plan: p, opt: opt, claims: state.Claims{}, relied: map[state.Subject]bool{}, sets: newSetBuilder(), results: opt.Stored.Results(), altered: p.Altered(), undeclared: p.undeclared()}
	for _, a := range opt.Left {
		b.left = append(b.left, a.String())
		b.undeclared.Add(a)
	}
	if p.Mode == Destroy && len(p.Targets)+len(p.Excludes) == 0 {
		b.relied[state.Subject{Kind: state.WholeState}] = true
		b.claims.Add(state.Subject{Kind: state.WholeState}, state.Exclusive)
		return b.scope()
	}
	for _, c := range p.Changes {
		b.change(c)
	}
	for _, i := range p.Invocations {
		b.share(i.Deps)
	}
	for _, o := range p.Outputs {
		s := state.Subject{Kind: state.OneOutput, Addr: o.Name}
		if o.Action != NoOp && !(b.opt.Turns[s] && slices.ContainsFunc(o.Deps, b.altered.Touched)) {
			b.result(s, o.Deps, state.Finding{Unit: state.Unit{Kind: state.OutputUnit, Addr: o.Name}, Block: state.Block{Name: "output." + o.Name}, Reads: Subjects(o.Deps)})
		}
	}
	b.checks()
	b.adopted()
	if len(b.claims)+len(b.optional) > 0 {
		b.claims.Add(state.Subject{Kind: state.WholeState}, state.Intent)
	}
	return b.scope()
}

// ScopeOfChange returns the scope of changing a state as it was read to another one, made of the same
// objects.
func ScopeOfChange(stored, next *state.State) *state.Scope {
	b := scopeBuilder{opt: ScopeOptions{Stored: stored}, claims: state.Claims{}, relied: map[state.Subject]bool{}, sets: newSetBuilder()}
	b.claims.Add(state.Subject{Kind: state.WholeState}, state.Intent)
	changes := state.Diff(stored, next)
	was := map[*state.Object]addr.Instance{} // where objects are not any more
	for _, c := range changes {
		if c.New == nil {
			was[stored.Object(c.Object)] = c.Object.Instance
		}
	}
	for _, c := range changes {
		b.exclusive(c.Object.Instance)
		if c.New == nil {
			continue
		}
		if from, moved := was[c.New]; moved {
			b.move(from, c.Object.Instance)
		}
		var had []addr.ConfigResource
		if o := stored.Object(c.Object); o != nil {
			had = o.Dependencies
		}
		for _, block := range c.New.Dependencies {
			if !slices.Contains(had, block) {
				b.claims.Add(state.Subject{Kind: state.Dependents, Addr: block.String()}, state.Intent)
			}
		}
	}
	b.results = stored.Results()
	now := next.Results()
	for s, version := range now {
		if old, is := b.results[s]; !is || old != version {
			b.exclusiveRow(s, nil)
		}
	}
	for s := range b.results {
		if _, stays := now[s]; !stays {
			b.exclusiveRow(s, nil)
		}
	}
	return b.scope()
}

// scopeBuilder collects the scope of a plan.
type scopeBuilder struct {
	plan       *Plan
	opt        ScopeOptions
	claims     state.Claims
	optional   []state.Claims
	relied     map[state.Subject]bool // has the subjects whose rows are compared
	altered    *Instances             // of the plan
	undeclared *Instances
	results    map[state.Subject]state.Version // stored outputs and checks
	moved      map[string]string
	imported   []string
	left       []string
	units      map[state.Subject][]state.Finding // of claimed results
	sets       *setBuilder
}

// changes reports whether an apply changes the object of a change, or its place.
func (c *Change) changes() bool {
	return c.Action != NoOp || c.Moved() || c.Importing != nil ||
		slices.ContainsFunc(c.Withheld, func(w Withheld) bool { return len(w.Consumers)+len(w.Missed) > 0 })
}

// Altered returns the instances whose objects or addresses an apply changes.
func (p *Plan) Altered() *Instances {
	out := &Instances{}
	for _, c := range p.Changes {
		if c.changes() {
			out.Add(c.Addr)
		}
	}
	return out
}

// Undeclared returns the instances whose objects are stored although the configuration doesn't declare them:
// an apply removes or leaves them. Others are evaluated without them from the beginning.
func (p *Plan) Undeclared() *Instances {
	out := p.undeclared()
	if p.Scope != nil {
		for _, address := range p.Scope.Left {
			if a, err := addr.ParseInstance(address); err == nil {
				out.Add(a)
			}
		}
	}
	return out
}

// undeclared returns the undeclared instances whose objects an apply removes.
func (p *Plan) undeclared() *Instances {
	out := &Instances{}
	for _, c := range p.Changes {
		if p.Mode == Normal && c.Deposed == addr.Current && (c.Action == Delete || c.Action == Forget) {
			out.Add(c.Addr)
		}
	}
	return out
}

// change adds the claims of one change.
func (b *scopeBuilder) change(c *Change) {
	if !c.changes() {
		return
	}
	b.exclusive(c.Addr)
	if c.Moved() {
		b.exclusive(c.PrevAddr)
		b.move(c.PrevAddr, c.Addr)
	}
	if c.Importing != nil {
		b.imported = append(b.imported, c.Addr.String())
	}
	if c.Action == Delete || c.Action.DestroysReplaced() {
		s := state.Subject{Kind: state.Dependents, Addr: c.Addr.Config().String()}
		b.claims.Add(s, state.Shared)
		b.relied[s] = true
		b.sets.dependents(c.Addr.Config(), s)
	}
	if c.Action == NoOp && c.Importing == nil {
		return
	}
	b.share(c.Deps)
	if c.Action != Delete && c.Action != Forget {
		b.intendDependencies(b.claims, c)
	}
}

// move notes that an instance gets another address.
func (b *scopeBuilder) move(from, to addr.Instance) {
	if b.moved == nil {
		b.moved = map[string]string{}
	}
	b.moved[from.String()] = to.String()
}

// exclusive claims an instance exclusively. Its rows are compared, also if there are none.
func (b *scopeBuilder) exclusive(a addr.Instance) {
	addExclusive(b.claims, a)
	b.rely(a)
}

func (b *scopeBuilder) rely(a addr.Instance) {
	s := state.InstanceSubject(a)
	b.relied[s] = true
	b.sets.instance(a, s)
}

// addExclusive adds the claims of a change of one instance: runs that read all instances of its resource, or
// of its block in a module, are excluded as well.
func addExclusive(to state.Claims, a addr.Instance) {
	for _, s := range state.Around(a) {
		mode := state.Intent
		if s.Kind == state.OneInstance {
			mode = state.Exclusive
		}
		to.Add(s, mode)
	}
}

func allOf(r addr.AbsResource) state.Subject {
	return state.Subject{Kind: state.AllInstances, Addr: r.String()}
}

func within(s Span) state.Subject {
	return state.Subject{Kind: state.AllWithin, Addr: s.Block.String(), Within: s.Within.String()}
}

// Subject returns the part of a state that d refers to. It returns false for a module, which has no rows.
func (d Dep) Subject() (state.Subject, bool) {
	switch {
	case d.Resource.Resource.Type == "":
		return state.Subject{}, false
	case d.Modules:
		return within(d.Span()), true
	case d.All:
		return allOf(d.Resource), true
	default:
		return state.InstanceSubject(d.Resource.Instance(d.Key)), true
	}
}

// Subjects returns the parts of a state that a read-set refers to.
func Subjects(deps []Dep) (out []state.Subject) {
	for _, d := range deps {
		if s, is := d.Subject(); is {
			out = append(out, s)
		}
	}
	return out
}

// share adds shared claims on a read-set.
func (b *scopeBuilder) share(deps []Dep) {
	for _, d := range deps {
		s, has := d.Subject()
		if !has {
			continue
		}
		b.claims.Add(s, state.Shared)
		b.relied[s] = true
		switch s.Kind {
		case state.AllWithin:
			b.sets.span(d.Span(), s)
		case state.AllInstances:
			b.sets.resource(d.Resource, s)
		default:
			b.sets.instance(d.Resource.Instance(d.Key), s)
		}
	}
}

// intendDependencies adds the claims of an object that comes to depend on blocks: a run that destroys an
// object of such a block must know of it.
func (b *scopeBuilder) intendDependencies(to state.Claims, c *Change) {
	before := c.Addr
	if c.Moved() {
		before = c.PrevAddr
	}
	var had []addr.ConfigResource
	if o := b.opt.Stored.Object(addr.Object{Instance: before, Deposed: c.Deposed}); o != nil {
		had = o.Dependencies
	}
	for _, d := range c.Deps {
		if block := d.Resource.Config(); block.Resource.Type != "" && !slices.Contains(had, block) {
			to.Add(state.Subject{Kind: state.Dependents, Addr: block.String()}, state.Intent)
		}
	}
}

// exclusiveRow claims an output or a check and shares its read-set.
func (b *scopeBuilder) exclusiveRow(s state.Subject, deps []Dep) {
	b.claims.Add(s, state.Exclusive)
	b.relied[s] = true
	b.share(deps)
}

// result is exclusiveRow for a row that the configuration says something about, with its units. They have no
// records if they are evaluated from objects that are not as the configuration wants them, as in a plan that
// only refreshes, or without objects that may stay in the state.
func (b *scopeBuilder) result(s state.Subject, deps []Dep, units ...state.Finding) {
	b.exclusiveRow(s, deps)
	if b.plan.Mode == RefreshOnly || slices.ContainsFunc(deps, b.undeclared.Touched) {
		return
	}
	if b.units == nil {
		b.units = map[state.Subject][]state.Finding{}
	}
	b.units[s] = units
}

// checks claims the results of conditions that the apply may change: they differ from the stored ones, or an
// object changes that they are evaluated from and they have no turns, or their block is gone. Blocks that a
// restricted plan leaves out have no objects.
func (b *scopeBuilder) checks() {
	gone := map[string]struct{}{}
	for _, r := range b.opt.Stored.Checks {
		gone[r.Config] = struct{}{}
	}
	for _, r := range b.plan.Checks {
		delete(gone, r.Config)
	}
	for config := range gone {
		b.result(state.Subject{Kind: state.OneCheck, Addr: config}, nil)
	}
	for _, r := range b.plan.Checks {
		if r.Status == state.CheckUnknown && len(r.Objects) == 0 {
			continue
		}
		deps, s := b.opt.Checks[r.Config], state.Subject{Kind: state.OneCheck, Addr: r.Config}
		touched := slices.ContainsFunc(deps, b.altered.Touched)
		if (b.results[s] != state.CheckVersion(r) || touched) && !(b.opt.Turns[s] && touched) {
			b.result(s, deps, b.opt.Units[r.Config]...)
		}
	}
}

// adopted claims the objects that planning has changed by itself. Objects that came or went without a change
// must be written, and the others only if they are free: the next plan finds the same.
func (b *scopeBuilder) adopted() {
	optional := map[addr.Instance]struct{}{}
	for _, c := range b.plan.Drift {
		optional[c.Addr] = struct{}{}
	}
	for _, c := range b.plan.Adopted {
		a := c.Object.Instance
		if b.same(c) {
			continue
		}
		_, drifted := optional[a]
		comes := c.New == nil || b.opt.Stored.Object(c.Object) == nil
		if comes && !drifted && a.Resource.Mode == addr.Managed {
			b.exclusive(a)
			continue
		}
		optional[a] = struct{}{}
	}
	for _, a := range b.opt.Records {
		optional[a] = struct{}{}
	}
	records := map[addr.Instance]*Change{}
	for _, c := range b.plan.Changes {
		if c.Deposed == addr.Current {
			records[c.Addr] = c
		}
	}
	for a := range optional {
		if b.claims[state.InstanceSubject(a)] == state.Exclusive {
			continue
		}
		claims := state.Claims{}
		addExclusive(claims, a)
		if c := records[a]; c != nil {
			b.intendDependencies(claims, c)
		}
		b.optional = append(b.optional, claims)
		b.rely(a)
	}
	slices.SortFunc(b.optional, func(x, y state.Claims) int { return compareText(x.Subject().Addr, y.Subject().Addr) })
}

// same reports whether the state has the object of a change already, as after reading the same data again.
func (b *scopeBuilder) same(c state.ObjectChange) bool {
	old := b.opt.Stored.Object(c.Object)
	return c.New != nil && old != nil && old.Equal(c.New) && b.opt.Stored.Instance(c.Object.Instance).Provider == c.Provider
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// scope returns the collected claims with the stored rows that are to be compared.
func (b *scopeBuilder) scope() *state.Scope {
	out := &state.Scope{Claims: b.claims, Optional: b.optional, Relied: make(map[state.Subject]state.RowSet, len(b.relied)), Moved: b.moved, Imported: b.imported, Left: b.left, Results: b.units}
	for s := range b.relied {
		switch s.Kind {
		case state.OneOutput, state.OneCheck:
			out.Relied[s] = state.ResultRow(s, b.results)
		default:
			out.Relied[s] = state.RowSet{}
		}
	}
	b.sets.collect(b.opt.Stored, out.Relied)
	return out
}
