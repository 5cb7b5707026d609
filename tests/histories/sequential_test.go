package histories

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// transaction is all that a run has seen and made.
type transaction struct {
	number int
	seen   map[string]int // the runs that had made objects, by name; 0 for absence
	made   map[string]int
	maybe  map[string]int // made in the world, and possibly not in the state
}

// transactions returns the runs as transactions from the point at which they claimed to their end. The
// world's lock is held.
func (h *history) transactions(versions map[string][]version) (out []porcupine.Operation) {
	byRun := map[*run]*transaction{}
	of := func(r *run) *transaction {
		if byRun[r] == nil {
			byRun[r] = &transaction{r.number, map[string]int{}, map[string]int{}, map[string]int{}}
		}
		return byRun[r]
	}
	for name, all := range versions {
		for _, v := range all {
			into := of(v.run).made
			if v.maybe {
				into = of(v.run).maybe
			}
			into[name] = v.value
		}
	}
	first := map[string]bool{} // prior values of a run are of its first operation on an object
	for _, op := range h.w.ops {
		key := fmt.Sprint(op.number, " ", op.name)
		if op.at == 0 || first[key] {
			continue
		}
		first[key] = true
		maps.Copy(of(op.run).seen, h.seen(op))
		if op.old != "" && (op.new != "" || !h.deposed(op)) {
			of(op.run).seen[op.name] = op.prior
		}
	}
	for r, t := range byRun {
		end := int64(math.MaxInt64)
		if r.end > 0 && !r.diags.HasErrors() {
			end = int64(r.end)
		}
		out = append(out, porcupine.Operation{ClientId: r.number, Input: t, Call: int64(r.claimed), Return: end})
	}
	return out
}

// step returns the states that a transaction may leave; none if it cannot follow.
func (t *transaction) step(state string) []any {
	objects := map[string]int{}
	for line := range strings.Lines(state) {
		name, by, _ := strings.Cut(strings.TrimSpace(line), "=")
		objects[name] = number(by)
	}
	for name, by := range t.seen {
		if objects[name] != by {
			return nil
		}
	}
	out := []map[string]int{objects}
	maps.Copy(objects, t.made)
	for name, by := range t.maybe {
		for _, one := range slices.Clone(out) {
			other := maps.Clone(one)
			other[name] = by
			out = append(out, other)
		}
	}
	var states []any
	for _, one := range out {
		var sb strings.Builder
		for _, name := range slices.Sorted(maps.Keys(one)) {
			if one[name] != 0 {
				fmt.Fprintf(&sb, "%s=%d\n", name, one[name])
			}
		}
		states = append(states, sb.String())
	}
	return states
}

// sequential is the specification: runs are carried out one after the other, each at a point between its
// claim and its end.
var sequential = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any { return input.(*transaction).step(state.(string)) },
}).ToModel()

// checkSequential has another checker look at the history: as whole runs, and object by object. The world's
// lock is held.
func (h *history) checkSequential(versions map[string][]version) {
	const most = 10 * time.Second
	all := h.transactions(versions)
	if got := porcupine.CheckOperationsTimeout(sequential, all, most); got == porcupine.Illegal {
		h.t.Errorf("got a history that porcupine finds %s, want runs that are atomic, in the order of their claims", got)
	}
	for name := range versions {
		var ops []porcupine.Operation
		for _, op := range all {
			t, one := op.Input.(*transaction), &transaction{number: op.ClientId, seen: map[string]int{}, made: map[string]int{}, maybe: map[string]int{}}
			for _, of := range [][2]map[string]int{{t.seen, one.seen}, {t.made, one.made}, {t.maybe, one.maybe}} {
				if by, is := of[0][name]; is {
					of[1][name] = by
				}
			}
			if op.Input = one; len(one.seen)+len(one.made)+len(one.maybe) > 0 {
				ops = append(ops, op)
			}
		}
		if got := porcupine.CheckOperationsTimeout(sequential, ops, most); got == porcupine.Illegal {
			h.t.Errorf("got a history of %s that porcupine finds %s, want changes that are atomic, in the order of claims", name, got)
		}
	}
}
