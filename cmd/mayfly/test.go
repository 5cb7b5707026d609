package main

import (
	"bytes"
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/coverage"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/verdicts"
	"github.com/mayfly-iac/mayfly/suite"
	"github.com/mayfly-iac/mayfly/workdir"
)

// testFlags are the options of the test command.
type testFlags struct {
	machineFlags
	parallelismFlag
	dir     string
	filters []string
	verbose bool
	dryRun  bool
	cleanup bool
	watch   bool
	junit   string
	pageFlags
	atOnce int // files

	coverage     bool
	coverageFile string // "" for the table alone
}

// testCommand returns the command test (E83). It plans and applies like the commands of those names, but on
// states of its own, and leaves nothing behind.
func (a *app) testCommand() *cli.Command {
	f := &testFlags{dir: workdir.DefaultTests, atOnce: 1}
	flags := append(a.variableFlags(), f.machineFlags.streamFlags()...)
	flags = append(flags,
		listFlag("filter", "Run only `FILE`, or only one run of it, as in FILE:RUN.", &f.filters),
		stringFlag("test-directory", "Run the test files in `DIR` besides those in the working directory.", &f.dir),
		boolFlag("cleanup", "Only destroy what tests that were ended left behind.", &f.cleanup),
		boolFlag("dry-run", "List what would be run.", &f.dryRun),
		boolFlag("watch", "Stay, and run the test files again whose module, mocks or variables change.", &f.watch),
		f.parallelismFlag.flag("Run up to `N` provider operations of a run at the same time."),
		a.leakFlag(),
		intFlag("parallelism-files", "Run up to `N` test files at the same time.", &f.atOnce),
	)
	flags = append(flags, usage.Grouped(usage.OutputGroup,
		boolFlag("verbose", "Show the plan or the state of each run.", &f.verbose),
		valueFlag("coverage", "Show which parts of the module the runs exercised, and write them to `FILE` as an HTML page if one is given, as in -coverage=FILE.html.", &f.coverage, &f.coverageFile),
		stringFlag("junit-xml", "Write the results to `FILE` as JUnit XML, besides the usual output.", &f.junit),
		f.markdownFlag("the results"),
	)...)
	return a.command("test", "Run the tests of a module", "",
		"Carries out the runs in the test files of the working directory and of the directory tests: each plans or applies the module, and checks assertions about the outcome. What runs create is destroyed at the end. The names of test files end in .tftest.hcl, .tofutest.hcl, .tftest.json or .tofutest.json.",
		flags, func(ctx context.Context, args []string) int {
			f.beside = append(f.pageFlags.files(), fileOption{"-junit-xml", f.junit, false}, fileOption{"-coverage", f.coverageFile, false})
			if !f.beginMessages(a) {
				return exitError
			}
			if !a.report(f.checkOutputs()) {
				return exitError
			}
			if len(args) > 0 {
				a.report(diag.Warnf("Argument ignored", "The command test expects no arguments, so %q has no effect. To run only some files, use -filter.", args[0]))
			}
			if !a.report(f.checkWatch()) {
				return exitError
			}
			if f.watch {
				return a.watchTests(ctx, f)
			}
			return a.paged(f.pageFlags, "Tests", func() int { return a.test(ctx, f, &testRound{}) })
		})
}

// checkOutputs refuses files that cannot be written: that must not be found out after the runs.
func (f *testFlags) checkOutputs() diag.List {
	if err := safefile.CheckWritable(f.junit); f.junit != "" && err != nil {
		return diag.Errorf("Cannot write the results", "The file %s of -junit-xml cannot be written: %s. Nothing was done.", f.junit, diag.Reason(err))
	}
	if _, err := safefile.Replaceable(f.coverageFile); f.coverageFile != "" && err != nil {
		return diag.Errorf("Cannot write the coverage", "The file %s of -coverage cannot be written: %s. Nothing was done.", f.coverageFile, diag.Reason(err))
	}
	return nil
}

// test runs the test files and returns the exit status: success only if all runs pass and all results could
// be written. Assertions may read ephemeral values, which are open meanwhile (E83). What is left of earlier
// runs is destroyed first, so that a test that was killed costs nothing for longer than necessary.
func (a *app) test(ctx context.Context, f *testFlags, r *testRound) int {
	hard, soft, stop := a.interruptible(ctx)
	defer stop()
	a.dir = workdir.New(workdir.Options{Environ: append([]string{}, a.env.Environ...), Settings: a.settings, Version: version, Testing: true, Leaks: a.leaks})
	d := a.dir
	if !a.report(d.Load(hard)) {
		return exitError
	}
	tests, ok := r.load(hard, a, f)
	if !ok {
		return exitError
	}
	files := tests.Files
	for _, file := range files {
		r.loaded = append(r.loaded, testInput{file.Name, d.Dirs(tests, file)})
	}
	p := &verdicts.Printer{Program: a.view.Program, Command: a.view.Command, Color: a.view.Color, Streams: a.streams(), Sources: a.snippets}
	if a.stream == nil {
		p.Out, p.Err = a.env.Stdout, a.env.Stderr
		p.Report = func(r *suite.Run, file *suite.File) { a.reportTest(r, file) }
	}
	p.Abstract(files)
	if f.dryRun {
		return a.listTests(f, files)
	}
	s, diags := a.session(nil, f.parallelism, func(o workdir.SessionOptions) (*workdir.Session, diag.List) { return d.OpenTests(hard, tests, o) })
	defer s.close()
	if diags.HasErrors() && !f.cleanup {
		return a.notStarted(f, p, files, diags)
	}
	if !a.report(diags) || !a.report(s.LeftOpen()) {
		return exitError
	}
	opt, diags := a.testOptions(tests, s)
	if !a.report(diags) {
		return exitError
	}
	opt.Selects, opt.FilesAtOnce, opt.Soft = f.selects, f.atOnce, soft
	if f.coverage {
		opt.Coverage = suite.NewCoverage(opt)
	}
	diags = a.cleanUpTests(hard, &opt)
	if f.cleanup {
		if !a.report(diags) {
			return exitError
		}
		return exitOK
	}
	a.report(diags.AsWarnings()) // what is left hides no result
	if f.verbose {
		p.Verbose = func(r *suite.Run) (string, []byte, error) { return a.verboseTest(hard, s, r) }
	}
	var failed error
	opt.Report = func(file *suite.File) {
		r.done = append(r.done, file)
		if err := p.File(file); failed == nil {
			failed = err
		}
	}
	var summary suite.Summary
	opt.Running = a.status.Run
	done := a.showStatus(suite.CountRuns(files, f.selects))
	a.patience.During(func() { summary = suite.Execute(hard, opt) })
	done()
	p.Summary(summary)
	a.page.Tested(verdicts.Counts(summary), verdicts.Rows(r.done, a.snippets()))
	if failed == nil && f.coverage {
		failed = a.showCoverage(coverage.New(opt.Coverage), f.coverageFile)
	}
	if failed == nil && f.junit != "" {
		failed = a.writeJUnit(f.junit, r.done)
	}
	if code := a.wrote(failed); code != exitOK || summary.Bad() {
		return exitError
	}
	return exitOK
}

// notStarted reports tests for which there are no providers. Without tests, none are missed.
func (a *app) notStarted(f *testFlags, p *verdicts.Printer, files []*config.TestFile, reasons diag.List) int {
	var done []*suite.File
	summary := suite.NotStarted(suite.Options{Files: files, Selects: f.selects, Report: func(file *suite.File) {
		done = append(done, file)
		_ = p.File(file) // without Verbose, it does not fail
	}}, reasons)
	p.Summary(summary)
	if f.junit != "" {
		a.wrote(a.writeJUnit(f.junit, done))
	}
	if len(files) == 0 {
		return exitOK
	}
	return exitError
}

// testsFlag is the option about test files of commands that do not run them.
type testsFlag struct {
	dir  string
	none bool
}

// dirFlag returns the option -test-directory.
func (t *testsFlag) dirFlag() cli.Flag {
	t.dir = workdir.DefaultTests
	return stringFlag("test-directory", "Look for test files in `DIR` besides the working directory.", &t.dir)
}

// files returns the test files.
func (t *testsFlag) files(ctx context.Context, d *workdir.Dir) ([]*config.TestFile, diag.List) {
	return d.TestFiles(ctx, t.dir)
}

// testOptions returns the options of a suite for a session.
func (a *app) testOptions(t *workdir.Tests, s *session) (suite.Options, diag.List) {
	opt := suite.Options{Project: s.Project, Files: t.Files, Module: t.Module}
	var diags diag.List
	opt.GivenNames, opt.Given, diags = a.dir.Outside(t)
	return opt, diags
}

// selects reports whether -filter selects a run, or any run of the file if run is empty. A filter is FILE or
// FILE:RUN, with the file relative to the working directory.
func (f *testFlags) selects(file, run string) bool {
	return len(f.filters) == 0 || slices.ContainsFunc(f.filters, func(filter string) bool {
		name, only, one := strings.Cut(filter, ":")
		return path.Clean(name) == file && (!one || run == "" || only == run)
	})
}

// cleanUpTests keeps the states of tests in the data directory, and destroys what earlier tests left there.
// It completes opt for running tests. The diagnostics name each object that could not be destroyed.
func (a *app) cleanUpTests(ctx context.Context, opt *suite.Options) diag.List {
	states := a.dir.TestStates(ctx)
	opt.Keeper = states
	found, err := states.Left(ctx)
	if err != nil {
		return diag.Errorf("Cannot find what tests left behind", "%s", diag.Sentence(err))
	}
	if len(found) == 0 {
		return nil
	}
	a.say("Destroying what earlier tests left behind...")
	var left []suite.Left
	for _, l := range found {
		left = append(left, suite.Left(l))
	}
	objects, diags := suite.CleanUp(ctx, *opt, left)
	for _, o := range objects {
		diags = append(diags, diag.Errorf("Object left behind", "%s was made by a test and could not be destroyed. Its state is kept in the data directory: once the reason is removed, run: mayfly test -cleanup", o)...)
	}
	return diags
}

// unmatched warns of each -filter that selects nothing, most often because of a mistake in it: without its
// tests, the others pass. names are those of all test files, and files the selected ones.
func (f *testFlags) unmatched(names []string, files []*config.TestFile) (diags diag.List) {
	for _, filter := range f.filters {
		name, only, one := strings.Cut(filter, ":")
		name = path.Clean(name)
		i := slices.IndexFunc(files, func(file *config.TestFile) bool { return file.Name == name })
		if i < 0 {
			diags = append(diags, diag.Warnf("No tests were found", "-filter=%q selects none of the test files. %s", filter, otherFile(name, names))...)
			continue
		}
		var runs []string
		for _, r := range files[i].Runs {
			runs = append(runs, r.Name)
		}
		if one && !slices.Contains(runs, only) {
			diags = append(diags, diag.Warnf("No runs were found", "-filter=%q selects none of the runs in %s.%s", filter, name, diag.DidYouMean(only, runs))...)
		}
	}
	return diags
}

// otherFile says how to name the test file that was meant by a name which none has.
func otherFile(name string, names []string) string {
	for _, n := range names {
		if path.Base(n) == name {
			name = n
		}
	}
	if meant := diag.DidYouMean(name, names); meant != "" {
		return meant[1:]
	}
	return "Give its name relative to the working directory, as in -filter=tests/main.tftest.hcl."
}

// listTests shows what would be run.
func (a *app) listTests(f *testFlags, files []*config.TestFile) int {
	for _, file := range files {
		a.say("%s", file.Name)
		for _, r := range file.Runs {
			if f.selects(file.Name, r.Name) {
				a.say("  run %q", r.Name)
			}
		}
	}
	return exitOK
}

// reportTest shows the diagnostics of a run, or of the end of a file, to people. One of r and file is nil.
func (a *app) reportTest(r *suite.Run, file *suite.File) {
	var list diag.List
	switch {
	case r != nil && r.Repeated:
	case r != nil:
		list = r.Diags
	default:
		list = file.Cleanup
	}
	list = a.shared.wanted(list)
	list = a.env.commandsIn(list)
	_ = view.Diagnostics(a.env.Stderr, list, a.snippets(), a.errView) // as in report
}

// verboseTest returns what -verbose shows of a run, as text and as a document.
func (a *app) verboseTest(ctx context.Context, s *session, r *suite.Run) (string, []byte, error) {
	var text bytes.Buffer
	schemas := s.Schemas(ctx)
	if r.Plan != nil {
		if err := view.Plan(&text, r.Plan, nil, schemas, a.view); err != nil {
			return "", nil, err
		}
		doc, err := document.Plan(r.Plan, r.Tree, nil, schemas, a.versions())
		return text.String(), doc, err
	}
	if err := view.State(&text, r.State, schemas, a.view); err != nil {
		return "", nil, err
	}
	doc, err := document.State(r.State, schemas, a.versions())
	return text.String(), doc, err
}

// writeJUnit writes the outcomes of files to a file that only its owner may read.
func (a *app) writeJUnit(name string, files []*suite.File) error {
	var text bytes.Buffer
	if err := a.guarded(func(w io.Writer) error { return verdicts.JUnit(w, files) })(&text); err != nil {
		return err
	}
	return safefile.Save(name, text.Bytes())
}
