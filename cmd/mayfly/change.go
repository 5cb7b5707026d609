package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/workdir"
)

// changeFlags are the options of the commands that plan and apply: plan, apply, destroy and refresh. import
// has them too, without the options about planning. check refuses contradictory ones, and planOptions
// translates them for the library.
type changeFlags struct {
	stateFlags
	lockFlags
	inputFlag
	parallelismFlag

	// The scope of the plan.
	destroy, refreshOnly, refresh bool
	lazyEphemeral, allowDeferral  bool
	targets, excludes, replace    []string
	targetFiles, excludeFiles     []string
	assumeUnchanged, invoke       []string
	requireEphemeral, scope       string
	scopeGiven                    bool
	refreshTargets                []string
	refreshOlder                  *string // as given

	machineFlags
	pageFlags
	// How it is shown.
	concise, showSensitive bool
	suppressForgetErrors   bool   // only for the commands that apply, as is the next one
	converge, deferralOff  bool   // in rounds; -allow-deferral=false was given
	reads                  bool   // the command only reads the state
	command                string // "destroy" or "refresh" if that was typed, whose messages differ
	generate               string
	timeline               string // file to draw the timeline of ephemeral instances in

	options func() (mayfly.PlanOptions, diag.List) // of the library, for planOptions; nil before its first call
}

// flags returns the options that plan and apply share, in the order of the help.
func (c *changeFlags) flags(in *input, wd *workingDir) []cli.Flag {
	c.refresh = true
	planning := usage.Grouped(usage.PlanningGroup,
		boolFlag("destroy", "Plan to destroy everything in the state.", &c.destroy),
		boolFlag("refresh-only", "Only detect changes made outside and record them in the state.", &c.refreshOnly),
		boolFlag("refresh", "Plan from the state alone, without reading the real objects first.", &c.refresh),
		boolFlag("lazy-ephemeral", "Don't open ephemeral resources in the plan that only write-only arguments use. Those arguments are unknown until apply, which opens the resources only for what changes.", &c.lazyEphemeral),
		c.deferralFlag(),
		stringFlag("require-ephemeral", "Refuse a plan that would store attributes of a `KIND`: \"sensitive\", which their schemas or the configuration say they are.", &c.requireEphemeral),
		c.scopeFlag("Look at everything (\"all\", the default), or at nothing but what has changed since the last apply, and what follows from it: `SCOPE` is \"changed\". That takes the backend \"postgres\", and looks at everything until an apply of everything with it has recorded each object."),
		listFlag("refresh-target", "With -scope=changed: look at the module, resource or instance at `ADDRESS` too, and ask its provider whether it was changed outside.", &c.refreshTargets),
		genericFlag("refresh-older", "With -scope=changed: do so with all objects that no apply has asked about for `AGE`, such as 7d or 12h.", func(age string) error {
			c.refreshOlder = &age
			return nil
		}),
		listFlag("target", "Plan only the module, resource or instance at `ADDRESS` and what it depends on.", &c.targets),
		listFlag("target-file", "Like -target, for each line of `FILE`.", &c.targetFiles),
		listFlag("exclude", "Leave out the module, resource or instance at `ADDRESS` and what depends on it.", &c.excludes),
		listFlag("exclude-file", "Like -exclude, for each line of `FILE`.", &c.excludeFiles),
		listFlag("replace", "Replace the resource instance at `ADDRESS`.", &c.replace),
		listFlag("assume-unchanged", "Take the values of ephemeral attributes of the resource instance at `ADDRESS` for those of before where the state has nothing to compare them with.", &c.assumeUnchanged),
		listFlag("invoke", "Invoke the action at `ADDRESS`, and change nothing. Several are invoked one by one.", &c.invoke),
		c.parallelFlag(),
	)
	output := usage.Grouped(usage.OutputGroup,
		boolFlag("concise", "Show no progress, only the plan, the result and diagnostics.", &c.concise),
		boolFlag("show-sensitive", "Show sensitive values. Ephemeral values are never shown.", &c.showSensitive),
		stringFlag("html", "Write an HTML page to `FILE` with the plan, the reasons for its changes, what became of them, and the timeline of the run. Sensitive values are hidden.", &c.html),
		c.markdownFlag("the plan, what became of its changes, and errors"),
		stringFlag("ephemeral-timeline", "Write an HTML page to `FILE` that shows when each ephemeral instance was open and what used it. It has addresses and times, no values.", &c.timeline),
	)
	return slices.Concat(planning, output, c.runFlags(in, wd))
}

// runFlags returns the options of all commands that run the engine on the state, with or without a plan.
func (c *changeFlags) runFlags(in *input, wd *workingDir) []cli.Flag {
	return slices.Concat(c.machineFlags.streamFlags(), in.variableFlags(), c.stateFlags.flags(), c.lockFlags.flags(), c.inputFlag.flags(in.out.env.vars), usage.Grouped(usage.PlanningGroup, wd.leakFlag()))
}

// parallelFlag returns the option -parallelism. Its group differs between commands.
func (c *changeFlags) parallelFlag() cli.Flag {
	return c.parallelismFlag.flag("Run up to `N` provider operations at once.")
}

// check reports contradictory options before anything is read. The summaries are the same as in other
// engines, since tools recognize the mistake by them.
func (c *changeFlags) check() diag.List {
	switch {
	case c.destroy && c.refreshOnly:
		return diag.Errorf("Incompatible plan mode options", "The -destroy and -refresh-only options are mutually exclusive.")
	case c.refreshOnly && !c.refresh:
		return diag.Errorf("Incompatible refresh options", "The options -refresh-only and -refresh=false cannot be used together: one asks for what the other turns off.")
	case c.parallelism < 1:
		return diag.Errorf("Invalid parallelism", "The value of -parallelism must be at least 1, not %d.", c.parallelism)
	case len(c.targets)+len(c.targetFiles) > 0 && len(c.excludes)+len(c.excludeFiles) > 0:
		return diag.Errorf("Invalid combination of arguments", "-target and -exclude cannot be used together, and neither can -target-file and -exclude-file.")
	case c.requireEphemeral != "" && c.requireEphemeral != "sensitive":
		return diag.Errorf("Invalid value of -require-ephemeral", "The option takes the value \"sensitive\", not %q.", c.requireEphemeral)
	case len(c.assumeUnchanged) > 0 && (c.destroy || c.refreshOnly):
		return diag.Errorf("Incompatible options", "-assume-unchanged cannot be used with -destroy or -refresh-only, because such plans compare nothing with the configuration.")
	case len(c.replace) > 0 && (c.destroy || c.refreshOnly):
		return diag.Errorf("Incompatible options", "-replace cannot be used with -destroy or -refresh-only, because such plans create nothing.")
	case c.converge && c.deferralOff:
		return diag.Errorf("Incompatible options", "The options -converge and -allow-deferral=false cannot be used together: a run converges by leaving to a later round what cannot be planned yet.")
	case len(c.invoke) > 0 && (c.destroy || c.refreshOnly || len(c.replace)+len(c.targets)+len(c.targetFiles)+len(c.excludes)+len(c.excludeFiles)+len(c.assumeUnchanged) > 0 || c.generate != "" || c.allowDeferral):
		return diag.Errorf("Incompatible options", "-invoke plans nothing but invocations of actions, so it cannot be used with options that choose which objects are planned and how: -destroy, -refresh-only, -replace, -target, -exclude, -assume-unchanged, -generate-config-out and -allow-deferral.")
	}
	if diags := append(c.checkScope(), c.checkRefresh()...); diags.HasErrors() {
		return diags
	}
	return c.checkGenerate()
}

// addressLines reads a file of addresses, one per line. Empty lines and lines that begin with # are skipped.
// The file may be a pipe, so a program can compute the addresses.
func addressLines(name string) ([]string, error) {
	src, err := readGiven(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(src)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out, nil
}

// changeCommands are plan, apply, destroy, refresh and import.
type changeCommands struct{ dependencies }

// changeRun is one run of a command that plans and may apply. It holds the state's lock from start to end:
// between the plan and its approval nothing else may change the state.
//
// The order of calls is start, plan, confirm, apply and end. Work that an interrupt lets finish uses hard;
// work that it keeps from starting, such as a question, uses soft.
type changeRun struct {
	*session // nil until it begins
	out      *output
	in       *input
	wd       *workingDir
	flags    *changeFlags
	hard     context.Context
	soft     context.Context
	goesOn   func(*plan.Plan) bool // whether the plan is applied at once; nil for never
	written  string                // file of the generated configuration, "" if none was written
	saved    bool                  // the plan was made before, and is not shown
	unseen   bool                  // the plan could not be shown: its reader has gone
	rounds   *mayfly.Rounds        // nil unless the run converges
	made     plan.Counts           // of all rounds that were applied
}

// setUp applies the options about output, and reports whether that succeeded. more are files that only one
// command has options for. It comes before anything is read. -json turns questions off, since programs don't
// answer them.
func (c *changeFlags) setUp(out *output, in *input, more ...fileOption) bool {
	c.beside = append(c.files(in), more...)
	out.view.Concise, out.view.ShowSensitive = c.concise, c.showSensitive
	c.input = c.input && !c.json
	if c.concise {
		out.silence()
	}
	return c.beginMessages(out)
}

// start loads the configuration, collects variables, locks the state and finds the providers. name is the
// command, for messages and the lock; root is the directory of the root module, "" for the working directory.
// The run must be ended even if ok is false.
func (c *changeCommands) start(hard, soft context.Context, f *changeFlags, name, root string) (*changeRun, bool) {
	r := &changeRun{out: c.out, in: c.in, wd: c.wd, flags: f, hard: hard, soft: soft}
	d := c.wd.dirOf(root, f.input)
	if !f.needsNoConfig() && !c.wd.required(name) || !c.out.report(d.Load(soft)) {
		return r, false
	}
	return r, r.begin(func(o workdir.BeginOptions) (*workdir.Session, diag.List) {
		return d.Begin(soft, operationName(name), o)
	})
}

// begin begins the session of the run, with f, and reports whether that succeeded.
func (r *changeRun) begin(f func(workdir.BeginOptions) (*workdir.Session, diag.List)) bool {
	c := r.flags
	var diags diag.List
	r.session, diags = r.wd.session(r.out.observer(), c.parallelism, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return f(workdir.BeginOptions{SessionOptions: o, BeginOptions: mayfly.BeginOptions{Locking: c.locking(r.out), Reads: c.reads, For: r.purpose()}, Files: c.StateFiles})
	})
	return r.out.report(diags)
}

// needsNoConfig reports whether the command works without configuration files, because it only removes
// objects or reads them. For other commands, a directory without any is a mistake: they would destroy
// everything.
func (c *changeFlags) needsNoConfig() bool { return c.destroy || c.command == "refresh" }

// operationName returns the command's name for the lock information.
func operationName(command string) string {
	return "OperationType" + strings.ToUpper(command[:1]) + command[1:]
}

// end closes the session, if it began. It may be called although apply has closed the session already.
func (r *changeRun) end() {
	if r.session != nil {
		r.session.close()
	}
}

// working calls f, which runs the engine, and waits until all events are written. An interrupt meanwhile does
// not cut off the output, since the reports of the engine are still wanted. The diagnostics of f come first.
func (r *changeRun) working(f func() diag.List) (diags diag.List) {
	r.out.patience.During(func() { diags = f() })
	return append(diags, r.Operation.Flush()...)
}

// plan plans and shows the plan. ok is false if there were errors, which have been reported; p may still be
// a plan with errors then.
func (r *changeRun) plan() (p *plan.Plan, ok bool) {
	var diags diag.List
	if r.rounds != nil && r.rounds.Number() > 0 {
		p, diags = r.planned(mayfly.PlanOptions{})
	} else {
		opt, wrong := r.flags.planOptions()
		if !r.out.report(wrong) {
			return nil, false
		}
		// The values were collected when the session began, from all their sources.
		opt.Variables, opt.Soft = r.Variables, r.soft
		if !r.generateConfig(&opt) {
			return nil, false
		}
		p, diags = r.planned(opt)
	}
	diags = append(diags, r.unfinished(diags)...)
	if p != nil && restricted(p) && (r.rounds == nil || r.rounds.Number() == 1) {
		diags = append(diags, diag.Warnf("Resource targeting is in effect", "-target and -exclude leave parts of the configuration out, so this plan may be only some of what the configuration asks for.\n\nThey are meant for exceptional situations, such as recovering from an error. For everyday work, plan the whole configuration.")...)
	}
	// A plan with errors is shown as far as it got: it may explain them.
	if p == nil || p.Errored && !p.Changed() {
		r.out.report(diags)
		return p, false
	}
	if r.goesOn != nil && r.goesOn(p) {
		diags = withoutChecks(diags)
	}
	// Most often this is the wrong directory or workspace.
	if r.flags.command == "refresh" && len(p.Base.Managed()) == 0 {
		diags = append(diags, diag.Warnf("Empty or non-existent state", "The state has no remote objects, so there is nothing to refresh.")...)
	}
	err := r.show(p)
	r.unseen = term.ReaderGone(err)
	if err != nil && !r.unseen {
		return p, r.out.report(append(diags, diag.Errorf("Failed to show the plan", "%s", diag.Sentence(err))...))
	}
	return p, r.told(diags)
}

// told reports diagnostics, among them all about failures to close, as output.report does. If the run is
// ended from here on, the next one need not list that again.
func (r *changeRun) told(diags diag.List) bool {
	ok := r.out.report(diags)
	r.Forget()
	return ok
}

// withoutChecks leaves out the results of checks: applying the plan evaluates them again.
func withoutChecks(diags diag.List) diag.List {
	return slices.DeleteFunc(diags, func(d diag.Diagnostic) bool {
		_, is := d.Extra.(diag.CheckWarning)
		return is && d.Severity == diag.Warning
	})
}

// restricted reports whether a plan leaves parts of the configuration out.
func restricted(p *plan.Plan) bool { return len(p.Targets) > 0 || len(p.Excludes) > 0 }

// show writes the plan to the streams and, unless they replace it, to standard output. refresh shows no plan:
// detected changes are applied without a question. An error is one of writing, or of a value that cannot be
// decoded.
func (r *changeRun) show(p *plan.Plan) error {
	r.putPlan(r.hard, p)
	for _, s := range r.out.streams() {
		if r.flags.command != "refresh" {
			s.Plan(p)
		}
	}
	if r.out.stream != nil {
		return r.out.stream.Err()
	}
	if r.flags.command == "refresh" {
		return nil // refresh shows no plan, in the stream or as text
	}
	return view.Plan(r.out.env.Stdout, p, r.relevant(r.hard, p), r.Schemas(r.hard), r.out.view)
}

// confirm asks whether to apply the plan; see approved. A plan without changes needs no approval.
func (r *changeRun) confirm(p *plan.Plan) (yes, asked bool) {
	if !p.Changed() {
		return true, true
	}
	q := approval(r.out, p.Mode, r.Workspace)
	q.Spared = r.spared()
	return r.in.approved(r.soft, q, r.flags.approvalHint())
}

// approval returns the question for approval, which depends on the mode of the plan. The workspace is named
// unless it is the default one: applying in the wrong workspace is a mistake that only this question can
// stop.
func approval(out *output, mode plan.Mode, workspace string) term.Question {
	where := ""
	if workspace != "default" {
		where = fmt.Sprintf(" in workspace %q", workspace)
	}
	switch mode {
	case plan.Destroy:
		return term.Question{
			Title: "\nDo you really want to destroy all resources" + where + "?",
			Text:  out.view.Program + " will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be accepted to confirm.",
		}
	case plan.RefreshOnly:
		return term.Question{
			Title: "\nWould you like to update the " + out.view.Program + " state" + where + " to reflect these detected changes?",
			Text:  out.view.Program + " will write these changes to the state without modifying any real infrastructure.\nThere is no undo. Only 'yes' will be accepted to confirm.",
		}
	}
	return term.Question{
		Title: "\nDo you want to perform these actions" + where + "?",
		Text:  out.view.Program + " will perform the actions described above.\nOnly 'yes' will be accepted to approve.",
	}
}

// apply applies the plan, reports the result and returns the exit status. The state is unlocked before
// anything is written, so that a slow reader does not keep the lock, unless another round follows. Changes
// that were made are reported by the engine's events, so an error here ends the command without a summary.
// Nothing holds the changes of the plan while the state is stored.
func (r *changeRun) apply(p *plan.Plan) int {
	stop := r.out.showStatus(view.Steps(p))
	defer stop()
	var applied *engine.Applied
	var diags diag.List
	changed, whole := p.Changed(), p
	p = withoutChanges(p)
	r.out.patience.During(func() { applied, diags = r.carryOut(whole) })
	if r.goesAround(p, diags) {
		diags = append(diags, r.Operation.Flush()...) // its last events come before its summary
	} else {
		diags = append(diags, r.Unlock()...) // hold no lock while the result waits for a reader
	}
	stop()
	if restricted(p) && applied != nil && !r.goesAround(p, diags) {
		diags = append(diags, diag.Warnf("Applied changes may be incomplete", "The plan was restricted by -target or -exclude, so parts of the configuration and some outputs may still be as they were. To see what is left to do, run:\n    mayfly plan")...)
	}
	if applied != nil && p.Mode == plan.Destroy && applied.Counts.Forget > 0 && !diags.HasErrors() && !r.flags.suppressForgetErrors {
		diags = append(diags, leftBehind(applied.Counts.Forget)...)
	}
	ok := r.told(diags)
	r.note(applied)
	if applied == nil || !ok {
		return exitError
	}
	result := r.Operation.State()
	if err := r.out.page.StateOutputs(result); err != nil {
		return r.out.wrote(err)
	}
	applied.Counts.Defer = len(p.Deferrals)
	destroy := r.flags.command == "destroy" // "apply -destroy" reports like any apply
	for _, s := range r.out.streams() {
		if r.flags.command != "refresh" {
			s.Applied(applied.Counts, destroy)
		}
		if destroy || r.goesAround(p, nil) {
			continue
		}
		if err := s.Outputs(result.Outputs); err != nil {
			return r.out.wrote(err)
		}
	}
	if r.out.stream != nil {
		return exitOK
	}
	if r.flags.command != "refresh" {
		r.out.say("\n%s", r.out.view.Success(view.ApplySummary(applied.Counts, destroy)))
	}
	if r.goesAround(p, nil) {
		return exitOK
	}
	if changed || r.saved { // otherwise the list is right above
		if code := r.out.wroteText(view.Left(r.out.env.Stdout, p, r.out.view)); code != exitOK {
			return code
		}
	}
	if len(result.Outputs) == 0 {
		return exitOK
	}
	r.out.say("\n%s\n", r.out.view.Success("Outputs:"))
	return r.out.wroteText(view.Outputs(r.out.env.Stdout, result.Outputs, r.out.view))
}

// withoutChanges returns the parts of a plan that are reported after its apply: all but changes and states.
func withoutChanges(p *plan.Plan) *plan.Plan {
	rest := *p
	rest.Changes, rest.Drift, rest.Outputs, rest.Base, rest.Prior, rest.Adopted = nil, nil, nil, nil, nil, nil
	rest.Scope, rest.Settling, rest.Reads = nil, nil, nil
	return &rest
}

// leftBehind returns the error for a destroy that left n objects in existence, as the configuration asked. It
// is an error because scripts take the success of a destroy to mean that nothing is left.
func leftBehind(n int) diag.List {
	return diag.Errorf("Destroy was successful but left behind forgotten instances",
		"The configuration forbids destroying some objects (%d), so they were only removed from the state. They still exist, and may still cost money. The plan lists them.\n\nTo treat this as a success, use -suppress-forget-errors.", n)
}

// files returns the files that the options name, for checkFiles: two options must not share one that is
// written.
func (c *changeFlags) files(in *input) []fileOption {
	out := append(in.variableFiles(), c.stateFlags.fileOptions()...)
	for _, name := range c.targetFiles {
		out = append(out, fileOption{"-target-file", name, true})
	}
	for _, name := range c.excludeFiles {
		out = append(out, fileOption{"-exclude-file", name, true})
	}
	out = append(out, fileOption{"-generate-config-out", c.generate, false}, fileOption{"-ephemeral-timeline", c.timeline, false})
	return append(out, c.pageFlags.files()...)
}
