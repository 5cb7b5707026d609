package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/urfave/cli/v3"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/workdir"
)

// consoleFlags are the options of the console command.
type consoleFlags struct {
	stateFlags
	lockFlags
	inputFlag
	machineFlags
	planned bool
}

// consoleCommand returns the command console (E82). It never asks for variables: their values are unknown, so
// that expressions can be tried before anything is decided.
func consoleCommand(a *app) *cli.Command {
	c, f := &console{dependencies: a.dependencies}, &consoleFlags{}
	flags := append(a.in.variableFlags(), f.lockFlags.flags()...)
	flags = append(flags,
		boolFlag("plan", "Make a plan first, and evaluate with the objects as applying it would make them. By default, objects are as the state has them.", &f.planned),
		stringFlag("state", "Read the state from `FILE`. For the local backend.", &f.stateFlags.State),
		f.machineFlags.intoFlag("a stream of JSON messages with the values"),
		boolFlag("input", "Has no effect: the console asks for nothing. Variables without a value are unknown.", &f.input),
	)
	return a.command("console", "Try expressions at an interactive command prompt", "",
		"Evaluates expressions of the configuration language, one after the other, about the root module and its state. They are read from standard input, "+
			"with a prompt if that is a terminal; otherwise the first error ends the command. The state is locked meanwhile, and nothing is changed. "+
			"Ephemeral resources that an expression needs are opened and stay open until the end, and their values are not shown.",
		flags, func(ctx context.Context, args []string) int { return c.open(ctx, f, args) })
}

// console is one run of the console command. It belongs to one goroutine; soft ends at the first interrupt.
type console struct {
	dependencies

	engine  *engine.Console
	soft    context.Context
	typed   lang.Unfinished
	lines   term.Lines
	sources document.Sources // quoted by diagnostics: files, and the input
}

// open opens the evaluator and reads expressions until the input ends. The state stays locked and
// ephemeral instances stay open for all that time: the values of different lines agree.
func (c *console) open(ctx context.Context, f *consoleFlags, args []string) int {
	c.out.document = true // values alone go to standard output
	if !f.beginMessages(c.out) {
		return exitError
	}
	if len(args) > 0 {
		return c.out.argsError("console", "no arguments; to use the configuration of another directory, give -chdir")
	}
	hard, soft, stop := c.signals.Contexts(ctx) // without notices: a person waits for the prompt
	defer stop()
	if !c.out.report(c.wd.dir().Load(soft)) {
		return exitError
	}
	s, diags := c.wd.session(nil, defaultParallelism, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return c.wd.dir().Begin(soft, operationName("console"), workdir.BeginOptions{
			SessionOptions: o, BeginOptions: mayfly.BeginOptions{Locking: f.locking(c.out), Reads: true}, Files: f.StateFiles, Explore: true,
			SkipState: !f.planned, // objects that nothing declares cannot be referred to
		})
	})
	defer s.close()
	if !c.out.report(diags) {
		return exitError
	}
	e, diags := s.Operation.Console(hard, mayfly.ConsoleOptions{Variables: s.Variables, Planned: f.planned, Soft: soft})
	if e == nil {
		c.out.report(diags)
		return exitError
	}
	defer func() { c.out.report(e.Close()) }()
	if !c.out.report(diags) {
		if soft.Err() != nil {
			return exitError
		}
		c.out.report(diag.Warnf("Values may be missing", "In the expressions that follow, the values that these errors are about are unknown."))
	}
	if c.sources = maps.Clone(c.out.sources()); c.sources == nil {
		c.sources = document.Sources{}
	}
	c.out.sources = func() document.Sources { return c.sources }
	c.out.silence() // the line of the dialogue is the last one
	c.engine, c.soft = e, soft
	c.lines = term.NewLines(c.out.env.Stdin, c.out.env.Stdout, c.in.stdin, e.Names)
	return c.run()
}

// run reads and evaluates until the input ends, and returns the exit status.
func (c *console) run() int {
	for {
		text, err := c.lines.Line(c.soft, c.typed.Begun())
		switch {
		case errors.Is(err, term.ErrNoAnswer):
			if c.typed.Begun() && !c.lines.Interactive() {
				return c.evaluate() // whose error names the missing part
			}
			return exitOK
		case errors.Is(err, term.ErrAbandoned):
			c.typed = lang.Unfinished{}
			continue
		case c.soft.Err() != nil:
			return exitError
		case err != nil:
			return c.out.fail("Error reading input", "The next expression could not be read: %s.", err)
		}
		if code, done := c.take(text); done {
			return code
		}
	}
}

// take handles one line and returns the exit status. done is true if the line ends the console: a word that
// says so, an interrupt, or, without a terminal, the first error.
func (c *console) take(text string) (code int, done bool) {
	word := strings.TrimSpace(text)
	switch {
	case word == "exit" && c.typed.State != lang.WithinHeredoc:
		return exitOK, true
	case !c.typed.Begun() && word == "help":
		return c.out.wrote(writeLine(c.out.env.Stdout, consoleHelp)), false
	case !c.typed.Begun() && word == "":
		if c.lines.Interactive() {
			return exitOK, false
		}
		return c.out.wrote(writeLine(c.out.env.Stdout, "")), false
	}
	if c.typed.Add(text) != lang.Closed {
		return exitOK, false
	}
	code = c.evaluate()
	return code, c.soft.Err() != nil || code != exitOK && !c.lines.Interactive()
}

// evaluate evaluates the lines typed so far, shows the value or the errors, and begins anew.
func (c *console) evaluate() int {
	src := c.typed.Text()
	c.typed = lang.Unfinished{}
	c.sources[engine.ConsoleInput] = []byte(src)
	v, diags := c.engine.Evaluate(src)
	if !c.out.report(diags) {
		return exitError
	}
	text := consoleText(v, c.out.view)
	c.out.tell("%s", []any{text})
	return c.out.wrote(writeLine(c.out.env.Stdout, text))
}

// consoleText returns the text of a value: in the notation of the language, or the name of a type that the
// function type returned.
func consoleText(v cty.Value, o view.Options) string {
	if ty, err := funcs.TypeOf(v); err == nil {
		return funcs.TypeText(ty)
	}
	return view.FormatValue(v, o)
}

// consoleHelp is the answer to "help".
const consoleHelp = `Type an expression and press Enter, and its value is shown. An expression may
refer to whatever the root module declares: aws_instance.web.id, var.region,
local.tags, module.network.vpc_id. Objects are as the state has them or, with
-plan, as applying a new plan would make them; what neither tells is shown as
(known after apply). type(EXPRESSION) shows the type of a value.

An expression whose brackets are open, or whose here document has not ended,
goes on in the next line. The Tab key completes names.

Secrets are not shown. Ephemeral resources that an expression needs are opened
then, and closed when the console ends.

To leave, type "exit", or press Control-D or Control-C.`

// writeLine writes a line to standard output, whether or not it is reserved for values.
func writeLine(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, text)
	return err
}
