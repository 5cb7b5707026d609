package histories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// run is a run of a history.
type run struct {
	number  int
	seed    uint64
	commit  commit
	design  *design // in place of the commit
	targets []string
	exclude []string
	replace []string
	remove  string // an address that is taken out of the state, in place of an apply
	// command is carried out in place of an apply.
	command func(op *mayfly.Operation) diag.List
	mode    plan.Mode
	scope   mayfly.PlanScope
	wait    time.Duration
	lease   time.Duration
	failing int           // percent of its operations
	dies    time.Duration // 0 for never
	// In an operation, counted from 1: it dies, and stands still for some time. 0 for none.
	diesIn, freezesIn int
	freezes           time.Duration
	// In an operation, too, its lease lapses, and a person may free it.
	lapsesIn int
	freed    bool
	cuts     []tcpproxy.Cut

	meeting *meeting      // with runs of other machines, before it claims; nil for none
	dead    chan struct{} // closed when it dies
	proxy   *tcpproxy.Proxy

	// Protected by the world's lock:
	shown   *plan.Plan
	stale   int  // plans
	claimed int  // in the order of all changes: before it claimed at last; 0 if it never did
	removed bool // the object that it takes out of the state was there
	end     int  // after it had ended; 0 if it has not
	diags   diag.List
	unread  period // in which it could not read the state, and gave up; zero if it has read it
}

// ack is a result whose commit was acknowledged.
type ack struct {
	*run
	object addr.Object
	name   string // of the object as it is now; "" for none
	by     int    // the run in its tags
	at     int
}

func (r *run) isDead() bool {
	select {
	case <-r.dead:
		return true
	default:
		return false
	}
}

// ok reports whether the run has done all that its plan has shown.
func (r *run) ok() bool { return r.end != 0 && !r.diags.HasErrors() }

func (r *run) String() string {
	text := fmt.Sprintf("run %d (mode %d) of %v, touching %v", r.number, r.mode, r.targets, r.commit.touched)
	if r.remove != "" {
		text = fmt.Sprintf("run %d removes %s from the state", r.number, r.remove)
	}
	return fmt.Sprintf("%s, replacing %v, waiting %v, failing %d%%, dying after %v or in operation %d (dead: %v), standing still in operation %d for %v, cuts %v: claimed at %d, ended at %d: %v",
		text, r.replace, r.wait, r.failing, r.dies, r.diesIn, r.isDead(), r.freezesIn, r.freezes, r.cuts, r.claimed, r.end, r.diags.Err())
}

// newRun draws a run.
func (h *history) newRun(r *rand.Rand, number, machine int) *run {
	s, f := h.shape, h.faults
	n := &run{number: number, seed: r.Uint64(), mode: plan.Normal, lease: h.lease, dead: make(chan struct{})}
	n.commit = commit{shape: s, run: number, touched: map[int]int{}}
	var touched []int
	for range 1 + r.IntN(2) {
		i := r.IntN(len(s.blocks))
		n.commit.touched[i] = r.IntN(most + 1)
		touched = append(touched, i)
	}
	n.commit.connect(r)
	if h.crossed != nil {
		h.cross(n, machine)
	} else if r.IntN(4) > 0 {
		for _, i := range touched {
			n.targets = append(n.targets, s.target(i))
		}
	}
	switch one := touched[0]; {
	case h.crossed != nil:
	case r.IntN(8) == 0:
		n.mode, n.targets = plan.Destroy, []string{s.target(one)}
	case r.IntN(8) == 0 && s.blocks[one].kind == single:
		n.replace = []string{s.target(one)}
	case r.IntN(12) == 0 && s.blocks[one].kind == single:
		n.remove = s.target(one)
	}
	if r.IntN(3) == 0 {
		n.wait = time.Second
	}
	if r.IntN(4) == 0 {
		n.failing = 30
	}
	if f.kill && r.IntN(3) == 0 {
		if r.IntN(3) == 0 {
			n.dies = time.Duration(20+r.IntN(250)) * time.Millisecond
		} else {
			n.diesIn = 1 + r.IntN(5)
		}
	}
	if f.freeze && r.IntN(2) == 0 {
		n.freezesIn, n.freezes = 1+r.IntN(4), lease+time.Duration(r.IntN(int(lease)))
	}
	for f.cut && r.IntN(4) > 0 {
		c := tcpproxy.Cut{Direction: tcpproxy.Direction(r.IntN(2)), After: int64(200 + r.IntN([]int{3000, 30000}[r.IntN(2)]))}
		if r.IntN(2) == 0 {
			c.Direction, c.Late = tcpproxy.ToServer, time.Duration(10+r.IntN(200))*time.Millisecond
		}
		n.cuts = append(n.cuts, c)
	}
	return n
}

// meeting has runs claim at the same time.
type meeting struct {
	mu      sync.Mutex
	arrived map[*run]bool
	wanted  int
	all     chan struct{}
}

// arrive notes that a run is ready to claim, or has ended. With wait, it waits for the others, but not long.
func (m *meeting) arrive(r *run, wait bool) {
	if m == nil {
		return
	}
	m.mu.Lock()
	first := !m.arrived[r]
	m.arrived[r] = true
	if first && len(m.arrived) == m.wanted {
		close(m.all)
	}
	m.mu.Unlock()
	if first && wait {
		select {
		case <-m.all:
		case <-time.After(patience / 2):
		}
	}
}

// cross makes a run change one block, which is made of the one that the next machine changes.
func (h *history) cross(r *run, machine int) {
	own, next := h.crossed[machine%len(h.crossed)], h.crossed[(machine+1)%len(h.crossed)]
	r.commit.touched, r.commit.from = map[int]int{own: 2}, map[int][]int{own: {next}}
	r.targets = []string{h.shape.target(own)}
}

// plansMost is how many plans a run makes at most, and patience how long it asks for claims.
const (
	plansMost = 10
	patience  = 3 * lease
)

// start starts a run, and returns when it has ended or died.
func (h *history) start(r *run) {
	r.proxy = tcpproxy.Start(h.t, h.server.Port)
	defer r.proxy.Kill()
	s, err := postgres.New(postgres.Options{ConnString: h.server.URL(r.proxy.Port), Lease: r.lease, Dir: h.dir})
	if err != nil {
		h.t.Fatal(err)
	}
	if r.dies > 0 {
		timer := time.AfterFunc(r.dies, func() { h.kill(r) })
		defer timer.Stop()
	}
	done := make(chan struct{})
	h.all.Go(func() {
		defer close(done)
		defer s.Close()
		diags := h.carryOut(r, s)
		r.meeting.arrive(r, false)
		h.w.mu.Lock()
		defer h.w.mu.Unlock()
		if !r.isDead() {
			r.end, r.diags = h.w.next(), diags
		}
	})
	for again, rest := time.NewTicker(20*time.Millisecond), r.cuts; ; {
		if len(rest) > 0 && !r.proxy.Pending() {
			r.proxy.Break(rest[0])
			rest = rest[1:]
		}
		select {
		case <-again.C:
			continue
		case <-done:
		case <-r.dead:
		}
		again.Stop()
		return
	}
}

// kill has a run die: nothing of it reaches the server or the world any more. A place among those that wait
// for claims, which would last for 15 s, is given up.
func (h *history) kill(r *run) {
	h.w.mu.Lock()
	if r.isDead() || r.end != 0 {
		h.w.mu.Unlock()
		return
	}
	close(r.dead)
	h.w.mu.Unlock()
	r.proxy.Kill()
	_, _ = h.db.Exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state = 'waiting' AND info::jsonb->>'Operation' = $1
		AND workspace = (SELECT id FROM mayfly.workspaces WHERE name = $2)`, fmt.Sprint("run ", r.number), h.workspace)
}

// carryOut plans and applies.
func (h *history) carryOut(r *run, s *postgres.Store) diag.List {
	m, err := s.Manager(h.workspace)
	if err != nil {
		return diag.Errorf("No manager", "%s", err)
	}
	dir := h.t.TempDir()
	p, diags := h.open(r, dir, &manager{m.(several), h.w, r})
	if diags.HasErrors() {
		return diags
	}
	defer p.Close()
	opt := h.options(r)
	begin := mayfly.BeginOptions{Locking: store.Locking{LockTimeout: r.wait}}
	if r.remove == "" && r.command == nil {
		begin.For = &opt
	}
	began := time.Now()
	op, diags := p.Begin(context.Background(), fmt.Sprint("run ", r.number), begin)
	if diags.HasErrors() {
		h.w.mu.Lock()
		defer h.w.mu.Unlock()
		r.unread = period{began, time.Now()}
		return diags
	}
	switch {
	case r.command != nil:
		diags = h.patiently(r, func() diag.List {
			if diags := op.Reread(context.Background()); diags.HasErrors() {
				return diags
			}
			return r.command(op)
		})
	case r.remove != "":
		diags = h.removal(r, op)
	default:
		diags = h.change(r, op, opt)
	}
	return append(diags, op.End()...)
}

// open opens the configuration of a run in a directory, with the state of a store.
func (h *history) open(r *run, dir string, m store.Manager) (*mayfly.Project, diag.List) {
	files := r.commit.files()
	if r.design != nil {
		files = r.design.files()
	}
	for name, text := range files {
		filetest.Write(h.t, dir+"/"+name, text)
	}
	return mayfly.Open(context.Background(), mayfly.Options{
		Dir: dir, WorkDir: dir, Launcher: launcher{r, h}, Parallelism: 1 + int(r.seed%4),
		State: mayfly.StateOptions{Store: m, Workspace: h.workspace},
	})
}

// options returns the options of a run's plans.
func (h *history) options(r *run) mayfly.PlanOptions {
	opt := mayfly.PlanOptions{Mode: r.mode, Scope: r.scope}
	for _, text := range r.targets {
		opt.Targets = append(opt.Targets, parsed(h.t, addr.ParseTarget, text))
	}
	for _, text := range r.exclude {
		opt.Excludes = append(opt.Excludes, parsed(h.t, addr.ParseTarget, text))
	}
	for _, text := range r.replace {
		opt.ForceReplace = append(opt.ForceReplace, parsed(h.t, addr.ParseInstance, text))
	}
	return opt
}

// change applies, with another plan if one is stale.
func (h *history) change(r *run, op *mayfly.Operation, opt mayfly.PlanOptions) (diags diag.List) {
	for range plansMost {
		planned, diags := op.Plan(context.Background(), opt)
		if diags.HasErrors() || r.isDead() {
			return diags
		}
		r.meeting.arrive(r, true)
		diags = h.patiently(r, func() diag.List {
			r.mark(h.w, planned)
			return op.Claim(context.Background(), planned)
		})
		if mayfly.Stale(diags) != nil {
			r.stale++
			if diags := op.Reread(context.Background()); diags.HasErrors() {
				return diags
			}
			continue
		}
		if diags.HasErrors() {
			r.mark(h.w, nil)
			return diags
		}
		_, diags = op.Apply(context.Background(), planned, mayfly.ApplyOptions{})
		return diags
	}
	r.mark(h.w, nil)
	return diag.Errorf("Plan is stale", "It has been stale each time.")
}

// mark notes a plan and that its claims are taken later.
func (r *run) mark(w *world, p *plan.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !r.isDead() {
		r.shown, r.claimed = p, w.next()
	}
}

// removal takes an object out of the state.
func (h *history) removal(r *run, op *mayfly.Operation) diag.List {
	i := parsed(h.t, addr.ParseInstance, r.remove)
	return h.patiently(r, func() diag.List {
		if diags := op.Reread(context.Background()); diags.HasErrors() {
			return diags
		}
		r.mark(h.w, nil)
		s := op.State().Copy()
		r.removed = s.Instance(i) != nil
		s.RemoveInstance(i)
		return op.Write(s)
	})
}

// patiently asks for claims until no other run has them, and frees the ones of dead runs as a person does.
func (h *history) patiently(r *run, claim func() diag.List) (diags diag.List) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		diags = claim()
		if !diags.HasErrors() || mayfly.Stale(diags) != nil || r.isDead() {
			return diags
		}
		if diags[0].Summary != "Parts of the state are claimed" && diags[0].Summary != "Error acquiring the state lock" {
			return diags
		}
		if r.seed%2 == 0 {
			h.free()
		}
	}
	return diags
}

func parsed[T any](t interface{ Fatal(...any) }, parse func(string) (T, error), text string) T {
	out, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// several is a manager of a state that many runs change.
type several interface {
	store.Manager
	store.Claimer
	store.Recoverer
	store.Unfinisher
	store.PartReader
	store.ChangeReader
}

// manager notes the acknowledged results of a run.
type manager struct {
	several
	w *world
	r *run
}

// BeginRun implements store.Manager.
func (m *manager) BeginRun(ctx context.Context, base *state.File, version string) (state.Run, error) {
	run, err := m.several.BeginRun(ctx, base, version)
	if err != nil {
		return nil, err
	}
	return &journal{run, m}, nil
}

// journal notes the acknowledged results of a run.
type journal struct {
	state.Run
	m *manager
}

// Begin implements state.Journal.
func (j *journal) Begin(o addr.Object, action string) (uint64, error) {
	id, err := j.Run.Begin(o, action)
	if err == nil && j.m.r.isDead() {
		err = errors.New("the run is dead")
	}
	return id, err
}

// Commit implements state.Journal.
func (j *journal) Commit(id uint64, changes ...state.ObjectChange) error {
	return j.Enqueue(id, changes...)()
}

// Enqueue implements state.Queue.
func (j *journal) Enqueue(id uint64, changes ...state.ObjectChange) (wait func() error) {
	durable := j.Run.(state.Queue).Enqueue(id, changes...)
	changes = slices.Clone(changes)
	return func() error {
		err := durable()
		if err == nil {
			j.m.acked(changes)
		}
		return err
	}
}

// Settle implements state.Settler.
func (j *journal) Settle(instances ...addr.Instance) { j.Run.(state.Settler).Settle(instances...) }

// HashKey implements state.Keyed.
func (j *journal) HashKey() []byte { return j.Run.(state.Keyed).HashKey() }

// TakeTurn implements state.Turner.
func (j *journal) TakeTurn(ctx context.Context, subjects []state.Subject, evaluate func(*state.State) state.Evaluated) error {
	return j.Run.(state.Turner).TakeTurn(ctx, subjects, evaluate)
}

// acked notes results that are durable.
func (m *manager) acked(changes []state.ObjectChange) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for _, c := range changes {
		a := ack{run: m.r, object: c.Object, at: m.w.next()}
		a.name, a.by = content(c.New)
		m.w.acks = append(m.w.acks, a)
	}
}
