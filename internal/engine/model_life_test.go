package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// envLifeSeeds is how many lives TestModelRoundsLife tries; envLifeFirst is the first one.
const (
	envLifeSeeds = "MAYFLY_TEST_ROUND_LIVES"
	envLifeFirst = "MAYFLY_TEST_ROUND_FIRST"
	lifeSeeds    = 12 // a long run sets the variable
	mostRounds   = 25
)

// TestModelRoundsLife makes, changes and destroys random configurations in rounds, in one run or with a
// program for each round, and with failures of the provider. However they got there, they end as the same
// configuration with each unknown value written out.
func TestModelRoundsLife(t *testing.T) {
	t.Parallel()
	first, seeds := envNumber(t, envLifeFirst, 0), envNumber(t, envLifeSeeds, lifeSeeds)
	enough := time.Now().Add(time.Hour)
	if deadline, ok := t.Deadline(); ok { // a busy machine tries fewer
		enough = deadline.Add(-time.Minute)
	}
	var next atomic.Int64
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for !t.Failed() && time.Now().Before(enough) {
				seed := int(next.Add(1)) - 1
				if seed >= seeds {
					return
				}
				l := newLife(t, uint64(first+seed))
				t.Run(fmt.Sprint(first+seed), func(t *testing.T) {
					l.t = t
					l.live()
				})
				_ = os.RemoveAll(filepath.Dir(l.dir))
				if t.Failed() {
					t.Fatalf("with %s=%d, after:\n  %s\nof the configuration:\n%s", envLifeFirst, first+seed, strings.Join(l.trail, "\n  "), l.config.text(false))
				}
			}
		})
	}
}

// life is a world in which a random configuration is applied in rounds.
type life struct {
	*world
	config *lifeConfig
	trail  []string

	tokens  map[string]string // the newest of each account, which a later update takes out of the cloud
	secrets map[string]string // hashes of the newest ones that objects have got

	made      map[string]int // objects that this phase has made, by name
	destroyed map[string]int
	nursery   *nursery
	excludes  []string            // the option of the present attempts
	left      map[*lifeBlock]bool // the blocks that it leaves out
	neglected map[string]bool     // objects that earlier attempts of this phase left out, whatever they refer to
	uneven    bool                // the number of rounds is another one
	over      bool                // the configuration cannot be applied
	loose     bool                // a failure or a way out of an error makes the number of rounds and objects another one
}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{world: newWorld(t, ""), config: &lifeConfig{r: rand.New(rand.NewPCG(seed, 17))}, tokens: map[string]string{}, secrets: map[string]string{}}
	l.virtual = true
	for range 3 + l.config.r.IntN(7) {
		l.config.add()
	}
	for name, text := range lifeModules() {
		l.file(name, text)
	}
	return l
}

// live is the life of a configuration.
func (l *life) live() {
	l.seedImports()
	l.phase("create", false, nil, nil)
	for range 1 + l.config.r.IntN(3) {
		if l.t.Failed() || l.over {
			return
		}
		l.config.settle()
		destructive, anew, gone := l.config.change()
		l.seedImports()
		l.phase("change", destructive, anew, gone)
	}
	if l.t.Failed() || l.over {
		return
	}
	l.begin("destroy")
	l.nurse()
	results := l.inOneRun(command{mode: plan.Destroy, deferral: true})
	if diags := results[len(results)-1].diags(); diags.HasErrors() {
		l.t.Errorf("got %v of the destruction, want none", diags.Err())
	}
	l.exists()
}

// seedImports makes the objects that import blocks name.
func (l *life) seedImports() {
	for _, b := range l.config.blocks {
		if b.kind != lifeImport || b.made {
			continue
		}
		id, name := fmt.Sprintf(lifeImporting, b.i), fmt.Sprintf("n%d-0", b.i)
		o := &simcloud.Object{ID: id, Type: "sim_thing", Name: name, Serial: 1, Attrs: map[string]json.RawMessage{}}
		for attr, v := range map[string]any{"id": id, "name": name, "serial": 1, "replace_me": "g1"} {
			o.Attrs[attr], _ = json.Marshal(v)
		}
		if err := errors.Join(os.MkdirAll(l.cloud, 0o700), simcloud.WriteObject(l.cloud, o)); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *life) begin(name string) {
	l.made, l.destroyed, l.loose, l.uneven = map[string]int{}, map[string]int{}, false, false
	l.neglected = map[string]bool{}
	l.trail = append(l.trail, name)
}

// phase makes the world as the configuration says, and checks the outcome and the way there.
func (l *life) phase(name string, destructive bool, anew, gone []string) {
	l.begin(name)
	had := map[string]bool{}
	for _, n := range l.existing() {
		had[n] = true
	}
	want := l.config.foresee(nil)
	if names := l.config.allNames(); l.config.chance(20) && len(names) > 0 {
		l.loose = true
		l.rules = fmt.Sprintf(`[{"rpc":"ApplyResourceChange","name":%q,"nth":1,"shared":true,"do":"rpc-error"}]`, names[l.config.r.IntN(len(names))])
		l.trail = append(l.trail, l.rules)
		l.attempt(nil)
		_ = os.RemoveAll(filepath.Join(l.cloud, ".sim", "rule-0"))
		l.rules = ""
	}
	if l.config.chance(25) {
		l.withoutSome()
	}
	if l.t.Failed() || l.over {
		return
	}
	got := l.converge()
	if l.t.Failed() || l.over {
		return
	}
	kept := slices.ContainsFunc(l.config.blocks, func(b *lifeBlock) bool { return b.kind == lifeAccount })
	if !l.loose && !l.uneven && !l.config.vague && !kept && !destructive && got != want {
		l.t.Errorf("rounds: got %d, want %d", got, want)
	}
	if got > len(l.config.blocks)+2 {
		l.t.Errorf("rounds: got %d, want at most two more than the %d blocks", got, len(l.config.blocks))
	}
	l.checkCounts(had, anew, gone)
	l.checkOutcome()
}

// checkCounts checks that no object was made twice, and none destroyed but those that go or are made anew.
func (l *life) checkCounts(had map[string]bool, anew, gone []string) {
	made, destroyed := map[string]int{}, map[string]int{}
	for _, name := range l.config.allNames() {
		if !had[name] {
			made[name]++
		}
	}
	for _, name := range anew {
		made[name]++
		destroyed[name]++
	}
	for _, name := range gone {
		destroyed[name]++
	}
	if l.loose {
		return
	}
	if !maps.Equal(l.made, made) {
		l.t.Errorf("made: got %v, want %v", l.made, made)
	}
	if !maps.Equal(l.destroyed, destroyed) {
		l.t.Errorf("destroyed: got %v, want %v", l.destroyed, destroyed)
	}
}

// checkOutcome checks that a plan has nothing to do, also of the configuration with its values written out,
// that all objects are there, and that they have the secrets.
func (l *life) checkOutcome() {
	names := l.config.allNames()
	slices.Sort(names)
	if got := l.existing(); !slices.Equal(got, names) {
		l.t.Errorf("objects: got %q, want %q", got, names)
	}
	for _, written := range []bool{false, true} {
		l.world.config(l.config.text(written))
		r := l.run(command{planOnly: true})
		for _, c := range r.plan.Changes {
			if c.Action != plan.NoOp {
				l.t.Errorf("got %s of %s in a plan after the last round, want none (written out: %t)", c.Action, c.Addr, written)
			}
		}
		if r.planDiags.HasErrors() {
			l.t.Errorf("got %v in a plan after the last round, want none (written out: %t)", r.planDiags.Err(), written)
		}
	}
	for _, b := range l.config.blocks {
		secret := ""
		switch b.kind {
		case lifePending, lifeReach:
			secret = simcloud.Canary("sim_secret", fmt.Sprintf("e%d", b.i))
		case lifeConsumer:
			secret = l.tokens[b.account.names()[0]]
		default:
			continue
		}
		for _, name := range b.names() {
			if l.secrets[name] != simlog.Hash(secret) {
				l.t.Errorf("%s: got another secret, want %s", name, secret)
			}
		}
	}
}

// converge repeats attempts until one ends without errors, and follows the advice of errors. It returns the
// number of rounds.
func (l *life) converge() (n int) {
	var replace []string
	for range 10 {
		n, diags := l.attempt(replace)
		if !diags.HasErrors() {
			return n
		}
		l.loose = true
		if replace = l.follow(diags); l.t.Failed() || l.over {
			return n
		}
	}
	l.t.Error("got errors again and again, want a way out that works")
	return n
}

var lifeName = regexp.MustCompile(`\bn(\d+)\b`)

// follow follows the advice of errors. It returns the objects to replace.
func (l *life) follow(diags diag.List) (replace []string) {
	asked := map[*lifeBlock]bool{} // one error for each instance
	for _, d := range diags {
		if d.Severity != diag.Error {
			continue
		}
		l.trail = append(l.trail, fmt.Sprintf("  %s: %s: %s", d.Address, d.Summary, d.Detail))
		switch d.Summary {
		case "Objects wait for each other":
			m := lifeName.FindStringSubmatch(d.Address)
			i, _ := strconv.Atoi(m[1])
			for _, b := range l.config.blocks {
				if b.i == i && b.first && !asked[b] {
					l.t.Errorf("got an error that asks for create_before_destroy of %s, which has it", d.Address)
				}
				b.first, asked[b] = b.first || b.i == i, asked[b] || b.i == i
			}
		case "Deferred object would not get a value": // its way out is another configuration
			l.over = true
		case "Value is no longer available", "Value was not delivered", "New value was not delivered": // the last one's user was left out
			for _, m := range replaceOption.FindAllStringSubmatch(d.Detail, -1) {
				replace = append(replace, m[1]+m[2])
			}
		default:
			l.t.Errorf("got the error %q, want none: %s", d.Summary, d.Detail)
		}
	}
	slices.Sort(replace)
	return slices.Compact(replace)
}

// attempt applies in rounds, in one run or with a program for each round.
func (l *life) attempt(replace []string) (n int, diags diag.List) {
	l.nurse()
	l.world.config(l.config.text(false))
	if l.config.chance(50) {
		l.trail = append(l.trail, fmt.Sprint("one run ", replace))
		results := l.inOneRun(command{deferral: true, replace: replace, excludes: l.excludes})
		return len(results), results[len(results)-1].diags()
	}
	l.trail = append(l.trail, fmt.Sprint("separate programs ", replace))
	for n < mostRounds {
		n++
		r := l.world.run(command{deferral: true, planOnly: true, replace: replace, excludes: l.excludes})
		if diags = r.planDiags; diags.HasErrors() {
			return n, diags
		}
		replace = slices.DeleteFunc(replace, func(a string) bool {
			return slices.ContainsFunc(r.plan.Changes, func(c *plan.Change) bool { return c.Addr.String() == a })
		})
		_, p := savePlan(l.t, r.plan, "")
		r = l.applySaved(p)
		l.checkAlways(r)
		l.note(r)
		if diags = r.applyDiags; diags.HasErrors() || p.Complete() {
			return n, diags
		}
	}
	l.t.Errorf("rounds: got %d without an end, want an end", n)
	return n, nil
}

// inOneRun applies in rounds that one engine makes, until nothing is deferred or there are errors.
func (l *life) inOneRun(c command) (out []*result) {
	var mu sync.Mutex
	var events []event.Event
	e := l.world.engine(&c, func(ev event.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, ev)
	})
	c.ctx, c.memory = l.t.Context(), rounds.New(time.Now())
	c.between = func() { l.nothingFleeting("while a question waits for its answer") }
	for len(out) < mostRounds && (len(out) == 0 || !out[len(out)-1].plan.Complete()) {
		r := &result{w: l.world}
		out = append(out, r)
		l.carryOut(e, c, r)
		l.note(r)
		if r.diags().HasErrors() {
			break
		}
		c.replace = slices.DeleteFunc(c.replace, func(a string) bool {
			return slices.ContainsFunc(r.plan.Changes, func(ch *plan.Change) bool { return ch.Addr.String() == a })
		})
	}
	e.Close()
	last := out[len(out)-1]
	last.applyDiags = append(last.applyDiags, e.Flush()...)
	last.applyLog = append(last.applyLog, l.newEntries()...)
	last.events = events
	for _, r := range out {
		l.checkAlways(r)
	}
	return out
}

// note counts the changes of a round, and checks the rules that hold after each: nothing is open, and
// nothing that an object refers to is gone.
func (l *life) note(r *result) {
	l.trail = append(l.trail, "  "+roundText(r))
	for _, c := range r.applyLog.Calls(simlog.Filter{RPC: "ApplyResourceChange"}) {
		if hash := c.Begin.Hash["config.secret_wo"]; hash != "" && hash != "null" && !c.Failed() {
			l.secrets[c.Begin.Name] = hash
		}
		switch {
		case c.Failed():
		case c.Begin.Action == "create":
			l.made[c.Begin.Name]++
		case c.Begin.Action == "delete":
			l.destroyed[c.Begin.Name]++
		}
	}
	l.nothingFleeting("after a round")
	l.checkActions(r)
	l.checkLeftOut(r)
	objects, exists := l.objects(), map[string]bool{}
	for _, o := range objects {
		var token string
		if json.Unmarshal(o.Attrs["token"], &token) == nil && token != "" {
			l.tokens[o.Name] = token
		}
	}
	if r.diags().HasErrors() {
		return
	}
	for _, o := range objects {
		exists[o.ID] = true
	}
	for _, o := range objects {
		var text, id string
		for _, attr := range []string{"json", "note"} {
			if json.Unmarshal(o.Attrs[attr], &text) == nil && text != "" {
				_ = json.Unmarshal([]byte(text), &[]any{&id})
			}
		}
		if id != "" && !exists[id] && !l.neglected[o.Name] {
			l.t.Errorf("%s: got its object %s destroyed, want it kept as long as it is referred to", o.ID, id)
		}
	}
}

// roundText tells of a round in one line.
func roundText(r *result) string {
	if r.plan == nil {
		return fmt.Sprint(r.diags().Err())
	}
	var out []string
	for _, c := range r.plan.Changes {
		if c.Action != plan.NoOp {
			out = append(out, c.Action.String()+" "+c.Object().String())
		}
	}
	for _, d := range r.plan.Deferrals {
		out = append(out, "later "+d.Change.Object().String()+" "+string(d.Reason)+" for "+strings.Join(d.Awaited(), ","))
	}
	return strings.Join(out, "; ")
}

func (l *life) objects() []*simcloud.Object {
	objects, err := simcloud.Objects(l.cloud)
	if err != nil {
		l.t.Fatal(err)
	}
	return objects
}

// existing returns the names of the objects of the configuration's past and present, in order.
func (l *life) existing() []string {
	names := l.world.live()
	slices.Sort(names)
	return names
}
