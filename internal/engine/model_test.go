package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// envModelSeeds is how many graphs TestE40E51E52E53Model tries; envModelFirst is the first one.
const (
	envModelSeeds = "MAYFLY_TEST_MODEL_SEEDS"
	envModelFirst = "MAYFLY_TEST_MODEL_FIRST"
	modelSeeds    = 16 // a long run sets the variable
)

// TestE40E51E52E53Model applies, changes and destroys random graphs of ephemerals, provider configurations
// and resources, with failures and interrupts. After each command the provider's own transcript must show for
// every successful opening exactly one close with the newest private data, after the last call of every
// consumer and before the provider's end, and no opening that nothing needed.
func TestE40E51E52E53Model(t *testing.T) {
	t.Parallel()
	first, seeds := envNumber(t, envModelFirst, 0), envNumber(t, envModelSeeds, modelSeeds)
	if testing.Short() {
		seeds = min(seeds, 100)
	}
	enough := time.Now().Add(time.Hour)
	if deadline, ok := t.Deadline(); ok { // a busy machine tries fewer
		enough = deadline.Add(-3 * time.Minute)
	}
	var next atomic.Int64
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for {
				seed := int(next.Add(1)) - 1
				if seed >= seeds || t.Failed() {
					return
				}
				if time.Now().After(enough) {
					t.Logf("%d of %d graphs were tried in the time for tests", seed, seeds)
					return
				}
				m := newModel(t, uint64(first+seed))
				m.live()
				if t.Failed() {
					t.Fatalf("with %s=%d, after %s, of the configuration:\n%s", envModelFirst, first+seed, m.doing, m.web.text())
				}
			}
		})
	}
}

func envNumber(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %s", name, err)
	}
	return n
}

type model struct {
	*world
	web   *web
	rng   *rand.Rand
	doing string
	nurse *nursery
}

func newModel(t *testing.T, seed uint64) *model {
	rng := rand.New(rand.NewPCG(seed, 7))
	m := &model{rng: rng, web: newWeb(rng)}
	m.world = newWorld(t, "")
	m.file("m/main.tf", passing)
	return m
}

// live is the life of one configuration.
func (m *model) live() {
	defer func() { _ = os.RemoveAll(filepath.Dir(m.dir)) }()
	for _, step := range []struct {
		name     string
		disturb  bool
		mutate   bool
		command  command
		interupt bool
	}{
		{name: "a disturbed apply", disturb: true},
		{name: "an interrupted apply", mutate: true, interupt: true},
		{name: "an apply"},
		{name: "a plan", mutate: true, command: command{planOnly: true}},
		{name: "another disturbed apply", disturb: true},
		{name: "a last apply"},
		{name: "a refresh", command: command{mode: plan.RefreshOnly}},
		{name: "a disturbed destroy", disturb: true, command: command{mode: plan.Destroy}},
		{name: "a destroy", command: command{mode: plan.Destroy}},
	} {
		m.doing = step.name
		if step.mutate {
			m.web.mutate()
		}
		if m.web.calm(); step.disturb {
			m.web.disturb()
		}
		m.config(m.web.text())
		c := step.command
		c.closeLimit = 20 * time.Second
		m.step(c, !step.disturb && !step.interupt, step.interupt)
		if m.t.Failed() {
			return
		}
	}
	m.exists()
}

// step runs a command and holds its transcript against what the graph needs.
func (m *model) step(c command, smooth, interrupt bool) {
	m.t.Helper()
	if err := os.Remove(m.log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Fatal(err)
	}
	m.seen, m.calls = 0, simlog.NewReader(m.log)
	m.nurse = newNursery(m.t, simprovider.Options{Dir: m.cloud, Log: m.log, Rules: m.web.rules()})
	m.launcher = m.nurse
	stored := map[string]bool{}
	if m.store.Get("default") != nil {
		for a := range m.state().AllInstances() {
			stored[a.Resource.Name] = true
		}
	}
	if interrupt {
		soft, cancel := context.WithCancel(m.t.Context())
		defer cancel()
		left := int64(m.rng.IntN(30))
		c.soft, c.onEvent = soft, func(event.Event) {
			if left--; left == 0 {
				cancel()
			}
		}
	}
	r := m.run(c)
	m.nurse.ended()
	if err := r.diags().Err(); smooth && err != nil {
		m.t.Errorf("an error in a command that nothing disturbed: %s", err)
	}
	var planNeeds, applyNeeds needs
	switch {
	case c.mode == plan.Destroy || c.mode == plan.RefreshOnly:
		planNeeds = m.providersOf(stored)
	default:
		planNeeds = m.web.neededToPlan(stored, deferredIn(r.events))
	}
	if r.plan != nil {
		applyNeeds = m.web.neededToApply(r.plan)
	}
	m.opened("plan", r.planLog, planNeeds, smooth)
	m.opened("apply", r.applyLog, applyNeeds, smooth && !c.planOnly)
}

// providersOf is what it takes to read or delete the objects in the state.
func (m *model) providersOf(stored map[string]bool) needs {
	s := needs{names: map[string]bool{}}
	for _, n := range m.web.nodes {
		if n.kind == webThing && stored[n.name] {
			s.configured(n)
		}
	}
	return s
}

// deferredIn returns, by the provider's names, the ephemeral instances that a plan has deferred.
func deferredIn(events []event.Event) map[string]bool {
	deferred := map[string]bool{}
	for _, ev := range events {
		if ev.Kind == event.Deferred {
			deferred[strings.NewReplacer("ephemeral.sim_token.", "", "[", "-", "]", "").Replace(ev.Object.String())] = true
		}
	}
	return deferred
}

// opened compares what was opened with what was needed. After a failure or an interrupt less may be opened,
// never more.
func (m *model) opened(phase string, log simlog.Log, want needs, exactly bool) {
	m.t.Helper()
	got := map[string]int{}
	for _, w := range log.Windows() {
		got[w.Name]++
	}
	for name, n := range got {
		if !want.names[name] {
			m.t.Errorf("E40: %s was opened in %s, and nothing needed it", name, phase)
		}
		if n > 1 && exactly && !want.twice[name] {
			m.t.Errorf("E51: %s was opened %d times in one %s", name, n, phase)
		}
	}
	for name := range want.names {
		if exactly && got[name] == 0 && !want.deferred[name] {
			m.t.Errorf("%s was needed and not opened in %s", name, phase)
		}
	}
}
