package histories

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// version is an object as a run has left it.
type version struct {
	*operation
	value int  // the run in its tags; 0 if it is gone
	maybe bool // it exists, and the state need not know it
}

// versions returns the versions of each object, in order. Before the first, none exist.
func (h *history) versions() map[string][]version {
	known := map[string]bool{} // created and acknowledged
	for _, a := range h.w.acks {
		known[a.name+" "+fmt.Sprint(a.number)] = true
	}
	ops := slices.Clone(h.w.ops)
	for _, r := range h.runs {
		if r.removed && r.ok() { // nothing has changed the object between the last claim and the removal
			name := strings.TrimPrefix(r.remove, "sim_thing.")
			ops = append(ops, &operation{run: r, name: name, at: r.claimed, old: "*"})
		}
	}
	slices.SortFunc(ops, func(a, b *operation) int { return cmp.Compare(a.at, b.at) })
	out := map[string][]version{}
	for _, op := range ops {
		before := out[op.name]
		switch {
		case op.at == 0:
		case op.new != "":
			out[op.name] = append(before, version{op, number(op.asked["run"]), op.old == "" && !known[op.name+" "+fmt.Sprint(op.number)]})
		case len(before) > 0 && (op.old == "*" || before[len(before)-1].new == op.old):
			out[op.name] = append(before, version{op, 0, false})
		}
	}
	return out
}

// before returns the index of the last version before a point in the order that has a value; -1 is the
// absence at the beginning, and -2 none.
func before(all []version, at, value int) int {
	for i, v := range slices.Backward(all) {
		if v.at < at && v.value == value {
			return i
		}
	}
	if value == 0 {
		return -1
	}
	return -2
}

// check checks a history whose runs have ended or died.
func (h *history) check() {
	h.t.Helper()
	h.w.mu.Lock()
	wrong := slices.Clone(h.w.wrong)
	h.w.mu.Unlock()
	for _, text := range wrong {
		h.t.Error(text)
	}
	h.checkClaims()
	h.free()
	if err := h.claim(state.Claims{{Kind: state.WholeState}: state.Exclusive}); err != nil {
		h.t.Errorf("once all dead runs are freed, the whole state can't be claimed: %v", err)
	}
	h.w.mu.Lock()
	versions := h.versions()
	h.checkShown()
	h.checkInvisible()
	h.checkOrder(versions)
	h.checkSequential(versions)
	h.w.mu.Unlock()
	h.checkState(versions)
	h.checkOutputs()
	last := h.whole(99)
	h.carry(last)
	h.carry(h.whole(99))
	h.checkWorld(last)
	h.checkLastOutputs(last)
}

// expected are the errors of a run whose connection always comes back in time.
var expected = []string{"Failed", "Parts of the state are claimed", "Error acquiring the state lock", "Plan is stale"}

// checkInvisible checks that runs do not notice lost connections and restarts of the server that last for
// less than their lease. One that begins during a restart may give up.
func (h *history) checkInvisible() {
	for _, r := range h.runs {
		for _, d := range r.diags {
			gaveUp := d.Summary == "Error reading the state" && h.restarts.in(r.unread)
			if h.lease > lease && d.Severity == diag.Error && !gaveUp && !slices.Contains(expected, d.Summary) {
				h.t.Errorf("got the error %s: %s in the run %d, want none", d.Summary, d.Detail, r.number)
			}
		}
	}
}

// changed returns the names of the objects that the run has planned to change.
func (r *run) changed() map[string]plan.Action {
	out := map[string]plan.Action{}
	if r.shown != nil {
		for _, c := range r.shown.Changes {
			if c.Action != plan.NoOp && c.Deposed == "" {
				out[nameOf(c.Addr)] = c.Action
			}
		}
	}
	return out
}

// checkShown checks that runs have done as they have shown: all of it, if they have succeeded.
func (h *history) checkShown() {
	done := map[*run]map[string]bool{}
	for _, op := range h.w.ops {
		if op.at == 0 {
			continue
		}
		if done[op.run] == nil {
			done[op.run] = map[string]bool{}
		}
		done[op.run][op.name] = true
		if op.number > 1 && op.run.shown != nil && op.run.changed()[op.name] == plan.NoOp && !h.deposed(op) {
			h.t.Errorf("the run %d has changed %s, which its plan does not show", op.number, op.name)
		}
	}
	for _, r := range h.runs {
		for name := range r.changed() {
			if r.ok() && !done[r][name] {
				h.t.Errorf("the run %d has shown a change of %s and not made it", r.number, name)
			}
		}
	}
}

// deposed reports whether an operation destroys an object that a replacement has deposed.
func (h *history) deposed(op *operation) bool { return op.new == "" && op.run.hasDeposed(op.name) }

// hasDeposed reports whether a run has seen an object that a replacement of another run has deposed.
func (r *run) hasDeposed(name string) bool {
	return r.shown != nil && slices.ContainsFunc(r.shown.Changes, func(c *plan.Change) bool { return c.Deposed != "" && nameOf(c.Addr) == name })
}

// checkOrder checks that some order of the runs explains the objects that they have seen and made.
func (h *history) checkOrder(versions map[string][]version) {
	after := map[int]map[int]string{} // runs that come later, and why
	come := func(first, then *run, why string) {
		if first == then {
			return
		}
		if after[first.number] == nil {
			after[first.number] = map[int]string{}
		}
		after[first.number][then.number] = why
	}
	for name, all := range versions {
		for i, v := range all[:max(0, len(all)-1)] {
			come(v.run, all[i+1].run, name+" was changed by both")
		}
	}
	for _, op := range h.w.ops {
		if op.at == 0 {
			continue
		}
		h.checkPrior(op, versions[op.name])
		for name, by := range h.seen(op) {
			all := versions[name]
			i := before(all, op.at, by)
			if i == -2 {
				h.t.Errorf("the run %d has made %s of %s as the run %d has made it, which was not there", op.number, op.name, name, by)
				continue
			}
			if i >= 0 {
				come(all[i].run, op.run, fmt.Sprintf("%s was made of %s", op.name, name))
			}
			for _, next := range all[i+1:] {
				if !next.maybe && next.run != op.run {
					come(op.run, next.run, fmt.Sprintf("%s was made of %s before that", op.name, name))
					break
				}
			}
		}
	}
	if cycle := cycle(after); cycle != "" {
		h.t.Errorf("got %s, want an order of the runs that explains the objects", cycle)
	}
}

// seen returns the runs that had made the objects which an object was made of, as its run has seen them, by
// name; 0 for objects that did not exist. Objects that the run changes itself, and objects that its
// configuration does not declare, are left out.
func (h *history) seen(op *operation) map[string]int {
	out, own := map[string]int{}, op.run.changed()
	if op.new == "" || number(op.asked["run"]) != op.number {
		return nil
	}
	var names []string
	if x, is := strings.CutSuffix(op.name, "-y"); is {
		names = []string{x}
	} else {
		var i int
		_, _ = fmt.Sscanf(op.name, "b%d", &i)
		for _, from := range op.commit.from[i] {
			names = append(names, h.shape.names(from)...)
		}
	}
	for _, name := range names {
		if _, changes := own[name]; !changes && op.commit.declares(name) {
			out[name] = op.reads[name]
		}
	}
	return out
}

// checkPrior checks that an object was as its run has seen it when it was changed.
func (h *history) checkPrior(op *operation, all []version) {
	i := slices.IndexFunc(all, func(v version) bool { return v.at >= op.at })
	if i < 0 {
		i = len(all)
	}
	for i > 0 && all[i-1].maybe && all[i-1].new != op.old {
		i--
	}
	var now version
	if i > 0 {
		now = all[i-1]
	} else {
		now = version{operation: &operation{run: op.run}}
	}
	switch {
	case now.run == op.run && i > 0:
	case op.old == "" && now.value != 0 && !op.run.changed()[op.name].IsReplace() && !op.run.hasDeposed(op.name):
		h.t.Errorf("the run %d has created %s, although there was %s", op.number, op.name, now.new)
	case op.old != "" && op.new != "" && (now.new != op.old || now.value != op.prior):
		h.t.Errorf("the run %d has changed %s from %s as the run %d has made it, and it was %s as the run %d has made it", op.number, op.name, op.old, op.prior, now.new, now.value)
	case op.old != "" && now.new == op.old && now.value != op.prior:
		h.t.Errorf("the run %d has destroyed %s as the run %d has made it, and it was as the run %d has made it", op.number, op.name, op.prior, now.value)
	}
}

// cycle returns runs that come before themselves; "" for none.
func cycle(after map[int]map[int]string) string {
	const open, done = 1, 2
	status := map[int]int{}
	var visit func(run int) string
	visit = func(run int) string {
		status[run] = open
		for next, why := range after[run] {
			text := ""
			switch status[next] {
			case open:
				text = fmt.Sprintf("%d", next)
			case 0:
				text = visit(next)
			}
			if text != "" {
				return fmt.Sprintf("%d before %s (%s)", run, text, why)
			}
		}
		status[run] = done
		return ""
	}
	for _, run := range slices.Sorted(maps.Keys(after)) {
		if status[run] == 0 {
			if text := visit(run); text != "" {
				return text
			}
		}
	}
	return ""
}

// stored returns the runs that have made the objects of the state, by name, and the IDs of objects that
// replacements have deposed.
func (h *history) stored() (current map[string]int, deposed map[string]bool) {
	current, deposed = map[string]int{}, map[string]bool{}
	for _, in := range h.read().AllInstances() {
		if name, by := content(in.Current); name != "" {
			current[name] = by
		}
		for _, o := range in.Deposed {
			deposed[o.ID()] = true
		}
	}
	return current, deposed
}

// checkState checks that the state has all acknowledged results, and all that is in the world, but for
// operations that a person has read of. An object is deposed there until its replacement is made.
func (h *history) checkState(versions map[string][]version) {
	h.t.Helper()
	state, deposed := h.stored()
	acked := map[string]bool{}
	for _, a := range h.w.acks {
		if a.object.Deposed == "" {
			acked[fmt.Sprint(nameOf(a.object.Instance), " ", a.number, " ", a.by)] = true
		}
	}
	for name, all := range versions {
		for _, v := range slices.Backward(all) {
			if state[name] == v.value || state[name] == 0 && deposed[v.new] {
				break
			}
			result := acked[fmt.Sprint(name, " ", v.number, " ", v.value)]
			if result || v.ok() || !h.freed[fmt.Sprint(name, " ", v.number)] {
				h.t.Errorf("got %s as the run %d has made it in the state, want the result of the run %d (acknowledged: %v)", name, state[name], v.number, result)
				break
			}
		}
	}
	for name, by := range state {
		if len(versions[name]) == 0 {
			h.t.Errorf("the state has %s, which the run %d has made, and the world never had it", name, by)
		}
	}
}

// checkWorld checks that the last run has left a state that is the world.
func (h *history) checkWorld(last *run) {
	h.t.Helper()
	objects, err := simcloud.Objects(h.w.cloud)
	if err != nil {
		h.t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, o := range objects {
		ids[o.ID] = true
	}
	for i, in := range h.read().AllInstances() {
		if len(in.Deposed) > 0 {
			h.t.Errorf("got %d deposed objects of %s, want none", len(in.Deposed), i)
		}
		if in.Current != nil && !ids[in.Current.ID()] {
			h.t.Errorf("the state has %s with the ID %s, which the world does not have", i, in.Current.ID())
		}
		if _, by := content(in.Current); by != last.number {
			h.t.Errorf("got %s as the run %d has made it, want the last run", i, by)
		}
	}
}

// outputs returns the outputs of the state: the runs that have made objects, by name.
func (h *history) outputs() map[string]map[string]int {
	h.t.Helper()
	out := map[string]map[string]int{}
	for name, o := range h.read().Outputs {
		v, err := o.Value.Unmarked()
		if err != nil {
			h.t.Fatal(err)
		}
		out[name] = map[string]int{}
		for pair := range strings.SplitSeq(v.AsString(), ",") {
			if object, by, is := strings.Cut(pair, "="); is {
				out[name][object] = number(by)
			}
		}
	}
	return out
}

// unevaluated reports whether a run has left an output as it was, because an instance that it was to create
// is missing.
func (h *history) unevaluated(output string, number int) bool {
	var block int
	_, _ = fmt.Sscanf(output, "o%d", &block)
	names := h.shape.names(block)
	for _, r := range h.runs {
		if r.number != number || r.ok() || r.shown == nil {
			continue
		}
		made := map[string]bool{}
		for _, op := range h.w.ops {
			made[op.name] = made[op.name] || op.run == r && op.new != ""
		}
		for name, action := range r.changed() {
			if (action == plan.Create || action.IsReplace()) && !made[name] && slices.Contains(names, name) {
				return true
			}
		}
	}
	return false
}

// checkOutputs checks that outputs say of objects what the state has. A run that dies, or loses its lease,
// may not have come to its turn.
func (h *history) checkOutputs() {
	h.t.Helper()
	if h.lease <= lease || slices.ContainsFunc(h.runs, (*run).isDead) {
		return
	}
	state, _ := h.stored()
	for output, says := range h.outputs() {
		for name, by := range says {
			if now, is := state[name]; is && now != by && !h.unevaluated(output, now) {
				h.t.Errorf("got the output %s for %s as the run %d has made it, want the run %d, as in the state", output, name, by, now)
			}
		}
	}
}

// checkLastOutputs checks the outputs after a run that has applied the whole configuration.
func (h *history) checkLastOutputs(last *run) {
	h.t.Helper()
	got := h.outputs()
	for i := 0; i < len(h.shape.blocks); i += 2 {
		want := map[string]int{}
		for k, name := range h.shape.names(i) {
			if k < last.commit.count(i) {
				want[name] = last.number
			}
		}
		if !maps.Equal(got[fmt.Sprint("o", i)], want) {
			h.t.Errorf("got the output o%d with %v, want %v", i, got[fmt.Sprint("o", i)], want)
		}
	}
}
