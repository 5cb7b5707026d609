package suite_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/suite"
)

// plain is a module without a process of its own.
const plain = `
variable "name" {
  default = "x"
  validation {
    condition     = var.name != "invalid"
    error_message = "It is invalid."
  }
}
resource "terraform_data" "a" {
  input = var.name
}
output "name" {
  value = terraform_data.a.output
}`

func TestVerdicts(t *testing.T) {
	const holds, fails = `
	assert {
		condition     = output.name == "x"
		error_message = "It is another."
	}
	`, `
	assert {
		condition     = output.name == "y"
		error_message = "It is another."
	}
	`
	for name, test := range map[string]struct{ file, verdicts, summary, diags string }{
		"all pass":                      {`run "a" {` + holds + `} run "b" {}`, "a pass, b pass", "pass 2 0 0 0", ""},
		"a failure does not end a file": {`run "a" {` + fails + `} run "b" {}`, "a fail, b pass", "fail 1 1 0 0", "Test assertion failed"},
		"all failures of a run":         {`run "a" {` + fails + fails + holds + `}`, "a fail", "fail 0 1 0 0", "Test assertion failed, Test assertion failed"},
		"an error ends a file": {`run "a" {
			variables { name = "invalid" }
		}
		run "b" {}`, "a error, b skip", "error 0 0 1 1", "Invalid value for variable"},
		"an error outweighs a failure": {`run "a" {
			command = plan
			variables { name = "invalid" }
			` + fails + `}`, "a error", "error 0 0 1 0", "Invalid value for variable"},
		"an expected failure": {`run "a" {
			command = plan
			variables { name = "invalid" }
			expect_failures = [var.name]
		}`, "a pass", "pass 1 0 0 0", ""},
		"an expected failure that does not come": {`run "a" {
			expect_failures = [var.name]
		}
		run "b" {}`, "a error, b skip", "error 0 0 1 1", "Missing expected failure"},
		"an expected failure that does not come, beside an assertion": {`run "a" {
			expect_failures = [var.name]
			assert {
				condition     = var.name != ""
				error_message = "m"
			}
		}
		run "b" {}`, "a fail, b pass", "fail 1 1 0 0", "Missing expected failure"},
		"an expected failure that comes too early": {`run "a" {
			variables { name = "invalid" }
			expect_failures = [var.name]
		}`, "a error", "error 0 0 1 0", "Invalid value for variable, Invalid Variable in test file"},
		"a wrong variable of the file": {`variables { name = nope.x }
		run "a" {}
		run "b" {}`, "a error, b skip", "error 0 0 1 1", "Invalid reference"},
		"no run": {``, "", "pass 0 0 0 0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"main.tf": plain, "a.tftest.hcl": strings.ReplaceAll(test.file, "} run", "}\nrun")})
			files, s := r.execute()
			if got := verdicts(files[0]); got != test.verdicts {
				t.Errorf("the runs: got %s, want %s", got, test.verdicts)
			}
			if got := fmt.Sprint(s.Verdict, s.Passed, s.Failed, s.Errored, s.Skipped); got != test.summary {
				t.Errorf("the summary: got %s, want %s", got, test.summary)
			}
			if s.Bad() != (test.diags != "") {
				t.Errorf("Bad: got %t, want %t", s.Bad(), (test.diags != ""))
			}
			if len(files[0].Runs) > 0 && summaries(files[0].Runs[0].Diags) != test.diags {
				t.Errorf("the first run has %v, want %s", files[0].Runs[0].Diags, test.diags)
			}
		})
	}
}

// TestSelectedRuns carries out one run alone: a state has only what that run made.
func TestSelectedRuns(t *testing.T) {
	r := newRig(t, map[string]string{"main.tf": plain, "a.tftest.hcl": `
		run "a" {}
		run "b" {
		  variables {
		    name = "b"
		  }
		}`})
	files, s := r.execute(func(o *suite.Options) {
		o.Selects = func(file, run string) bool { return file == "a.tftest.hcl" && run == "b" }
	})
	if got := verdicts(files[0]); got != "a skip, b pass" || s.Skipped != 1 {
		t.Errorf("got %s; %+v, want a skip, b pass; 1 skipped", got, s)
	}
}

// slow is a module whose objects take an hour each to create and to destroy.
const slow = prelude + `
variable "name" {
  default = "n"
}
resource "sim_slow" "a" {
  name         = var.name
  create_delay = "1h"
}
output "name" {
  value = sim_slow.a.name
}`

// TestRunsOverlap measures, in virtual time, which runs are carried out beside each other: those that are
// parallel, have different states and do not refer to one another.
func TestRunsOverlap(t *testing.T) {
	run := func(name, more string) string {
		return fmt.Sprintf("run %q {\n  state_key = %q\n  variables {\n    name = %q\n  }\n  %s\n}\n", name, name, name, more)
	}
	const parallel = "parallel = true"
	for name, test := range map[string]struct {
		file   string
		hours  int
		atOnce int
	}{
		"in order":               {run("a", "") + run("b", ""), 2, 1},
		"beside each other":      {run("a", parallel) + run("b", parallel) + run("c", parallel), 1, 3},
		"by the file":            {"test {\n  " + parallel + "\n}\n" + run("a", "") + run("b", ""), 1, 2},
		"one is not":             {run("a", parallel) + run("b", "") + run("c", parallel), 3, 1},
		"the file but not a run": {"test {\n  " + parallel + "\n}\n" + run("a", "") + run("b", "parallel = false") + run("c", "") + run("d", ""), 3, 2},
		"of the same state":      {run("a", parallel) + run("b", parallel+"\n  state_key = \"a\"\n"), 2, 1},
		"one refers to another": {run("a", parallel) + run("b", parallel+`
			assert {
			  condition     = run.a.name == "a"
			  error_message = "It is another."
			}`), 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			file := test.file
			if name == "of the same state" {
				file = strings.Replace(file, "  state_key = \"b\"\n", "", 1)
			}
			inVirtualTime(t, map[string]string{"main.tf": slow, "a.tftest.hcl": file}, func(t *testing.T, r *rig) {
				begin := time.Now()
				files, s := r.execute()
				if s.Bad() {
					t.Fatalf("%s: %v", verdicts(files[0]), files[0].Runs[0].Diags)
				}
				if got := time.Since(begin).Truncate(time.Hour); got != time.Duration(test.hours)*time.Hour {
					t.Errorf("the runs took %s, want %d hours", got, test.hours)
				}
				if got := r.transcript().MaxConcurrency(simlog.Filter{RPC: "ApplyResourceChange", Action: "create"}); got != test.atOnce {
					t.Errorf("%d objects were created at once, want %d", got, test.atOnce)
				}
				if left := r.objects(); len(left) > 0 {
					t.Errorf("%q are left", left)
				}
			})
		})
	}
}

// TestFilesOverlap has a file that takes longer than those after it: they are reported in order all the same.
func TestFilesOverlap(t *testing.T) {
	files := map[string]string{"main.tf": slow}
	for _, name := range []string{"a", "b", "c"} {
		files[name+".tftest.hcl"] = "variables {\n  name = \"" + name + "\"\n}\nrun \"one\" {}\n"
	}
	files["a.tftest.hcl"] += "run \"two\" {\n  variables {\n    name = \"a2\"\n  }\n}\n"
	for atOnce, hours := range map[int]int{0: 4, 1: 4, 2: 2, 3: 2} {
		inVirtualTime(t, files, func(t *testing.T, r *rig) {
			begin, running, most := time.Now(), 0, 0
			var reported []string
			_, s := r.execute(func(o *suite.Options) {
				o.FilesAtOnce = atOnce
				o.Report = func(f *suite.File) { reported = append(reported, f.Name) }
				o.Running = func(begins bool) {
					r.mu.Lock()
					defer r.mu.Unlock()
					if running--; begins {
						running += 2
					}
					most = max(most, running)
				}
			})
			if got := time.Since(begin).Truncate(time.Hour); s.Bad() || got != time.Duration(hours)*time.Hour {
				t.Errorf("%d files at once: %s, want %d hours; %+v", atOnce, got, hours, s)
			}
			if want := max(1, atOnce); most != want || running != 0 {
				t.Errorf("%d runs at once, want %d; %d run at the end", most, want, running)
			}
			if want := []string{"a.tftest.hcl", "b.tftest.hcl", "c.tftest.hcl"}; !slices.Equal(reported, want) {
				t.Errorf("reported: got %q, want %q", reported, want)
			}
		})
	}
}

// TestRunsShareProviders starts one provider for many runs of several files.
func TestRunsShareProviders(t *testing.T) {
	var file strings.Builder
	for i := range 50 {
		fmt.Fprintf(&file, "run \"r%d\" {\n  command = plan\n}\n", i)
	}
	r := newRig(t, map[string]string{"main.tf": slow, "a.tftest.hcl": file.String(), "b.tftest.hcl": "run \"applied\" {}\n"})
	r.replace(`"1h"`, `"0s"`)
	if _, s := r.execute(); s.Bad() || s.Passed != 51 {
		t.Fatalf("got %+v, want 51 passed", s)
	}
	if n := r.launched.Load(); n != 1 {
		t.Errorf("%d providers were started for 51 runs, want 1", n)
	}
	for rpc, want := range map[string]int{"GetProviderSchema": 1, "ConfigureProvider": 1} {
		if got := r.transcript().Count(simlog.Filter{RPC: rpc}); got != want {
			t.Errorf("%d calls of %s, want %d", got, rpc, want)
		}
	}
}

// TestNewestIsDestroyedFirst has runs of three states, the first of which is used again at the end. An object
// that cannot be destroyed is listed, and the verdicts of the runs stay.
func TestNewestIsDestroyedFirst(t *testing.T) {
	r := newRig(t, map[string]string{
		"main.tf": prelude + `
			variable "name" {}
			variable "fail_on" {
			  default = null
			}
			resource "sim_thing" "a" {
			  name    = var.name
			  fail_on = var.fail_on
			}`,
		"a.tftest.hcl": `
			run "a" {
			  variables { name = "a" }
			}
			run "b" {
			  state_key = "b"
			  variables {
			    name    = "b"
			    fail_on = "delete"
			  }
			}
			run "c" {
			  state_key = "c"
			  variables { name = "c" }
			}
			run "again" {
			  variables { name = "a" }
			}`,
	})
	k := &keeper{}
	files, s := r.execute(func(o *suite.Options) { o.Keeper = k })
	f := files[0]
	if got := verdicts(f); got != "a pass, b pass, c pass, again pass" || f.Verdict != suite.Error || s.Passed != 4 || !s.Bad() {
		t.Errorf("got %s: %s, %+v, want an error, although 4 passed", f.Verdict, got, s)
	}
	if got := fmt.Sprint(f.Left); got != "[sim_thing.a]" || !f.Cleanup.HasErrors() {
		t.Errorf("left: got %s, want %s: %v", got, "[sim_thing.a]", f.Cleanup)
	}
	var order []string
	for _, c := range r.transcript().Calls(simlog.Filter{RPC: "ApplyResourceChange", Action: "delete"}) {
		order = append(order, c.Begin.Name)
	}
	if got := strings.Join(order, " "); got != "a c b" {
		t.Errorf("destroyed in the order: got %s, want a c b", got)
	}
	if got := strings.Join(k.log, ", "); got != "new a, use a, new b, use b, new c, use c, use again, done again, done c" {
		t.Errorf("asked of the keeper: got %s, want new and use of a, b and c, and then use again, done again, done c", got)
	}
}

// keeper is a Keeper that writes down what it is asked.
type keeper struct {
	log  []string
	fail bool // Using fails
	runs map[store.Manager]string
}

// State implements suite.Keeper.
func (k *keeper) State(_ string, run *config.TestRun) (store.Manager, error) {
	k.log = append(k.log, "new "+run.Name)
	return inmem.New().Manager(store.DefaultWorkspace)
}

// Using implements suite.Keeper.
func (k *keeper) Using(_ context.Context, m store.Manager, _, run string) error {
	k.log = append(k.log, "use "+run)
	if k.runs == nil {
		k.runs = map[store.Manager]string{}
	}
	k.runs[m] = run
	if k.fail {
		return errors.New("the disk is full")
	}
	return nil
}

// Done implements suite.Keeper.
func (k *keeper) Done(m store.Manager) { k.log = append(k.log, "done "+k.runs[m]) }

// thing is a resource of a child module.
const thing = "resource \"sim_thing\" \"t\" {\n  name = \"t\"\n}\n"

// TestWhatIsKept shows which runs have a state that outlives the process: those that can change real objects.
func TestWhatIsKept(t *testing.T) {
	const kept, mocks = "new a, use a, done a", "mock_provider \"sim\" {}\nrun \"a\" {}"
	calls := func(child, more string) string {
		return prelude + fmt.Sprintf("module \"m\" {\n  source = %q\n  %s\n}\n", child, more)
	}
	for name, test := range map[string]struct{ module, file, want string }{
		"real":          {slow, `run "a" {}`, kept},
		"only planned":  {slow, "run \"a\" {\n  command = plan\n}", "new a, done "},
		"without cloud": {plain, `run "a" {}`, ""},
		"mocked":        {slow, mocks, ""},
		"a provisioner": {plain + "\nresource \"terraform_data\" \"p\" {\n  provisioner \"local-exec\" {\n    command = \"true\"\n  }\n}", mocks, kept},
		"in a child":    {calls("./plain", ""), mocks, ""},
		"passed":        {"provider \"sim\" {\n  alias = \"x\"\n}" + calls("./plain", "providers = { sim = sim.x }"), mocks, kept},
		"its own":       {calls("./own", ""), mocks, kept},
		"another name":  {calls("./named", ""), mocks, kept},
		"both":          {slow, "mock_provider \"sim\" {\n  alias = \"m\"\n}\nrun \"a\" {\n  providers = { sim = sim.m }\n}\nrun \"b\" {}", "new a, use a, use b, done b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{
				"main.tf": test.module, "a.tftest.hcl": test.file,
				"plain/main.tf": prelude + thing, "own/main.tf": prelude + thing + "provider \"sim\" {\n  prefix = \"own\"\n}",
				"named/main.tf": strings.Replace(prelude, "sim =", "other =", 1) + strings.Replace(thing, "{", "{\n  provider = other", 1),
			})
			r.replace(`"1h"`, `"0s"`)
			k := &keeper{}
			if files, s := r.execute(func(o *suite.Options) { o.Keeper = k }); s.Bad() {
				t.Fatalf("%s: %v", verdicts(files[0]), files[0].Runs[0].Diags)
			}
			if got := strings.Join(k.log, ", "); got != test.want {
				t.Errorf("the keeper was asked: %s; want %s", got, test.want)
			}
		})
	}
}

// TestNothingIsAppliedUnkept refuses to change what could not be destroyed after a crash.
func TestNothingIsAppliedUnkept(t *testing.T) {
	r := newRig(t, map[string]string{"main.tf": slow, "a.tftest.hcl": `run "a" {}`})
	files, _ := r.execute(func(o *suite.Options) { o.Keeper = &keeper{fail: true} })
	if run := files[0].Runs[0]; run.Verdict != suite.Error || summaries(run.Diags) != "Cannot keep the state of the run" {
		t.Errorf("got %s: %v, want an error: Cannot keep the state of the run", run.Verdict, run.Diags)
	}
	if n := r.transcript().Count(simlog.Filter{RPC: "ApplyResourceChange"}); n != 0 {
		t.Errorf("got %d changes, want 0", n)
	}
}

// TestInterrupts interrupts a run while it creates an object: once, which ends the run and destroys
// everything, and a second time, which lists what is left.
func TestInterrupts(t *testing.T) {
	files := map[string]string{"main.tf": slow + `
		resource "sim_slow" "before" {
		  name = "before"
		}`, "a.tftest.hcl": `
		run "a" {}
		run "b" {}`}
	for name, test := range map[string]struct {
		interrupts int
		want       string // verdicts
		left       string
	}{
		"once":  {1, "a pass, b skip", "[]"},
		"twice": {2, "a error, b skip", "[sim_slow.before]"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, files, func(t *testing.T, r *rig) {
				if test.interrupts > 1 {
					r.rules = []simprovider.Rule{{RPC: "ApplyResourceChange", Name: "n", Do: "hang"}}
				}
				opt, done := r.options()
				defer done()
				var out *suite.File
				opt.Report, opt.Keeper = func(f *suite.File) { out = f }, &keeper{}
				hard, give := context.WithCancel(t.Context())
				defer give()
				soft, end := context.WithCancel(hard)
				defer end()
				opt.Soft = soft
				time.AfterFunc(time.Minute, end)
				if test.interrupts > 1 {
					time.AfterFunc(2*time.Minute, give)
				}
				suite.Execute(hard, opt)
				if got := verdicts(out); got != test.want {
					t.Errorf("the runs: got %s, want %s", got, test.want)
				}
				if got := fmt.Sprint(out.Left); got != test.left {
					t.Errorf("left: got %s, want %s: %v", got, test.left, out.Cleanup)
				}
				if test.interrupts == 1 {
					if left := r.objects(); len(left) > 0 || out.Interrupted != nil {
						t.Errorf("left are %q; %+v", left, out.Interrupted)
					}
					return
				}
				if i := out.Interrupted; i == nil || len(i.States) != 1 || !i.States[0].Kept || fmt.Sprint(i.States[0].Objects, i.Changing) != "[sim_slow.before] [sim_slow.a]" {
					t.Errorf("after the interrupt: got %+v, want one state kept with sim_slow.before, and sim_slow.a changing", i)
				}
			})
		})
	}
}
