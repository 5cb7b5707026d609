package plan

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// setBuilder collects the stored rows of subjects in one pass over a state.
type setBuilder struct {
	instances map[addr.Instance]state.Subject
	resources map[addr.AbsResource]state.Subject
	spans     map[Span]state.Subject
	blocks    map[addr.ConfigResource]state.Subject
}

func newSetBuilder() *setBuilder {
	return &setBuilder{map[addr.Instance]state.Subject{}, map[addr.AbsResource]state.Subject{}, map[Span]state.Subject{}, map[addr.ConfigResource]state.Subject{}}
}

func (b *setBuilder) instance(a addr.Instance, s state.Subject)             { b.instances[a] = s }
func (b *setBuilder) resource(r addr.AbsResource, s state.Subject)          { b.resources[r] = s }
func (b *setBuilder) span(span Span, s state.Subject)                       { b.spans[span] = s }
func (b *setBuilder) dependents(block addr.ConfigResource, s state.Subject) { b.blocks[block] = s }

// collect adds the rows of st to the sets. Which objects depend on a block is a matter of their names: they
// may have changed otherwise.
func (b *setBuilder) collect(st *state.State, to map[state.Subject]state.RowSet) {
	for a, s := range b.instances {
		if in := st.Instance(a); in != nil {
			addRows(a, in, to[s])
		}
	}
	b.unrecorded(st, to)
	whole := to[state.Subject{Kind: state.WholeState}]
	if len(b.resources)+len(b.spans)+len(b.blocks) == 0 && whole == nil {
		return
	}
	for abs, r := range st.Resources {
		sets := b.of(abs, to)
		if whole != nil {
			sets = append(sets, whole)
		}
		for key, in := range r.Instances {
			a := abs.Instance(key)
			for _, set := range sets {
				addRows(a, in, set)
			}
			b.addDependent(a, in, to)
		}
	}
}

// unrecorded adds the late results and freed operations.
func (b *setBuilder) unrecorded(st *state.State, to map[state.Subject]state.RowSet) {
	for name, version := range st.Unrecorded {
		a, err := addr.ParseInstance(name.Address)
		if err != nil {
			continue // the store takes no other addresses
		}
		sets := b.of(a.Abs(), to)
		if s, ok := b.instances[a]; ok {
			sets = append(sets, to[s])
		}
		if whole := to[state.Subject{Kind: state.WholeState}]; whole != nil {
			sets = append(sets, whole)
		}
		for _, set := range sets {
			set[name] = version
		}
	}
}

// of returns the sets that all instances of a resource belong to.
func (b *setBuilder) of(r addr.AbsResource, to map[state.Subject]state.RowSet) (sets []state.RowSet) {
	if s, ok := b.resources[r]; ok {
		sets = append(sets, to[s])
	}
	if len(b.spans) > 0 {
		for _, span := range Spans(r.Instance(addr.NoKey)) {
			if s, ok := b.spans[span]; ok {
				sets = append(sets, to[s])
			}
		}
	}
	return sets
}

// addDependent adds the objects of an instance to the sets of the blocks that they depend on.
func (b *setBuilder) addDependent(a addr.Instance, in *state.Instance, to map[state.Subject]state.RowSet) {
	if len(b.blocks) == 0 {
		return
	}
	eachRow(a, in, func(o addr.Object, stored *state.Object) {
		for _, block := range stored.Dependencies {
			if s, ok := b.blocks[block]; ok {
				to[s][state.NameOf(o)] = state.Version{}
			}
		}
	})
}

// addRows adds the objects of an instance to a set.
func addRows(a addr.Instance, in *state.Instance, set state.RowSet) {
	eachRow(a, in, func(o addr.Object, stored *state.Object) { set[state.NameOf(o)] = stored.Version })
}

// eachRow calls f for each object of an instance.
func eachRow(a addr.Instance, in *state.Instance, f func(addr.Object, *state.Object)) {
	if in.Current != nil {
		f(addr.Object{Instance: a}, in.Current)
	}
	for key, o := range in.Deposed {
		f(addr.Object{Instance: a, Deposed: key}, o)
	}
}
