package blocks

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// Region is a resource block in the instances of its module that are within one module instance: in an
// instance of the module itself, or in those below an instance of a module around it. Key is the one that the
// block's instances have; NoKey for any.
type Region struct {
	Block *Resource
	In    addr.ModuleInstance
	Key   addr.Key
}

// node is a node in such a region.
type node struct {
	Node
	in  addr.ModuleInstance
	key addr.Key
}

// LeadsTo returns the regions that evaluating instances in the given ones may read, directly or through
// anything else. The given ones are among them only if something leads back to them. An expression in a
// module instance reads that instance, the ones around it and the ones below. Of a reference to one instance,
// the key is known if it is written there, or is each.key or count.index of an instance whose key is known.
func (c *Config) LeadsTo(from []Region) []Region {
	seen, found := map[node]bool{}, map[Region]bool{}
	var out []Region
	var queue []node
	push := func(n node) {
		for in := n.in; ; in, _, _ = in.Parent() {
			if seen[node{n.Node, in, n.key}] || seen[node{n.Node, in, addr.NoKey}] {
				return
			}
			if in.IsRoot() {
				break
			}
		}
		seen[n] = true
		queue = append(queue, n)
	}
	for _, p := range from {
		push(node{p.Block, p.In, p.Key})
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for e := range n.edges {
			in, key := common(n.in, moduleOf(e.to).Config.Path), addr.NoKey
			if r, is := e.to.(*Resource); is {
				key = keyOf(e, n.key)
				if to := (Region{r, in, key}); !found[to] {
					found[to] = true
					out = append(out, to)
				}
			}
			push(node{e.to, in, key})
		}
	}
	return out
}

// keyOf returns the key in a reference that an instance with the key own has; NoKey if there is none, or it is
// not known. A dependency is on all instances.
func keyOf(e edge, own addr.Key) addr.Key {
	if e.ref == nil || e.ref.Index == nil || e.role == inDependsOn {
		return addr.NoKey
	}
	x := e.ref.Index.Expr
	if x == nil {
		return e.ref.Index.Key
	}
	if len(x.Refs) != 1 {
		return addr.NoKey
	}
	ref := &x.Refs[0]
	if own := ref.Kind == lang.Each && ref.Name == "key" || ref.Kind == lang.Count; !own || len(ref.Rest) > 0 || ref.Range != x.Range() {
		return addr.NoKey
	}
	return own
}

// Users returns the resource blocks from which references lead to one of the given blocks, directly or
// through anything else.
func (c *Config) Users(of []*Resource) []*Resource {
	users, seen := map[Node][]Node{}, map[Node]bool{}
	var queue []Node
	push := func(n Node) {
		if !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	for n := range c.eachNode {
		push(n)
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for e := range n.edges {
			users[e.to] = append(users[e.to], n)
			push(e.to) // groups of blocks are found by the references to them
		}
	}
	clear(seen)
	var out []*Resource
	for _, r := range of {
		push(r)
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, user := range users[n] {
			if r, is := user.(*Resource); is && !seen[r] {
				out = append(out, r)
			}
			push(user)
		}
	}
	return out
}

// common returns the innermost module instance that is, or is around, both in and the instances of a module.
func common(in addr.ModuleInstance, m addr.Module) addr.ModuleInstance {
	calls, at := m.Calls(), addr.RootInstance
	for i, step := range in.Path() {
		_, name, _ := step.Parent()
		if i >= len(calls) || calls[i] != name {
			break
		}
		at = step
	}
	return at
}

// moduleOf returns the module that has a node.
func moduleOf(n Node) *Module {
	switch n := n.(type) {
	case *Resource:
		return n.Module
	case *Value:
		return n.Module
	case *Provider:
		return n.Module
	case *Call:
		return n.Module
	case *Check:
		return n.Module
	case outputsOf:
		return n.Module
	case insideOf:
		return n.Module
	}
	return nil
}
