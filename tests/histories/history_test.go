package histories

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

func TestMain(m *testing.M) {
	os.Setenv("TF_LOG_SDK", "off") // or providers within this process log every call
	if err := program.RaiseParallel(); err != nil {
		panic(err)
	}
	os.Exit(program.Run(m))
}

// lease is the lease of runs in histories in which some lapse.
const lease = 500 * time.Millisecond

// faults are the faults of a history.
type faults struct{ kill, cut, freeze, restart bool }

// history is a state with the runs that change it.
type history struct {
	t         *testing.T
	server    *server.Server
	db        *sql.DB
	store     *postgres.Store // without faults
	workspace string
	dir       string // for files with results, since all runs are on one machine
	lease     time.Duration
	shape     shape
	faults    faults
	crossed   []int // blocks of which each machine changes one, which is made of the next; nil for none
	plain     bool  // the first run makes no block of others
	runs      []*run
	w         *world
	all       sync.WaitGroup
	restarts  *restarts

	freeing sync.Mutex
	freed   map[string]bool // names of the objects of operations that a person has read of
}

// newHistory draws a history.
func newHistory(t *testing.T, s *server.Server, db *sql.DB, seed uint64) (h *history, machines [][]*run) {
	r := mathrand.New(mathrand.NewPCG(seed, 0))
	h = &history{t: t, server: s, db: db, workspace: fmt.Sprint("w", seed), dir: t.TempDir(), lease: lease, shape: newShape(r), w: newWorld(t), freed: map[string]bool{}}
	h.faults = faults{kill: r.IntN(3) == 0, cut: r.IntN(2) == 0, freeze: r.IntN(4) == 0, restart: r.IntN(25) == 0}
	if h.faults.restart || !h.faults.kill && !h.faults.freeze {
		h.lease = 30 * time.Second // longer than a slow machine takes for a request
	}
	number, each := 2+r.IntN(3), 1+r.IntN(3)
	if r.IntN(2) == 0 {
		h.crossed = r.Perm(len(h.shape.blocks))[:min(2+r.IntN(2), len(h.shape.blocks))]
	}
	together := r.IntN(4)
	var meetings []*meeting
	for range each {
		meetings = append(meetings, &meeting{arrived: map[*run]bool{}, wanted: number, all: make(chan struct{})})
	}
	for machine := range number {
		var mine []*run
		for _, meeting := range meetings {
			one := h.newRun(r, 2+len(h.runs), machine)
			if together > 0 {
				one.meeting = meeting
			}
			h.runs, mine = append(h.runs, one), append(mine, one)
		}
		machines = append(machines, mine)
	}
	var err error
	if h.store, err = postgres.New(postgres.Options{ConnString: s.URL(0), Lease: h.lease, Dir: h.dir}); err != nil {
		t.Fatal(err)
	}
	return h, machines
}

// whole is a run without faults that applies the whole configuration.
func (h *history) whole(number int) *run {
	r := &run{number: number, dead: make(chan struct{}), wait: time.Second, lease: time.Minute, commit: commit{shape: h.shape, run: number, touched: map[int]int{}}}
	for i := range h.shape.blocks {
		r.commit.touched[i] = 2
	}
	if !h.plain || number > 1 {
		r.commit.connect(mathrand.New(mathrand.NewPCG(uint64(number), 1)))
	}
	return r
}

// carry carries out a run that must succeed.
func (h *history) carry(r *run) {
	h.t.Helper()
	h.start(r)
	if !r.ok() {
		h.t.Fatalf("%v", r)
	}
}

// free frees the dead runs whose operations others read of.
func (h *history) free() {
	h.freeing.Lock()
	defer h.freeing.Unlock()
	m := h.manager()
	for _, d := range h.holders() {
		var dead *run
		for _, r := range h.runs {
			if d.number == r.number && (r.isDead() || h.ended(r)) {
				dead = r
			}
		}
		if dead == nil || !d.lapsed {
			continue
		}
		unfinished, err := m.Unfinished(context.Background(), d.id)
		if err == nil {
			err = m.ForceUnlock(context.Background(), d.id)
		}
		if err != nil {
			continue // it was freed just now, or nothing is left of it
		}
		for _, u := range unfinished {
			h.freed[nameOf(u.Object.Instance)+" "+strconv.Itoa(dead.number)] = true
		}
	}
}

func (h *history) ended(r *run) bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return r.end != 0
}

func (h *history) manager() several {
	m, err := h.store.Manager(h.workspace)
	if err != nil {
		h.t.Fatal(err)
	}
	return m.(several)
}

// holder is a run that has claims.
type holder struct {
	id     string
	number int
	lapsed bool
}

// holders returns the runs that have claims.
func (h *history) holders() (out []holder) {
	rows, err := h.db.Query(`SELECT r.info, r.state = 'lapsed' OR r.lease_until <= clock_timestamp() FROM mayfly.runs r JOIN mayfly.workspaces w ON w.id = r.workspace
		WHERE w.name = $1 AND r.state IN ('claimed', 'lapsed')`, h.workspace)
	if err != nil {
		return nil // while the server restarts
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var one holder
		if err := rows.Scan(&text, &one.lapsed); err != nil {
			return nil
		}
		info, err := store.ParseLockInfo([]byte(text))
		if err != nil {
			h.t.Fatal(err)
		}
		if n, is := strings.CutPrefix(info.Operation, "run "); is {
			one.id, one.number = info.ID, number(n)
			out = append(out, one)
		}
	}
	return out
}

// query returns the texts that a statement finds.
func (h *history) query(statement string) (out []string) {
	h.t.Helper()
	rows, err := h.db.Query(statement)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			h.t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		h.t.Fatal(err)
	}
	return out
}

// read returns the state.
func (h *history) read() *state.State {
	h.t.Helper()
	f, err := h.manager().Read(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	if f == nil {
		return state.New()
	}
	return f.State
}

// content returns the name of an object and the run that has made it; "" for none.
func content(o *state.Object) (name string, by int) {
	if o == nil {
		return "", 0
	}
	var attrs struct {
		Name string
		Tags map[string]string
	}
	if err := json.Unmarshal(o.JSON(), &attrs); err != nil {
		return err.Error(), -1
	}
	return attrs.Name, number(attrs.Tags["run"])
}

var address = regexp.MustCompile(`^(?:sim_thing\.(b\d+)(?:\[(\d+)\])?|module\.(b\d+)(?:\[(\d+)\]\.module\.in)?\.sim_thing\.([xy]))$`)

// nameOf returns the name of the object with an address.
func nameOf(a addr.Instance) string {
	m := address.FindStringSubmatch(a.String())
	if m == nil {
		return a.String()
	}
	name := m[1] + m[3]
	if index := m[2] + m[4]; index != "" {
		name += "-" + index
	}
	if m[5] == "y" {
		name += "-y"
	}
	return name
}

// TestHistories carries out random histories.
func TestHistories(t *testing.T) {
	histories, first := seeds(t, 12, mathrand.Uint64N(1<<32))
	s := server.Start(t)
	db := opened(t, s)
	var restarts restarts
	sum := map[string]int{}
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for i := range histories {
			t.Run(fmt.Sprint("seed ", first+uint64(i)), func(t *testing.T) {
				t.Parallel()
				h, machines := newHistory(t, s, db, first+uint64(i))
				h.carryOutAll(machines, &restarts)
				mu.Lock()
				defer mu.Unlock()
				h.count(sum)
			})
		}
	})
	t.Logf("in %d histories: %v", histories, sum)
}

// carryOutAll carries out a history and checks it.
func (h *history) carryOutAll(machines [][]*run, shared *restarts) {
	h.restarts = shared
	defer h.store.Close()
	defer func() {
		close(h.w.over)
		h.all.Wait()
		if h.t.Failed() {
			h.report()
		}
	}()
	h.begin()
	var all sync.WaitGroup
	for _, mine := range machines {
		all.Go(func() {
			for _, r := range mine {
				h.start(r)
			}
		})
	}
	if h.faults.restart {
		time.Sleep(30 * time.Millisecond)
		h.restart()
	}
	all.Wait()
	h.restarts.RLock()
	defer h.restarts.RUnlock()
	h.check()
}

// begin makes the state. The beginning and the end of a history meet no restart.
func (h *history) begin() {
	h.restarts.RLock()
	defer h.restarts.RUnlock()
	if err := h.store.CreateWorkspace(context.Background(), h.workspace); err != nil {
		h.t.Fatal(err)
	}
	h.carry(h.whole(1))
}

func (h *history) restart() {
	h.restarts.Lock()
	defer h.restarts.Unlock()
	began := time.Now()
	h.server.Stop([]string{"fast", "immediate"}[h.runs[0].seed%2])
	h.server.Run()
	h.restarts.note(period{began, time.Now()})
}

// restarts are the restarts of a server that histories share. It is locked while one goes on.
type restarts struct {
	sync.RWMutex

	mu  sync.Mutex
	all []period
}

// period is a time between two moments.
type period struct{ began, ended time.Time }

func (r *restarts) note(p period) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
}

// in reports whether the server was restarted in a period, in part.
func (r *restarts) in(p period) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.all, func(o period) bool { return o.began.Before(p.ended) && p.began.Before(o.ended) })
}

// count adds numbers that show whether the histories are worth something.
func (h *history) count(sum map[string]int) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	for _, r := range h.runs {
		sum["runs"]++
		switch {
		case r.isDead():
			sum["killed"]++
		case r.ok():
			sum["succeeded"]++
		case r.shown == nil:
			sum["refused"]++
		default:
			sum["failed"]++
		}
		sum["stale plans"] += r.stale
	}
	sum["changes"] += len(h.w.ops)
	for i, a := range h.runs {
		for _, b := range h.runs[:i] {
			if a.claimed > 0 && b.claimed > 0 && a.claimed < h.last(b) && b.claimed < h.last(a) {
				sum["runs at the same time"]++
				if h.sees(a, b) && h.sees(b, a) {
					sum["that depend on each other"]++
				}
			}
		}
	}
}

// last returns the point at which the run had carried out its last operation. The world's lock is held.
func (h *history) last(r *run) (at int) {
	for _, op := range h.w.ops {
		if op.run == r {
			at = op.at
		}
	}
	return at
}

// sees reports whether a run has made something of an object that another one changes. The world's lock is
// held.
func (h *history) sees(a, b *run) bool {
	changed := b.changed()
	return slices.ContainsFunc(h.w.ops, func(op *operation) bool {
		if op.run != a {
			return false
		}
		for name := range h.seen(op) {
			if _, is := changed[name]; is {
				return true
			}
		}
		return false
	})
}

// report logs the runs with their plans and operations.
func (h *history) report() {
	var sb strings.Builder
	fmt.Fprintf(&sb, "shape: %+v\nfaults: %+v\n", h.shape, h.faults)
	for _, r := range h.runs {
		fmt.Fprintln(&sb, r)
		if r.shown != nil {
			for _, c := range r.shown.Changes {
				fmt.Fprintf(&sb, "    %s %s\n", c.Action, c.Addr)
			}
		}
	}
	for _, op := range h.w.ops {
		fmt.Fprintf(&sb, "%4d run %d: %s (%s → %s, of run %d) with %v\n", op.at, op.number, op.name, op.old, op.new, op.prior, op.asked)
	}
	for _, a := range h.w.acks {
		fmt.Fprintf(&sb, "%4d run %d: committed %s (%s, of run %d)\n", a.at, a.number, a.object, a.name, a.by)
	}
	h.t.Log(sb.String())
}

// lapse has the leases of runs in a status end, as if some time had passed. Runs that wait for claims have
// leases of 15 s.
func (h *history) lapse(status string) {
	h.query(`UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state = '` + status + `'
		AND workspace = (SELECT id FROM mayfly.workspaces WHERE name = '` + h.workspace + `') RETURNING state`)
}

// checkClaims checks that runs that live no more, or whose lease has lapsed, hold nothing but objects of
// their begun operations.
func (h *history) checkClaims() {
	h.t.Helper()
	if h.lease > lease { // which takes too long
		h.lapse("claimed")
	} else {
		time.Sleep(h.lease)
	}
	h.lapse("waiting")
	begun := h.begun()
	free := state.Claims{{Kind: state.AllInstances, Addr: "sim_thing.nothing"}: state.Exclusive}
	for i := range h.read().AllInstances() {
		if key := i.String(); !begun[key] {
			free.Add(state.InstanceSubject(i), state.Exclusive)
		}
	}
	if err := h.claim(free); err != nil {
		h.t.Errorf("got %v, want only the objects of begun operations to be claimed: %v", err, begun)
	}
	for key := range begun {
		err := h.claim(state.Claims{{Kind: state.OneInstance, Addr: key}: state.Exclusive})
		if err == nil && h.begun()[key] { // else a result of a dead run has been under way until now
			h.t.Errorf("%s has an operation that has begun and not ended, and can be claimed", key)
		}
	}
}

// begun returns the addresses of objects with operations that have begun and not ended, but for freed ones.
func (h *history) begun() map[string]bool {
	h.t.Helper()
	out := map[string]bool{}
	for _, key := range h.query(`SELECT o.key FROM mayfly.operations o JOIN mayfly.runs r ON r.id = o.run JOIN mayfly.workspaces w ON w.id = r.workspace
		WHERE w.name = '` + h.workspace + `' AND o.ended IS NULL AND r.state IN ('claimed', 'lapsed')`) {
		out[key] = true
	}
	return out
}

// claim claims and gives back.
func (h *history) claim(c state.Claims) error {
	m := h.manager()
	info, err := store.NewLockInfo("probe", "1.0.0", time.Now(), rand.Reader)
	if err != nil {
		return err
	}
	held, err := m.Claim(context.Background(), &state.Scope{Claims: c}, info, false)
	if err != nil {
		return err
	}
	return m.Unlock(context.Background(), held.ID)
}
