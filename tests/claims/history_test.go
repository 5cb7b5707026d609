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
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
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
	sb.WriteString("variable \"v\" {}\n" + places)
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
	hand           *hand         // in place of an apply; nil for none
	dies           time.Duration // after its begin, or that of an operation; 0 for never
	inOperation    bool
	cut            *tcpproxy.Cut // of its connection to the server; nil for none

	killed     bool
	code       int
	output     string
	begun, end time.Time
}

// args returns the command of an act. Its number is its note.
func (a *act) args() []string {
	more := []string{"-lock-timeout=20s", "-run-note=" + a.note()}
	if a.hand != nil {
		return a.hand.args(more)
	}
	return append([]string{"apply", "-auto-approve", set("v", a.number), fmt.Sprint("-target=sim_thing.o", a.target)}, more...)
}

func (a *act) note() string { return fmt.Sprint("act ", a.number) }

func (a *act) String() string {
	what := fmt.Sprint("apply of o", a.target)
	if a.hand != nil {
		what = a.hand.String()
	}
	return fmt.Sprintf("run %d, %s: exit status %d (killed: %v)\n%s", a.number, what, a.code, a.killed, a.output)
}

// newAct draws an act.
func newAct(s *site, sh shape, r *rand.Rand, number int) *act {
	a := &act{number: number, target: r.IntN(len(sh.parents))}
	if r.IntN(5) < 2 {
		a.hand = newHand(s, r, number)
	}
	if r.IntN(3) == 0 {
		a.dies = time.Duration(1+r.IntN(1500)) * time.Millisecond
		if a.hand == nil && r.IntN(3) > 0 {
			a.dies, a.inOperation = a.dies/10, true
		}
	}
	if r.IntN(2) == 0 {
		a.cut = &tcpproxy.Cut{Direction: tcpproxy.Direction(r.IntN(2)), After: int64(r.IntN(40000)), Late: time.Duration(r.IntN(2)*r.IntN(300)) * time.Millisecond}
	}
	return a
}

// history carries out runs on several machines at the same time, of which some are killed. It returns the
// addresses of objects whose operations were cut off by that.
func history(s *site, sh shape, r *rand.Rand, machines, each int) (acts []*act, cutOff map[string]bool) {
	var all sync.WaitGroup
	cutOff = map[string]bool{}
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
				a.carryOut(s, dir)
				if a.killed {
					freeing.Lock()
					s.free(person, a, cutOff)
					freeing.Unlock()
				}
			}
		})
	}
	if r.IntN(3) == 0 {
		time.Sleep(time.Duration(r.IntN(4000)) * time.Millisecond)
		freeing.Lock()
		s.server.Stop([]string{"fast", "immediate"}[r.IntN(2)])
		s.server.Run()
		freeing.Unlock()
	}
	all.Wait()
	return acts, cutOff
}

// carryOut carries out an act.
func (a *act) carryOut(s *site, dir string) {
	proxy := tcpproxy.Start(s, s.server.Port)
	if a.cut != nil {
		proxy.Break(*a.cut)
	}
	a.begun = time.Now()
	cmd, ended := s.startBy(s.server.URL(proxy.Port), dir, a.args()...)
	if a.dies > 0 {
		over := make(chan struct{})
		defer close(over)
		go func() {
			for a.inOperation && !s.operates(a) {
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
			select {
			case <-over:
			case <-time.After(a.dies):
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			}
		}()
	}
	end := <-ended
	a.end, a.code, a.output, a.killed = time.Now(), end.code, end.output, end.code == -1
}

// operates reports whether an operation of a run is under way.
func (s *site) operates(a *act) (is bool) {
	err := s.db.QueryRow(`SELECT EXISTS (SELECT 1 FROM mayfly.operations o JOIN mayfly.runs r ON r.id = o.run WHERE r.info->>'Info' = $1 AND o.ended IS NULL)`, a.note()).Scan(&is)
	return err == nil && is // while the server is started again, nothing is known
}

// free frees a run that was killed, as a person would do, and as time would do with its lease.
func (s *site) free(dir string, a *act, cutOff map[string]bool) {
	if _, err := s.db.Exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE info->>'Info' = $1 AND state IN ('claimed', 'waiting')`, a.note()); err != nil {
		s.Error(err)
	}
	rows, err := s.db.Query(`SELECT DISTINCT r.info->>'ID', o.key FROM mayfly.runs r JOIN mayfly.operations o ON o.run = r.id WHERE r.info->>'Info' = $1 AND o.ended IS NULL`, a.note())
	if err != nil {
		s.Error(err)
		return
	}
	defer rows.Close()
	id := ""
	for rows.Next() {
		var key string
		if err := rows.Scan(&id, &key); err != nil {
			s.Error(err)
		}
		cutOff[key] = true
	}
	if id != "" {
		if r := s.run(dir, "force-unlock", "-force", id); r.code != 0 {
			s.Errorf("freeing the run %d: got the exit status %d, want 0\n%s", a.number, r.code, r.output)
		}
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

// explained reports whether an order of the runs explains the numbers that objects have: the last run that
// touches an object leaves its number. A killed run has touched some of its objects.
func explained(sh shape, acts []*act, world []map[string]string) error {
	touched := map[int][]int{} // by run
	for _, a := range acts {
		if a.hand != nil {
			continue
		}
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

// TestHistories has random runs of several machines change one state, by applies and by hand, while some of
// them are killed, connections are cut, and the server is started again. Some order of the runs explains what
// is left, and nothing that was completed is missing.
func TestHistories(t *testing.T) {
	histories := 2
	if text := os.Getenv("MAYFLY_TEST_CLAIM_HISTORIES"); text != "" {
		var err error
		if histories, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	first := rand.Uint64()
	if text := os.Getenv("MAYFLY_TEST_CLAIM_HISTORY_SEED"); text != "" {
		var err error
		if first, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	sum := map[string]int{}
	for n := range histories {
		seed := first + uint64(n)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			sh := newShape(r, 4+r.IntN(4))
			s := newSite(t, sh.text(), nil)
			dir := s.machine()
			s.must(dir, "apply", "-auto-approve", set("v", 1), set("n", takenPlaces))
			before := s.places(dir)
			acts, cutOff := history(s, sh, r, 3, 4)
			state, world := s.tags(dir, len(sh.parents))
			if err := explained(sh, acts, world); err != nil {
				t.Errorf("the shape is %v: %v", sh.parents, err)
			}
			s.checkByHand(dir, before, acts)
			for i := range world {
				if !cutOff[fmt.Sprint("sim_thing.o", i)] && fmt.Sprint(state[i]) != fmt.Sprint(world[i]) {
					t.Errorf("got %v of the object %d in the state, want %v, as in the cloud", state[i], i, world[i])
				}
			}
			s.must(dir, "apply", "-auto-approve", set("v", 99))
			s.contains(s.must(dir, "plan", set("v", 99)), "No changes")
			s.until(0, `SELECT count(*) FROM mayfly.claims`)
			for _, a := range acts {
				if t.Failed() {
					t.Log(a)
				}
				s.checkEnd(a)
				a.count(sum)
			}
			sum["operations cut off"] += len(cutOff)
		})
	}
	t.Logf("in %d histories: %v", histories, sum)
}

// reasons are parts of the errors for which a run may be refused. Connections that are lost and a server that
// is started again are none.
var reasons = append([]string{"Parts of the state are claimed", "Error acquiring the state lock", "Plan is stale"}, impossible...)

// says reports whether a run has printed one of some texts.
func (a *act) says(texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(a.output, text) })
}

// checkEnd checks that a run has failed for a reason that it may have.
func (s *site) checkEnd(a *act) {
	s.Helper()
	if a.code > 0 && !a.says(reasons) {
		s.Errorf("got the error of a run that may not fail like that: %s", a)
	}
}

// count adds numbers that show whether a history is worth something.
func (a *act) count(sum map[string]int) {
	kind := "apply"
	if a.hand != nil {
		kind = a.hand.verb
	}
	switch {
	case a.killed:
		sum[kind+" killed"]++
	case a.code == 0:
		sum[kind]++
	default:
		sum[kind+" refused"]++
	}
}
