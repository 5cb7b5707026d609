package eval

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// UseKind is how precisely a Use is known.
type UseKind uint8

// The kinds of uses.
const (
	UseInstance      UseKind = iota // one ephemeral instance, or the computed values of a managed one
	UseResource                     // any instance of a resource object
	UseBlock                        // any instance of a block in any module instance
	UseProvider                     // a provider configuration
	UseConfiguration                // any instance of a provider block in any module instance
)

// Use is something that an operation may open while it runs. It is claimed before the operation starts, so
// that it is not closed before. It is comparable.
type Use struct {
	Kind     UseKind
	Instance addr.Instance       // UseInstance; without key for UseResource
	Block    addr.ConfigResource // UseBlock; of UseConfiguration the module alone
	Provider addr.ProviderConfig // UseProvider; without module and key for UseConfiguration
	// PreApply is set for an instance that is opened with objects from before an apply that changes them. It
	// is distinct from the same instance opened with the final objects.
	PreApply bool
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

// Uses returns the uses of operations on the instance: its provider, and the ephemeral instances that its
// configuration leads to. It evaluates only instance keys made from each.key and count.index. Where these do
// not determine the instances, the result covers the whole resource or block. The caller must not change it.
func (in *Instance) Uses(t *future.Task) []Use {
	b, p := in.Resource.Block, in.Provider(t)
	if b.Opens.Empty() {
		if p == nil {
			return nil
		}
		return slices.Clip(p.use)
	}
	c := newUseCollector(t)
	if p != nil {
		c.uses[p.use[0]] = struct{}{}
	}
	sc, r := in.scope(t, nil).setEarly(), &reads{}
	b.Exprs(r.adder(sc, blocks.Opening))
	r.addHeld(sc, in)
	c.reads(r)
	return c.list()
}

// Uses returns the uses of the provider configuration.
func (p *ProviderObject) Uses(t *future.Task) []Use {
	if !p.Opens() {
		return nil
	}
	r := &reads{}
	p.block.Exprs(r.adder(p.scope(t, nil).setEarly(), blocks.Opening))
	return r.uses(t)
}

// Claims returns the uses of planning the instance. An ephemeral instance with conditions is opened for their
// sake, so it uses itself then.
func (in *Instance) Claims(t *future.Task) []Use {
	out := in.Uses(t)
	if in.Config().Addr.Mode == addr.Ephemeral && in.HasConditions() {
		out = append(out, Use{Kind: UseInstance, Instance: in.Addr()})
	}
	return out
}

// BlockClaims is Claims for all instances of the block, before they are known.
func BlockClaims(b *blocks.Resource) []Use {
	if b.IsAction() {
		return nil // planning opens nothing for its configuration
	}
	out := BlockUses(b)
	if b.Config.Addr.Mode == addr.Ephemeral && b.HasConditions() {
		out = append(out, Use{Kind: UseBlock, Block: b.Config.Config()})
	}
	return out
}

// BlockUses returns the uses of all instances of the resource, before they are known. It includes provider
// configurations only if they come from ephemeral resources. The result cannot lead back to the resource,
// since blocks that open each other in a cycle are rejected.
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

// UsesOf returns the uses of the target of u while it is open. This is how claims extend upstream.
func (r *Run) UsesOf(t *future.Task, u Use) []Use {
	switch u.Kind {
	case UseInstance:
		if m := r.Module(u.Instance.Module); m != nil && m.resources[u.Instance.Resource] != nil && u.Instance.Resource.Mode != addr.Managed {
			in := m.resources[u.Instance.Resource].Instance(u.Instance.Key)
			return slices.Concat(in.Uses(t), Borrowed(r, in.Resource.Block.Borrows))
		}
	case UseResource:
		return r.UsesOf(t, Use{Kind: UseBlock, Block: u.Instance.Config()})
	case UseBlock:
		if b := r.cfg.Modules[u.Block.Module]; b != nil && b.Resources[u.Block.Resource] != nil && u.Block.Resource.Mode != addr.Managed {
			return slices.Concat(BlockUses(b.Resources[u.Block.Resource]), Borrowed(r, b.Resources[u.Block.Resource].Borrows))
		}
	case UseProvider:
		if p, diags := r.Providers.ByAddr(t, u.Provider); !diags.HasErrors() {
			if p.Borrows() {
				return slices.Concat(p.Uses(t), Borrowed(r, p.block.Borrows))
			}
			return p.Uses(t)
		}
	case UseConfiguration:
		for _, b := range r.cfg.Modules[u.Block.Module].Providers {
			if b.Source == u.Provider.Provider && b.Config.Alias == u.Provider.Alias {
				return slices.Concat(usesOf(b.Opens), Borrowed(r, b.Borrows))
			}
		}
	}
	return nil
}

// Use returns the use of the provider configuration at an address that a state recorded; false if it
// opens nothing or is not there.
func (ps *Providers) Use(t *future.Task, pc addr.ProviderConfig) (Use, bool) {
	p, diags := ps.ByAddr(t, pc)
	if diags.HasErrors() || !p.Opens() {
		return Use{}, false
	}
	return Use{Kind: UseProvider, Provider: p.Addr}, true
}

// uses returns the instances that a read-set collected early may open.
func (r *reads) uses(t *future.Task) []Use {
	c := newUseCollector(t)
	c.reads(r)
	return c.list()
}

// useCollector collects the instances that read-sets may open. The read-sets are resolved early: claims are
// made before the values that determine the instances are known.
type useCollector struct {
	visitor
	uses map[Use]struct{}
}

func newUseCollector(t *future.Task, seen ...any) useCollector {
	return useCollector{visitor: newVisitor(t, seen...), uses: map[Use]struct{}{}}
}

func (c useCollector) list() []Use { return slices.Collect(maps.Keys(c.uses)) }

func (c useCollector) reads(r *reads) {
	for _, v := range r.values {
		if v.Opens() && c.first(v.Value) {
			for _, u := range v.Uses(c.t) {
				c.uses[u] = struct{}{}
			}
		}
	}
	for _, rr := range r.resources {
		if rr.res.ephemeral {
			c.uses[rr.use()] = struct{}{}
		}
	}
	for _, mr := range r.modules {
		for block := range mr.call.opens(mr.sel) {
			c.uses[Use{Kind: UseBlock, Block: block}] = struct{}{}
		}
	}
}

// use returns the use for a read. For a block with an enabled argument, that is its only possible instance.
func (rr resourceRead) use() Use {
	u := Use{Kind: UseInstance, Instance: rr.res.Addr().Instance(rr.key)}
	if rr.all && rr.res.Form().Keyed() {
		u.Kind = UseResource
	}
	return u
}

// Uses returns the ephemeral instances that evaluating the value may open, collected once.
func (v *Value) Uses(t *future.Task) []Use {
	if !v.Opens() {
		return nil
	}
	got, cycle := v.uses.Get(t, v, nil, func() []Use {
		c, r := newUseCollector(t, v), &reads{}
		if sc := v.writtenIn(t); sc != nil {
			v.block.Exprs(r.adder(sc.setEarly(), blocks.InBody))
		}
		c.reads(r)
		return c.list()
	})
	if cycle != nil {
		return nil
	}
	return got
}

// BlockClaims returns the uses of planning the blocks of the called module, and of modules that it calls.
func (c *Call) BlockClaims() []Use { return moduleClaims(c.block.Child, nil) }

func moduleClaims(m *blocks.Module, into []Use) []Use {
	for _, b := range m.Resources {
		into = append(into, BlockClaims(b)...)
	}
	for _, b := range m.Checks {
		into = append(into, usesOf(b.Opens)...)
	}
	for _, c := range m.Calls {
		if c.Child != nil {
			into = moduleClaims(c.Child, into)
		}
	}
	return into
}

// HeldUses returns the instances that Held may return.
func (in *Instance) HeldUses(t *future.Task) []Use {
	r := &reads{}
	r.addHeld(in.scope(t, nil).setEarly(), in)
	return r.uses(t)
}
