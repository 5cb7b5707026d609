package eval

import (
	"maps"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/lang"
)

// openSet is a set of ephemeral resource blocks. Sets are shared, never changed.
type openSet struct {
	all map[addr.ConfigResource]struct{}
}

var noOpens = &openSet{}

func (s *openSet) empty() bool { return s == nil || len(s.all) == 0 }

func (s *openSet) has(r addr.ConfigResource) bool {
	if s == nil {
		return false
	}
	_, ok := s.all[r]
	return ok
}

func (s *openSet) union(o *openSet) *openSet {
	if o.empty() || o == s {
		return s
	}
	if s.empty() {
		return o
	}
	u := &openSet{all: maps.Clone(s.all)}
	maps.Copy(u.all, o.all)
	return u
}

func single(r addr.ConfigResource) *openSet {
	return &openSet{all: map[addr.ConfigResource]struct{}{r: {}}}
}

// computeOpens finds what evaluating each block may open, so that nothing is computed any more when runs
// share the configuration.
func (c *Config) computeOpens() {
	for _, m := range c.modules {
		m.ephemerals()
	}
	for n := range c.eachNode {
		switch b := n.(type) {
		case *valueBlock:
			b.computeOpens()
		case *providerBlock:
			b.opens = opensOf(b, inBody)
		case *checkBlock:
			b.opens = opensOf(b, inPrecondition|toPart)
		case *ResourceBlock:
			b.throughBody = opensOf(b, inBody)
			b.held = heldBy(b.dependsOn, b.module).union(b.module.heldAround())
			b.opens = b.throughBody.union(opensOf(b, inPrecondition|inPostcondition|inProvisioner)).union(b.held)
		}
	}
}

// computeOpens is recursive along references. A cycle, which evaluation reports, ends at the value that is
// being computed.
func (v *valueBlock) computeOpens() *openSet {
	if v.opens == nil {
		v.opens = noOpens
		v.opens = opensOf(v, inBody)
	}
	return v.opens
}

// opensOf returns what evaluating the references of a node in the given roles may open.
func opensOf(n node, roles role) *openSet {
	set := noOpens
	for e := range n.edges {
		if e.role&roles != 0 {
			set = set.union(openedBy(e.to))
		}
	}
	return set
}

// openedBy returns what using a node may open: an ephemeral block, and what a value is made from.
func openedBy(n node) *openSet {
	switch b := n.(type) {
	case *valueBlock:
		return b.computeOpens()
	case outputsOf:
		return opensOf(b, toOutput)
	case *ResourceBlock:
		if isEphemeral(b) {
			return single(b.Config.Config())
		}
	}
	return noOpens
}

// opensOf returns what evaluating expressions that stand in the module may open.
func (m *moduleBlock) opensOf(exprs ...*lang.Expr) *openSet {
	set := noOpens
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			set = set.union(m.opensOfRef(&x.Refs[i]))
		}
	}
	return set
}

func (m *moduleBlock) opensOfRef(ref *lang.Ref) *openSet {
	set := noOpens
	for to := range m.targets(ref) {
		set = set.union(openedBy(to))
	}
	return set
}

// bodyOpens reports whether evaluating the body may open ephemeral resources.
func (r *ResourceBlock) bodyOpens() bool { return !r.throughBody.empty() }

// heldBy returns the ephemeral blocks that depends_on arguments in the module name, those within modules
// included.
func heldBy(refs []lang.Ref, m *moduleBlock) *openSet {
	set := noOpens
	for i := range refs {
		switch to := m.explicitTarget(&refs[i]).(type) {
		case *ResourceBlock:
			set = set.union(openedBy(to))
		case insideOf:
			set = set.union(to.ephemerals())
		}
	}
	return set
}

// heldAround returns the ephemeral blocks that the depends_on arguments of the calls around the module name.
func (m *moduleBlock) heldAround() *openSet {
	call := m.call()
	if call == nil {
		return noOpens
	}
	if m.held == nil {
		m.held = m.parent.heldAround().union(heldBy(call.dependsOn, m.parent))
	}
	return m.held
}

// ephemerals returns the ephemeral blocks of the module and of those below it.
func (m *moduleBlock) ephemerals() *openSet {
	if m.within == nil {
		all := map[addr.ConfigResource]struct{}{}
		for e := range (insideOf{m}).edges {
			switch b := e.to.(type) {
			case insideOf:
				maps.Copy(all, b.ephemerals().all)
			case *ResourceBlock:
				maps.Copy(all, openedBy(b).all)
			}
		}
		m.within = &openSet{all: all}
	}
	return m.within
}
