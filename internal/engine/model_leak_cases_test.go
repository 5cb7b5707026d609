package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestLeakGuardCases has small configurations for what the guard once got wrong.
func TestLeakGuardCases(t *testing.T) {
	t.Parallel()
	const secret = "kX7-0a1b2c3d"
	at := func(fields ...string) *leakSpec {
		s := &leakSpec{}
		for _, f := range fields {
			s.places = append(s.places, leakPlace{f, secret})
		}
		return s
	}
	for name, c := range map[string]struct {
		build              func(w *leakWorld)
		refusals, warnings int64
	}{
		// What was read has a value that becomes the object's own only while applying. It is left out there,
		// and the second plan, which lacks it, still keeps the promises of the first.
		"first known in the apply": {func(w *leakWorld) {
			x, y := w.addThing(), w.addThing()
			y.secret = x.result("made")
			w.addCommand(nil)
			w.addCommand(map[string]*leakSpec{"apply/" + x.name: at("made"), "read/" + y.name: at("list")})
		}, 0, 1},
		// The old half of a replacement stays, and an output has the new one in every schedule.
		"a deposed object": {func(w *leakWorld) {
			x := w.addThing()
			x.cbd = true
			w.addCommand(nil)
			w.outputs = append(w.outputs, &leakOutput{name: "o", value: x.result("made")})
			w.addCommand(map[string]*leakSpec{"delete/" + x.name: {fail: true}, "apply/" + x.name: at("made")})
			x.replace[1] = 2
		}, 0, 0},
		// In place of an upgraded identity with such a value stands the earlier one.
		"an upgraded identity": {func(w *leakWorld) {
			x := w.addThing()
			x.secret = &leakExpr{hcl: "sensitive(" + leakQuote(secret) + ")", text: secret, sens: true}
			w.addCommand(nil)
			w.addCommand(map[string]*leakSpec{"identity/" + x.name: {identity: secret}})
			w.addCommand(map[string]*leakSpec{"identity/" + x.name: {identity: secret}})
			w.rounds[1].version, w.rounds[1].mode = 1, plan.RefreshOnly
			w.rounds[2].version, x.size[2] = 1, x.size[0]
		}, 0, 2},
		// An id is stored in spite of the error, and taints what was created.
		"an id": {func(w *leakWorld) {
			w.credential = secret
			x := w.addThing()
			w.addCommand(map[string]*leakSpec{"apply/" + x.name: at("id")})
		}, 1, 0},
		// What a failed destruction leaves has the private data that it had before.
		"private data of what is left": {func(w *leakWorld) {
			w.credential = secret
			x := w.addThing()
			w.addCommand(nil)
			w.addCommand(map[string]*leakSpec{"delete/" + x.name: {fail: true, private: "a=" + secret + ";"}})
			w.rounds[1].mode = plan.Destroy
		}, 1, 0},
		// A value that is stored with a warning is reported where it is found first: in the object.
		"the order of an answer": {func(w *leakWorld) {
			x := w.addThing()
			x.secret = &leakExpr{hcl: leakQuote(secret), text: secret}
			s := &leakSpec{places: []leakPlace{{"made", "a=" + secret + ";"}}, private: "b=" + secret + ";", identity: "c=" + secret + ";"}
			w.addCommand(map[string]*leakSpec{"apply/" + x.name: s})
		}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &leakWorld{aliases: []*leakAlias{{name: "p0"}}}
			c.build(w)
			for i := range w.rounds {
				w.rounds[i].text = w.text(i)
			}
			var total leakCounts
			w.try(t, "it", 10, &total)
			if total.refusals.Load() != c.refusals || total.warnings.Load() != c.warnings {
				t.Errorf("%d refusals and %d warnings, want %d and %d", total.refusals.Load(), total.warnings.Load(), c.refusals, c.warnings)
			}
		})
	}
}

// addThing adds a resource that every command changes.
func (w *leakWorld) addThing() *leakThing {
	n := &leakThing{name: "x" + string(rune('0'+len(w.things))), kind: "leak_thing", alias: w.aliases[0]}
	w.things = append(w.things, n)
	return n
}

// addCommand adds a command with what the provider answers.
func (w *leakWorld) addCommand(script map[string]*leakSpec) {
	w.rounds = append(w.rounds, &leakRound{policy: leak.Standard, script: script})
	for _, n := range w.things {
		n.size, n.replace = append(n.size, len(w.rounds)), append(n.replace, 1)
	}
}

// result returns a reference to a result of a thing.
func (n *leakThing) result(attr string) *leakExpr {
	n.used = true
	return &leakExpr{hcl: n.reference() + "." + attr, ref: n, attr: attr}
}
