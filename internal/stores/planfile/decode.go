package planfile

import (
	"encoding/json"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// decoder decodes the stored form of a plan. After the first error, its results are meaningless.
type decoder struct {
	err       error
	types     []cty.Type
	modules   []addr.ModuleInstance
	resources []addr.AbsResource
	blocks    []addr.ConfigResource
	providers []addr.ProviderConfig
	deferred  bool // the current part is a deferral
}

// fail records the first error.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = corrupt(format, args...)
	}
}

// at returns the row of a table, or its zero value with an error if there is no such row.
func at[T any](d *decoder, table []T, i int, what string) T {
	if i < 0 || i >= len(table) {
		d.fail("it refers to a %s that is not in it", what)
		var none T
		return none
	}
	return table[i]
}

// newDecoder decodes the tables, to which everything else refers by index. A row may refer only to earlier
// rows, so no cycle can be decoded.
func newDecoder(t *tables) *decoder {
	d := &decoder{modules: []addr.ModuleInstance{addr.RootInstance}}
	for i, raw := range t.Types {
		d.types = append(d.types, d.parseType(raw, i))
	}
	for _, m := range t.Modules {
		d.modules = append(d.modules, at(d, d.modules, m.Parent, "module").Child(m.Call, m.Key))
	}
	for _, r := range t.Resources {
		d.resources = append(d.resources, addr.AbsResource{
			Module: at(d, d.modules, r.Module, "module"), Resource: addr.Resource{Mode: d.resourceMode(r.Mode), Type: r.Type, Name: r.Name},
		})
	}
	for _, b := range t.Blocks {
		m := addr.RootModule
		for _, call := range b.Module {
			m = m.Child(call)
		}
		d.blocks = append(d.blocks, addr.ConfigResource{Module: m, Resource: addr.Resource{Mode: d.resourceMode(b.Mode), Type: b.Type, Name: b.Name}})
	}
	for _, p := range t.Providers {
		source, err := providerFromText(p.Provider)
		if err != nil {
			d.fail("the provider address %q is not valid", p.Provider)
		}
		d.providers = append(d.providers, addr.ProviderConfig{
			Module: at(d, d.modules, p.Module, "module"), Provider: source, Alias: p.Alias, Key: p.Key,
		})
	}
	return d
}

// parseType decodes a row of the table of types.
func (d *decoder) parseType(raw json.RawMessage, i int) cty.Type {
	ty, err := jsonvalue.UnmarshalType(raw)
	if err != nil {
		d.fail("the type %d in its table is not valid", i)
		return cty.DynamicPseudoType
	}
	return ty
}

// resourceMode converts the name of a resource mode.
func (d *decoder) resourceMode(name string) addr.Mode {
	m, ok := resourceModes[name]
	if !ok {
		d.fail("it has a resource of the unknown mode %q", name)
	}
	return m
}

// action converts the name of an action.
func (d *decoder) action(name string) plan.Action {
	a, ok := actionsByName[name]
	if !ok {
		d.fail("it has a change with the unknown action %q", name)
	}
	return a
}

// file decodes the document. The changes are not in it: they are read one at a time from entries of their
// own.
func (d *decoder) file(doc *document) *File {
	p := &plan.Plan{
		Errored: doc.Errored, SkipRefresh: doc.SkipRefresh, LazyEphemeral: doc.Lazy, Timestamp: doc.Timestamp,
		EphemeralVariables: doc.EphemeralVariables, Targets: d.targets(doc.Targets), Excludes: d.targets(doc.Excludes),
		Extent: (*plan.Extent)(doc.Extent),
	}
	p.Mode = d.mode(doc.Mode)
	if name := doc.LeakGuard; name != "" {
		policy, ok := leak.Policies[name]
		if p.LeakPolicy = policy; !ok {
			d.fail("it was made with the unknown policy %q of the leak guard", name)
		}
	}
	if doc.Meta == nil { // without it, the plan would fit any state
		d.fail("it does not say which state it starts from")
	} else {
		p.Meta = state.Meta(*doc.Meta)
	}
	if r := doc.Reads; r != nil {
		p.Reads = &state.Reads{At: r.At, All: r.All}
		for _, text := range r.Instances {
			a, err := addr.ParseInstance(text)
			if err != nil {
				d.fail("it has refreshed an object with an address that is not valid")
			}
			p.Reads.Instances = append(p.Reads.Instances, a)
		}
	}
	for _, i := range doc.ForceReplace {
		p.ForceReplace = append(p.ForceReplace, d.instance(i))
	}
	if len(doc.Variables) > 0 {
		p.Variables = make(map[string]value.Durable, len(doc.Variables))
	}
	for name, v := range doc.Variables {
		p.Variables[name] = d.value(v)
	}
	for _, o := range doc.Outputs {
		p.Outputs = append(p.Outputs, &plan.OutputChange{
			Name: o.Name, Action: d.action(o.Action), Before: d.value(o.Before), After: d.value(o.After), Sensitive: o.Sensitive,
			Deps: d.deps(o.Deps),
		})
	}
	p.Invocations = decodeInvocations(d, doc.Invocations)
	for _, c := range doc.Checks {
		out := state.CheckResult{Kind: c.Kind, Config: c.Config, Status: state.CheckStatus(c.Status)}
		for _, o := range c.Objects {
			out.Objects = append(out.Objects, state.CheckObject{Addr: o.Addr, Status: state.CheckStatus(o.Status), Failures: o.Failures})
		}
		p.Checks = append(p.Checks, out)
	}
	f := &File{Plan: p, RootDir: doc.RootDir}
	f.Backend = Backend{Type: doc.Backend.Type, Config: d.value(doc.Backend.Config), Workspace: doc.Backend.Workspace}
	if len(doc.Packages) > 0 {
		f.Providers = make(map[addr.Provider]string, len(doc.Packages))
	}
	for text, hash := range doc.Packages {
		source, err := providerFromText(text)
		if err != nil {
			d.fail("the provider address %q is not valid", text)
		}
		f.Providers[source] = hash
	}
	return f
}

// mode converts the name of a plan mode.
func (d *decoder) mode(name string) plan.Mode {
	for m, n := range modes {
		if n == name {
			return plan.Mode(m)
		}
	}
	d.fail("it has the unknown mode %q", name)
	return plan.Normal
}

// targets decodes the addresses of -target or -exclude.
func (d *decoder) targets(targets []target) []addr.Target {
	var out []addr.Target
	for _, t := range targets {
		o := addr.Target{Module: at(d, d.modules, t.Module, "module"), Key: t.Key, ModuleKeyless: t.Keyless}
		d.specific(o.Module, o.Key)
		if t.Resource != nil {
			r := at(d, d.resources, *t.Resource, "resource")
			o.Resource = &r.Resource
		}
		out = append(out, o)
	}
	return out
}

// instance decodes the address of a resource instance.
func (d *decoder) instance(i instance) addr.Instance {
	r := at(d, d.resources, i.Resource, "resource")
	d.specific(r.Module, i.Key)
	return r.Instance(i.Key)
}

// provider decodes a provider configuration.
func (d *decoder) provider(i int) addr.ProviderConfig {
	p := at(d, d.providers, i, "provider configuration")
	d.specific(p.Module, p.Key)
	return p
}

// change decodes one change. The result is valid only if d.err is nil.
func (d *decoder) change(in *change) *plan.Change {
	c := &plan.Change{
		Addr: d.instance(in.Addr), Deposed: addr.Deposed(in.Deposed), Provider: d.provider(in.Provider),
		Action: d.action(in.Action), Reason: plan.Reason(in.Reason), RequiredReplace: d.paths(in.RequiredReplace),
		Before: d.value(in.Before), After: d.value(in.After), PriorPrivate: in.PriorPrivate, PlannedPrivate: in.PlannedPrivate,
		PriorIdentity: d.value(in.PriorIdentity), PlannedIdentity: d.value(in.PlannedIdentity), SchemaVersion: in.SchemaVersion,
		CreateBeforeDestroy: in.CreateBeforeDestroy, KeepsReplaced: in.KeepsReplaced, GeneratedConfig: in.GeneratedConfig,
	}
	if in.PrevAddr != nil {
		c.PrevAddr = d.instance(*in.PrevAddr)
	}
	c.Deps = d.deps(in.Deps)
	for _, i := range in.StateDeps {
		c.StateDeps = append(c.StateDeps, at(d, d.blocks, i, "resource block"))
	}
	if in.Importing != nil {
		c.Importing = &plan.Importing{ID: in.Importing.ID, Identity: d.value(in.Importing.Identity)}
	}
	for _, w := range in.Withheld {
		one := plan.Withheld{Path: d.path(w.Path), Status: plan.WithheldStatus(w.Status), Computed: w.Computed}
		for _, i := range w.Consumers {
			one.Consumers = append(one.Consumers, d.instance(i))
		}
		for _, i := range w.Missed {
			one.Missed = append(one.Missed, d.instance(i))
		}
		c.Withheld = append(c.Withheld, one)
	}
	if in.Given != "" && !decodeHex(c.Given[:], in.Given) {
		d.fail("a change has a hash that is not valid")
	}
	return c
}

// deps decodes dependencies.
func (d *decoder) deps(in []dep) []plan.Dep {
	if len(in) == 0 {
		return nil
	}
	out := make([]plan.Dep, len(in))
	for i, dp := range in {
		r := at(d, d.resources, dp.Resource, "resource")
		d.specific(r.Module, dp.Key)
		out[i] = plan.Dep{Resource: r, Key: dp.Key, All: dp.All, Modules: dp.Modules, Within: at(d, d.modules, dp.Within, "module instance")}
	}
	return out
}

// value decodes a stored value, without unpacking it. nil is the zero value.
func (d *decoder) value(s *sealed) value.Durable {
	if s == nil {
		return value.Durable{}
	}
	if len(s.Packed) == 0 {
		d.fail("it has a value without content")
	}
	return value.Restore(at(d, d.types, s.Type, "type"), s.Packed, d.paths(s.Sensitive))
}

// paths decodes paths of attributes.
func (d *decoder) paths(paths []path) []cty.Path {
	var out []cty.Path
	for _, p := range paths {
		out = append(out, d.path(p))
	}
	return out
}

// path decodes a path.
func (d *decoder) path(p path) cty.Path {
	steps := make(cty.Path, len(p))
	for i, s := range p {
		steps[i] = d.step(s)
	}
	return steps
}

// step decodes a step of a path. All but one of its fields are empty; the first that is set counts.
func (d *decoder) step(s step) cty.PathStep {
	switch {
	case s.Attr != nil:
		return cty.GetAttrStep{Name: *s.Attr}
	case s.Key != nil:
		return cty.IndexStep{Key: cty.StringVal(*s.Key)}
	case s.Index != nil:
		// Exponents are never written: with them, a few bytes could represent a number of a billion digits.
		if strings.ContainsAny(*s.Index, "eEpPxX") {
			break
		}
		if n, err := cty.ParseNumberVal(*s.Index); err == nil {
			return cty.IndexStep{Key: n}
		}
	case s.Element != nil:
		if ty := at(d, d.types, s.Element.Type, "type"); ty != cty.NilType {
			if v, err := jsonvalue.Unmarshal(s.Element.Value, ty); err == nil {
				return cty.IndexStep{Key: v}
			}
		}
	}
	d.fail("it has a path with a step that is not valid")
	return cty.GetAttrStep{}
}
