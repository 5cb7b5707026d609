package withheld

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// attributeOf is an attribute of an object, as references name it.
type attributeOf struct {
	instance addr.Instance
	path     cty.Path
}

func (a attributeOf) String() string { return a.instance.String() + "." + schema.PathString(a.path) }

// TakenOut returns a warning about values that the apply takes out of the state: copies of it may still have
// them.
func TakenOut(p *plan.Plan) diag.List {
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

// Dropped returns a warning about the computed values of an object that was imported by a command of its own:
// they are not stored, and no run uses them.
func Dropped(a *Attributes, v cty.Value) diag.List {
	var found []attributeOf
	for _, c := range ComputedValues(a, v, cty.NilVal, nil) {
		if !c.Past {
			found = append(found, attributeOf{a.Object.Instance, c.Path})
		}
	}
	if len(found) == 0 {
		return nil
	}
	i := diag.Argument(a.Object.Instance.String())
	return diag.Warnf("Imported values are not stored",
		"The import found values that ephemeral_attributes keeps out of the state:%s\n\nThey are gone with this command. If something needs them, run \"state rm %s\", and import the object with an import block in the run that has its consumers; or make new values with the option -replace=%s.",
		diag.Lines("", found), i, i)
}

// StoresSensitive reports the attributes that are sensitive and that a plan, or its apply, would store,
// block by block, with the argument that keeps the configured ones out of the state. loaded returns the
// schema of a type whose provider was started, nil for others.
func StoresSensitive(p *plan.Plan, loaded func(addr.Provider, addr.Mode, string) *schema.Schema) (diags diag.List) {
	found := map[string]*storedSecrets{}
	add := func(a addr.Instance, provider addr.Provider, v cty.Value, paths []cty.Path) {
		block := a.Config().String()
		if found[block] == nil {
			found[block] = &storedSecrets{of: a.Config(), schema: loaded(provider, a.Resource.Mode, a.Resource.Type)}
		}
		for _, path := range paths {
			if part, err := path.Apply(v); err == nil && !part.IsNull() {
				found[block].paths = append(found[block].paths, path)
			}
		}
	}
	changes := slices.Clone(p.Changes)
	for _, d := range p.Deferrals {
		changes = append(changes, d.Change)
	}
	for _, c := range changes {
		if v, err := c.After.Unmarked(); err == nil && v != cty.NilVal && c.Action != plan.Delete && c.Action != plan.Forget {
			add(c.Addr, c.Provider.Provider, v, c.After.Sensitive())
		}
	}
	for a, in := range p.Prior.AllInstances() {
		if a.Resource.Mode != addr.Data || in.Current == nil {
			continue
		}
		if s := loaded(in.Provider.Provider, addr.Data, a.Resource.Type); s != nil {
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
