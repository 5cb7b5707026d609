package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// attributeOf is an attribute of an object, as references name it.
type attributeOf struct {
	instance addr.Instance
	path     cty.Path
}

func (a attributeOf) String() string { return a.instance.String() + "." + schema.PathString(a.path) }

// takenOut returns a warning about values that the apply takes out of the state: copies of it may still have
// them.
func takenOut(p *plan.Plan) diag.List {
	var taken []attributeOf
	for _, c := range p.Changes {
		for _, w := range c.Withheld {
			if w.Status == plan.WithheldStored {
				taken = append(taken, attributeOf{c.Addr, w.Path})
			}
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return diag.Warnf("Older copies of the state still have the value",
		"The next apply takes these values out of the state:%s\n\nBackups beside the state file, earlier versions in a bucket or a database, and saved plans still have them. Remove those copies, or change the secrets.",
		diag.Lines("", taken))
}

// evaluateVersions evaluates the versions of the attributes that an operation withholds. It returns false if
// that failed, which was reported.
func evaluateVersions(t *future.Task, in *eval.Instance, op *objectOp) bool {
	if !slices.ContainsFunc(in.Resource.Block.Versions, func(x *lang.Expr) bool { return x != nil }) {
		return true
	}
	versions, diags := eval.Versions(t, in)
	op.walk.run.Report(diags)
	op.Withheld.Versions = versions
	return !diags.HasErrors()
}

// unneeded reports whether an object stays as it is without the values that it withholds (E94): it is as the
// state has it, nothing asks for its replacement, neither the versions of the values nor the rest of the
// configuration has changed, and its provider plans no change by itself. again are the attributes that are
// to be recorded anew.
func unneeded(ip *instancePlan) (again []plan.Withheld, ok bool) {
	if len(ip.Withheld.Versions) == 0 || !asStored(ip) || !ip.prior.SameAs(ip.loaded, &ip.Withheld) || ip.forcedReason() != plan.NoReason {
		return nil, false
	}
	if len(ip.Withheld.Restored(ip.prior.Value, ip.stored)) > 0 {
		return nil, false
	}
	cfg, diags := ip.in.EvalBody(ip.t, eval.NewOpened(nil))
	if diags.HasErrors() {
		return nil, false // which is reported when it is evaluated with the instances it lacks
	}
	plain, faults := value.Storable(ip.Answers.Given(cfg), ip.Block().Type())
	if len(faults) > 0 || !ip.Withheld.Unneeded(ip.stored, plain) {
		return nil, false
	}
	ip.config = object.Config{Value: plain, Sensitive: ip.Withheld.Outside(value.PathsWith(cfg, value.Sensitive))}
	if ip.marksChanged(ip.prior.Value) {
		return nil, false
	}
	made := value.PathsMadeOf(cfg)
	if !leftAlone(ip, plain, made) {
		return nil, false
	}
	noteUses(ip, made)
	return remadeUnneeded(ip, plain, made), true
}

// leftAlone reports whether the provider plans no change of an object without the values that it withholds.
// If one of them cannot be had, only a replacement counts: anything else could not be planned with the value
// either.
func leftAlone(ip *instancePlan, cfg cty.Value, made []value.ComputedPart) bool {
	if slices.ContainsFunc(made, func(part value.ComputedPart) bool { return part.Of.Past && ip.Withheld.Names.Matches(part.Path) }) {
		return len(object.DueReplacement(&ip.Op, ip.prior, cfg, ip.meta(ip.in))) == 0
	}
	return object.Stays(&ip.Op, ip.prior, cfg, ip.meta(ip.in))
}

// asStored reports whether the object exists and is stored as it would be now, but for changes outside and
// the upgrade of its schema.
func asStored(ip *instancePlan) bool {
	return ip.stored != nil && ip.loaded.Object == ip.stored && !ip.loaded.Cleaned && !ip.prior.Value.IsNull()
}

// planUnneeded plans no change of an object for which unneeded is true, or one of the state alone. remade are
// the attributes that are to be recorded anew.
func planUnneeded(ip *instancePlan, s *ephemeral.Session, remade []plan.Withheld) (cty.Value, bool) {
	if !ip.in.Preconditions(ip.t, s.Opened) || ip.Answers.Later && !ip.load.review() {
		return cty.NilVal, false
	}
	ip.newChange(ip.prior)
	ip.change.Action = plan.NoOp
	restored := ip.Withheld.Restored(ip.prior.Value, ip.stored)
	if diags := ip.Withheld.CheckSeen(ip.prior.Value, ip.prior.Value, restored, nil); diags.HasErrors() {
		ip.Report(diags)
		return cty.NilVal, false
	}
	restored = append(restored, remade...)
	if len(restored) > 0 || ip.marksChanged(ip.prior.Value) {
		ip.change.Action, ip.change.Withheld = plan.Update, restored
	}
	for _, w := range ip.stored.Withheld {
		if !slices.ContainsFunc(restored, func(r plan.Withheld) bool { return r.Path.Equals(w.Path) }) {
			ip.change.Withheld = append(ip.change.Withheld, plan.Withheld{Path: w.Path, Status: plan.WithheldSame, Computed: w.Computed})
		}
	}
	v, ok := ip.finish(provider.PlanResponse{Planned: ip.prior.Value, Private: ip.prior.Private, Identity: ip.prior.Identity})
	return v, ok && ip.in.Postconditions(ip.t, s.Opened, v)
}

// storesSensitive reports the attributes that are sensitive and would be stored, block by block, with the
// argument that keeps the configured ones out of the state.
func storesSensitive(p *planner) (diags diag.List) {
	found := map[string]*storedSecrets{}
	add := func(a addr.Instance, provider addr.Provider, v cty.Value, paths []cty.Path) {
		block := a.Config().String()
		if found[block] == nil {
			found[block] = &storedSecrets{of: a.Config(), schema: p.providers.Loaded(provider, a.Resource.Mode, a.Resource.Type)}
		}
		for _, path := range paths {
			if part, err := path.Apply(v); err == nil && !part.IsNull() {
				found[block].paths = append(found[block].paths, path)
			}
		}
	}
	for _, c := range p.plan.Changes {
		if v, err := c.After.Unmarked(); err == nil && v != cty.NilVal && c.Action != plan.Delete && c.Action != plan.Forget {
			add(c.Addr, c.Provider.Provider, v, c.After.Sensitive())
		}
	}
	for a, in := range p.prior.AllInstances() {
		if a.Resource.Mode != addr.Data || in.Current == nil {
			continue
		}
		if s := p.providers.Loaded(in.Provider.Provider, addr.Data, a.Resource.Type); s != nil {
			if v, err := in.Current.DecodeUnmarked(s.Block.Type()); err == nil {
				add(a, in.Provider.Provider, v, slices.Concat(in.Current.Sensitive, s.Block.SensitivePaths(v)))
			}
		}
	}
	for _, block := range slices.Sorted(maps.Keys(found)) {
		diags = append(diags, found[block].report()...)
	}
	return diags
}

// storedSecrets are the sensitive attributes that objects of a block have.
type storedSecrets struct {
	of     addr.ConfigResource
	schema *schema.Schema // nil if it is not known
	paths  []cty.Path
}

func (s *storedSecrets) report() diag.List {
	if len(s.paths) == 0 {
		return nil
	}
	var named, computed, others []string
	for _, path := range s.paths {
		name := schema.EveryElementOf(path)
		if s.of.Mode != addr.Managed || s.schema == nil || path.Equals(cty.GetAttrPath("id")) {
			others = append(others, name)
			continue
		}
		if _, err := s.schema.Block.Pattern(path); err != nil {
			others = append(others, name)
			continue
		}
		if named = append(named, name); !s.schema.Block.Settable(path) {
			computed = append(computed, name)
		}
	}
	unique := func(names []string) string {
		slices.Sort(names)
		return strings.Join(slices.Compact(names), ", ")
	}
	detail := fmt.Sprintf("The state would have sensitive attributes of %s: %s.", s.of, unique(slices.Concat(named, others)))
	if len(named) > 0 {
		detail += fmt.Sprintf("\n\nTo keep them out of the state, add to the lifecycle block: ephemeral_attributes = [%s]", unique(named))
	}
	if len(computed) > 0 {
		detail += fmt.Sprintf("\n\nThe provider computes %s: only the run that makes an object has the value then, and whatever uses it has to take it there.", unique(computed))
	}
	if len(others) > 0 {
		detail += fmt.Sprintf("\n\nThe provider decides about %s, so that the state has to have it.", unique(others))
	}
	return diag.Errorf("Sensitive attributes would be stored", "%s", detail)
}
