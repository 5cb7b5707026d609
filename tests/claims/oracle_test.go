//go:build unix

package claims

import (
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// chain is a shape with two objects, the second made of the first, and a third one.
var chain = shape{parents: []int{-1, 0, -1}}

// TestExplained gives the specification of applies ends that it must explain, and others.
func TestExplained(t *testing.T) {
	run := func(number, target int) *act { return &act{number: number, target: target} }
	tags := func(v, up string) map[string]string { return map[string]string{"v": v, "up": up} }
	alone := func(number, target int) *act { return &act{number: number, target: target, alone: true} }
	failed, killed, lapsed, later := run(2, 1), run(2, 1), run(2, 1), alone(3, 1)
	later.begun = time.Unix(1, 0)
	later.end = later.begun
	failed.code = 1
	killed.killed, killed.code = true, -1
	lapsed.lapsed, lapsed.code = true, 1
	for name, c := range map[string]struct {
		acts  []*act
		world []map[string]string
		want  bool
	}{
		"nothing":                     {nil, []map[string]string{tags("1", ""), tags("1", "1"), tags("1", "")}, true},
		"one run":                     {[]*act{run(2, 1)}, []map[string]string{tags("2", ""), tags("2", "2"), tags("1", "")}, true},
		"one run, half":               {[]*act{run(2, 1)}, []map[string]string{tags("2", ""), tags("1", "1"), tags("1", "")}, false},
		"a killed run, half":          {[]*act{killed}, []map[string]string{tags("2", ""), tags("1", "1"), tags("1", "")}, true},
		"a run without claims, half":  {[]*act{lapsed}, []map[string]string{tags("2", ""), tags("1", "1"), tags("1", "")}, true},
		"a failed run":                {[]*act{failed}, []map[string]string{tags("2", ""), tags("2", "2"), tags("1", "")}, false},
		"one after the other":         {[]*act{run(2, 1), run(3, 0)}, []map[string]string{tags("3", ""), tags("2", "2"), tags("1", "")}, true},
		"each before the other":       {[]*act{run(2, 1), run(3, 1)}, []map[string]string{tags("3", ""), tags("2", "2"), tags("1", "")}, false},
		"a value from before":         {[]*act{run(2, 1)}, []map[string]string{tags("2", ""), tags("2", "1"), tags("1", "")}, false},
		"a value that was there":      {[]*act{run(2, 0), alone(3, 1)}, []map[string]string{tags("2", ""), tags("3", "2"), tags("1", "")}, true},
		"a value from before another": {[]*act{run(2, 0), alone(3, 1)}, []map[string]string{tags("2", ""), tags("3", "1"), tags("1", "")}, true},
		"a value that another has changed, and what is made of it": {[]*act{run(2, 1), alone(3, 1)}, []map[string]string{tags("2", ""), tags("3", "1"), tags("1", "")}, false},
		"a value from before it began":                             {[]*act{run(2, 0), later}, []map[string]string{tags("2", ""), tags("3", "1"), tags("1", "")}, false},
		"an object that is gone":                                   {nil, []map[string]string{nil, tags("1", "1"), tags("1", "")}, false},
		"a run that nothing was left of":                           {[]*act{run(2, 2)}, []map[string]string{tags("1", ""), tags("1", "1"), tags("1", "")}, false},
	} {
		if got := explained(chain, c.acts, c.world); got != c.want {
			t.Errorf("%s: explained: got %v, want %v", name, got, c.want)
		}
	}
}

// TestByHand gives the specification of changes by hand ends that it must explain, and others.
func TestByHand(t *testing.T) {
	first := placed{"a", "b"}
	mv := func(from, to int) changed { return changed{hand: &hand{verb: "mv", from: from, to: to}} }
	refused, maybe := mv(0, 2), mv(0, 2)
	refused.refused, maybe.maybe = true, true
	for name, c := range map[string]struct {
		changes []changed
		end     placed
		want    bool
	}{
		"nothing":                           {nil, first, true},
		"a change":                          {[]changed{mv(0, 2)}, placed{"", "b", "a"}, true},
		"a change that is missing":          {[]changed{mv(0, 2)}, first, false},
		"two, in either order":              {[]changed{mv(0, 2), mv(1, 0)}, placed{"b", "", "a"}, true},
		"two of which only one is possible": {[]changed{mv(0, 2), mv(1, 2)}, placed{"", "b", "a"}, false},
		"one that was refused for another":  {[]changed{refused, mv(1, 2)}, placed{"a", "", "b"}, true},
		"one that was refused for nothing":  {[]changed{refused}, first, false},
		"one that was broken off before":    {[]changed{maybe}, first, true},
		"one that was broken off after":     {[]changed{maybe}, placed{"", "b", "a"}, true},
		"an object in two places":           {[]changed{maybe}, placed{"a", "b", "a"}, false},
	} {
		ops := []porcupine.Operation{{Output: c.end, Call: 2, Return: math.MaxInt64}}
		for i, change := range c.changes {
			ops = append(ops, porcupine.Operation{ClientId: 1 + i, Input: change, Call: 0, Return: 1})
		}
		if got := porcupine.CheckOperations(byHand(first), ops); got != c.want {
			t.Errorf("%s: byHand: got %v, want %v", name, got, c.want)
		}
	}
}
