package blocks

// references are the references to resources of a configuration, apart from depends_on.
type references struct {
	all  bool                   // resources may be referred to by expressions that are in no block of the graph
	some map[*Resource]struct{} // those that are referred to
	sole map[*Value][]*Resource // those that only one local value or output refers to, by that
}

// Referred reports whether something may refer to the objects of the resource, apart from depends_on, so that
// a run has to keep their values. Its own postconditions and triggers count too: they may be evaluated later.
// Expressions of import and removed blocks are in no block of the graph: with one of these, all resources
// count. The references are collected once, on first use.
func (c *Config) Referred(r *Resource) bool {
	refs := c.references()
	_, ok := refs.some[r]
	return ok || refs.all
}

// SoleReads returns the resources to which the value refers and nothing else does, as Referred counts. The
// value has the expression in the same module, and opens nothing: each object of it is evaluated once.
func (c *Config) SoleReads(v *Value) []*Resource {
	refs := c.references()
	if refs.all {
		return nil
	}
	return refs.sole[v]
}

func (c *Config) references() *references {
	c.referencesOnce.Do(func() { c.refs = c.collectReferences() })
	return c.refs
}

func (c *Config) collectReferences() *references {
	refs := &references{all: len(c.Removed) > 0, some: map[*Resource]struct{}{}, sole: map[*Value][]*Resource{}}
	for _, m := range c.Modules {
		refs.all = refs.all || len(m.Config.Imports) > 0
	}
	readers := map[*Resource]*Value{} // nil for several, or another block
	for n := range c.eachNode {
		if r, ok := n.(*Resource); ok && len(r.ActionTriggers)+len(r.Postconditions) > 0 {
			refs.some[r], readers[r] = struct{}{}, nil
		}
		for e := range n.edges {
			r, ok := e.to.(*Resource)
			if !ok || e.ref == nil || e.role == inDependsOn {
				continue
			}
			v, _ := n.(*Value)
			if v != nil && (e.role != InBody || v.Kind == VariableValue || !v.Opens.Empty()) {
				v = nil
			}
			if before, again := readers[r]; again && before != v {
				v = nil
			}
			refs.some[r], readers[r] = struct{}{}, v
		}
	}
	for r, v := range readers {
		if v != nil {
			refs.sole[v] = append(refs.sole[v], r)
		}
	}
	return refs
}
