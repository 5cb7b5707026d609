package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/component"
	"github.com/mayfly-iac/mayfly/state"
)

// relation says which objects of a plan depend on which, for ordering destructions. Its nodes are the changes
// by index, then groups, so that a dependency on many objects is one link.
//
// Recorded links come from the state and describe existing objects. A declared link that contradicts them,
// because the configuration has reversed a dependency, is left out. So are records that contradict each
// other, which no run writes but a state may contain.
type relation struct {
	uses   [][]link
	users  [][]link
	order  []int32 // users before their dependencies
	groups []group // the nodes after the changes

	nodes     map[group]int32
	instances map[addr.Instance][]int32
	resources map[addr.AbsResource][]int32
	blocks    map[Span][]int32
	deletions map[addr.ConfigResource][]int32
	outside   map[addr.ConfigResource][]addr.ConfigResource // recorded dependencies of objects in the state without a change
}

// link is an edge from a node of a relation to another.
type link struct {
	to       int32
	recorded bool
}

func (l link) end() int32 { return l.to }

// group is a set of changes that are depended on as one. One of the fields is set, or block and deletions.
// It includes deposed objects.
type group struct {
	instance  addr.Instance
	resource  addr.AbsResource
	block     Span
	deletions bool // only deletions of the block
}

// String names the group in messages and gates.
func (g group) String() string {
	switch {
	case g.instance != (addr.Instance{}):
		return g.instance.String()
	case g.resource != (addr.AbsResource{}):
		return g.resource.String()
	case g.block.Within.IsRoot():
		return g.block.Block.String()
	}
	return g.block.Block.String() + " within " + g.block.Within.String()
}

// node names the group in a graph of blocks.
func (g group) node() string {
	switch {
	case g.instance != (addr.Instance{}):
		return g.instance.Config().String()
	case g.resource != (addr.AbsResource{}):
		return g.resource.Config().String()
	}
	return g.block.Block.String()
}

// newRelation returns a relation with the nodes of the changes but without links.
func newRelation(changes []*Change) *relation {
	r := &relation{
		nodes: map[group]int32{}, instances: make(map[addr.Instance][]int32, len(changes)), resources: map[addr.AbsResource][]int32{},
		blocks: map[Span][]int32{}, deletions: map[addr.ConfigResource][]int32{},
	}
	var of addr.AbsResource // and its spans: most changes are of the same resource as the one before
	var spans []Span
	for i, c := range changes {
		n := int32(i)
		if abs := c.Addr.Abs(); abs != of {
			of, spans = abs, Spans(c.Addr)
		}
		r.instances[c.Addr] = append(r.instances[c.Addr], n)
		r.resources[of] = append(r.resources[of], n)
		for _, span := range spans {
			r.blocks[span] = append(r.blocks[span], n)
		}
		if c.Action == Delete {
			r.deletions[c.Addr.Config()] = append(r.deletions[c.Addr.Config()], n)
		}
	}
	return r
}

// connect adds the links. prior, which may be nil, is the state that the changes start from.
func (r *relation) connect(changes []*Change, prior *state.State) {
	r.uses = make([][]link, len(changes), 2*len(changes))
	r.readOutside(prior)
	for i, c := range changes {
		r.add(int32(i), c)
	}
	r.untangle(len(changes))
	r.users = make([][]link, len(r.uses))
	for v, links := range r.uses {
		for _, l := range links {
			r.users[l.to] = append(r.users[l.to], link{int32(v), l.recorded})
		}
	}
}

// readOutside finds the dependencies of objects that the plan leaves out, for example with -target: they
// may connect two of its changes.
func (r *relation) readOutside(prior *state.State) {
	if prior == nil {
		return
	}
	found := map[addr.ConfigResource]map[addr.ConfigResource]struct{}{}
	for a, res := range prior.Resources {
		for key, in := range res.Instances {
			if _, planned := r.instances[a.Instance(key)]; planned || in.Current == nil || a.Resource.Mode != addr.Managed {
				continue
			}
			if found[a.Config()] == nil {
				found[a.Config()] = map[addr.ConfigResource]struct{}{}
			}
			for _, used := range in.Current.Dependencies {
				found[a.Config()][used] = struct{}{}
			}
		}
	}
	r.outside = make(map[addr.ConfigResource][]addr.ConfigResource, len(found))
	for block, used := range found {
		r.outside[block] = slices.SortedFunc(maps.Keys(used), func(a, b addr.ConfigResource) int { return strings.Compare(a.String(), b.String()) })
	}
}

// add links a change to its dependencies. The configuration says exactly which instances are used now, but
// not which of its former instances were used before.
func (r *relation) add(n int32, c *Change) {
	recorded := make(map[addr.ConfigResource]struct{}, len(c.StateDeps))
	for _, used := range c.StateDeps {
		recorded[used] = struct{}{}
	}
	precise := make(map[addr.ConfigResource]struct{}, len(c.Deps))
	for _, d := range c.Deps {
		block := d.Resource.Config()
		precise[block] = struct{}{}
		_, was := recorded[block]
		r.link(n, r.target(d), was)
	}
	for _, used := range c.StateDeps {
		if _, again := recorded[used]; !again || used == c.Addr.Config() {
			continue
		}
		delete(recorded, used)
		_, told := precise[used]
		r.link(n, r.block(Span{Block: used}, told), true)
	}
}

// link adds a link, unless the target is -1 or the node itself.
func (r *relation) link(from, to int32, recorded bool) {
	if to >= 0 && from != to {
		r.uses[from] = append(r.uses[from], link{to, recorded})
	}
}

// target returns the node that a dependency refers to, or -1 if the plan has none.
func (r *relation) target(d Dep) int32 {
	if d.Modules {
		return r.block(d.Span(), false)
	}
	if d.All {
		return r.group(group{resource: d.Resource}, r.resources[d.Resource])
	}
	i := d.Resource.Instance(d.Key)
	if members := r.instances[i]; len(members) != 1 {
		return r.group(group{instance: i}, members)
	}
	return r.instances[i][0]
}

// block returns the node for all changes of a block, or for its deletions alone; -1 if there are none.
// Objects of the block that have no change pass on their dependencies.
func (r *relation) block(s Span, deletions bool) int32 {
	if deletions {
		return r.group(group{block: s, deletions: true}, r.deletions[s.Block])
	}
	n := r.group(group{block: s}, r.blocks[s])
	if !s.Within.IsRoot() {
		return n
	}
	beyond := r.outside[s.Block]
	delete(r.outside, s.Block)
	for _, used := range beyond {
		if n < 0 {
			n = r.newNode(group{block: s})
		}
		r.link(n, r.block(Span{Block: used}, false), true)
	}
	return n
}

// group returns the node of a group, or -1 if it has no members.
func (r *relation) group(g group, members []int32) int32 {
	if n, ok := r.nodes[g]; ok {
		return n
	}
	if len(members) == 0 {
		return -1
	}
	n := r.newNode(g)
	for _, m := range members {
		r.link(n, m, true)
	}
	return n
}

// newNode adds a node for a group.
func (r *relation) newNode(g group) int32 {
	n := int32(len(r.uses))
	r.uses, r.groups = append(r.uses, nil), append(r.groups, g)
	r.nodes[g] = n
	return n
}

// untangle removes links that close a cycle: declared links first, recorded ones if that is not enough.
// Groups keep their members.
func (r *relation) untangle(changes int) {
	for pass := 0; ; pass++ {
		order, number := component.Find(r.uses, link.end)
		n := len(order)
		if n == 0 || int(number[order[n-1]]) == n || pass == 2 {
			slices.Reverse(order)
			r.order = order
			return
		}
		for v := range r.uses {
			r.uses[v] = slices.DeleteFunc(r.uses[v], func(l link) bool {
				member := v >= changes && int(l.to) < changes
				return number[v] == number[l.to] && !member && (pass > 0 || !l.recorded)
			})
		}
	}
}
