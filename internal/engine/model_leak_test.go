package engine_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// envLeakSeeds is how many configurations TestLeakGuardModel tries, envLeakFirst the first one, and
// envLeakSchedules in how many schedules each runs.
const (
	envLeakSeeds     = "MAYFLY_TEST_LEAK_SEEDS"
	envLeakFirst     = "MAYFLY_TEST_LEAK_FIRST"
	envLeakSchedules = "MAYFLY_TEST_LEAK_SCHEDULES"
	leakSeeds        = 30 // a long run sets the variables
	leakSchedules    = 2
)

// TestLeakGuardModel applies random configurations in which equal texts come from ephemeral and from other
// sources, with a provider that copies what it was given, or what it was not given. What is refused, warned
// of and stored must be what the definition of the leak guard says (decision 025), and the same in every
// schedule, with a saved plan or without.
func TestLeakGuardModel(t *testing.T) {
	t.Parallel()
	first, seeds, schedules := envNumber(t, envLeakFirst, 0), envNumber(t, envLeakSeeds, leakSeeds), envNumber(t, envLeakSchedules, leakSchedules)
	enough := time.Now().Add(time.Hour)
	if deadline, ok := t.Deadline(); ok {
		enough = deadline.Add(-time.Minute)
	}
	var next atomic.Int64
	var total leakCounts
	t.Cleanup(func() { t.Log(total.text()) })
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for !t.Failed() && time.Now().Before(enough) {
				seed := int(next.Add(1)) - 1
				if seed >= seeds {
					return
				}
				tryLeaks(t, uint64(first+seed), schedules, &total)
			}
		})
	}
}

// leakCounts counts what a test has tried and found.
type leakCounts struct {
	configurations, schedules, commands, succeeded, refusals, warnings, withheld, kept atomic.Int64
}

func (c *leakCounts) text() string {
	return fmt.Sprintf("%d configurations, %d schedules, %d commands (%d without errors): %d refusals, %d warnings, %d texts left out, %d stored in spite of an equal secret",
		c.configurations.Load(), c.schedules.Load(), c.commands.Load(), c.succeeded.Load(), c.refusals.Load(), c.warnings.Load(), c.withheld.Load(), c.kept.Load())
}

// tryLeaks runs the configuration of a seed in all schedules.
func tryLeaks(t *testing.T, seed uint64, schedules int, total *leakCounts) {
	newLeakWorld(seed).try(t, fmt.Sprintf("%s=%d", envLeakFirst, seed), schedules, total)
}

// try runs a configuration in all schedules. name is what failures are reported with.
func (w *leakWorld) try(t *testing.T, name string, schedules int, total *leakCounts) {
	dir := t.TempDir()
	var trees []*config.Tree
	for i, r := range w.rounds {
		at := filepath.Join(dir, fmt.Sprint(i))
		filetest.Write(t, filepath.Join(at, "main.tf"), r.text)
		tree, diags := (&config.Loader{}).Load(at)
		if diags.HasErrors() {
			t.Fatalf("with %s: %s\n%s", name, diags.Err(), r.text)
		}
		trees = append(trees, tree)
	}
	standard := map[string]string{}
	for number := range schedules {
		s := &leakSchedule{t: t, number: number, world: w, dir: dir, trees: trees}
		s.run()
		if number == 0 && !t.Failed() {
			checked := t.Run(name, func(t *testing.T) { w.check(t, s.traces, total) })
			if !checked {
				t.Log(w.describe())
			}
		}
		if t.Failed() {
			t.Fatalf("with %s, schedule %d", name, number)
		}
		for i, tr := range s.traces {
			for what, text := range tr.outcome {
				what = fmt.Sprintf("%s of command %d", what, i)
				if want, ok := standard[what]; !ok {
					standard[what] = text
				} else if text != want {
					t.Errorf("%s in schedule %d: got another text (+), want the same as in the first (-):\n%s", what, number, leakDiff(want, text))
				}
			}
		}
		if t.Failed() {
			t.Fatalf("with %s:\n%s", name, w.describe())
		}
	}
	total.configurations.Add(1)
	total.schedules.Add(int64(schedules))
}

// leakDiff returns the lines that only one of two texts has.
func leakDiff(want, got string) string {
	var sb strings.Builder
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	has := func(in []string, line string) bool {
		for _, l := range in {
			if l == line {
				return true
			}
		}
		return false
	}
	for _, l := range a {
		if !has(b, l) {
			sb.WriteString("- " + l + "\n")
		}
	}
	for _, l := range b {
		if !has(a, l) {
			sb.WriteString("+ " + l + "\n")
		}
	}
	return sb.String()
}

// describe returns what a person needs to understand a failure.
func (w *leakWorld) describe() string {
	var sb strings.Builder
	for _, v := range w.vars {
		fmt.Fprintf(&sb, "%+v\n", *v)
	}
	for _, tk := range w.tokens {
		fmt.Fprintf(&sb, "%+v\n", *tk)
	}
	fmt.Fprintf(&sb, "credential %q\n", w.credential)
	for i, r := range w.rounds {
		fmt.Fprintf(&sb, "round %d: mode %v, policy %s, version %d, plan only %t, import %v\n", i, r.mode, r.policy, r.version, r.planOnly, r.imports != nil)
		for at, s := range r.script {
			fmt.Fprintf(&sb, "    %s: %+v\n", at, *s)
		}
		sb.WriteString(r.text)
	}
	return sb.String()
}
