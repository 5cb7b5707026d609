package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// slowWeb is a random configuration whose ephemerals each take some seconds to open, and whose resources,
// providers and ephemerals each use several of them.
type slowWeb struct {
	rng        *rand.Rand
	text       strings.Builder
	ephemerals []*slowOpen
	providers  [][]*slowOpen // the ephemerals that the provider with the alias p0, p1, ... is configured with
}

// slowOpen is an ephemeral with everything that must be open before it.
type slowOpen struct {
	name  string
	takes time.Duration
	after []*slowOpen
}

func newSlowWeb(rng *rand.Rand) *slowWeb {
	o := &slowWeb{rng: rng}
	for range 3 + rng.IntN(8) {
		if rng.IntN(4) == 0 {
			o.provider()
		} else {
			o.ephemeral()
		}
	}
	return o
}

// pick returns up to n different ephemerals, and an argument that uses them all.
func (o *slowWeb) pick(n int, argument string) (out []*slowOpen, text string) {
	var refs []string
	for range o.rng.IntN(n + 1) {
		if len(o.ephemerals) == 0 {
			break
		}
		if e := o.ephemerals[o.rng.IntN(len(o.ephemerals))]; !slices.Contains(out, e) {
			out, refs = append(out, e), append(refs, "ephemeral.sim_token."+e.name+".lease")
		}
	}
	if len(refs) == 0 {
		return nil, ""
	}
	return out, fmt.Sprintf("  %s = [%s][0]\n", argument, strings.Join(refs, ", "))
}

// pickProvider returns what a random provider is configured with, and the argument that selects it.
func (o *slowWeb) pickProvider() ([]*slowOpen, string) {
	if len(o.providers) == 0 || o.rng.IntN(2) == 0 {
		return nil, ""
	}
	i := o.rng.IntN(len(o.providers))
	return o.providers[i], fmt.Sprintf("  provider = sim.p%d\n", i)
}

func (o *slowWeb) provider() {
	uses, text := o.pick(4, "token")
	fmt.Fprintf(&o.text, "provider \"sim\" {\n  alias = \"p%d\"\n%s}\n", len(o.providers), text)
	o.providers = append(o.providers, uses)
}

func (o *slowWeb) ephemeral() {
	e := &slowOpen{name: fmt.Sprintf("e%d", len(o.ephemerals)), takes: time.Duration(1+o.rng.IntN(9)) * time.Second}
	uses, parent := o.pick(3, "parent_token")
	through, provider := o.pickProvider()
	e.after = slices.Concat(uses, through)
	fmt.Fprintf(&o.text, "ephemeral \"sim_token\" %q {\n  name = %q\n  open_delay = \"%s\"\n%s%s}\n", e.name, e.name, e.takes, parent, provider)
	o.ephemerals = append(o.ephemerals, e)
}

// thing adds a resource and returns what it uses.
func (o *slowWeb) thing(name string) []*slowOpen {
	uses, secret := o.pick(4, "secret_wo")
	through, provider := o.pickProvider()
	fmt.Fprintf(&o.text, "resource \"sim_thing\" %q {\n  name = %q\n  delay = \"%ds\"\n%s%s}\n", name, name, o.rng.IntN(5), secret, provider)
	return slices.Concat(uses, through)
}

// ready returns when the last of the ephemerals is open if nothing but their references orders them. It adds
// them, and all that they need, to needed.
func ready(all []*slowOpen, needed map[string]bool) (last time.Duration) {
	for _, e := range all {
		needed[e.name] = true
		last = max(last, ready(e.after, needed)+e.takes)
	}
	return last
}

// TestE40E44E53OpensModel applies random configurations with few slots: no more operations than slots run at
// once, only what is needed is opened, and everything is closed. With enough slots, a single resource waits
// for the longest chain of openings and no longer.
func TestE40E44E53OpensModel(t *testing.T) {
	t.Parallel()
	first, seeds := envNumber(t, envModelFirst, 0), envNumber(t, envModelSeeds, 30)
	for seed := first; seed < first+seeds && !t.Failed(); seed++ {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		slots, things := 1+rng.IntN(4), 1+rng.IntN(5)
		if rng.IntN(3) == 0 {
			slots, things = 50, 1
		}
		o, needed := newSlowWeb(rng), map[string]bool{}
		var chain time.Duration
		for i := range things {
			chain = max(chain, ready(o.thing(fmt.Sprintf("x%d", i)), needed))
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inVirtualTime(t, o.text.String(), func(t *testing.T, w *world) {
				r := w.ok(command{parallelism: slots})
				for phase, log := range map[string]simlog.Log{"plan": r.planLog, "apply": r.applyLog} {
					checkOpens(t, phase, log, slots, needed)
					if things == 1 && len(needed) > 0 && slots > len(needed) {
						if got := openingTime(t, log); got != chain {
							t.Errorf("%s: opening took %s, want %s", phase, got, chain)
						}
					}
					if t.Failed() {
						t.Fatalf("with %d slots:\n%s\n%s", slots, o.text.String(), log.Transcript(simlog.Filter{}))
					}
				}
			})
		})
	}
}

// checkOpens holds a transcript against the number of slots and what is needed.
func checkOpens(t *testing.T, phase string, log simlog.Log, slots int, needed map[string]bool) {
	t.Helper()
	opened := map[string]bool{}
	for _, w := range log.Windows() {
		opened[w.Name] = true
		if !needed[w.Name] {
			t.Errorf("E40: %s was opened in %s, and nothing needed it", w.Name, phase)
		}
		if !w.Closed() {
			t.Errorf("E53: %s was closed %d times in %s", w.Name, len(w.Closes), phase)
		}
	}
	if len(opened) != len(needed) {
		t.Errorf("%s: %d were opened, want %d", phase, len(opened), len(needed))
	}
	operations := slices.DeleteFunc(slices.Clone(log), func(e simlog.Entry) bool {
		return !slices.Contains([]string{"OpenEphemeralResource", "PlanResourceChange", "ApplyResourceChange", "ReadResource"}, e.RPC)
	})
	if n := operations.MaxConcurrency(simlog.Filter{}); n > slots {
		t.Errorf("%s: %d operations at once with %d slots", phase, n, slots)
	}
}
