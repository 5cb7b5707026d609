package engine_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// recorder is an ephemeral.Recorder that notes how many openings and closings the provider had answered when
// it was called.
type recorder struct {
	w *world

	mu    sync.Mutex
	fail  error
	trail []string
	next  uint64
	open  map[uint64]string
}

func (r *recorder) Opening(i addr.Instance, _ addr.Provider, _ time.Time) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return 0, r.fail
	}
	r.note("opening " + i.String())
	r.next++
	id := r.next
	r.open[id] = i.String()
	return id, nil
}

func (r *recorder) Closed(id uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("closed " + r.open[id])
	delete(r.open, id)
	return nil
}

func (r *recorder) note(what string) {
	log, err := simlog.ReadFile(r.w.log)
	if err != nil {
		r.w.t.Error(err)
	}
	for _, rpc := range []string{"OpenEphemeralResource", "CloseEphemeralResource"} {
		n := 0
		for _, c := range log.Calls(simlog.Filter{RPC: rpc}) {
			if !c.Aborted() {
				n++
			}
		}
		what += " " + string(rune('0'+n))
	}
	r.trail = append(r.trail, what)
}

const recorded = `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.value
}`

// TestE53OpeningsAreRecorded checks that an opening is recorded before the provider is asked for it, and that
// it is closed when the provider has answered: by the recorder while planning, in the journal while applying.
// An opening that an apply could not close moves to the recorder, because the journal goes.
func TestE53OpeningsAreRecorded(t *testing.T) {
	t.Parallel()
	const s = "ephemeral.sim_secret.s"
	rule := func(rpc, do string) string { return `[{"rpc":"` + rpc + `","do":"` + do + `"}]` }
	rows := []struct {
		name, rules string
		planned     []string
		applied     []string
		open        int // at the end of a phase
	}{
		{name: "well", planned: []string{"opening " + s + " 0 0", "closed " + s + " 1 1"}, applied: []string{"opening " + s + " 1 1", "closed " + s + " 2 2"}},
		{name: "nothing to close", rules: rule("OpenEphemeralResource", "no-private"), planned: []string{"opening " + s + " 0 0", "closed " + s + " 1 0"}, applied: []string{"opening " + s + " 1 1", "closed " + s + " 2 1"}},
		{name: "opening fails", rules: rule("OpenEphemeralResource", "error"), planned: []string{"opening " + s + " 0 0", "closed " + s + " 1 1"}},
		{name: "opening is not answered", rules: rule("OpenEphemeralResource", "rpc-error"), planned: []string{"opening " + s + " 0 0", "closed " + s + " 1 0"}},
		{name: "closing fails", rules: rule("CloseEphemeralResource", "rpc-error"), planned: []string{"opening " + s + " 0 0"}, applied: []string{"opening " + s + " 1 1", "opening " + s + " 2 2", "closed " + s + " 2 2"}, open: 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, recorded)
			w.rules, w.unclosed, w.faulty = row.rules, true, true
			w.recorder = &recorder{w: w, open: map[uint64]string{}}
			var planned []string
			r := w.run(command{between: func() { planned, w.recorder.trail = w.recorder.trail, nil }})
			if planned == nil { // planning failed
				planned, w.recorder.trail = w.recorder.trail, nil
			}
			if !slices.Equal(planned, row.planned) || !slices.Equal(w.recorder.trail, row.applied) {
				t.Errorf("recorded: got %q and %q, want %q and %q; %v", planned, w.recorder.trail, row.planned, row.applied, r.diags())
			}
			if len(w.recorder.open) != row.open*2 {
				t.Errorf("open at the end: got %v, want %d", w.recorder.open, row.open*2)
			}
		})
	}
}

// TestE53NotRecordedNotOpened checks that nothing is opened that could not be recorded.
func TestE53NotRecordedNotOpened(t *testing.T) {
	t.Parallel()
	w := newWorld(t, recorded)
	w.recorder = &recorder{w: w, open: map[uint64]string{}}
	r := w.run(command{between: func() { w.recorder.fail = errDiskFull }})
	r.wants(diag.Error, "Ephemeral resource not opened", "ephemeral.sim_secret.s was not opened", errDiskFull.Error())
	if n := r.applyLog.Count(simlog.Filter{RPC: "OpenEphemeralResource"}); n != 0 {
		t.Errorf("it was opened %d times, want 0", n)
	}
}
