package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/interrupt"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// say writes a line for people, unless standard output is reserved for programs. The format has no line end.
// Where the streams carry such lines, it is a message too.
func (a *app) say(format string, args ...any) {
	format = a.env.commands(format)
	if a.verbatim {
		a.tell(format, args)
	}
	a.print(format, args)
}

// saved says that a document which an option asked for was written.
func (a *app) saved(what, path string) { a.say("\nSaved the %s to: %s", what, path) }

// item reports one thing that was done, for people as an item of a list. The message has no dash.
func (a *app) item(format string, args ...any) {
	if a.verbatim {
		a.tell(format, args)
	}
	a.print("- "+format, args)
}

// print is say without a message in the streams.
func (a *app) print(format string, args []any) {
	if a.stream != nil || a.document {
		return
	}
	fmt.Fprintf(a.lineOutput(), format+"\n", args...)
}

// report shows diagnostics and reports whether none of them is an error. Warnings go where the command's
// output goes, errors to standard error. With -pedantic, every warning is an error. Options may leave out or
// group some; with JSON, each is a message.
func (a *app) report(list diag.List) bool {
	if list = a.shared.wanted(list); len(list) == 0 {
		return true
	}
	if a.pedantic {
		list = slices.Clone(list)
		for i := range list {
			list[i].Severity = diag.Error
		}
	}
	list = a.env.commandsIn(list)
	ok := !list.HasErrors()
	a.page.Diagnostics(list, a.snippets())
	for _, s := range a.streams() {
		s.Diagnostics(list, a.snippets())
	}
	if a.stream != nil {
		return ok
	}
	var warnings, failures diag.List
	for _, d := range list {
		if d.Severity == diag.Error {
			failures = append(failures, d)
		} else {
			warnings = append(warnings, d)
		}
	}
	out, o := a.env.Stdout, a.view
	if a.document {
		out, o = a.env.Stderr, a.errView
	}
	// Warnings and errors are written apart here, so view cannot see that there are errors.
	o.CompactWarnings = a.view.CompactWarnings && ok
	// An error of writing to the stream cannot be reported in the stream.
	_ = view.Diagnostics(out, warnings, a.snippets(), o)
	_ = view.Diagnostics(a.env.Stderr, failures, a.snippets(), a.errView)
	return ok
}

// fail reports one error and returns the exit status.
func (a *app) fail(summary, format string, args ...any) int {
	a.report(diag.Errorf(summary, format, args...))
	return exitError
}

// wrote returns the exit status for the error of writing the command's result; nil is success. A result that
// could not be delivered is an error, since scripts go by the status.
func (a *app) wrote(err error) int {
	if err != nil {
		return a.fail("Failed to write the output", "%s", diag.Sentence(err))
	}
	return exitOK
}

// wroteText is wrote for text beside the command's result. If its reader has gone, the text is lost and the
// command succeeds.
func (a *app) wroteText(err error) int {
	if term.ReaderGone(err) {
		return exitOK
	}
	return a.wrote(err)
}

// writeDocument writes the document of a command that has nothing but a document, and returns the exit
// status. err is that of making it.
func (a *app) writeDocument(doc []byte, err error) int {
	if err == nil {
		_, err = fmt.Fprintf(a.env.Stdout, "%s\n", trimNewline(doc))
	}
	return a.wrote(err)
}

// trimNewline removes line ends from the end of a document: it gets exactly one.
func trimNewline(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}

// argsError reports a wrong number of arguments and returns the exit status. want completes the sentence "The
// command expects".
func (a *app) argsError(command, want string) int {
	return a.fail("Wrong number of arguments", "The command %s expects %s. For its usage, run: mayfly %s -help", command, want, command)
}

// ask shows a question and returns the line typed; see term.Prompt. It fails while standard output is for
// programs.
func (a *app) ask(ctx context.Context, q term.Question) (string, error) {
	if a.stream != nil {
		return "", term.ErrNoAnswer
	}
	return a.prompt.Ask(ctx, q)
}

// approved asks for approval, and reports whether it was given. asked is false if there was no answer, which
// has been reported; hint says how to do without one.
func (a *app) approved(ctx context.Context, q term.Question, hint string) (yes, asked bool) {
	answer, err := a.ask(ctx, q)
	switch {
	case errors.Is(err, term.ErrNoAnswer):
		a.fail("Error asking for approval", "Standard input has ended, so there is no answer. %s", hint)
	case errors.Is(err, interrupt.Err):
		a.fail("Error asking for approval", "Interrupted before there was an answer. Nothing was changed.")
	case err != nil:
		a.fail("Error asking for approval", "%s", diag.Sentence(err))
	}
	return answer == "yes", err == nil
}

// downloading returns a function that draws a progress bar per download; nil unless standard output is a
// terminal at which a person sits. Lines that are written meanwhile appear above the bars.
func (a *app) downloading() func(addr.Provider, versions.Version) (install.Progress, func()) {
	out := term.Of(a.env.Stdout)
	if out == nil || a.stream != nil || a.document || a.vars["TF_IN_AUTOMATION"] != "" || a.vars["TERM"] == "dumb" {
		return nil
	}
	a.bars = term.NewBars(out, &a.status.Bottom)
	return func(p addr.Provider, v versions.Version) (install.Progress, func()) {
		return a.bars.Begin(p.ForDisplay() + " v" + v.String())
	}
}

// lineOutput returns the stream for lines that people read. While progress bars are drawn, lines go above
// them.
func (a *app) lineOutput() io.Writer {
	if a.bars != nil {
		return a.bars
	}
	return a.env.Stdout
}

// notice shows a message beside the output of the run.
func (a *app) notice(text string) {
	for _, s := range a.streams() {
		s.Notice(text)
	}
	if a.stream != nil {
		return
	}
	// The run goes on, whether or not this can be read.
	_, _ = a.env.Stderr.Write([]byte("\n" + text + "\n\n"))
}
