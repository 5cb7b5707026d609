//go:build unix

package claims

import (
	"math"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

// mostObjects is how many objects a shape has at most.
const mostObjects = 7

// object is the number of the run that has changed an object last, and the one that this has seen of its
// parent; 0 for none.
type object struct{ v, up int }

// objects are those of the cloud.
type objects [mostObjects]object

// applied is an apply with its end. It changes objects one after the other.
type applied struct {
	shape
	number int
	path   []int
	partly bool // it was broken off
}

// changes returns the objects after each of the changes of an apply.
func (a applied) changes(o objects) (out []objects) {
	for _, i := range a.path {
		o[i] = object{v: a.number}
		if p := a.parents[i]; p >= 0 {
			o[i].up = o[p].v
		}
		out = append(out, o)
	}
	return out
}

// byApply is the specification: applies are carried out one after the other, each at a moment between its
// begin and its end, and each sees what those before it have left. The output of an operation without an
// apply is what is there then.
func byApply(first objects) porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(state, input, output any) (out []any) {
			now := state.(objects)
			if input == nil {
				if now == output.(objects) {
					out = append(out, now)
				}
				return out
			}
			a := input.(applied)
			after := a.changes(now)
			if !a.partly {
				return []any{after[len(after)-1]}
			}
			out = append(out, now)
			for _, o := range after {
				out = append(out, o)
			}
			return out
		},
	}).ToModel()
}

// objectsOf returns the objects with some tags. It returns false if one is missing.
func objectsOf(world []map[string]string) (out objects, are bool) {
	for i, tags := range world {
		v, err := strconv.Atoi(tags["v"])
		if err != nil {
			return out, false
		}
		up, _ := strconv.Atoi(tags["up"]) // a root has none
		out[i] = object{v, up}
	}
	return out, true
}

// explained reports whether some order of the applies explains the tags that objects have.
func explained(sh shape, acts []*act, world []map[string]string) bool {
	left, are := objectsOf(world)
	if !are {
		return false
	}
	first := applied{shape: sh, number: 1}
	for i := range sh.parents {
		first.path = append(first.path, i)
	}
	before := first.changes(objects{})
	end := time.Now().UnixNano()
	ops := []porcupine.Operation{{ClientId: 0, Output: left, Call: end, Return: math.MaxInt64}}
	for _, a := range acts {
		if a.hand != nil || a.code != 0 && !a.brokenOff() {
			continue
		}
		path := sh.path(a.target)
		if a.alone {
			path = path[len(path)-1:]
		}
		op := porcupine.Operation{ClientId: a.number, Input: applied{sh, a.number, path, a.brokenOff()}, Call: a.begun.UnixNano(), Return: a.end.UnixNano()}
		if a.killed { // an operation may still be on its way
			op.Return = end
		}
		ops = append(ops, op)
	}
	return porcupine.CheckOperationsTimeout(byApply(before[len(before)-1]), ops, time.Minute) != porcupine.Illegal
}
