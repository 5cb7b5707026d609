package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/state"
)

// move is a moved block: From and To are relative to Module.
type move struct {
	module   addr.Module
	from, to addr.Target
	rng      hcl.Range
}

// applyMoves renames the objects of the state as moved blocks ask, and as repetition with count has changed.
func (p *planner) applyMoves() {
	p.moved = map[addr.Instance]addr.Instance{}
	moves := p.collectMoves()
	if len(moves) > 0 {
		p.followMoves(moves)
	}
	p.implicitMoves()
}

func (p *planner) collectMoves() []move {
	var out []move
	for _, m := range p.req.Config.Tree.SortedModules() {
		from, to := map[string]*move{}, map[string]*move{}
		for _, b := range m.Moved {
			mv, diags := parseMove(m, b)
			if !diags.HasErrors() {
				diags = append(diags, mv.ambiguous(from, to)...)
			}
			p.run.Report(diags)
			if !diags.HasErrors() {
				out = append(out, mv)
			}
		}
	}
	return out
}

// ambiguous refuses a second move of the same thing or to the same place; from and to are the moves of the
// module so far.
func (mv *move) ambiguous(from, to map[string]*move) diag.List {
	f, t := mv.from.String(), mv.to.String()
	a, b := from[f], to[t]
	from[f], to[t] = mv, mv
	switch {
	case a != nil && a.to.String() != t:
		return diag.At(mv.rng, "Ambiguous move statements", "%s is moved to %s here, and to %s at %s. It can move to one address only.", f, t, a.to, a.rng)
	case b != nil && b.from.String() != f:
		return diag.At(mv.rng, "Ambiguous move statements", "%s is moved to %s here, and so is %s at %s. Only one of them can move there.", f, t, b.from, b.rng)
	}
	return nil
}

func parseMove(m *config.Module, b *config.Moved) (move, diag.List) {
	mv := move{module: m.Path, rng: b.Range}
	var err error
	if mv.from, err = addr.TargetFromTraversal(b.From); err != nil {
		return mv, diag.At(b.From.SourceRange(), "Invalid \"moved\" address", "The \"from\" address is not valid: %s.", err)
	}
	if mv.to, err = addr.TargetFromTraversal(b.To); err != nil {
		return mv, diag.At(b.To.SourceRange(), "Invalid \"moved\" address", "The \"to\" address is not valid: %s.", err)
	}
	if (mv.from.Resource == nil) != (mv.to.Resource == nil) {
		return mv, diag.At(b.Range, "Invalid \"moved\" addresses", "Both addresses must name modules, or both must name resources.")
	}
	if mv.from.String() == mv.to.String() {
		return mv, diag.At(b.Range, "Redundant move statement", "This block moves %s to itself, so it has no effect. Remove it, or correct one of the addresses.", mv.from)
	}
	if steps := mv.from.Module.Path(); mv.from.Resource == nil && len(steps) == 1 {
		_, name, key := steps[0].Parent()
		if m.Calls[name] != nil && key == addr.NoKey && mv.from.Module.Module() != mv.to.Module.Module() {
			return mv, mv.stillDeclared(m.Calls[name].Range)
		}
	}
	if r := mv.from.Resource; r != nil {
		if r.Mode != mv.to.Resource.Mode {
			return mv, diag.At(b.Range, "Invalid \"moved\" addresses", "A resource moves to a resource, and a data source to a data source: %s cannot become %s.", mv.from, mv.to)
		}
		declared := m.Resources[*r]
		if declared != nil && mv.from.Module.IsRoot() && mv.from.Key == addr.NoKey && *mv.from.Resource != *mv.to.Resource {
			return mv, mv.stillDeclared(declared.Range)
		}
	}
	return mv, nil
}

func (mv *move) stillDeclared(at hcl.Range) diag.List {
	return diag.At(mv.rng, "Moved object still exists",
		"%s is moved to %s, but the configuration still declares it, at %s. If it is to become %s, remove that block; otherwise remove the moved block.", mv.from, mv.to, at, mv.to)
}

// followMoves lets every object follow the moves that concern it, one after the other. Where a move leads to
// a place that had an object before any move, it ends: that object may go on from there, but the two were
// never one.
func (p *planner) followMoves(moves []move) {
	index := newMoveIndex(moves)
	if diags := index.cyclic(moves); diags != nil {
		p.run.Report(diags)
		return
	}
	taken := map[addr.Instance]struct{}{}
	for a := range p.prior.AllInstances() {
		taken[a] = struct{}{}
	}
	for _, start := range slices.SortedFunc(maps.Keys(taken), addr.Instance.Compare) {
		at, end := start, addr.Instance{} // end is where the moves stop, once they meet another object
		for step := 0; ; step++ {
			next, mv, ok := index.next(at)
			if !ok || next == at {
				break
			}
			if step == len(moves) { // some move has come twice, which happens with keys that no single move names
				p.run.Report(cyclicMoves(index.cycle(start, len(moves), map[addr.Instance]struct{}{})))
				return
			}
			if _, there := taken[next]; there && next != start && end == (addr.Instance{}) {
				end = at
				p.blockedMove(start, at, next, &mv.rng)
			}
			at = next // also beyond the end, or a cycle would go unnoticed
		}
		if end != (addr.Instance{}) {
			at = end
		}
		if at != start && p.convertible(start, at) {
			p.moveTo(start, at, nil)
		}
	}
}

// convertible reports whether an object can become what a move makes of it. Only an instance that is planned
// is converted to another type; what nothing declares, or is to be destroyed with all else, goes as the type
// that it has.
func (p *planner) convertible(from, to addr.Instance) bool {
	if from.Resource.Type == to.Resource.Type {
		return true
	}
	m := p.req.Config.Tree.Modules[to.Module.Module()]
	return p.req.Mode != plan.Destroy && m != nil && m.Resources[to.Resource] != nil
}

// moveIndex finds the moves that may concern an instance without a look at all of them.
type moveIndex struct {
	resources map[addr.ConfigResource][]*move
	modules   []*move
}

func newMoveIndex(moves []move) *moveIndex {
	x := &moveIndex{resources: map[addr.ConfigResource][]*move{}}
	for i := range moves {
		mv := &moves[i]
		if mv.from.Resource == nil {
			x.modules = append(x.modules, mv)
			continue
		}
		block := addr.ConfigResource{Module: mv.module, Resource: *mv.from.Resource}
		for _, name := range mv.from.Module.Module().Calls() {
			block.Module = block.Module.Child(name)
		}
		x.resources[block] = append(x.resources[block], mv)
	}
	return x
}

// next returns where the first move that concerns an instance takes it; ok is false if there is none.
func (x *moveIndex) next(a addr.Instance) (to addr.Instance, by *move, ok bool) {
	for _, moves := range [][]*move{x.resources[a.Config()], x.modules} {
		for _, mv := range moves {
			if to, ok := mv.apply(a); ok {
				return to, mv, true
			}
		}
	}
	return a, nil, false
}

// apply returns the address that the move gives to a.
func (mv *move) apply(a addr.Instance) (addr.Instance, bool) {
	steps := a.Module.Path()
	depth := len(mv.module.Calls())
	if len(steps) < depth {
		return a, false
	}
	base := addr.RootInstance
	if depth > 0 {
		base = steps[depth-1]
	}
	if base.Module() != mv.module {
		return a, false
	}
	rest, ok := matchSteps(mv.from.Module, steps[depth:], mv.from.Resource != nil)
	if !ok {
		return a, false
	}
	target, ok := graft(base, mv.to.Module, mv.from.Module, steps[depth:])
	if !ok {
		return a, false
	}
	for _, s := range rest {
		_, name, key := s.Parent()
		target = target.Child(name, key)
	}
	if mv.from.Resource == nil {
		return addr.Instance{Module: target, Resource: a.Resource, Key: a.Key}, true
	}
	if *mv.from.Resource != a.Resource {
		return a, false
	}
	key := a.Key
	switch {
	case mv.from.Key != addr.NoKey && mv.from.Key != a.Key:
		return a, false
	case mv.from.Key != addr.NoKey:
		key = mv.to.Key
	case mv.to.Key != addr.NoKey:
		if a.Key != addr.NoKey {
			return a, false
		}
		key = mv.to.Key
	}
	return addr.Instance{Module: target, Resource: *mv.to.Resource, Key: key}, true
}

// matchSteps matches the module steps of a pattern against those of an address and returns what is left over.
// A step without a key matches any key.
func matchSteps(pattern addr.ModuleInstance, steps []addr.ModuleInstance, exact bool) ([]addr.ModuleInstance, bool) {
	want := pattern.Path()
	if len(steps) < len(want) || exact && len(steps) != len(want) {
		return nil, false
	}
	for i, w := range want {
		_, name, key := w.Parent()
		_, gotName, gotKey := steps[i].Parent()
		if name != gotName || key != addr.NoKey && key != gotKey {
			return nil, false
		}
	}
	return steps[len(want):], true
}

// graft builds the target module instance below base: steps of to, which take over the keys that steps of
// from without a key matched.
func graft(base, to, from addr.ModuleInstance, matched []addr.ModuleInstance) (addr.ModuleInstance, bool) {
	fromSteps := from.Path()
	out := base
	for i, s := range to.Path() {
		_, name, key := s.Parent()
		if key == addr.NoKey && i < len(fromSteps) {
			if _, _, fromKey := fromSteps[i].Parent(); fromKey == addr.NoKey {
				_, _, key = matched[i].Parent()
			}
		}
		out = out.Child(name, key)
	}
	return out, true
}

// moveTo renames an object, unless its new place is taken.
func (p *planner) moveTo(from, to addr.Instance, rng *hcl.Range) {
	if p.prior.Instance(to) != nil {
		p.blockedMove(p.before(from), from, to, rng)
		return
	}
	if err := p.prior.Move(from, to); err != nil {
		p.run.Report(diag.Errorf("Cannot move object", "%s could not become %s: %s.", from, to, err))
		return
	}
	p.moved[to] = from
	if orig, ok := p.moved[from]; ok {
		p.moved[to] = orig
		delete(p.moved, from)
	}
}

// before returns the address that the state has for an object that this plan may have moved to a.
func (p *planner) before(a addr.Instance) addr.Instance {
	if from, moved := p.moved[a]; moved {
		return from
	}
	return a
}

// blockedMove warns of an object that stays at its address because the place it should move to is taken, and
// of what becomes of it. The state has it at start; rng is the moved block, nil if there is none.
func (p *planner) blockedMove(start, from, to addr.Instance, rng *hcl.Range) {
	m := p.req.Config.Tree.Modules[from.Module.Module()]
	fate := fmt.Sprintf("%s stays where it is.", from)
	switch {
	case p.req.Mode != plan.Normal:
	case m == nil || m.Resources[from.Resource] == nil:
		fate = fmt.Sprintf("%s stays where it is, and since the configuration does not declare it any more, this plan destroys it.", from)
	case p.implied(from) != from:
		fate = fmt.Sprintf("%s stays where it is, and since the configuration declares no instance with that key, this plan destroys it.", from)
	case from.Key != addr.NoKey:
		fate = fmt.Sprintf("%s stays where it is, and unless the configuration still declares this instance, this plan destroys it.", from)
	}
	diags := diag.Warnf("Move to an occupied address",
		"%s cannot become %s, because the state already has an object there. %s\n\nTo keep both objects, give one of them another address, or take one out of the state, and plan again:\n  mayfly state mv '%s' ADDRESS\n  mayfly state rm '%s'",
		from, to, fate, start, p.before(to))
	diags[0].Subject = rng
	p.run.Report(diags)
}

// implicitMoves follows resources and module calls that gained or lost their count: what was without a key is
// instance 0 then, and the other way round. It does so after moved blocks, which may have taken an object
// elsewhere.
func (p *planner) implicitMoves() {
	type pair struct{ from, to addr.Instance }
	var pairs []pair
	for a := range p.prior.AllInstances() {
		if to := p.implied(a); to != a && a.Resource.Mode == addr.Managed {
			pairs = append(pairs, pair{a, to})
		}
	}
	for _, x := range pairs {
		p.moveTo(x.from, x.to, nil)
	}
}

// implied returns the address that an object has with the repetition that the configuration now gives to its
// resource and the modules around it. What is not declared keeps its key.
func (p *planner) implied(a addr.Instance) addr.Instance {
	modules, at := p.req.Config.Tree.Modules, addr.RootInstance
	for _, step := range a.Module.Path() {
		_, name, key := step.Parent()
		if m := modules[at.Module()]; m != nil && m.Calls[name] != nil {
			key = impliedKey(m.Calls[name].Repeat, key)
		}
		at = at.Child(name, key)
	}
	key := a.Key
	if m := modules[at.Module()]; m != nil && m.Resources[a.Resource] != nil {
		key = impliedKey(m.Resources[a.Resource].Repeat, key)
	}
	return addr.AbsResource{Module: at, Resource: a.Resource}.Instance(key)
}

func impliedKey(r config.Repetition, key addr.Key) addr.Key {
	switch {
	case r.Count != nil && key == addr.NoKey:
		return addr.IntKey(0)
	case r.Count == nil && r.ForEach == nil && key == addr.IntKey(0):
		return addr.NoKey
	}
	return key
}

// convertMovedFrom asks the provider of the new type to take over an object that was moved from another type.
func (s *subject) convertMovedFrom(o *state.Object, from addr.Instance, source addr.ProviderConfig) (prior, bool) {
	pr := prior{object: o}
	resp, diags := s.p.MoveResource(s.ctx, provider.MoveRequest{
		SourceProvider: source.Provider, SourceType: from.Resource.Type, SourceVersion: o.SchemaVersion, SourceJSON: o.JSON(), SourcePrivate: o.Private,
		SourceIdentityJSON: o.Identity, SourceIdentityVersion: o.IdentityVersion, TargetType: s.typeName(),
	})
	if !diags.HasErrors() {
		resp.Target, diags = s.acceptObject(resp.Target, diags, "moved object")
	}
	s.report(diags)
	if diags.HasErrors() {
		return pr, false
	}
	pr.value, pr.private, pr.identity = resp.Target, resp.Private, resp.Identity
	return pr, true
}

// converts reports whether a moved object must be taken over from another type, or may be from another
// provider.
func (ip *instancePlan) converts(from addr.Instance) bool {
	if from.Resource.Type != ip.in.Addr().Resource.Type {
		return true
	}
	if ip.sourceOf(from).Provider == ip.source {
		return false
	}
	c, diags := ip.providers.Catalog(ip.ctx, ip.source)
	return !diags.HasErrors() && c.Capabilities().MoveResourceState
}

// sourceOf returns the provider configuration that the state has for an object's earlier address.
func (ip *instancePlan) sourceOf(from addr.Instance) addr.ProviderConfig {
	if in := ip.planner.req.State.Instance(from); in != nil {
		return in.Provider
	}
	return addr.ProviderConfig{Provider: ip.source}
}

func (ip *instancePlan) convertMoved(o *state.Object, from addr.Instance) (prior, bool) {
	c, diags := ip.providers.Catalog(ip.ctx, ip.source)
	if !diags.HasErrors() && !c.Capabilities().MoveResourceState {
		ip.report(diag.Errorf("Move of another resource type is not supported",
			"%s was %s, and the provider %s cannot take over objects of other types. Remove the moved block, and import the object to its new address instead.", ip.obj, from, ip.source.ForDisplay()))
		return prior{}, false
	}
	pr, ok := ip.convertMovedFrom(o, from, ip.sourceOf(from))
	if !ok {
		return pr, false
	}
	n := ip.subject.stored(pr.value, nil, pr.private, pr.identity, o)
	if n == nil {
		return pr, false
	}
	ip.planner.setPrior(ip.obj, n)
	pr.object = n
	return pr, true
}
