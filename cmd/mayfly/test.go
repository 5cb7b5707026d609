package main

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/suite"
	"github.com/mayfly-iac/mayfly/view"
	"github.com/mayfly-iac/mayfly/view/verdicts"
	"github.com/mayfly-iac/mayfly/workdir"
)

// testFlags are the options of the test command.
type testFlags struct {
	machineFlags
	dir         string
	filters     []string
	verbose     bool
	dryRun      bool
	junit       string
	parallelism int
	files       int
}

func (a *app) testCommand() *cli.Command {
	f := &testFlags{dir: "tests", parallelism: 10, files: 1}
	flags := append(a.variableFlags(), f.machineFlags.flags("a stream of JSON messages")...)
	flags = append(flags,
		listFlag("filter", "Run only `FILE`, or only one run of it, as in FILE:RUN. May be given several times.", &f.filters),
		stringFlag("test-directory", "Run the test files in `DIR` besides those in the working directory.", &f.dir),
		boolFlag("dry-run", "List what would be run.", &f.dryRun),
		intFlag("parallelism", "Run up to `N` provider operations of a run at the same time.", &f.parallelism),
		intFlag("parallelism-files", "Run up to `N` test files at the same time.", &f.files),
	)
	flags = append(flags, usage.Grouped(usage.OutputGroup,
		boolFlag("verbose", "Show the plan or the state of each run.", &f.verbose),
		stringFlag("junit-xml", "Write the results to `FILE` as JUnit XML, besides the usual output.", &f.junit),
	)...)
	return a.command("test", "Run the tests of a module", "",
		"Carries out the runs in the test files of the working directory and of the directory tests: each plans or applies the module, and checks assertions about the outcome. What runs create is destroyed at the end. The names of test files end in .tftest.hcl, .tofutest.hcl, .tftest.json or .tofutest.json.",
		flags, func(ctx context.Context, args []string) int {
			f.beside = []fileOption{{"-junit-xml", f.junit, false}}
			if !f.beginMessages(a) {
				return exitError
			}
			if len(args) > 0 {
				return a.argsError("test", "no arguments; to run only some files, use -filter")
			}
			return a.test(ctx, f)
		})
}

// test runs the test files and returns the exit status.
func (a *app) test(ctx context.Context, f *testFlags) int {
	hard, soft, stop := a.interruptible(ctx)
	defer stop()
	a.dir = workdir.New(workdir.Options{Environ: append([]string{}, a.env.Environ...), Settings: a.settings, Version: version, Testing: true})
	d := a.dir
	if !a.report(d.Load(hard)) {
		return exitError
	}
	files, diags := d.TestFiles(hard, f.dir)
	if !a.report(diags) {
		return exitError
	}
	files, selects := f.selected(files)
	p := &verdicts.Printer{Color: a.view.Color, Streams: a.streams(), Sources: a.snippets}
	if a.stream == nil {
		p.Out = a.env.Stdout
		p.Report = func(r *suite.Run, file *suite.File) { a.reportTest(r, file) }
	}
	p.Abstract(files)
	if len(files) == 0 {
		a.report(noTests(f))
	}
	if f.dryRun {
		return a.listTests(files)
	}
	opt := suite.Options{Files: files, Selects: selects, FilesAtOnce: f.files, Soft: soft}
	s, ok := a.openTests(hard, &opt, f)
	if s != nil {
		defer s.close()
	}
	if !ok {
		return exitError
	}
	if f.verbose {
		p.Verbose = func(r *suite.Run) (string, []byte, error) { return a.verboseTest(hard, s, r) }
	}
	var done []*suite.File
	var failed error
	opt.Report = func(file *suite.File) {
		done = append(done, file)
		if err := p.File(file); failed == nil {
			failed = err
		}
	}
	var summary suite.Summary
	a.patience.During(func() { summary = suite.Execute(hard, opt) })
	p.Summary(summary)
	if failed == nil && f.junit != "" {
		failed = writeJUnit(f.junit, done)
	}
	if code := a.wrote(failed); code != exitOK || summary.Bad() {
		return exitError
	}
	return exitOK
}

// openTests opens a session with the providers of all that the files run, and completes the options.
func (a *app) openTests(ctx context.Context, opt *suite.Options, f *testFlags) (*session, bool) {
	d := a.dir
	var trees []*config.Tree
	loaded := map[string]*config.Tree{}
	names := map[string]struct{}{}
	for _, file := range opt.Files {
		own := d.Tree().Copy()
		maps.Copy(own.Root.Providers, file.Providers)
		trees = append(trees, own)
		for name := range file.Variables {
			names[name] = struct{}{}
		}
		for _, run := range file.Runs {
			for name := range run.Variables {
				names[name] = struct{}{}
			}
			if run.Module == nil {
				continue
			}
			tree, diags := d.TestModule(ctx, file, run)
			if !a.report(diags) {
				return nil, false
			}
			loaded[file.Name+"\n"+run.Module.Source] = tree
			trees = append(trees, tree)
			for name := range tree.Root.Variables {
				names[name] = struct{}{}
			}
		}
	}
	opt.Module = func(file *config.TestFile, run *config.TestRun) (*config.Tree, diag.List) {
		return loaded[file.Name+"\n"+run.Module.Source], nil
	}
	var diags diag.List
	opt.GivenNames, opt.Given, diags = d.Outside(slices.Sorted(maps.Keys(names)))
	if !a.report(diags) {
		return nil, false
	}
	s, diags := a.session(nil, f.parallelism, func(o workdir.SessionOptions) (*workdir.Session, diag.List) { return d.OpenTests(ctx, trees, o) })
	if !a.report(diags) {
		return s, false
	}
	opt.Project = s.Project
	return s, a.report(s.Project.Validate(opt.Soft))
}

// selected returns the files that -filter selects, and what decides about their runs.
func (f *testFlags) selected(files []*config.TestFile) ([]*config.TestFile, func(file, run string) bool) {
	if len(f.filters) == 0 {
		return files, nil
	}
	selects := func(file, run string) bool {
		return slices.ContainsFunc(f.filters, func(filter string) bool {
			name, only, one := strings.Cut(filter, ":")
			return path.Clean(name) == file && (!one || run == "" || only == run)
		})
	}
	return slices.DeleteFunc(files, func(file *config.TestFile) bool { return !selects(file.Name, "") }), selects
}

func noTests(f *testFlags) diag.List {
	if len(f.filters) > 0 {
		return diag.Warnf("No tests were found", "-filter selects none of the test files. Give their names relative to the working directory, as in -filter=tests/main.tftest.hcl.")
	}
	return diag.Warnf("No tests were found", "The working directory and the directory %s have no files whose names end in .tftest.hcl, .tofutest.hcl, .tftest.json or .tofutest.json.", f.dir)
}

// listTests shows what would be run.
func (a *app) listTests(files []*config.TestFile) int {
	for _, file := range files {
		a.say("%s", file.Name)
		for _, r := range file.Runs {
			a.say("  run %q", r.Name)
		}
	}
	return exitOK
}

// reportTest shows the diagnostics of a run, or of the end of a file, to people.
func (a *app) reportTest(r *suite.Run, file *suite.File) {
	var list diag.List
	if r != nil {
		list = r.Diags
	} else {
		list = file.Cleanup
	}
	list = a.shared.wanted(list)
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
		doc, err := view.PlanJSON(r.Plan, r.Tree, nil, schemas, a.versions())
		return text.String(), doc, err
	}
	if err := view.State(&text, r.State, schemas, a.view); err != nil {
		return "", nil, err
	}
	doc, err := view.StateJSON(r.State, schemas, a.versions())
	return text.String(), doc, err
}

func writeJUnit(name string, files []*suite.File) error {
	f, err := safefile.Create(name)
	if err != nil {
		return err
	}
	err = verdicts.JUnit(f, files)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
