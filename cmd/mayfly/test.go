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

// testCommand is the command test.
type testCommand struct{ dependencies }

// command returns the command test (E83). It plans and applies like the commands of those names, but on
// states of its own, and leaves nothing behind.
func (c *testCommand) command(a *app) *cli.Command {
	f := &testFlags{dir: workdir.DefaultTests, atOnce: 1}
	flags := append(c.in.variableFlags(), f.machineFlags.streamFlags()...)
	flags = append(flags,
		listFlag("filter", "Run only `FILE`, or only one run of it, as in FILE:RUN.", &f.filters),
		stringFlag("test-directory", "Run the test files in `DIR` besides those in the working directory.", &f.dir),
		boolFlag("cleanup", "Only destroy what tests that were ended left behind.", &f.cleanup),
		boolFlag("dry-run", "List what would be run.", &f.dryRun),
		boolFlag("watch", "Stay, and run the test files again whose module, mocks or variables change.", &f.watch),
		f.parallelismFlag.flag("Run up to `N` provider operations of a run at the same time."),
		c.wd.leakFlag(),
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
			if !f.beginMessages(c.out) {
				return exitError
			}
			if !c.out.report(f.checkOutputs()) {
				return exitError
			}
			if len(args) > 0 {
				c.out.report(diag.Warnf("Argument ignored", "The command test expects no arguments, so %q has no effect. To run only some files, use -filter.", args[0]))
			}
			if !c.out.report(f.checkWatch()) {
				return exitError
			}
			if f.watch {
				return c.watch(ctx, f)
			}
			return c.out.paged(f.pageFlags, "Tests", func() int { return c.run(ctx, f, &testRound{}) })
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

// run runs the test files and returns the exit status: success only if all runs pass and all results could be
// written. Assertions may read ephemeral values, which are open meanwhile (E83). Objects left by earlier runs
// are destroyed first, so that a test that was killed costs nothing for longer than necessary.
func (c *testCommand) run(ctx context.Context, f *testFlags, r *testRound) int {
	hard, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	d := c.wd.use(workdir.New(workdir.Options{Environ: append([]string{}, c.out.env.Environ...), Settings: c.in.settings, Version: version, Testing: true, Leaks: c.out.leaks}))
	if !c.out.report(d.Load(hard)) {
		return exitError
	}
	tests, ok := r.load(hard, c.out, c.wd, f)
	if !ok {
		return exitError
	}
	files := tests.Files
	for _, file := range files {
		r.loaded = append(r.loaded, testInput{file.Name, tests.Dirs(file)})
	}
	p := &verdicts.Printer{Program: c.out.view.Program, Command: c.out.view.Command, Color: c.out.view.Color, Streams: c.out.streams(), Sources: c.out.sources}
	if c.out.stream == nil {
		p.Out, p.Err = c.out.env.Stdout, c.out.env.Stderr
		p.Report = func(r *suite.Run, file *suite.File) { c.reportRun(r, file) }
	}
	p.Abstract(files)
	if f.dryRun {
		return c.list(f, files)
	}
	s, diags := c.wd.session(nil, f.parallelism, func(o workdir.SessionOptions) (*workdir.Session, diag.List) { return d.OpenTests(hard, tests, o) })
	defer s.close()
	if diags.HasErrors() && !f.cleanup {
		return c.notStarted(f, p, files, diags)
	}
	if !c.out.report(diags) || !c.out.report(s.LeftOpen()) {
		return exitError
	}
	opt, diags := testOptions(tests, s)
	if !c.out.report(diags) {
		return exitError
	}
	opt.Selects, opt.FilesAtOnce, opt.Soft = f.selects, f.atOnce, soft
	if f.coverage {
		opt.Coverage = suite.NewCoverage(opt)
	}
	diags = c.cleanUp(hard, &opt)
	if f.cleanup {
		if !c.out.report(diags) {
			return exitError
		}
		return exitOK
	}
	c.out.report(diags.AsWarnings()) // leftovers hide no result
	if f.verbose {
		p.Verbose = func(r *suite.Run) (string, []byte, error) { return c.verbose(hard, s, r) }
	}
	var failed error
	opt.Report = func(file *suite.File) {
		r.done = append(r.done, file)
		if err := p.File(file); failed == nil {
			failed = err
		}
	}
	var summary suite.Summary
	opt.Running = c.out.status.Run
	done := c.out.showStatus(suite.CountRuns(files, f.selects))
	c.out.patience.During(func() { summary = suite.Execute(hard, opt) })
	done()
	p.Summary(summary)
	c.out.page.Tested(verdicts.Counts(summary), verdicts.Rows(r.done, c.out.sources()))
	if failed == nil && f.coverage {
		failed = c.showCoverage(coverage.New(opt.Coverage), f.coverageFile)
	}
	if failed == nil && f.junit != "" {
		failed = c.writeJUnit(f.junit, r.done)
	}
	if code := c.out.wrote(failed); code != exitOK || summary.Bad() {
		return exitError
	}
	return exitOK
}

// notStarted reports tests for which there are no providers. Without tests, none are missed.
func (c *testCommand) notStarted(f *testFlags, p *verdicts.Printer, files []*config.TestFile, reasons diag.List) int {
	var done []*suite.File
	summary := suite.NotStarted(suite.Options{Files: files, Selects: f.selects, Report: func(file *suite.File) {
		done = append(done, file)
		_ = p.File(file) // without Verbose, it does not fail
	}}, reasons)
	p.Summary(summary)
	if f.junit != "" {
		c.out.wrote(c.writeJUnit(f.junit, done))
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
func testOptions(t *workdir.Tests, s *session) (suite.Options, diag.List) {
	opt := suite.Options{Project: s.Project, Files: t.Files, Module: t.Module}
	var diags diag.List
	opt.GivenNames, opt.Given, diags = t.Outside()
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

// cleanUp keeps the states of tests in the data directory, and destroys objects that earlier tests left
// there. It completes opt for running tests. The diagnostics name each object that could not be destroyed.
func (c *testCommand) cleanUp(ctx context.Context, opt *suite.Options) diag.List {
	states := c.wd.opened.TestStates(ctx)
	opt.Keeper = states
	found, err := states.Left(ctx)
	if err != nil {
		return diag.Errorf("Cannot find what tests left behind", "%s", diag.Sentence(err))
	}
	if len(found) == 0 {
		return nil
	}
	c.out.say("Destroying what earlier tests left behind...")
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
// tests, the others pass. names are the names of all test files, and files the selected ones.
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

// list shows the runs that would be carried out.
func (c *testCommand) list(f *testFlags, files []*config.TestFile) int {
	for _, file := range files {
		c.out.say("%s", file.Name)
		for _, r := range file.Runs {
			if f.selects(file.Name, r.Name) {
				c.out.say("  run %q", r.Name)
			}
		}
	}
	return exitOK
}

// reportRun shows the diagnostics of a run, or of the end of a file, to people. One of r and file is nil.
func (c *testCommand) reportRun(r *suite.Run, file *suite.File) {
	var list diag.List
	switch {
	case r != nil && r.Repeated:
	case r != nil:
		list = r.Diags
	default:
		list = file.Cleanup
	}
	list = c.out.shared.wanted(list)
	list = c.out.env.commandsIn(list)
	_ = view.Diagnostics(c.out.env.Stderr, list, c.out.sources(), c.out.errView) // as in report
}

// verbose returns the text of -verbose for a run, and the document.
func (c *testCommand) verbose(ctx context.Context, s *session, r *suite.Run) (string, []byte, error) {
	var text bytes.Buffer
	schemas := s.Schemas(ctx)
	if r.Plan != nil {
		if err := view.Plan(&text, r.Plan, nil, schemas, c.out.view); err != nil {
			return "", nil, err
		}
		doc, err := document.Plan(r.Plan, r.Tree, nil, schemas, c.out.versions())
		return text.String(), doc, err
	}
	if err := view.State(&text, r.State, schemas, c.out.view); err != nil {
		return "", nil, err
	}
	doc, err := document.State(r.State, schemas, c.out.versions())
	return text.String(), doc, err
}

// writeJUnit writes the outcomes of files to a file that only its owner may read.
func (c *testCommand) writeJUnit(name string, files []*suite.File) error {
	var text bytes.Buffer
	if err := c.out.guarded(func(w io.Writer) error { return verdicts.JUnit(w, files) })(&text); err != nil {
		return err
	}
	return safefile.Save(name, text.Bytes())
}
