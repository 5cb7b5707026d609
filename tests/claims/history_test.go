//go:build unix

package claims

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// shape is a random configuration: each object has at most one other that it is made of.
type shape struct{ parents []int } // -1 for none

func newShape(r *rand.Rand, n int) shape {
	var s shape
	for i := range n {
		s.parents = append(s.parents, r.IntN(i+1)-1)
	}
	return s
}

// all is in place of an object whose runs change it alone: all objects change.
const all = -1

// text returns the configuration. The variable v is the number of the run; each object has it, and the number
// that its parent has. Runs that change one object leave the others as they are.
func (s shape) text(only int) string {
	var sb strings.Builder
	sb.WriteString("variable \"v\" {}\n" + places)
	for i, p := range s.parents {
		up, rest := "", ""
		if p >= 0 {
			up = fmt.Sprintf(", up = sim_thing.o%d.tags.v", p)
		}
		if only != all && only != i {
			rest = "  lifecycle {\n    ignore_changes = [tags]\n  }\n"
		}
		fmt.Fprintf(&sb, "resource \"sim_thing\" \"o%d\" {\n  name  = \"o%d\"\n  delay = \"%dms\"\n  tags  = { v = var.v%s }\n%s}\n", i, i, 20+(37*i)%200, up, rest)
	}
	return sb.String()
}

// path returns a target and all that it is made of, which comes before it.
func (s shape) path(target int) (out []int) {
	for i := target; i >= 0; i = s.parents[i] {
		out = append(out, i)
	}
	slices.Reverse(out)
	return out
}

// history carries out runs on several machines at the same time, of which some are killed or stand still.
func history(s *site, sh shape, r *rand.Rand, machines, each int) (acts []*act) {
	var all sync.WaitGroup
	person := s.machine()
	dirs := make([]string, machines)
	for m := range dirs {
		dirs[m] = s.machine()
	}
	var freeing sync.Mutex
	for m, dir := range dirs {
		var mine []*act
		for i := range each {
			mine = append(mine, newAct(s, sh, r, 2+m*each+i))
		}
		acts = append(acts, mine...)
		all.Go(func() {
			for _, a := range mine {
				a.carryOut(s, sh, dir)
				freeing.Lock()
				a.finish(s, person)
				freeing.Unlock()
			}
		})
	}
	if r.IntN(4) == 0 {
		time.Sleep(time.Duration(r.IntN(4000)) * time.Millisecond)
		s.host.restart([]string{"fast", "immediate"}[r.IntN(2)])
	}
	all.Wait()
	return acts
}

// tags returns the tags of each object in the state and in the cloud.
func (s *site) tags(dir string, n int) (state, world []map[string]string) {
	s.Helper()
	state, world = make([]map[string]string, n), make([]map[string]string, n)
	for _, r := range s.pull(dir).Resources {
		if i, err := strconv.Atoi(r.Name[1:]); err == nil { // else it is changed by hand
			state[i] = r.Instances[0].Attributes.Tags
		}
	}
	objects, err := simcloud.Objects(s.cloud)
	if err != nil {
		s.Fatal(err)
	}
	for _, o := range objects {
		i, err := strconv.Atoi(o.Name[1:])
		if err != nil {
			continue
		}
		if err := json.Unmarshal(o.Attrs["tags"], &world[i]); err != nil {
			s.Fatal(err)
		}
	}
	return state, world
}

// number returns a number of the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestHistories has random runs of several machines change one state, by applies and by hand, while some of
// them are killed or lose their claims, connections are cut, and the server is started again. Some order of
// the runs explains what is left, and nothing that was completed is missing.
func TestHistories(t *testing.T) {
	histories, first := number(t, "MAYFLY_TEST_CLAIM_HISTORIES", 3), number(t, "MAYFLY_TEST_CLAIM_HISTORY_SEED", rand.Uint64())
	h := newHost(t)
	var mu sync.Mutex
	sum := map[string]int{}
	t.Run("all", func(t *testing.T) {
		for n := range histories {
			seed := first + n
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				acts := check(t, h, seed)
				mu.Lock()
				defer mu.Unlock()
				for _, a := range acts {
					a.count(sum)
				}
			})
		}
	})
	t.Logf("in %d histories, with %d restarts: %v", histories, len(h.outages), sum)
}

// check carries out a history, and checks it.
func check(t *testing.T, h *host, seed uint64) []*act {
	r := rand.New(rand.NewPCG(seed, 0))
	sh := newShape(r, 4+r.IntN(4))
	s := h.newSite(t, sh.text(all), nil)
	dir := s.machine()
	s.must(dir, "apply", "-auto-approve", set("v", 1), set("n", takenPlaces))
	before := s.places(dir)
	acts := history(s, sh, r, 3, 4)
	state, world := s.tags(dir, len(sh.parents))
	if !explained(sh, acts, world) {
		t.Errorf("got the objects %v with the parents %v, want some order of the runs to explain them", world, sh.parents)
	}
	s.checkByHand(dir, before, acts)
	for i := range world {
		if fmt.Sprint(state[i]) != fmt.Sprint(world[i]) && !cutOff(acts, i, world[i]["v"]) {
			t.Errorf("got %v of the object %d in the state, want %v, as in the cloud", state[i], i, world[i])
		}
	}
	for _, a := range acts {
		a.checkEnd(s)
	}
	s.must(dir, "apply", "-auto-approve", set("v", 99))
	s.contains(s.must(dir, "plan", set("v", 99)), "No changes")
	s.until(0, `SELECT count(*) FROM mayfly.claims`)
	if t.Failed() {
		for _, a := range acts {
			t.Log(a)
		}
	}
	return acts
}

// cutOff reports whether the run with a number was freed while an operation on an object was open: so its
// last change need not be in the state.
func cutOff(acts []*act, object int, number string) bool {
	return slices.ContainsFunc(acts, func(a *act) bool {
		return fmt.Sprint(a.number) == number && slices.Contains(a.cutOff, fmt.Sprint("sim_thing.o", object))
	})
}
