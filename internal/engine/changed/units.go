package changed

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/state"
)

// units are the instances of blocks that the state has, or that are due. Each block is looked for once.
type units struct {
	stray  map[state.Block][]addr.Instance // that are due and have no record
	stored map[state.Block][]addr.Instance
	called map[*blocks.Call]*called
	used   map[blocks.Node]bool // blocks that refer to outputs with work, all of which have work
}

// called are the units in the instances of a called module, and of those below it.
type called struct {
	blocks []state.Block
	units  map[addr.ModuleInstance]map[addr.ModuleInstance][]addr.Instance // by module instance of the call, and of the called module
}

func newUnits(due []state.Due) units {
	out := units{map[state.Block][]addr.Instance{}, map[state.Block][]addr.Instance{}, map[*blocks.Call]*called{}, map[blocks.Node]bool{}}
	for _, d := range due {
		if a, err := addr.ParseInstance(d.Unit.Addr); d.Record == nil && d.Unit.Kind == state.InstanceUnit && err == nil {
			b := state.BlockOf(a.Config())
			out.stray[b] = append(out.stray[b], a)
		}
	}
	return out
}

// unitsOf returns the instances of a block that the state has, or that are due.
func (s *session) unitsOf(b state.Block) ([]addr.Instance, error) {
	if got, known := s.attempt.stored[b]; known {
		return got, nil
	}
	records, err := s.src.Records(s.ctx, state.RecordQuery{Blocks: []state.Block{b}})
	if err != nil {
		return nil, err
	}
	out := s.attempt.stray[b]
	for i := range records {
		r := &records[i]
		if a, err := addr.ParseInstance(r.Unit.Addr); r.Unit.Kind == state.InstanceUnit && err == nil && state.BlockOf(a.Config()) == b {
			out = append(out, a)
			s.noteGiven(a, r)
		}
	}
	s.attempt.stored[b] = out
	return out, nil
}

// calledUnits returns the units below a call.
func (s *session) calledUnits(c *blocks.Call) (*called, error) {
	if got := s.attempt.called[c]; got != nil {
		return got, nil
	}
	out := &called{resourcesBelow(c.Child), map[addr.ModuleInstance]map[addr.ModuleInstance][]addr.Instance{}}
	depth := len(c.Module.Config.Path.Calls())
	for _, b := range out.blocks {
		units, err := s.unitsOf(b)
		if err != nil {
			return nil, err
		}
		for _, a := range units {
			child := a.Module.Path()[depth]
			outer, _, _ := child.Parent()
			if out.units[outer] == nil {
				out.units[outer] = map[addr.ModuleInstance][]addr.Instance{}
			}
			out.units[outer][child] = append(out.units[outer][child], a)
		}
	}
	s.attempt.called[c] = out
	return out, nil
}

// expand compares the instances of a called module with those that the state has units of. All in a new one
// has work, and all in one that is gone is gone. So have the blocks that refer to the outputs:
// these may be made of nothing that is stored.
func (s *session) expand(at place) error {
	s.addUsers(at.call.Child)
	below, err := s.calledUnits(at.call)
	if err != nil {
		return err
	}
	for _, m := range s.run.ModulesWithin(s.t, at.in, at.call.Module.Config.Path) {
		c, stored := m.Call(at.call.Config.Name), below.units[m.Addr]
		for _, child := range c.Children(s.t, nil) {
			if stored[child.Addr] == nil {
				s.attempt.fresh[child.Addr] = true
				for _, b := range below.blocks {
					s.addBlock(b, child.Addr)
				}
			}
		}
		for child, units := range stored {
			if _, _, key := child.Parent(); c.Lacks(s.t, key) {
				for _, a := range units {
					s.goes(a)
				}
			}
		}
	}
	return nil
}

// resourcesBelow returns the resource blocks of a module and of those that it calls.
func resourcesBelow(m *blocks.Module) (out []state.Block) {
	for _, r := range m.Resources {
		out = append(out, state.BlockOf(addr.ConfigResource{Module: m.Config.Path, Resource: r.Config.Addr}))
	}
	for _, c := range m.Calls {
		if c.Child != nil {
			out = append(out, resourcesBelow(c.Child)...)
		}
	}
	return out
}
