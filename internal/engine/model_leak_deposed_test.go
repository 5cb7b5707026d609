package engine_test

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/state"
)

// leakNew is what calls have as the generation of an object that is created.
const leakNew = "new"

// leakImported is added to the generation of an object that is imported, which may be replaced at once.
const leakImported = 100

// leakDeposed matches how messages name deposed objects. The keys are random.
var leakDeposed = regexp.MustCompile(`\(deposed object [0-9a-f]{8}\)`)

// leakGen returns the generation of an object: the attribute gen, which has the command that created it. It
// tells apart the objects of one resource.
func leakGen(v cty.Value) string {
	if v.IsNull() {
		return leakNew
	}
	return v.GetAttr("gen").AsBigFloat().Text('f', -1)
}

// leakGenOf is leakGen for an object in the state.
func leakGenOf(o *state.Object) string {
	_, rest, _ := strings.Cut(string(o.JSON()), `"gen":`)
	return rest[:strings.IndexAny(rest, ",}")]
}

// generation returns the generation of what is created now.
func (c *leakCloud) generation(add int) cty.Value {
	return cty.NumberIntVal(int64(slices.Index(c.world.rounds, c.round) + add))
}

// leakSorted returns calls about one resource in an order that depends on no schedule: those about one object
// follow on each other.
func leakSorted(calls []leakCall) []leakCall {
	return slices.SortedStableFunc(slices.Values(calls), func(a, b leakCall) int { return strings.Compare(a.gen, b.gen) })
}

// addReplacements has some resources replaced with create_before_destroy, often, and often without success:
// the old object stays as a deposed one.
func (w *leakWorld) addReplacements(rng *rand.Rand) {
	for _, n := range w.things {
		if n.kind == "leak_lookup" || rng.IntN(100) >= 25 {
			continue
		}
		n.cbd = true
		for i := 1; i < len(n.replace); i++ {
			if rng.IntN(100) < 60 {
				for j := i; j < len(n.replace); j++ {
					n.replace[j]++
				}
			}
			r := w.rounds[i]
			if r.script["delete/"+n.name] == nil && rng.IntN(100) < 50 {
				w.addSpec(r, n, "delete")
			}
			if s := r.script["delete/"+n.name]; s != nil {
				s.fail = rng.IntN(100) < 80
			}
		}
	}
}

// addMute has some failures say nothing about the object.
func (w *leakWorld) addMute(rng *rand.Rand) {
	for _, r := range w.rounds {
		for _, at := range slices.Sorted(maps.Keys(r.script)) {
			if s := r.script[at]; s.fail {
				s.mute = rng.IntN(100) < 35
			}
		}
	}
}

// addIdentities has the provider put something into identities that it upgrades.
func (w *leakWorld) addIdentities(rng *rand.Rand) {
	for _, r := range w.rounds {
		for _, n := range w.things {
			if rng.IntN(100) < 30 {
				r.script["identity/"+n.name] = &leakSpec{identity: w.compose()}
			}
		}
	}
}

// known is the name of a thing, with the generation if it stands for a deposed object.
func (n *leakThing) known() string {
	if n.deposed {
		return n.name + " " + n.gen
	}
	return n.name
}

// things are the things of the world, and those that stand for deposed objects.
func (rp *leakReplay) things() []*leakThing { return slices.Concat(rp.world.things, rp.deposed) }

// calls returns the calls of a phase about a thing, without those about deposed objects of it.
func (rp *leakReplay) calls(p *leakPhase, n *leakThing) (out []leakCall) {
	for _, c := range p.calls[n.name] {
		other := slices.ContainsFunc(rp.deposed, func(d *leakThing) bool { return d.name == n.name && d.gen == c.gen })
		if c.rpc != leakUpgradesIdentity && (n.deposed && c.gen == n.gen || !n.deposed && !other) {
			out = append(out, c)
		}
	}
	for i := range out {
		if out[i].rpc == "upgrade" {
			out[i].identity = rp.upgraded(p, n)
		}
	}
	return out
}

// upgraded returns the identity of a thing as a phase has upgraded it; cty.NilVal if it did not. The calls
// say nothing about the object, but those with one key have one answer.
func (rp *leakReplay) upgraded(p *leakPhase, n *leakThing) cty.Value {
	base := rp.base[n]
	for _, c := range p.calls[n.name] {
		if c.rpc == leakUpgradesIdentity && base != nil && base.identity != cty.NilVal && c.identity.GetAttr("key").RawEquals(base.identity.GetAttr("key")) {
			return c.identity
		}
	}
	return cty.NilVal
}

// leakUpgradesIdentity is the name of calls that upgrade identities.
const leakUpgradesIdentity = "upgrade identity"

// depose goes through what becomes of an object whose replacement was created.
func (rp *leakReplay) depose(n *leakThing, old *leakRecord, calls []leakCall, env *leakEnv) {
	d := *n
	d.deposed, d.gen = true, leakGen(old.value)
	rp.deposed = append(rp.deposed, &d)
	rp.base[&d], rp.prior[&d], rp.state[&d] = rp.base[n], old, old
	if len(calls) > 0 {
		rp.deleted(&d, calls[0], env)
	}
}
