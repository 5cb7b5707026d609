package eval

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
)

// UseKind tells how exactly a Use is known.
type UseKind uint8

// The kinds of uses.
const (
	UseInstance      UseKind = iota // one ephemeral instance
	UseResource                     // any instance of an ephemeral resource object
	UseBlock                        // any instance of an ephemeral block in any module instance
	UseProvider                     // a provider configuration
	UseConfiguration                // any instance of a provider block in any module instance
)

// Use is something that an operation may come to use while it runs, known before it runs. It is comparable.
type Use struct {
	Kind     UseKind
	Instance addr.Instance       // UseInstance; without key for UseResource
	Block    addr.ConfigResource // UseBlock; of UseConfiguration the module alone
	Provider addr.ProviderConfig // UseProvider; without module and key for UseConfiguration
	// Before tells an instance that is opened with what it refers to as that was before an apply, where the
	// apply changes it.
	Before bool
}

// Group returns the coarser use that u is part of.
func (u Use) Group() (Use, bool) {
	switch u.Kind {
	case UseInstance:
		i := u.Instance
		i.Key = addr.NoKey
		return Use{Kind: UseResource, Instance: i}, true
	case UseResource:
		return Use{Kind: UseBlock, Block: u.Instance.Config()}, true
	case UseProvider:
		return configurationUse(u.Provider.Module.Module(), u.Provider.Provider, u.Provider.Alias), true
	default:
		return Use{}, false
	}
}

func configurationUse(m addr.Module, p addr.Provider, alias string) Use {
	return Use{Kind: UseConfiguration, Block: addr.ConfigResource{Module: m}, Provider: addr.ProviderConfig{Provider: p, Alias: alias}}
}

// Uses returns what working on the instance may use: its provider, and the ephemeral instances that its
// configuration leads to. It evaluates nothing but instance keys that depend on each.key and count.index
// alone; what cannot be told exactly is told coarsely.
func (in *Instance) Uses(t *future.Task) []Use {
	b := in.Resource.Block
	c := useCollector{t: t, seen: map[any]struct{}{}, uses: map[Use]struct{}{}}
	if p := in.Provider(t); p != nil {
		c.uses[Use{Kind: UseProvider, Provider: p.Addr}] = struct{}{}
	}
	if !b.Opens.Empty() {
		sc := in.scope(t, nil)
		c.exprs(sc, b.Body...)
		for _, conds := range [][]blocks.Condition{b.Preconditions, b.Postconditions} {
			for _, cond := range conds {
				c.exprs(sc, cond.Expr, cond.Message)
			}
		}
		for _, p := range b.Provisioners {
			c.exprs(sc, p.Exprs...)
		}
		c.held(in, sc)
	}
	return c.list()
}

// Uses returns what the provider configuration may use.
func (p *ProviderObject) Uses(t *future.Task) []Use {
	if !p.Opens() {
		return nil
	}
	c := useCollector{t: t, seen: map[any]struct{}{}, uses: map[Use]struct{}{}}
	c.exprs(p.scope(t, nil), p.block.Body...)
	return c.list()
}

// Claims returns what planning the instance may use. An ephemeral instance with conditions is opened for
// their sake, so it uses itself then.
func (in *Instance) Claims(t *future.Task) []Use {
	out := in.Uses(t)
	if in.Config().Addr.Mode == addr.Ephemeral && in.HasConditions() {
		out = append(out, Use{Kind: UseInstance, Instance: in.Addr()})
	}
	return out
}

// BlockClaims is Claims for all instances of the block, before they are known.
func BlockClaims(b *blocks.Resource) []Use {
	out := BlockUses(b)
	if b.Config.Addr.Mode == addr.Ephemeral && b.HasConditions() {
		out = append(out, Use{Kind: UseBlock, Block: b.Config.Config()})
	}
	return out
}

// BlockUses returns what any instance of the resource may use, before its instances are known. Of provider
// configurations only those count that come from ephemeral resources. What is used by block leads back to
// nothing that uses it, since blocks that open each other in a circle are refused.
func BlockUses(b *blocks.Resource) []Use {
	out := usesOf(b.Opens)
	if p := b.Module.ProviderFor(b.Config.ProviderRef()); p != nil && !p.Opens.Empty() {
		out = append(out, configurationUse(p.Module.Config.Path, p.Source, p.Config.Alias))
	}
	return out
}

// usesOf returns a set of blocks as uses.
func usesOf(s *blocks.OpenSet) []Use {
	var out []Use
	if s != nil {
		for r := range s.All {
			out = append(out, Use{Kind: UseBlock, Block: r})
		}
	}
	return out
}

// UsesOf returns what the target of u may itself use while it is open: the rule by which claims reach
// upstream.
func (r *Run) UsesOf(t *future.Task, u Use) []Use {
	switch u.Kind {
	case UseInstance:
		if m := r.Module(u.Instance.Module); m != nil && m.resources[u.Instance.Resource] != nil {
			return m.resources[u.Instance.Resource].Instance(u.Instance.Key).Uses(t)
		}
	case UseResource:
		return r.UsesOf(t, Use{Kind: UseBlock, Block: u.Instance.Config()})
	case UseBlock:
		if b := r.cfg.Modules[u.Block.Module]; b != nil && b.Resources[u.Block.Resource] != nil {
			return BlockUses(b.Resources[u.Block.Resource])
		}
	case UseProvider:
		if p, diags := r.ProviderByAddr(t, u.Provider); !diags.HasErrors() {
			return p.Uses(t)
		}
	case UseConfiguration:
		for _, b := range r.cfg.Modules[u.Block.Module].Providers {
			if b.Source == u.Provider.Provider && b.Config.Alias == u.Provider.Alias {
				return usesOf(b.Opens)
			}
		}
	}
	return nil
}

// ProviderUse returns the use of the provider configuration at an address that a state recorded; false if it
// opens nothing or is not there.
func (r *Run) ProviderUse(t *future.Task, pc addr.ProviderConfig) (Use, bool) {
	p, diags := r.ProviderByAddr(t, pc)
	if diags.HasErrors() || !p.Opens() {
		return Use{}, false
	}
	return Use{Kind: UseProvider, Provider: p.Addr}, true
}

type useCollector struct {
	t    *future.Task
	seen map[any]struct{}
	uses map[Use]struct{}
}

func (c *useCollector) list() []Use {
	out := make([]Use, 0, len(c.uses))
	for u := range c.uses {
		out = append(out, u)
	}
	return out
}

func (c *useCollector) exprs(sc *scope, exprs ...*lang.Expr) {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			c.ref(sc, &x.Refs[i])
		}
	}
}

func (c *useCollector) ref(sc *scope, ref *lang.Ref) {
	switch ref.Kind {
	case lang.Variable:
		c.value(sc.m.variables[ref.Name])
	case lang.Local:
		c.value(sc.m.locals[ref.Name])
	case lang.Module:
		c.module(sc, ref)
	case lang.Resource:
		if ref.Resource.Mode == addr.Ephemeral && sc.m.resources[ref.Resource] != nil {
			c.ephemeral(sc, sc.m.resources[ref.Resource], ref)
		}
	}
}

func (c *useCollector) ephemeral(sc *scope, res *Resource, ref *lang.Ref) {
	u := Use{Kind: UseInstance, Instance: res.Addr().Instance(addr.NoKey)}
	if res.repeat.Repeated() && res.Form() != blocks.Enabled {
		key, ok := sc.keyEarly(ref.Index, res.Form())
		if key == nowhere {
			return
		}
		if !ok {
			u.Kind = UseResource
		}
		u.Instance.Key = key
	}
	c.uses[u] = struct{}{}
}

// keyEarly is key for references whose key depends on nothing but the instance's own.
func (sc *scope) keyEarly(idx *lang.Index, form blocks.Form) (addr.Key, bool) {
	if idx != nil && idx.Expr != nil {
		for _, ref := range idx.Expr.Refs {
			if ref.Kind != lang.Count && (ref.Kind != lang.Each || ref.Name != "key") {
				return addr.NoKey, false
			}
		}
	}
	return sc.key(idx, form)
}

func (c *useCollector) value(v *Value) {
	if v == nil || !v.opens() {
		return
	}
	if _, ok := c.seen[v]; ok {
		return
	}
	c.seen[v] = struct{}{}
	for _, u := range v.earlyUses(c.t) {
		c.uses[u] = struct{}{}
	}
}

// earlyUses returns what evaluating v may use, collected once per value.
func (v *Value) earlyUses(t *future.Task) []Use {
	got, cycle := v.uses.Get(t, v, nil, func() []Use {
		sub := useCollector{t: t, seen: map[any]struct{}{v: {}}, uses: map[Use]struct{}{}}
		sc := &scope{m: v.module, t: t}
		if v.block.Kind == blocks.VariableValue && v.module.call != nil {
			sc = v.module.callScope(t)
		}
		sub.exprs(sc, v.block.Expr)
		return sub.list()
	})
	if cycle != nil {
		return nil
	}
	return got
}

func (c *useCollector) module(sc *scope, ref *lang.Ref) {
	call := sc.m.calls[ref.Name]
	if call == nil || call.block.Child == nil {
		return
	}
	form := blocks.FormOf(call.repeat)
	key, ok := sc.keyEarly(ref.Index, form)
	switch {
	case !form.Keyed():
		c.outputs(call.Child(addr.NoKey), ref.Output)
	case ok:
		c.outputs(call.Child(key), ref.Output)
	default:
		for r := range sc.m.block.OpensOfRef(ref).All {
			c.uses[Use{Kind: UseBlock, Block: r}] = struct{}{}
		}
	}
}

func (c *useCollector) outputs(m *Module, name string) {
	if name != "" {
		c.value(m.outputs[name])
		return
	}
	for _, o := range m.outputs {
		c.value(o)
	}
}

// Uses returns the ephemeral instances that evaluating the value may open.
func (v *Value) Uses(t *future.Task) []Use {
	if !v.opens() {
		return nil
	}
	return v.earlyUses(t)
}
