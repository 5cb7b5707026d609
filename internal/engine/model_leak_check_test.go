package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// check holds the first schedule of a world against the definition.
func (w *leakWorld) check(t *testing.T, traces []*leakTrace, total *leakCounts) {
	rp := newLeakReplay(w)
	next := 0
	for i, r := range w.rounds {
		if r.imports != nil {
			tr := traces[next]
			next++
			rp.begin(i)
			rp.imported(tr.plan, r.imports)
			rp.compare(t, "import", tr.plan, total)
			rp.checkStored(t, tr, total)
		}
		tr := traces[next]
		next++
		rp.begin(i)
		rp.planned(tr.plan, r.mode)
		w.functions(rp, i, false)
		rp.compare(t, "plan", tr.plan, total)
		if ok := !rp.errors && !r.planOnly; ok != (tr.apply != nil) {
			t.Errorf("command %d: applied: %t, want %t", i, !ok, ok)
		} else if ok {
			rp.applied(tr.apply, r.mode, tr.updates)
			w.functions(rp, i, true)
			rp.compare(t, "apply", tr.apply, total)
			rp.checkOutputs(t, tr)
		} else {
			rp.state = rp.base
		}
		rp.checkStored(t, tr, total)
		if t.Failed() {
			t.Fatalf("the above is of round %d", i)
		}
	}
}

// functions judges the results of functions.
func (w *leakWorld) functions(rp *leakReplay, round int, applying bool) {
	r := w.rounds[round]
	s := r.script["call/f"]
	for _, o := range w.outputs {
		if o.alias == nil || s == nil || r.mode == plan.Destroy {
			continue
		}
		j := &leakJudge{policy: r.policy, secrets: leakSecrets{}, data: true, files: w.files(round)}
		o.alias.secrets(j.secrets, applying)
		j.next("result")
		j.text(s.places[0].text, "")
		switch {
		case len(j.found) == 0:
		case j.policy == leak.Strict:
			rp.say("error", "Error in function call", "")
		default:
			rp.say("warning", "Function returned an ephemeral value", "")
		}
		rp.allow(s.places[0].text)
	}
}

// compare compares the findings of a phase.
func (rp *leakReplay) compare(t *testing.T, name string, p *leakPhase, total *leakCounts) {
	slices.Sort(rp.found)
	want, got := slices.Compact(rp.found), leakFindings(p.diags)
	if !slices.Equal(want, got) {
		t.Errorf("round %d: got other findings of the %s (+), want those of the definition (-):\n%s", rp.round, name, leakDiff(strings.Join(want, "\n"), strings.Join(got, "\n")))
	}
	if rp.errors != p.diags.HasErrors() {
		t.Errorf("round %d: the %s failed: %t, want %t", rp.round, name, p.diags.HasErrors(), rp.errors)
	}
	for _, f := range want {
		switch {
		case strings.Contains(f, "Message of the provider") || strings.Contains(f, "The provider failed"):
		case strings.HasPrefix(f, "error"):
			total.refusals.Add(1)
		default:
			total.warnings.Add(1)
		}
	}
	total.commands.Add(1)
	if !rp.errors {
		total.succeeded.Add(1)
	}
}

// checkOutputs compares the outputs after an apply without errors.
func (rp *leakReplay) checkOutputs(t *testing.T, tr *leakTrace) {
	r := rp.world.rounds[rp.round]
	if rp.errors || r.mode != plan.Normal {
		return
	}
	env := &leakEnv{applying: true, objects: rp.objects}
	for _, o := range rp.world.outputs {
		want := cty.StringVal("reply")
		switch s := r.script["call/f"]; {
		case o.alias == nil && !o.value.has(rp.round):
			continue
		case o.alias == nil:
			want = o.value.eval(env)
		case s != nil:
			want = cty.StringVal(s.places[0].text)
		}
		got := cty.NullVal(cty.String)
		if stored := tr.state.Outputs[o.name]; stored != nil {
			got, _ = stored.Value.Unmarked()
		}
		if !got.RawEquals(want) {
			t.Errorf("round %d: output %s: got %#v, want %#v", rp.round, o.name, got, want)
		}
	}
}

// checkStored compares the state, and searches everything that was written or shown for what must not be
// there.
func (rp *leakReplay) checkStored(t *testing.T, tr *leakTrace, total *leakCounts) {
	for _, wrong := range rp.compareState(tr.state) {
		t.Errorf("round %d: %s", rp.round, wrong)
	}
	w := rp.world
	written := map[string]string{"state": leakStateText(tr.state), "plan": tr.saved + tr.inPlan}
	if tr.journal != nil {
		written["journal"] = tr.journal.canonical()
	}
	may := rp.corpus.String()
	for _, s := range w.secretTexts() {
		if leakIn(may, s) {
			continue
		}
		for name, text := range written {
			if leakIn(text, s) {
				t.Errorf("round %d: the %s holds %q, which nothing may have stored", rp.round, name, s)
			}
		}
	}
	rp.checkShown(t, tr)
	total.withheld.Add(int64(len(rp.dropped)))
	total.kept.Add(int64(rp.spared))
	rp.spared = 0
}

// checkShown searches messages and events for secrets of the run, and for what is not a secret at all.
func (rp *leakReplay) checkShown(t *testing.T, tr *leakTrace) {
	w := rp.world
	run := leakSecrets{}
	w.ofRun(run)
	for s, v := range run {
		open := slices.ContainsFunc(w.files(rp.round), func(f string) bool { return leakIn(f, s) })
		for _, rec := range rp.base {
			open = open || !v.confidential && slices.ContainsFunc(rec.texts(), func(f string) bool { return leakIn(f, s) })
		}
		if !open && leakIn(tr.shown, s) {
			t.Errorf("round %d: %q is shown:\n%s", rp.round, s, tr.shown)
		}
	}
	for _, p := range []*leakPhase{tr.plan, tr.apply} {
		if p == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(p.calls)) {
			for _, c := range p.calls[name] {
				secret := slices.ContainsFunc(w.secretTexts(), func(s string) bool { return leakIn(c.warn, s) })
				if line := fmt.Sprintf("[%s/%s] %s [end]", name, c.rpc, c.warn); c.warn != "" && !secret && !strings.Contains(tr.shown, line) {
					t.Errorf("round %d: got\n%s\nwant it to show the message as it is: %q", rp.round, tr.shown, line)
				}
			}
		}
	}
}

// secretTexts are all texts that anything may remember.
func (w *leakWorld) secretTexts() []string {
	all := leakSecrets{}
	add := func(s string) { all.add(s, true, func(*leakSecret) {}) }
	w.ofRun(all)
	exprs := []*leakExpr{}
	for _, a := range w.aliases {
		exprs = append(exprs, a.token, a.key, a.val)
	}
	for _, n := range w.things {
		exprs = append(exprs, n.secret, n.pass, n.mapKey, n.mapVal, n.print)
	}
	for _, v := range w.vars {
		if v.eph {
			add(v.text)
		}
	}
	for _, tk := range w.tokens {
		add(tk.plan)
		add(tk.apply)
	}
	for _, e := range exprs {
		if e == nil || e.ref != nil {
			continue
		}
		for _, applying := range []bool{false, true} {
			add(e.eval(&leakEnv{applying: applying}).AsString())
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// compareState returns what is wrong with a state.
func (rp *leakReplay) compareState(st *state.State) (wrong []string) {
	have := map[string]*state.Object{}
	for a, in := range st.AllInstances() {
		have[a.Resource.Name] = in.Current
		for _, o := range in.Deposed {
			have[a.Resource.Name+" "+leakGenOf(o)] = o
		}
	}
	for name := range have {
		if !slices.ContainsFunc(rp.things(), func(n *leakThing) bool { return n.known() == name }) {
			wrong = append(wrong, "there is an object "+name)
		}
	}
	for _, n := range rp.things() {
		want, got := rp.state[n], have[n.known()]
		if want == nil || got == nil {
			if (want == nil) != (got == nil) {
				wrong = append(wrong, fmt.Sprintf("%s: stored %t, want %t", n.name, got != nil, want != nil))
			}
			continue
		}
		v, err := got.DecodeUnmarked(rp.block(n).Type())
		id := leakJSONOf(want.identity)
		switch {
		case err != nil:
			wrong = append(wrong, n.name+": "+err.Error())
		case !v.RawEquals(want.value):
			wrong = append(wrong, fmt.Sprintf("%s is stored as\n%s\nwant\n%s", n.name, leakJSONOf(v), leakJSONOf(want.value)))
		case string(got.Private) != string(want.private):
			wrong = append(wrong, fmt.Sprintf("%s: private data %q, want %q", n.name, got.Private, want.private))
		case string(got.Identity) != id:
			wrong = append(wrong, fmt.Sprintf("%s: identity %s, want %s", n.name, got.Identity, id))
		case got.Tainted != want.tainted:
			wrong = append(wrong, fmt.Sprintf("%s: tainted %t, want %t", n.name, got.Tainted, want.tainted))
		}
	}
	return wrong
}
