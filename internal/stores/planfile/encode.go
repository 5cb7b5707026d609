package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// encoder converts a plan to its stored form. It fills the tables on the way, so the document is encoded
// after the changes.
type encoder struct {
	tables
	types     map[string]int
	hints     map[string]typeHint
	modules   map[addr.ModuleInstance]int
	resources map[addr.AbsResource]int
	blocks    map[addr.ConfigResource]int
	providers map[addr.ProviderConfig]int
	deferred  bool // the current part is a deferral
}

// typeHint is the type of the previous value with the same origin. Most values of one origin share a type,
// and comparing types is much cheaper than encoding them.
type typeHint struct {
	ty    cty.Type
	index int
}

// newEncoder returns an encoder with empty tables. The root module needs no row.
func newEncoder() *encoder {
	return &encoder{
		types: map[string]int{}, hints: map[string]typeHint{}, modules: map[addr.ModuleInstance]int{addr.RootInstance: 0},
		resources: map[addr.AbsResource]int{}, blocks: map[addr.ConfigResource]int{}, providers: map[addr.ProviderConfig]int{},
	}
}

// checkText refuses text that JSON would alter.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("it is not valid UTF-8, so it cannot be saved")
	}
	return nil
}

// change encodes one change. It never modifies the plan.
func (e *encoder) change(c *plan.Change) (*change, error) {
	if int(c.Action) >= len(actions) {
		return nil, fmt.Errorf("unknown action %d", c.Action)
	}
	out := &change{
		Deposed: string(c.Deposed), Action: c.Action.String(), Reason: string(c.Reason), SchemaVersion: c.SchemaVersion,
		PriorPrivate: c.PriorPrivate, PlannedPrivate: c.PlannedPrivate, CreateBeforeDestroy: c.CreateBeforeDestroy, GeneratedConfig: c.GeneratedConfig,
		KeepsReplaced: c.KeepsReplaced,
	}
	var x failing
	out.Addr = e.instance(&x, c.Addr)
	if c.PrevAddr != (addr.Instance{}) {
		prev := e.instance(&x, c.PrevAddr)
		out.PrevAddr = &prev
	}
	out.Provider = e.provider(&x, c.Provider)
	out.RequiredReplace = e.paths(&x, c.RequiredReplace)
	origin := c.Addr.Resource.Type
	out.Before = e.sealed(&x, origin, c.Before)
	out.After = e.sealed(&x, origin, c.After)
	out.PriorIdentity = e.sealed(&x, origin+" identity", c.PriorIdentity)
	out.PlannedIdentity = e.sealed(&x, origin+" identity", c.PlannedIdentity)
	out.Deps = e.deps(&x, c.Deps)
	for _, r := range c.StateDeps {
		out.StateDeps = append(out.StateDeps, e.block(&x, r))
	}
	if c.Importing != nil {
		out.Importing = &importing{ID: c.Importing.ID, Identity: e.sealed(&x, origin+" identity", c.Importing.Identity)}
	}
	for _, w := range c.Withheld {
		one := withheld{Path: e.path(&x, w.Path), Status: string(w.Status), Computed: w.Computed}
		for _, i := range w.Consumers {
			one.Consumers = append(one.Consumers, e.instance(&x, i))
		}
		for _, i := range w.Missed {
			one.Missed = append(one.Missed, e.instance(&x, i))
		}
		out.Withheld = append(out.Withheld, one)
	}
	out.Given = encodeHash(c.Given)
	return out, x.err
}

// failing keeps the first error, so that a long sequence of conversions is checked once.
type failing struct{ err error }

// check keeps err if it is the first.
func (x *failing) check(err error) {
	if x.err == nil {
		x.err = err
	}
}

// document encodes everything but the changes, the configuration and the states. Maps are visited in sorted
// order where the tables are filled, so that equal plans give equal bytes.
func (e *encoder) document(doc *document, f *File) error {
	p := f.Plan
	if int(p.Mode) >= len(modes) {
		return fmt.Errorf("unknown plan mode %d", p.Mode)
	}
	var x failing
	doc.Mode, doc.Errored, doc.SkipRefresh, doc.Timestamp = modes[p.Mode], p.Errored, p.SkipRefresh, p.Timestamp.UTC()
	doc.Lazy, doc.Meta, doc.Extent = p.LazyEphemeral, (*meta)(&p.Meta), (*extent)(p.Extent)
	if p.LeakPolicy != leak.Standard {
		doc.LeakGuard = p.LeakPolicy.String()
	}
	doc.Changes, doc.Drift, doc.Deferred = len(p.Changes), len(p.Drift), len(p.Deferrals)
	doc.Variables = make(map[string]*sealed, len(p.Variables))
	for _, name := range sortedKeys(p.Variables) {
		doc.Variables[name] = e.sealed(&x, "", p.Variables[name])
	}
	doc.EphemeralVariables = p.EphemeralVariables
	doc.Targets, doc.Excludes = e.targets(&x, p.Targets), e.targets(&x, p.Excludes)
	for _, i := range p.ForceReplace {
		doc.ForceReplace = append(doc.ForceReplace, e.instance(&x, i))
	}
	if p.Reads != nil {
		doc.Reads = &reads{At: p.Reads.At.UTC(), All: p.Reads.All}
		for _, a := range p.Reads.Instances {
			doc.Reads.Instances = append(doc.Reads.Instances, a.String())
		}
	}
	e.results(&x, doc, p)
	doc.RootDir = f.RootDir
	doc.Backend = backend{Type: f.Backend.Type, Config: e.sealed(&x, "", f.Backend.Config), Workspace: f.Backend.Workspace}
	doc.Packages = make(map[string]string, len(f.Providers))
	for p, hash := range f.Providers {
		doc.Packages[providerText(p)] = hash
	}
	x.check(checkText(f.RootDir))
	return x.err
}

// results stores the outputs and condition results of the plan.
func (e *encoder) results(x *failing, doc *document, p *plan.Plan) {
	doc.Invocations = encodeInvocations(e, x, p.Invocations)
	for _, o := range p.Outputs {
		if int(o.Action) >= len(actions) {
			x.check(fmt.Errorf("output %s: unknown action %d", o.Name, o.Action))
			continue
		}
		doc.Outputs = append(doc.Outputs, outputChange{
			Name: o.Name, Action: o.Action.String(), Before: e.sealed(x, "", o.Before), After: e.sealed(x, "", o.After), Sensitive: o.Sensitive,
			Deps: e.deps(x, o.Deps),
		})
	}
	for _, c := range p.Checks {
		out := checkResult{Kind: c.Kind, Config: c.Config, Status: string(c.Status)}
		for _, o := range c.Objects {
			out.Objects = append(out.Objects, checkObject{Addr: o.Addr, Status: string(o.Status), Failures: o.Failures})
		}
		doc.Checks = append(doc.Checks, out)
	}
}

// deps encodes dependencies.
func (e *encoder) deps(x *failing, deps []plan.Dep) (out []dep) {
	for _, d := range deps {
		e.specific(x, d.Resource.Module, d.Key)
		out = append(out, dep{Resource: e.resource(x, d.Resource), Key: e.key(x, d.Key), All: d.All, Modules: d.Modules, Within: e.module(x, d.Within)})
	}
	return out
}

// providerText returns a provider's address, or "" for none.
func providerText(p addr.Provider) string {
	if p.IsZero() {
		return ""
	}
	return p.String()
}

// targets encodes the addresses of -target or -exclude.
func (e *encoder) targets(x *failing, targets []addr.Target) []target {
	var out []target
	for _, t := range targets {
		e.specific(x, t.Module, t.Key)
		o := target{Module: e.module(x, t.Module), Key: e.key(x, t.Key), Keyless: t.ModuleKeyless}
		if t.Resource != nil {
			r := e.resource(x, addr.AbsResource{Module: t.Module, Resource: *t.Resource})
			o.Resource = &r
		}
		out = append(out, o)
	}
	return out
}

// key checks an instance key, which encodes itself.
func (e *encoder) key(x *failing, k addr.Key) addr.Key {
	if err := checkText(k.Str()); err != nil {
		x.check(fmt.Errorf("an instance key: %w", err))
	}
	return k
}

// instance encodes the address of a resource instance.
func (e *encoder) instance(x *failing, i addr.Instance) instance {
	e.specific(x, i.Module, i.Key)
	return instance{Resource: e.resource(x, i.Abs()), Key: e.key(x, i.Key)}
}

// module returns the index of a module instance, after adding it and its ancestors if they are new.
func (e *encoder) module(x *failing, m addr.ModuleInstance) int {
	if i, ok := e.modules[m]; ok {
		return i
	}
	parent, call, k := m.Parent()
	row := moduleInstance{Parent: e.module(x, parent), Call: call, Key: e.key(x, k)}
	e.Modules = append(e.Modules, row)
	e.modules[m] = len(e.Modules)
	return len(e.Modules)
}

// resource returns the index of a resource, after adding it if it is new.
func (e *encoder) resource(x *failing, r addr.AbsResource) int {
	if i, ok := e.resources[r]; ok {
		return i
	}
	row := resource{Module: e.module(x, r.Module), Mode: r.Mode.String(), Type: r.Type, Name: r.Name}
	e.Resources = append(e.Resources, row)
	e.resources[r] = len(e.Resources) - 1
	return len(e.Resources) - 1
}

// block returns the index of a resource block, after adding it if it is new.
func (e *encoder) block(_ *failing, r addr.ConfigResource) int {
	if i, ok := e.blocks[r]; ok {
		return i
	}
	e.Blocks = append(e.Blocks, block{Module: r.Module.Calls(), Mode: r.Mode.String(), Type: r.Type, Name: r.Name})
	e.blocks[r] = len(e.Blocks) - 1
	return len(e.Blocks) - 1
}

// provider returns the index of a provider configuration, after adding it if it is new.
func (e *encoder) provider(x *failing, p addr.ProviderConfig) int {
	e.specific(x, p.Module, p.Key)
	if i, ok := e.providers[p]; ok {
		return i
	}
	row := providerConfig{Module: e.module(x, p.Module), Provider: providerText(p.Provider), Alias: p.Alias, Key: e.key(x, p.Key)}
	e.Providers = append(e.Providers, row)
	e.providers[p] = len(e.Providers) - 1
	return len(e.Providers) - 1
}

// sealed encodes a value, nil for none. Values with the same origin are likely to have the same type.
func (e *encoder) sealed(x *failing, origin string, d value.Durable) *sealed {
	if d.IsZero() {
		return nil
	}
	return &sealed{Type: e.typ(x, origin, d.Type()), Packed: d.Packed(), Sensitive: e.paths(x, d.Sensitive())}
}

// typ returns the index of a type, adding it to the table if it is new. origin names the owner of the value;
// see typeHint.
func (e *encoder) typ(x *failing, origin string, ty cty.Type) int {
	if ty == cty.NilType {
		x.check(errors.New("a value has no type"))
		return 0
	}
	if hint, ok := e.hints[origin]; ok && hint.ty.Equals(ty) {
		return hint.index
	}
	encoded, err := jsonvalue.MarshalType(ty)
	if err != nil {
		x.check(fmt.Errorf("a value has a type that cannot be saved: %w", err))
		return 0
	}
	i, ok := e.types[string(encoded)]
	if !ok {
		i = len(e.Types)
		e.Types = append(e.Types, json.RawMessage(encoded))
		e.types[string(encoded)] = i
	}
	e.hints[origin] = typeHint{ty, i}
	return i
}

// paths encodes paths of attributes.
func (e *encoder) paths(x *failing, paths []cty.Path) []path {
	var out []path
	for _, p := range paths {
		out = append(out, e.path(x, p))
	}
	return out
}

// path encodes a path. A step to an element of a set with unknown parts has no stored form: the path then
// ends before it, and so covers the whole set.
func (e *encoder) path(x *failing, p cty.Path) path {
	out := make(path, 0, len(p))
	for _, s := range p {
		switch s := s.(type) {
		case cty.GetAttrStep:
			out = append(out, step{Attr: &s.Name})
		case cty.IndexStep:
			if !hasText(s.Key) {
				return out
			}
			out = append(out, e.index(x, s.Key))
		}
	}
	return out
}

// hasText reports whether a key has a text form that can be read back.
func hasText(k cty.Value) bool {
	if k == cty.NilVal || value.IsMarked(k) || !k.IsWhollyKnown() {
		return false
	}
	return k.IsNull() || k.Type() != cty.Number || fits(k.AsBigFloat())
}

// Bounds on numbers in paths, in bits: the precision with which cty parses them, and the size up to which
// their digits are written out.
const (
	numberPrecision = 512
	maxExponent     = 1 << 12
)

// fits reports whether a number is within the bounds.
func fits(n *big.Float) bool {
	return !n.IsInf() && n.MinPrec() <= numberPrecision && max(n.MantExp(nil), -n.MantExp(nil)) <= maxExponent
}

// numberText writes a number so that cty considers the parsed result equal: integers exactly, others with
// the fewest digits that identify them at their own precision.
func numberText(n *big.Float) string {
	if n.IsInt() {
		return n.Text('f', 0)
	}
	return n.Text('f', -1)
}

// index encodes a key of a path: a string, a number as text, or, for elements of sets, any other known
// value with its type.
func (e *encoder) index(x *failing, k cty.Value) step {
	switch {
	case !k.IsNull() && k.Type() == cty.String:
		s := k.AsString()
		return step{Key: &s}
	case !k.IsNull() && k.Type() == cty.Number:
		n := numberText(k.AsBigFloat())
		return step{Index: &n}
	}
	v, err := ctyjson.Marshal(k, k.Type())
	if err != nil {
		x.check(fmt.Errorf("a path leads through a value that cannot be saved: %w", err))
	}
	return step{Element: &element{Type: e.typ(x, "element", k.Type()), Value: v}}
}
