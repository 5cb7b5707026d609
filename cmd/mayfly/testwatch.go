package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/watch"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/suite"
	"github.com/mayfly-iac/mayfly/workdir"
)

// testRound is one carrying out of test files. With -watch there are many, each of the files that a change
// matters to.
type testRound struct {
	only func(file string) bool // selects files, besides -filter; nil for all

	loaded []testInput   // inputs of the files of the round; nil if they could not be loaded
	done   []*suite.File // their outcomes
}

// testInput lists the files that the outcome of a test file depends on.
type testInput struct {
	file string
	dirs map[string]struct{} // whose files matter
}

// load loads the test files of the round, and reports errors in them. ok is false if there are errors.
func (r *testRound) load(ctx context.Context, out *output, wd *workingDir, f *testFlags) (t *workdir.Tests, ok bool) {
	var names []string
	t, diags := wd.opened.LoadTests(ctx, f.dir, func(file string) bool {
		names = append(names, file)
		return r.selects(f, file, "")
	})
	if ok = out.report(diags); ok && r.only == nil {
		out.report(f.unmatched(names, t.Files))
	}
	return t, ok
}

// selects reports whether a run, or any run of the file if run is empty, is carried out in the round.
func (r *testRound) selects(f *testFlags, file, run string) bool {
	return f.selects(file, run) && (r.only == nil || r.only(file))
}

// checkWatch refuses options that -watch gives no meaning.
func (f *testFlags) checkWatch() diag.List {
	for _, o := range []struct {
		name  string
		given bool
	}{{"-json", f.json}, {"-json-into", f.into != ""}, {"-junit-xml", f.junit != ""}, {"-markdown", f.markdown != ""}, {"-dry-run", f.dryRun}, {"-cleanup", f.cleanup}} {
		if f.watch && o.given {
			return diag.Errorf("Invalid combination of options", "The options -watch and %s cannot be used together: -watch runs test files many times, for a person to look at.", o.name)
		}
	}
	return nil
}

// testWatch is the state of test -watch.
type testWatch struct {
	f        *testFlags
	varFiles map[string]struct{}            // of -var-file
	inputs   map[string]map[string]struct{} // by test file, its directories
	bad      map[string]struct{}            // test files whose last outcome is not good
	pending  map[string]struct{}            // to run in the next round; nil for all files
	failed   bool                           // the last round could not be carried out
}

// watch runs the test files, and then again those that changes of files matter to, until an interrupt.
// It returns the exit status: success only if every file's last outcome is good. An interrupt during a round
// is one of the round; while nothing runs, it just ends the command.
func (c *testCommand) watch(ctx context.Context, f *testFlags) int {
	files, err := watch.New()
	if err != nil {
		return c.out.fail("Cannot watch files", "%s", diag.Sentence(err))
	}
	defer files.Close()
	until, stop := c.signals.Once(ctx)
	defer stop()
	w := &testWatch{f: f, varFiles: map[string]struct{}{}, inputs: map[string]map[string]struct{}{}, bad: map[string]struct{}{}}
	for _, o := range c.in.variableFiles() {
		w.varFiles[filepath.ToSlash(filepath.Clean(o.path))] = struct{}{}
	}
	files.Watch(w.dirs()) // before anything is read, so that no change is missed
	for {
		w.round(ctx, c)
		files.Watch(w.dirs())
		own := func(name string) bool { return !configName(name) } // tests may write files themselves
		changed := w.relevant(slices.DeleteFunc(files.Changed(), own))
		if len(changed) == 0 && until.Err() == nil {
			c.out.say("\nWaiting for changes. An interrupt (Ctrl-C) ends this.")
		}
		for len(changed) == 0 && until.Err() == nil {
			changed = w.relevant(files.Wait(until))
		}
		if until.Err() != nil {
			c.out.say("") // the terminal shows ^C
			return w.code()
		}
		c.out.say("\n%s\n", changes(changed))
	}
}

// code returns the exit status for the outcomes so far.
func (w *testWatch) code() int {
	if w.failed || len(w.bad) > 0 {
		return exitError
	}
	return exitOK
}

// round carries out the test files that are pending, and remembers them if they could not be loaded.
func (w *testWatch) round(ctx context.Context, c *testCommand) {
	r := &testRound{}
	if w.pending != nil && !w.f.coverage { // which is about all files together
		r.only = func(file string) bool { _, ok := w.pending[file]; return ok }
	}
	code := c.run(ctx, w.f, r)
	if w.failed = code != exitOK && r.done == nil; w.failed {
		return
	}
	w.pending = map[string]struct{}{}
	for _, in := range r.loaded {
		w.inputs[in.file] = in.dirs
	}
	for _, file := range r.done {
		delete(w.bad, file.Name)
		if file.Verdict >= suite.Fail {
			w.bad[file.Name] = struct{}{}
		}
	}
}

// dirs returns the directories to watch: the directories of modules and all below them, since modules read
// files from there.
func (w *testWatch) dirs() []string {
	out := map[string]struct{}{".": {}, path.Clean(filepath.ToSlash(w.f.dir)): {}}
	for _, dirs := range w.inputs {
		maps.Copy(out, dirs)
	}
	for name := range w.varFiles {
		out[path.Dir(name)] = struct{}{}
	}
	return watch.Below(slices.Sorted(maps.Keys(out)))
}

// relevant returns the changed files that call for another round, and adds the test files that they matter
// to, to those that are pending. If the last round could not be carried out, any change may be the repair.
func (w *testWatch) relevant(changed []string) []string {
	return slices.DeleteFunc(changed, func(name string) bool {
		if w.ignores(name) {
			return true
		}
		files := w.matters(name)
		for _, file := range files {
			if w.pending != nil {
				w.pending[file] = struct{}{}
			}
		}
		return len(files) == 0 && !w.failed
	})
}

// ignores reports whether a changed file cannot matter: files of editors and systems, which are often there
// for a moment only, states, and files that the command writes itself.
func (w *testWatch) ignores(name string) bool {
	if _, given := w.varFiles[name]; given {
		return false
	}
	base := path.Base(name)
	return base != "." && strings.HasPrefix(base, ".") && base != ".terraform.lock.hcl" || strings.HasSuffix(base, "~") || strings.HasPrefix(base, "#") ||
		strings.HasSuffix(base, ".swp") || !configName(name) && !exists(name) || strings.Contains(base, ".tfstate") || base == "crash.log" ||
		w.f.coverageFile != "" && name == path.Clean(filepath.ToSlash(w.f.coverageFile))
}

// matters returns the test files that a changed file matters to.
func (w *testWatch) matters(name string) []string {
	var out []string
	add := func(file string) {
		if w.f.selects(file, "") {
			out = append(out, file)
		}
	}
	if testName(name) {
		delete(w.inputs, name) // it may be gone
		delete(w.bad, name)
		if exists(name) && w.searched(path.Dir(name)) {
			add(name)
		}
		return out
	}
	_, varFile := w.varFiles[name]
	all := varFile || name == watch.Unknown || path.Dir(name) == "." && hasSuffix(name, ".tfvars", ".tfvars.json", ".terraform.lock.hcl")
	for file, dirs := range w.inputs {
		if all || concerns(dirs, name) {
			add(file)
		}
	}
	return out
}

// concerns reports whether a changed file matters to modules in these directories. Configuration matters in
// its own directory only; any other file may be read by a module above it.
func concerns(dirs map[string]struct{}, name string) bool {
	dir := path.Dir(name)
	_, in := dirs[dir]
	for !in && !configName(name) && dir != "." && dir != "/" && path.Base(dir) != ".." {
		dir = path.Dir(dir)
		_, in = dirs[dir]
	}
	return in
}

// searched reports whether test files are looked for in a directory.
func (w *testWatch) searched(dir string) bool {
	return dir == "." || dir == path.Clean(filepath.ToSlash(w.f.dir))
}

// testName reports whether a file is a test file.
func testName(name string) bool {
	return hasSuffix(name, ".tftest.hcl", ".tofutest.hcl", ".tftest.json", ".tofutest.json")
}

// configName reports whether a file is configuration, which tests do not write themselves.
func configName(name string) bool {
	return testName(name) || name == watch.Unknown ||
		hasSuffix(name, ".tf", ".tofu", ".tf.json", ".tofu.json", ".tfvars", ".tfvars.json", ".tfmock.hcl", ".tofumock.hcl", ".tfmock.json", ".tofumock.json")
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func hasSuffix(name string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

// changes returns the line about changed files.
func changes(names []string) string {
	const most = 3
	if slices.Contains(names, watch.Unknown) {
		return "Many files changed."
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more files changed.", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ") + " changed."
}
