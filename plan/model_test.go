package plan

import (
	"fmt"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
)

// model carries out the rules of order in the plainest way: pair by pair.
type model struct {
	p        *Plan
	nodes    []*Change // the changes; then one for each block with objects that have no change, which does nothing
	links    []modelLink
	recorded [][]bool // i depends on j, directly or not, by records alone
	related  [][]bool // i depends on j, directly or not
	late     []bool
}

// modelLink is a dependency of a change on any of a set of others.
type modelLink struct {
	from     int
	to       []int
	recorded bool
}

func newModel(p *Plan) *model {
	m := &model{p: p, nodes: slices.Clone(p.Changes)}
	var outside []addr.ConfigResource
	for a := range p.Prior.AllInstances() {
		if !slices.Contains(outside, a.Config()) && len(m.unplanned(a.Config())) > 0 {
			outside = append(outside, a.Config())
			m.nodes = append(m.nodes, &Change{Addr: a, Deposed: "outside", StateDeps: m.unplanned(a.Config())})
		}
	}
	for i, c := range m.nodes {
		m.read(i, c)
	}
	m.untangle()
	m.decide()
	return m
}

// unplanned returns what the objects of a block recorded that have no change.
func (m *model) unplanned(block addr.ConfigResource) []addr.ConfigResource {
	var out []addr.ConfigResource
	for a, in := range m.p.Prior.AllInstances() {
		planned := slices.ContainsFunc(m.p.Changes, func(c *Change) bool { return c.Addr == a })
		if a.Config() == block && !planned {
			out = append(out, in.Current.Dependencies...)
		}
	}
	return out
}

func (m *model) changed(i int) bool { return i < len(m.p.Changes) }

func (m *model) find(is func(i int, c *Change) bool) []int {
	var out []int
	for i, c := range m.nodes {
		if is(i, c) {
			out = append(out, i)
		}
	}
	return out
}

func (m *model) read(i int, c *Change) {
	for _, d := range c.Deps {
		to := m.find(func(j int, o *Change) bool {
			return covers(d, o.Addr) && (m.changed(j) || d.Modules && d.Within == addr.RootInstance)
		})
		m.links = append(m.links, modelLink{i, to, slices.Contains(c.StateDeps, d.Resource.Config())})
	}
	for _, r := range c.StateDeps {
		if r == c.Addr.Config() {
			continue
		}
		precise := slices.ContainsFunc(c.Deps, func(d Dep) bool { return d.Resource.Config() == r })
		to := m.find(func(j int, o *Change) bool {
			return o.Addr.Config() == r && (!precise || o.Action == Delete && m.changed(j))
		})
		m.links = append(m.links, modelLink{i, to, true})
	}
}

// closure returns which nodes lead to which by the links that count.
func (m *model) closure(counts func(modelLink) bool) [][]bool {
	leads := make([][]bool, len(m.nodes))
	for i := range leads {
		leads[i] = make([]bool, len(m.nodes))
	}
	for _, l := range m.links {
		for _, j := range l.to {
			leads[l.from][j] = leads[l.from][j] || counts(l)
		}
	}
	transitive(leads)
	return leads
}

func transitive(leads [][]bool) {
	for k := range leads {
		for i := range leads {
			for j := range leads {
				leads[i][j] = leads[i][j] || leads[i][k] && leads[k][j]
			}
		}
	}
}

// untangle drops what closes a cycle: what is declared first.
func (m *model) untangle() {
	for _, spared := range []bool{true, false} {
		leads := m.closure(func(modelLink) bool { return true })
		m.links = slices.DeleteFunc(m.links, func(l modelLink) bool {
			back := slices.ContainsFunc(l.to, func(j int) bool { return leads[j][l.from] })
			return back && !(spared && l.recorded)
		})
	}
	m.related = m.closure(func(modelLink) bool { return true })
	m.recorded = m.closure(func(l modelLink) bool { return l.recorded })
}

func (m *model) decide() {
	m.late = make([]bool, len(m.nodes))
	for i, c := range m.nodes {
		wanted := c.CreateBeforeDestroy || c.Deposed != addr.Current
		obliged := false
		for j, d := range m.nodes {
			if m.recorded[j][i] {
				ask := d.Action == Update || d.Action == CreateThenDelete || d.Action == Delete && (d.CreateBeforeDestroy || d.Deposed != addr.Current)
				wanted = wanted || ask
			}
			obliged = obliged || (i == j || m.related[i][j]) && (d.Action == DeleteThenCreate || d.Action == Delete && m.usesAltered(d))
		}
		m.late[i] = c.Action == CreateThenDelete || c.Action == Delete && wanted && !obliged
	}
}

// usesAltered reports whether the deletion itself uses something that is created or updated.
func (m *model) usesAltered(c *Change) bool {
	return slices.ContainsFunc(m.p.Changes, func(o *Change) bool {
		altered := o.Action == Create || o.Action == Update || o.Action == DeleteThenCreate || o.Action == CreateThenDelete
		return altered && slices.ContainsFunc(c.Deps, func(d Dep) bool { return covers(d, o.Addr) })
	})
}

// modelLeg is a step of the model.
type modelLeg struct {
	node int
	leg  Leg
}

func (m *model) steps() []modelLeg {
	var out []modelLeg
	for i, c := range m.p.Changes {
		switch c.Action {
		case Create, Update, Read:
			out = append(out, modelLeg{i, ApplyLeg})
		case Delete:
			out = append(out, modelLeg{i, DestroyLeg})
		case Forget:
			out = append(out, modelLeg{i, ForgetLeg})
		case DeleteThenCreate, CreateThenDelete:
			out = append(out, modelLeg{i, ApplyLeg}, modelLeg{i, DestroyLeg})
		}
	}
	return out
}

// before are the rules.
func (m *model) before(a, b modelLeg) bool {
	x, y := m.nodes[a.node], m.nodes[b.node]
	same := x.Addr == y.Addr && a.node != b.node && (x.Deposed == addr.Current || y.Deposed == addr.Current)
	switch {
	case a.leg == ForgetLeg || b.leg == ForgetLeg:
		return false
	case a.node == b.node:
		return x.Action == DeleteThenCreate && a.leg == DestroyLeg && b.leg == ApplyLeg || x.Action == CreateThenDelete && a.leg == ApplyLeg && b.leg == DestroyLeg
	case a.leg == ApplyLeg && b.leg == ApplyLeg:
		return m.through(b.node, a.node)
	case a.leg == DestroyLeg && b.leg == DestroyLeg:
		return m.related[a.node][b.node] && (!m.late[a.node] || m.late[b.node])
	case a.leg == DestroyLeg: // early, before what it is related to is applied
		return !m.late[a.node] && (same || m.related[a.node][b.node] || m.related[b.node][a.node])
	default: // late, after it
		return m.late[b.node] && (same || m.related[a.node][b.node] || m.recorded[b.node][a.node])
	}
}

// through reports whether i depends on j in the configuration, directly or through what doesn't change.
func (m *model) through(i, j int) bool {
	for k, d := range m.p.Changes {
		depends := d.Deposed == addr.Current && slices.ContainsFunc(m.nodes[i].Deps, func(dep Dep) bool { return covers(dep, d.Addr) })
		if depends && (k == j || d.Action == NoOp && m.through(k, j)) {
			return true
		}
	}
	return false
}

// legs is what order.legs returns of the steps.
func (m *model) legs() []string {
	steps := m.steps()
	before := make([][]bool, len(steps))
	for i, a := range steps {
		before[i] = make([]bool, len(steps))
		for j, b := range steps {
			before[i][j] = m.before(a, b)
		}
	}
	transitive(before)
	name := func(l modelLeg) string { return (&Step{Leg: l.leg, Change: m.nodes[l.node]}).String() }
	var all []string
	for j := range steps {
		var first []string
		for i := range steps {
			if before[i][j] {
				first = append(first, name(steps[i]))
			}
		}
		slices.Sort(first)
		all = append(all, fmt.Sprint(name(steps[j]), " after ", first))
	}
	slices.Sort(all)
	return all
}
