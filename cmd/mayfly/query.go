package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/workdir"
)

// queryFlags are the options of the command query.
type queryFlags struct {
	inputFlag
	parallelismFlag
	machineFlags
	generate string
}

// queryCommand returns the command query.
func queryCommand(a *app) *cli.Command {
	q, f := &query{dependencies: a.dependencies}, &queryFlags{}
	flags := append(f.machineFlags.streamFlags(), a.in.variableFlags()...)
	flags = append(flags, f.inputFlag.flags(a.in.out.env.vars)...)
	flags = append(flags, usage.Grouped(usage.PlanningGroup, f.parallelismFlag.flag("Query up to `N` lists at once."))...)
	flags = append(flags, stringFlag("generate-config-out", "Write import and resource blocks for the results to `FILE`, which must not exist.", &f.generate))
	return a.command("query", "List objects that exist, whether or not they are managed", "",
		"Lists the objects that the list blocks in query files ask for: files whose names end in .tfquery.hcl. A line of the output has the address of a list, the identity of an object, and its name. Nothing is changed.",
		flags, func(ctx context.Context, args []string) int { return q.run(ctx, f, args) })
}

// query is one run of the command.
type query struct {
	dependencies
	add     func(text string) error // to the file of generated configuration; nil for none
	results int
	err     error // of writing a result
}

func (q *query) run(ctx context.Context, f *queryFlags, args []string) int {
	f.beside = []fileOption{{"-generate-config-out", f.generate, false}}
	f.input = f.input && !f.json
	q.out.document = !f.json // standard output has the results alone
	if !f.beginMessages(q.out) {
		return exitError
	}
	if len(args) > 0 {
		return q.out.argsError("query", "no arguments; to use the configuration of another directory, give -chdir")
	}
	var diags diag.List
	if f.generate != "" {
		diags = workdir.CheckGenerated(f.generate)
	}
	if f.parallelism < 1 {
		diags = append(diags, diag.Errorf("Invalid parallelism", "The value of -parallelism must be at least 1, not %d.", f.parallelism)...)
	}
	if !q.out.report(diags) {
		return exitError
	}
	hard, soft, stop := interruptible(ctx, q.signals)
	defer stop()
	d := q.wd.dirOf("", f.input)
	d.ReadQueries(true)
	if !q.out.report(d.Load(soft)) {
		return exitError
	}
	s, diags := q.wd.session(nil, f.parallelism, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return d.Begin(soft, operationName("query"), workdir.BeginOptions{
			SessionOptions: o, BeginOptions: mayfly.BeginOptions{Locking: (&lockFlags{}).locking(q.out), Reads: true}, SkipState: true,
		})
	})
	defer s.close()
	if !q.out.report(diags) {
		return exitError
	}
	return q.list(hard, s, mayfly.QueryOptions{Variables: s.Variables, Observer: q, Soft: soft}, f.generate)
}

// list makes the query and writes the file of generated configuration, if one is asked for.
func (q *query) list(ctx context.Context, s *session, opt mayfly.QueryOptions, file string) int {
	var diags diag.List
	made := func() {
		q.out.patience.During(func() { diags = s.Operation.Query(ctx, opt) })
	}
	wrote := false
	if opt.Generate = file != ""; opt.Generate {
		var more diag.List
		wrote, more = workdir.GenerateTo(file, func(add func(string) error) {
			q.add = add
			made()
		})
		diags = append(diags, more...)
	} else {
		made()
	}
	ok := q.out.report(diags)
	switch {
	case wrote:
		q.out.notice(q.out.env.commands(fmt.Sprintf("Wrote import and resource blocks for the results to %s. Read them, and run \"mayfly plan\"\nto see what importing the objects would do.", file)))
	case ok && q.results == 0 && q.err == nil:
		q.out.notice("No objects were found.")
	}
	if q.err != nil && !term.ReaderGone(q.err) || !ok {
		return max(q.out.wrote(q.err), exitError)
	}
	return exitOK
}

// ListStarted implements event.ListObserver.
func (q *query) ListStarted(e event.ListStart) {
	for _, s := range q.out.streams() {
		s.ListStarted(e)
	}
}

// ListFound implements event.ListObserver.
func (q *query) ListFound(r *event.ListResult) bool {
	q.results++
	for _, s := range q.out.streams() {
		if !s.ListFound(r) {
			q.err = s.Err()
		}
	}
	if q.out.stream == nil && q.err == nil {
		q.err = view.ListResult(q.out.env.Stdout, r, q.out.view)
	}
	if q.add != nil {
		return q.add("\n"+r.Import+"\n\n"+r.Resource+"\n") == nil // if only the reader of the lines has gone, the file is still wanted
	}
	return q.err == nil
}

// ListCompleted implements event.ListObserver.
func (q *query) ListCompleted(e event.ListEnd) {
	for _, s := range q.out.streams() {
		s.ListCompleted(e)
	}
}
