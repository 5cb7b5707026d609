package changed

import (
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/state"
)

// attempt is the work as an attempt at the plan has found it.
type attempt struct {
	asked   Asked    // of the plan
	levels  []*items // nil for those without work
	current int      // the level under way; the ones before it are finished
	// due are the instances with work, and regions the blocks of which all instances in a module instance
	// have.
	due     map[addr.Instance]bool
	regions map[blocks.Region]bool
	fresh   places // that the state has no units of
	late    map[addr.Module]grouped[string]
	gone    map[addr.Instance]bool             // of the state, that the configuration doesn't declare
	left    []addr.Instance                    // of these, whose readers are to be found
	unread  []addr.Instance                    // of these, whose objects are to be read
	planned []addr.Instance                    // at the current level
	kept    map[addr.Instance]*blocks.Resource // that were evaluated as the state has them, without work
	done    []addr.Instance                    // that were planned at the levels before
	seen    map[addr.AbsResource]bool
	given   map[addr.Instance]Given
	wholes  wholes // that were read
	units
}

// items are the work of a level.
type items struct {
	calls   map[place]bool
	regions map[blocks.Region]bool
	single  map[addr.Instance]*state.Record // nil for an instance without a record
}

// place is a call in the instances of its module that are within one module instance.
type place struct {
	call *blocks.Call
	in   addr.ModuleInstance
}

// has reports whether an instance has work.
func (at *attempt) has(a addr.Instance, block *blocks.Resource) bool {
	if at.due[a] {
		return true
	}
	for in := a.Module; ; in, _, _ = in.Parent() {
		if at.regions[blocks.Region{Block: block, In: in}] {
			return true
		}
		if in.IsRoot() {
			return false
		}
	}
}

func (at *attempt) level(n int) *items {
	for len(at.levels) <= n {
		at.levels = append(at.levels, nil)
	}
	if at.levels[n] == nil {
		at.levels[n] = &items{map[place]bool{}, map[blocks.Region]bool{}, map[addr.Instance]*state.Record{}}
	}
	return at.levels[n]
}

// next takes the work of the lowest level that has any.
func (at *attempt) next() (*items, bool) {
	for at.current++; at.current < len(at.levels); at.current++ {
		if it := at.levels[at.current]; it != nil {
			return it, true
		}
	}
	return nil, false
}

// begin finds the work that is due.
func (w *Work) begin() {
	w.attempt = attempt{
		asked: w.attempt.asked, current: -1, due: map[addr.Instance]bool{}, regions: map[blocks.Region]bool{},
		fresh: places{}, late: map[addr.Module]grouped[string]{}, gone: map[addr.Instance]bool{}, seen: map[addr.AbsResource]bool{},
		kept: map[addr.Instance]*blocks.Resource{}, given: map[addr.Instance]Given{}, wholes: wholes{},
		units: newUnits(w.src.Found.Due),
	}
	for _, b := range w.src.Found.Blocks {
		w.addBlock(b, addr.RootInstance)
	}
	for n := range w.nodes {
		r, is := w.nodes[n].block.(*blocks.Resource)
		if is && r.Config.Addr.Mode == addr.Ephemeral && len(r.Preconditions)+len(r.Postconditions) > 0 {
			w.addBlock(n, addr.RootInstance) // these are opened for their conditions
		}
	}
	for _, d := range w.src.Found.Due {
		w.addUnit(d.Unit, d.Record)
	}
	for _, t := range w.attempt.asked.Refresh {
		w.addTarget(t)
	}
}

// addBlock adds a block in the instances of its module that are within one module instance. One that the
// configuration doesn't have has units, which are gone.
func (w *Work) addBlock(b state.Block, in addr.ModuleInstance) {
	n := w.nodes[b]
	switch {
	case b.Name == "values":
		w.addLate(b.Module, b.Name, in)
	case n == nil:
	case n.cycle == nil:
		w.addNode(n, in)
	default: // there is no order
		for _, n := range n.cycle {
			w.addNode(n, addr.RootInstance)
		}
	}
}

func (w *Work) addNode(n *node, in addr.ModuleInstance) {
	switch b := n.block.(type) {
	case *blocks.Resource:
		region := blocks.Region{Block: b, In: in}
		if !b.IsAction() && !w.attempt.regions[region] && w.mayJoin(n) { // actions are invoked for changes alone
			w.attempt.regions[region], w.attempt.level(n.level).regions[region] = true, true
		}
	case *blocks.Call:
		if b.Child != nil && w.mayJoin(n) {
			w.attempt.level(n.level).calls[place{b, in}] = true
		}
	case *blocks.Value, *blocks.Check:
		w.addLate(n.module, n.name, in)
	}
}

// mayJoin reports whether a block can get more work: the ones that it leads to are not planned yet, which is
// how references go. Otherwise all is planned.
func (w *Work) mayJoin(n *node) bool {
	ok := n.level > w.attempt.current
	if !ok {
		w.GiveUp(true, n.outOfTurn())
	}
	return ok
}

// outOfTurn says why a block may turn out to have work after its turn.
func (n *node) outOfTurn() string {
	address := n.module.Join(strings.TrimPrefix(strings.TrimPrefix(n.name, "repetition."), "resource."))
	if n.cycle != nil {
		return address + " depends on itself through outputs of modules, and which of its objects have work is only known when all are planned"
	}
	return address + " was evaluated last from objects that are planned after it now"
}

func (w *Work) addLate(m addr.Module, name string, in addr.ModuleInstance) {
	if w.attempt.late[m] == nil {
		w.attempt.late[m] = grouped[string]{}
	}
	w.attempt.late[m].add(name, in)
}

// addUnit adds a unit. rec is nil if it has no valid record.
func (w *Work) addUnit(u state.Unit, rec *state.Record) {
	switch u.Kind {
	case state.InstanceUnit:
		w.addInstance(u, rec)
	case state.RepetitionUnit:
		t, err := addr.ParseTarget(u.Addr)
		w.GiveUp(err != nil, unreadable(u))
		if err != nil {
			return
		}
		if t.Resource != nil {
			w.addBlock(state.RepetitionOf(addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}), t.Module)
			return
		}
		outer, name, _ := t.Module.Parent()
		w.addBlock(state.Block{Module: outer.Module(), Name: "module." + name}, outer)
	case state.OutputUnit:
		w.addLate(addr.RootModule, "output."+u.Addr, addr.RootInstance)
	case state.CheckUnit:
		w.addCheck(u)
	case state.ValuesUnit:
		in := addr.RootInstance
		if u.Addr != "" {
			var err error
			in, err = addr.ParseModuleInstance(u.Addr)
			w.GiveUp(err != nil, unreadable(u))
		}
		w.addLate(in.Module(), "values", in)
		if rec == nil && !in.IsRoot() { // a run of another scope may have made it, with records of its objects alone
			w.attempt.fresh[in] = true
		}
	}
}

// addCheck adds the results of conditions: of a check block, a variable or an output, or of all instances of
// a resource.
func (w *Work) addCheck(u state.Unit) {
	t, err := addr.ParseTarget(u.Addr)
	in, name, value := SplitValue(u.Addr)
	switch {
	case value:
		w.addLate(in.Module(), name, in)
	case err != nil || t.Resource == nil:
		w.GiveUp(true, unreadable(u))
	default:
		w.addBlock(state.BlockOf(addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}), addr.RootInstance)
	}
}

func unreadable(u state.Unit) string { return "the record of " + u.Addr + " can't be read" }

func (w *Work) addInstance(u state.Unit, rec *state.Record) {
	a, err := addr.ParseInstance(u.Addr)
	w.GiveUp(err != nil, unreadable(u))
	if err != nil {
		return
	}
	block := state.BlockOf(a.Config())
	n := w.nodes[block]
	w.noteGiven(a, rec)
	switch {
	case n == nil:
		w.goes(a)
	case n.cycle != nil:
		w.addBlock(block, addr.RootInstance)
	case w.attempt.has(a, n.block.(*blocks.Resource)):
	case w.mayJoin(n):
		w.attempt.due[a], w.attempt.level(n.level).single[a] = true, rec
	}
}

// goes notes that the configuration doesn't declare an instance.
func (w *Work) goes(a addr.Instance) {
	if !w.attempt.gone[a] {
		w.attempt.gone[a] = true
		w.attempt.left, w.attempt.unread = append(w.attempt.left, a), append(w.attempt.unread, a)
	}
}

// SplitValue splits the address of a check, variable or output into the module instance and the name in it.
func SplitValue(address string) (in addr.ModuleInstance, name string, ok bool) {
	for _, label := range []string{"check.", "var.", "output."} {
		if strings.HasPrefix(address, label) {
			return addr.RootInstance, address, true
		}
		if i := strings.LastIndex(address, "."+label); i >= 0 {
			in, err := addr.ParseModuleInstance(address[:i])
			return in, address[i+1:], err == nil
		}
	}
	return addr.RootInstance, "", false
}

// isLate reports whether a check or value of a module instance is to be evaluated.
func (at *attempt) isLate(m addr.ModuleInstance, name string) bool {
	names := at.late[m.Module()]
	return at.fresh.have(m) || names[name].haveOrStandFor(m) || !strings.HasPrefix(name, "check.") && names["values"].haveOrStandFor(m)
}
