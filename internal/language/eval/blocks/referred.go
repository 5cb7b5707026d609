package blocks

// Referred reports whether something may refer to the objects of the resource, apart from depends_on, so that
// a run has to keep their values. Its own postconditions and triggers count too: they may be evaluated later.
// Expressions of import and removed blocks are in no block of the graph: with one of these, all resources
// count. The set is computed once, on first use.
func (c *Config) Referred(r *Resource) bool {
	c.referredOnce.Do(func() { c.referredAll, c.referredSet = c.referred() })
	_, ok := c.referredSet[r]
	return ok || c.referredAll
}

func (c *Config) referred() (all bool, set map[*Resource]struct{}) {
	set = map[*Resource]struct{}{}
	for _, m := range c.Modules {
		all = all || len(m.Config.Imports) > 0
	}
	for n := range c.eachNode {
		if r, ok := n.(*Resource); ok && len(r.ActionTriggers)+len(r.Postconditions) > 0 {
			set[r] = struct{}{}
		}
		for e := range n.edges {
			if r, ok := e.to.(*Resource); ok && e.ref != nil && e.role != inDependsOn {
				set[r] = struct{}{}
			}
		}
	}
	return all || len(c.Removed) > 0, set
}
