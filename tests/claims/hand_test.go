//go:build unix

package claims

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// places is the block whose instances are changed by hand. Each instance is a place for an object.
const places = "variable \"n\" { default = 6 }\nresource \"sim_thing\" \"place\" {\n  count = var.n\n  name  = \"place-${count.index}\"\n}\n"

// The number of places, and of those that have an object at first.
const (
	allPlaces   = 6
	takenPlaces = 3
)

// hand is a change of the record by hand.
type hand struct {
	verb     string // mv, rm or import
	from, to int    // places
	id       string // of the object to import
}

// newHand draws a change. An object to import comes into the cloud.
func newHand(s *site, r *rand.Rand, number int) *hand {
	h := &hand{verb: []string{"mv", "mv", "mv", "rm", "import"}[r.IntN(5)], from: r.IntN(allPlaces)}
	h.to = (h.from + 1 + r.IntN(allPlaces-1)) % allPlaces
	if r.IntN(3) > 0 { // which is possible at first
		h.from, h.to = r.IntN(takenPlaces), takenPlaces+r.IntN(allPlaces-takenPlaces)
	}
	if h.verb == "import" {
		h.id = fmt.Sprint("found-", number)
		err := simcloud.WriteObject(s.cloud, &simcloud.Object{ID: h.id, Type: "sim_thing", Name: h.id, Serial: 1, Attrs: map[string]json.RawMessage{"name": json.RawMessage(fmt.Sprintf("%q", h.id))}})
		if err != nil {
			s.Fatal(err)
		}
	}
	return h
}

// args returns the command.
func (h *hand) args(options []string) []string {
	place := func(i int) string { return fmt.Sprintf("sim_thing.place[%d]", i) }
	switch h.verb {
	case "mv":
		return slices.Concat([]string{"state", "mv"}, options, []string{place(h.from), place(h.to)})
	case "rm":
		return slices.Concat([]string{"state", "rm"}, options, []string{place(h.from)})
	}
	return slices.Concat([]string{"import", set("v", 0)}, options, []string{place(h.to), h.id})
}

func (h *hand) String() string {
	return fmt.Sprintf("%s from %d to %d of %q", h.verb, h.from, h.to, h.id)
}

// placed are the IDs of the objects in all places; "" where there is none.
type placed [allPlaces]string

// change carries out a change, and reports whether it is possible.
func (h *hand) change(p placed) (placed, bool) {
	switch h.verb {
	case "mv":
		if p[h.from] == "" || p[h.to] != "" {
			return p, false
		}
		p[h.to], p[h.from] = p[h.from], ""
	case "rm":
		if p[h.from] == "" {
			return p, false
		}
		p[h.from] = ""
	default:
		if p[h.to] != "" {
			return p, false
		}
		p[h.to] = h.id
	}
	return p, true
}

// impossible are parts of the errors of changes that cannot be made of what is in the places.
var impossible = []string{"Invalid state move", "Invalid target address", "Resource already managed"}

// changed is a change with its end.
type changed struct {
	*hand
	maybe   bool // it was broken off
	refused bool // because of what is in the places
}

// byHand is the specification: changes by hand are carried out one after the other, each at a moment between
// its begin and its end. The output of an operation without a change is what is in the places then.
func byHand(first placed) porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(state, input, output any) (out []any) {
			now := state.(placed)
			if input == nil {
				if now == output.(placed) {
					return []any{now}
				}
				return nil
			}
			c := input.(changed)
			next, possible := c.change(now)
			if c.maybe || c.refused && !possible {
				out = append(out, now)
			}
			if possible && !c.refused {
				out = append(out, next)
			}
			return out
		},
	}).ToModel()
}

// places returns the objects of the state in all places.
func (s *site) places(dir string) (p placed) {
	s.Helper()
	for _, r := range s.pull(dir).Resources {
		for _, i := range r.Instances {
			if r.Name == "place" {
				p[i.Key] = i.Attributes.ID
			}
		}
	}
	return p
}

// checkByHand checks that some order of the changes by hand explains the objects in the places.
func (s *site) checkByHand(dir string, first placed, acts []*act) {
	s.Helper()
	end := time.Now().UnixNano()
	ops := []porcupine.Operation{{ClientId: 0, Output: s.places(dir), Call: end, Return: math.MaxInt64}}
	for _, a := range acts {
		refused := a.code > 0 && a.says(impossible...)
		if a.hand == nil || a.code != 0 && !a.brokenOff() && !refused {
			continue
		}
		op := porcupine.Operation{ClientId: a.number, Input: changed{a.hand, a.brokenOff(), refused}, Call: a.begun.UnixNano(), Return: a.end.UnixNano()}
		if a.killed { // a request may still be on its way
			op.Return = end
		}
		ops = append(ops, op)
	}
	if got := porcupine.CheckOperationsTimeout(byHand(first), ops, 10*time.Second); got == porcupine.Illegal {
		s.Errorf("got the objects %q where there were %q, want some order of the changes by hand to explain them", ops[0].Output, first)
	}
}
