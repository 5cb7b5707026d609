package eval

import "github.com/mayfly-iac/mayfly/addr"

// useConfig is the use of any instance of a provider block, which the module and the alias name. Blocks refer to each other without circles, and so
// do these uses: the provider as a whole would lead back to itself where one configuration of it opens what another one is configured with.
func useConfig(module addr.Module, source addr.Provider, alias string) Use {
	return Use{Kind: UseConfig, Block: addr.ConfigResource{Module: module}, Provider: addr.ProviderConfig{Provider: source, Alias: alias}}
}

// configUse is the use of the provider configuration that the block's instances work with, whichever instance of it that is.
func (b *ResourceBlock) configUse() Use {
	if p := b.module.providerBlockFor(b.Config.ProviderRef()); p != nil {
		return useConfig(p.module.cfg.Path, b.Provider, p.cfg.Alias)
	}
	return useConfig(addr.RootModule, b.Provider, "")
}

// configUses returns what the instances of a provider block may use.
func (c *Config) configUses(u Use) []Use {
	m := c.modules[u.Block.Module]
	if m == nil {
		return nil
	}
	set := noOpens
	for _, b := range m.providers {
		if b.source == u.Provider.Provider && b.cfg.Alias == u.Provider.Alias {
			set = set.union(b.opens)
		}
	}
	return set.uses()
}

// sourceUses returns what the configurations of a provider may use, all together.
func (c *Config) sourceUses(p addr.Provider) []Use {
	set := noOpens
	for _, m := range c.modules {
		for _, b := range m.providers {
			if b.source == p {
				set = set.union(b.opens)
			}
		}
	}
	return set.uses()
}
