package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// rowsModel says which rows a store has to have, as texts by name.
type rowsModel struct {
	stored  map[string]string          // by the last run that ended, and the results committed since
	serial  uint64                     // of the state, at least
	perhaps map[string]map[string]bool // rows that a run has put and not ended with: the texts that they may have
	begun   []string                   // operations that have not ended, of the last run that did not end
}

// history carries out runs one after the other, each with a handle of its own, and compares the rows that
// each of them reads with the model.
type history struct {
	*testing.T
	Harness
	random *rand.Rand
	model  rowsModel
	n      int // makes the next text
}

// testRows carries out random histories of runs that change rows and end, or do not.
func testRows(t *testing.T, setup func(t *testing.T) Harness) {
	first := setup(t)
	for seed := range cmp.Or(first.Histories, 4) {
		place := first
		if seed > 0 {
			place = setup(t)
		}
		h := &history{T: t, Harness: place, random: rand.New(rand.NewPCG(uint64(seed), 1)), model: rowsModel{serial: 1}}
		f := File(t, "l", 1, 2)
		h.model.stored = rowsOf(t, f.State)
		if err := manager(t, h.Harness, store.DefaultWorkspace).Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		for run := range 6 {
			if h.run(); t.Failed() {
				t.Fatalf("in run %d of the history with the seed %d", run, seed)
			}
		}
	}
}

// run is one run: it reads, begins, changes rows, and ends in most cases.
func (h *history) run() {
	m := manager(h.T, h.Harness, store.DefaultWorkspace)
	unlock := func() {}
	if !h.NoLock {
		unlock = lock(h.T, m, "a")
	}
	defer unlock()
	f, err := m.Read(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	if f == nil {
		h.Fatal("the state is gone")
	}
	h.check(f, store.RecoveredBy(m))
	h.model.serial = f.Serial
	r, err := m.BeginRun(h.Context(), f, "1.0.0")
	if err != nil {
		h.Fatal(err)
	}
	w := &rowsRun{history: h, Run: r, base: f, now: rowsOf(h.T, f.State), durable: map[string]string{}}
	for name, text := range w.now {
		w.durable[name] = text
	}
	for range 1 + h.random.IntN(8) {
		w.step()
	}
	if h.random.IntN(3) > 0 || h.Volatile || h.NoLock {
		w.end()
		return
	}
	if w.committed {
		f.Serial++
	}
	h.model = rowsModel{stored: w.durable, serial: f.Serial, perhaps: w.perhaps(), begun: w.begun}
}

// check compares a state as it was read with the model.
func (h *history) check(f *state.File, r *store.Recovered) {
	h.Helper()
	got := rowsOf(h.T, f.State)
	if f.Serial < h.model.serial || f.Lineage != "l" {
		h.Errorf("got the serial %d of the lineage %q, want at least %d of %q", f.Serial, f.Lineage, h.model.serial, "l")
	}
	want := map[string]string{}
	for name, text := range h.model.stored {
		want[name] = text
	}
	for name, texts := range h.model.perhaps {
		switch have, ok := got[name]; {
		case ok && texts[have]:
			want[name] = have
		case !ok && texts[""]:
			delete(want, name)
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		h.Errorf("the rows (-want +got):\n%s", diff)
	}
	var begun []string
	if r != nil {
		for _, u := range r.Unfinished {
			begun = append(begun, u.Action+" "+u.Object.String())
		}
	}
	slices.Sort(begun)
	slices.Sort(h.model.begun)
	if diff := gocmp.Diff(h.model.begun, begun); diff != "" {
		h.Errorf("operations that did not end (-want +got):\n%s", diff)
	}
}

// rowsRun is a run with the rows as they are after its changes, and those that are durable.
type rowsRun struct {
	*history
	state.Run
	base         *state.File
	now, durable map[string]string
	begun        []string
	open         []uint64 // the numbers of begun
	committed    bool     // results that a later run finds
}

// step makes one change.
func (w *rowsRun) step() {
	switch o, change, text := w.change(); w.random.IntN(8) {
	case 0:
		w.Put(change)
		set(w.now, o.String(), text)
		w.compare(o)
	case 1:
		w.output(text)
	case 2:
		w.PutChecks([]state.CheckResult{{Kind: "check", Config: "check.c", Status: state.CheckFail, Objects: []state.CheckObject{{Addr: "check.c", Status: state.CheckFail, Failures: []string{text}}}}})
		w.now["check.c"] = text
	case 3:
		s := w.salt()
		w.AddSalts(s)
		w.now["salt."+s.ID] = "salt"
	default:
		w.operation()
	}
}

// change returns a change of an object, and the text that the object has after it; "" for none.
func (w *rowsRun) change() (addr.Object, state.ObjectChange, string) {
	w.n++
	text := fmt.Sprint("text ", w.n)
	o := Address([]string{"a", "b"}[w.random.IntN(2)], w.random.IntN(3))
	if w.random.IntN(4) == 0 {
		o.Deposed = "00000001"
	}
	change := state.ObjectChange{Object: o, Provider: Provider, New: Object(w.T, text)}
	if w.random.IntN(4) == 0 {
		change.New, text = nil, ""
	}
	return o, change, text
}

// salt returns a new salt.
func (w *rowsRun) salt() state.Salt {
	w.n++
	return state.Salt{ID: fmt.Sprintf("%08x", w.n), Scheme: "test", Bytes: []byte("0123456789abcdef")}
}

// output changes the output.
func (w *rowsRun) output(text string) {
	if text == "" {
		w.PutOutput("o", nil)
	} else {
		v := cty.StringVal(text)
		d, err := value.Seal(v, v.Type(), nil)
		if err != nil {
			w.Fatal(err)
		}
		w.PutOutput("o", &state.Output{Value: d})
	}
	set(w.now, "output.o", text)
}

// operation begins an operation, and ends it in most cases: with success or not, and with one to three
// changed objects, which must become durable together.
func (w *rowsRun) operation() {
	o, _, _ := w.change()
	id, err := w.Begin(o, "update")
	if err != nil {
		w.Fatal(err)
	}
	if w.random.IntN(5) == 0 {
		w.begun, w.open = append(w.begun, "update "+o.String()), append(w.open, id)
		return
	}
	var changes []state.ObjectChange
	for range 1 + w.random.IntN(3) {
		changed, change, text := w.change()
		if w.random.IntN(6) == 0 {
			s := w.salt()
			change.Salts = append(change.Salts, s)
			w.now["salt."+s.ID], w.durable["salt."+s.ID] = "salt", "salt"
		}
		set(w.now, changed.String(), text)
		set(w.durable, changed.String(), text)
		changes = append(changes, change)
	}
	end := w.Commit
	if w.random.IntN(3) == 0 {
		end = w.Run.Fail
	}
	if err := end(id, changes...); err != nil {
		w.Fatal(err)
	}
	w.committed = true
	for _, c := range changes {
		w.compare(c.Object)
	}
}

// compare compares one object of the run with the model.
func (w *rowsRun) compare(o addr.Object) {
	got, provider := w.Object(o)
	if text := textOf(w.T, got); text != w.now[o.String()] || got != nil && provider != Provider {
		w.Errorf("got %q of %s as the object %s, want %q", text, provider, o, w.now[o.String()])
	}
}

// end ends the run, which must leave all rows.
func (w *rowsRun) end() {
	for _, id := range w.open {
		if err := w.Run.Fail(id); err != nil {
			w.Fatal(err)
		}
	}
	f, err := w.End(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if diff := gocmp.Diff(w.now, rowsOf(w.T, f.State)); diff != "" {
		w.Errorf("the rows of the state that the run leaves (-want +got):\n%s", diff)
	}
	changed := !maps.Equal(rowsOf(w.T, w.base.State), w.now)
	if changed && f.Serial <= w.base.Serial || !changed && !w.committed && f.Serial != w.base.Serial {
		w.Errorf("serial after %d: got %d, want a higher one if the run has changed something (%t), otherwise the same", w.base.Serial, f.Serial, changed)
	}
	w.model = rowsModel{stored: w.now, serial: f.Serial}
}

// perhaps returns the rows that were put, which need not be durable, with the texts that they may have.
func (w *rowsRun) perhaps() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, rows := range []map[string]string{w.now, w.durable} {
		for name := range rows {
			if w.now[name] != w.durable[name] {
				out[name] = map[string]bool{w.now[name]: true, w.durable[name]: true}
			}
		}
	}
	return out
}

// set sets the text of a row, or removes the row if that is empty.
func set(rows map[string]string, name, text string) {
	if rows[name] = text; text == "" {
		delete(rows, name)
	}
}

// rowsOf returns the rows of a state that tests make, as texts by name.
func rowsOf(t testing.TB, s *state.State) map[string]string {
	t.Helper()
	out := map[string]string{}
	for a, in := range s.AllInstances() {
		if in.Current != nil {
			out[addr.Object{Instance: a}.String()] = textOf(t, in.Current)
		}
		for key, o := range in.Deposed {
			out[addr.Object{Instance: a, Deposed: key}.String()] = textOf(t, o)
		}
	}
	for _, salt := range s.Salts {
		out["salt."+salt.ID] = "salt"
	}
	for name, o := range s.Outputs {
		v, err := o.Value.Unmarked()
		if err != nil {
			t.Fatal(err)
		}
		out["output."+name] = v.AsString()
	}
	for _, c := range s.Checks {
		out[c.Config] = c.Objects[0].Failures[0]
	}
	return out
}

// textOf returns the text of an object of Object; "" for nil.
func textOf(t testing.TB, o *state.Object) string {
	t.Helper()
	if o == nil {
		return ""
	}
	v, err := o.DecodeUnmarked(cty.Object(map[string]cty.Type{"text": cty.String}))
	if err != nil {
		t.Fatal(err)
	}
	return v.GetAttr("text").AsString()
}

// testStaleBase requires that a run cannot begin with a state that has changed since it was read.
func testStaleBase(t *testing.T, h Harness) {
	late, early := manager(t, h, store.DefaultWorkspace), manager(t, h, store.DefaultWorkspace)
	if err := early.Write(t.Context(), File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	base, err := late.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := early.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	r.Put(state.ObjectChange{Object: Address("a", 1), Provider: Provider, New: Object(t, "new")})
	after, err := r.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.Serial != 2 {
		t.Errorf("got serial %d after a change of serial 1, want 2", after.Serial)
	}
	if r, err := late.BeginRun(t.Context(), base, "1.0.0"); err == nil {
		// A store may find out later, but not after the run has changed anything.
		if _, err := r.Begin(Address("a", 0), "update"); err == nil {
			t.Error("a run begins an operation with a state that has changed since")
		}
	}
}

// testAfterEnd requires that a run which has ended records and stores nothing any more.
func testAfterEnd(t *testing.T, h Harness) {
	m := manager(t, h, store.DefaultWorkspace)
	if !h.NoLock {
		defer lock(t, m, "a")()
	}
	if err := m.Write(t.Context(), File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	base, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(Address("a", 0), "update")
	if err != nil {
		t.Fatal(err)
	}
	change := func(text string) state.ObjectChange {
		return state.ObjectChange{Object: Address("a", 0), Provider: Provider, New: Object(t, text)}
	}
	if err := r.Commit(id, change("kept")); err != nil {
		t.Fatal(err)
	}
	left, err := r.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored := read(t, h, store.DefaultWorkspace)
	for name, call := range map[string]func() error{
		"Begin":  func() error { _, err := r.Begin(Address("a", 1), "create"); return err },
		"Commit": func() error { return r.Commit(id, change("late")) },
		"Fail":   func() error { return r.Fail(id, change("late")) },
		"Opening": func() error {
			_, err := r.Opening(Address("e", 0).Instance, Provider.Provider, time.Unix(1, 0))
			return err
		},
		"Closed": func() error { return r.Closed(1) },
	} {
		if call() == nil {
			t.Errorf("%s after the end: got no error, want one", name)
		}
	}
	r.Put(change("late"))
	if again, err := r.End(t.Context()); err == nil || again != left {
		t.Errorf("a second end: got the state %p, %v, want %p and an error", again, err, left)
	}
	if got := read(t, h, store.DefaultWorkspace); got != stored {
		t.Errorf("stored after the end: got\n%s\nwant\n%s", got, stored)
	}
}
