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
	"syscall"
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

// text returns the configuration. The variable v is the number of the run; each object has it, and the number
// that its parent has.
func (s shape) text() string {
	var sb strings.Builder
	sb.WriteString("variable \"v\" {}\n")
	for i, p := range s.parents {
		up := ""
		if p >= 0 {
			up = fmt.Sprintf(", up = sim_thing.o%d.tags.v", p)
		}
		fmt.Fprintf(&sb, "resource \"sim_thing\" \"o%d\" {\n  name  = \"o%d\"\n  delay = \"%dms\"\n  tags  = { v = var.v%s }\n}\n", i, i, 20+(37*i)%200, up)
	}
	return sb.String()
}

// touched returns the objects that a run with a target changes: the target and all that it is made of.
func (s shape) touched(target int) (out []int) {
	for i := target; i >= 0; i = s.parents[i] {
		out = append(out, i)
	}
	return out
}

// act is a run of a history.
type act struct {
	number, target int
	killed         bool
	code           int
	output         string
}

// history carries out runs on several machines at the same time. The last one on a machine may be killed.
func history(s *site, sh shape, r *rand.Rand, machines, each int) []*act {
	var acts []*act
	var all sync.WaitGroup
	var dirs []string
	for range machines {
		dirs = append(dirs, s.machine())
	}
	for m, dir := range dirs {
		var mine []*act
		for i := range each {
			mine = append(mine, &act{number: 2 + m*each + i, target: r.IntN(len(sh.parents)), killed: i == each-1 && r.IntN(2) == 0})
		}
		acts = append(acts, mine...)
		pause := time.Duration(r.IntN(900)) * time.Millisecond
		all.Go(func() {
			for _, a := range mine {
				cmd, ended := s.start(dir, "apply", "-auto-approve", "-lock-timeout=20s", set("v", a.number), fmt.Sprint("-target=sim_thing.o", a.target))
				if a.killed {
					time.AfterFunc(300*time.Millisecond+pause, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
				}
				end := <-ended
				a.code, a.output = end.code, end.output
				a.killed = end.code == -1
			}
		})
	}
	all.Wait()
	return acts
}

// free frees the runs that were killed in an operation, as a person would do. The lease of the others has
// lapsed.
func (s *site) free(dir string) {
	s.Helper()
	if _, err := s.db.Exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state IN ('claimed', 'waiting')`); err != nil {
		s.Fatal(err)
	}
	rows, err := s.db.Query(`SELECT DISTINCT r.info FROM mayfly.runs r JOIN mayfly.operations o ON o.run = r.id WHERE r.state IN ('claimed', 'lapsed') AND o.ended IS NULL`)
	if err != nil {
		s.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var info struct{ ID string }
		err := rows.Scan(&text)
		if err == nil {
			err = json.Unmarshal([]byte(text), &info)
		}
		if err != nil {
			s.Fatal(err)
		}
		s.must(dir, "force-unlock", "-force", info.ID)
	}
}

// tags returns the tags of each object in the state and in the cloud.
func (s *site) tags(dir string, n int) (state, world []map[string]string) {
	s.Helper()
	state, world = make([]map[string]string, n), make([]map[string]string, n)
	var doc struct {
		Resources []struct {
			Name      string
			Instances []struct {
				Attributes struct{ Tags map[string]string }
			}
		}
	}
	if err := json.Unmarshal([]byte(s.must(dir, "state", "pull")), &doc); err != nil {
		s.Fatal(err)
	}
	for _, r := range doc.Resources {
		i, _ := strconv.Atoi(r.Name[1:])
		state[i] = r.Instances[0].Attributes.Tags
	}
	objects, err := simcloud.Objects(s.cloud)
	if err != nil {
		s.Fatal(err)
	}
	for _, o := range objects {
		i, _ := strconv.Atoi(o.Name[1:])
		if err := json.Unmarshal(o.Attrs["tags"], &world[i]); err != nil {
			s.Fatal(err)
		}
	}
	return state, world
}

// explained reports whether an order of the runs explains the numbers that objects have: the last run that
// touches an object leaves its number. A killed run has touched some of its objects.
func explained(sh shape, acts []*act, world []map[string]string) error {
	touched := map[int][]int{} // by run
	for _, a := range acts {
		touched[a.number] = sh.touched(a.target)
		if a.code != 0 && !a.killed {
			delete(touched, a.number)
		}
	}
	killed := map[int]bool{}
	for _, a := range acts {
		killed[a.number] = a.killed
	}
	after := map[int][]int{} // runs that come later
	for i, tags := range world {
		last, err := strconv.Atoi(tags["v"])
		if err != nil {
			return fmt.Errorf("the object %d has the tags %v", i, tags)
		}
		if _, known := touched[last]; !known && last != 1 {
			return fmt.Errorf("the object %d was changed by the run %d, which has failed", i, last)
		}
		if sh.parents[i] >= 0 && tags["up"] != tags["v"] {
			return fmt.Errorf("the object %d was changed by the run %s and has the value %s of its parent: the plan was stale", i, tags["v"], tags["up"])
		}
		for run, objects := range touched {
			if run == last || killed[run] || !slices.Contains(objects, i) {
				continue
			}
			if last == 1 {
				return fmt.Errorf("the object %d lacks the change of the run %d", i, run)
			}
			after[run] = append(after[run], last)
		}
	}
	return acyclic(after)
}

// acyclic returns an error if runs come before each other.
func acyclic(after map[int][]int) error {
	const open, done = 1, 2
	status := map[int]int{}
	var visit func(run int) error
	visit = func(run int) error {
		switch status[run] {
		case open:
			return fmt.Errorf("no order of the runs explains the objects: the run %d comes before itself in %v", run, after)
		case done:
			return nil
		}
		status[run] = open
		for _, next := range after[run] {
			if err := visit(next); err != nil {
				return err
			}
		}
		status[run] = done
		return nil
	}
	for run := range after {
		if err := visit(run); err != nil {
			return err
		}
	}
	return nil
}

// TestHistories has random runs of several machines change one state, some of which are killed. Some order of
// the runs explains what is left.
func TestHistories(t *testing.T) {
	histories := 2
	if text := os.Getenv("MAYFLY_TEST_CLAIM_HISTORIES"); text != "" {
		var err error
		if histories, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for range histories {
		seed := rand.Uint64()
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			sh := newShape(r, 4+r.IntN(4))
			s := newSite(t, sh.text(), nil)
			dir := s.machine()
			s.must(dir, "apply", "-auto-approve", set("v", 1))
			acts := history(s, sh, r, 3, 4)
			s.free(dir)
			state, world := s.tags(dir, len(sh.parents))
			if err := explained(sh, acts, world); err != nil {
				t.Errorf("the shape is %v: %v", sh.parents, err)
				for _, a := range acts {
					t.Logf("run %d of o%d: exit status %d\n%s", a.number, a.target, a.code, a.output)
				}
			}
			killed := slices.ContainsFunc(acts, func(a *act) bool { return a.killed })
			for i := range world {
				if !killed && fmt.Sprint(state[i]) != fmt.Sprint(world[i]) {
					t.Errorf("got %v of the object %d in the state, want %v, as in the cloud", state[i], i, world[i])
				}
			}
			for _, a := range acts {
				if a.code != 0 && !a.killed {
					t.Logf("the run %d of o%d was refused:\n%s", a.number, a.target, a.output)
				}
			}
			s.must(dir, "apply", "-auto-approve", set("v", 99))
			s.contains(s.must(dir, "plan", set("v", 99)), "No changes")
			s.until(0, `SELECT count(*) FROM mayfly.claims`)
		})
	}
}
