package suite_test

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/builtin"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/suite"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("TF_LOG_SDK", "off"); err != nil { // or providers within this process log every call
		panic(err)
	}
	os.Exit(program.Run(m))
}

// rig is a module with test files, and the test provider within this process.
type rig struct {
	t        *testing.T
	cloud    string
	log      string
	rules    []simprovider.Rule // misbehaviours
	launched atomic.Int32       // providers

	mu   sync.Mutex
	last int64 // time of the last entry of the transcript
}

// newRig lays files into a new directory and changes to it.
func newRig(t *testing.T, files map[string]string) *rig {
	t.Helper()
	base := t.TempDir()
	filetest.Lay(t, filepath.Join(base, "root"), files)
	t.Chdir(filepath.Join(base, "root"))
	return &rig{t: t, cloud: filepath.Join(base, "cloud"), log: filepath.Join(base, "rpc.log")}
}

// prelude begins modules that use the test provider.
const prelude = `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
`

// Launch implements provider.Launcher.
func (r *rig) Launch(_ context.Context, p addr.Provider) (provider.Provider, diag.List) {
	if p == addr.BuiltinProvider {
		return builtin.New(builtin.Options{}), nil
	}
	server, err := simprovider.New6(simprovider.Options{Dir: r.cloud, Rules: r.rules, Log: r.log, PID: int(r.launched.Add(1)), Clock: r.now})
	if err != nil {
		return nil, diag.Errorf("Test provider", "%s", err)
	}
	dial, stop := simprovider.InMemory(server)
	return plugin.Connect(simcloud.Source, 6, dial, stop), nil
}

// now is the clock of the transcript. No two entries have the same time.
func (r *rig) now() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(r.last+1, time.Now().UnixNano())
	return r.last
}

// options loads the module and its test files. The project is closed at the end of the function that done is
// deferred in.
func (r *rig) options() (opt suite.Options, done func()) {
	r.t.Helper()
	loader := &config.Loader{EphemeralRootOutputs: true}
	load := func(dir string) *config.Tree {
		tree, diags := loader.Load(dir)
		if diags.HasErrors() {
			r.t.Fatal(diags.Err())
		}
		return tree
	}
	p, diags := mayfly.Open(r.t.Context(), mayfly.Options{Tree: load("."), Launcher: r})
	if diags.HasErrors() {
		r.t.Fatal(diags.Err())
	}
	opt = suite.Options{
		Project: p, Given: func(*config.Variable) (cty.Value, diag.List) { return cty.NilVal, nil }, Report: func(*suite.File) {},
		Module: func(_ *config.TestFile, run *config.TestRun) *config.Tree { return load(path.Clean(run.Module.Source)) },
	}
	names, diags := loader.TestFileNames(".", "tests")
	if diags.HasErrors() {
		r.t.Fatal(diags.Err())
	}
	for _, name := range names {
		f, diags := loader.LoadTestFile(name, map[string][]byte{})
		if diags.HasErrors() {
			r.t.Fatal(diags.Err())
		}
		opt.Files = append(opt.Files, f)
	}
	return opt, p.Close
}

// execute runs all files with options that change may adjust, and returns their outcomes in the order in
// which they were reported.
func (r *rig) execute(change ...func(*suite.Options)) ([]*suite.File, suite.Summary) {
	r.t.Helper()
	opt, done := r.options()
	defer done()
	var files []*suite.File
	opt.Report = func(f *suite.File) { files = append(files, f) }
	for _, f := range change {
		f(&opt)
	}
	return files, suite.Execute(r.t.Context(), opt)
}

// replace replaces text in the module.
func (r *rig) replace(from, to string) {
	r.t.Helper()
	text, err := os.ReadFile("main.tf")
	if err != nil {
		r.t.Fatal(err)
	}
	filetest.Write(r.t, "main.tf", strings.ReplaceAll(string(text), from, to))
}

// transcript returns what providers were asked so far.
func (r *rig) transcript() simlog.Log {
	r.t.Helper()
	l, err := simlog.ReadFile(r.log)
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

// objects returns the names of the objects that exist.
func (r *rig) objects() []string {
	r.t.Helper()
	list, err := simcloud.Objects(r.cloud)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, o := range list {
		out = append(out, o.ID)
	}
	return out
}

// inVirtualTime runs a test whose delays take no time.
func inVirtualTime(t *testing.T, files map[string]string, test func(*testing.T, *rig)) {
	t.Helper()
	r := newRig(t, files)
	synctest.Test(t, func(t *testing.T) {
		r.t = t
		test(t, r)
		time.Sleep(48 * time.Hour) // a call that was given up goes on in the provider, for a day at most
	})
}

// verdicts returns the outcome of each run, as in "one pass, two fail".
func verdicts(f *suite.File) string {
	var out []string
	for _, r := range f.Runs {
		out = append(out, r.Name+" "+r.Verdict.String())
	}
	return strings.Join(out, ", ")
}

// summaries returns the summaries of diagnostics.
func summaries(diags diag.List) string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Summary)
	}
	return strings.Join(out, ", ")
}
