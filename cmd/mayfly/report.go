package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// say writes a line for people, unless standard output is reserved for programs. The format has no line end.
// Where the streams carry such lines, it is a message too.
func (o *output) say(format string, args ...any) {
	format = o.env.commands(format)
	if o.verbatim {
		o.tell(format, args)
	}
	o.print(format, args)
}

// saved says that a document which an option asked for was written.
func (o *output) saved(what, path string) { o.say("\nSaved the %s to: %s", what, path) }

// item reports one thing that was done, for people as an item of a list. The message has no dash.
func (o *output) item(format string, args ...any) {
	if o.verbatim {
		o.tell(format, args)
	}
	o.print("- "+format, args)
}

// print is say without a message in the streams.
func (o *output) print(format string, args []any) {
	if o.stream != nil || o.document {
		return
	}
	fmt.Fprintf(o.lineOutput(), format+"\n", args...)
}

// report shows diagnostics and reports whether none of them is an error. Warnings go where the command's
// output goes, errors to standard error. With -pedantic, every warning is an error. Options may leave out or
// group some; with JSON, each is a message.
func (o *output) report(list diag.List) bool {
	if list = o.shared.wanted(list); len(list) == 0 {
		return true
	}
	if o.pedantic {
		list = slices.Clone(list)
		for i := range list {
			list[i].Severity = diag.Error
		}
	}
	list = o.env.commandsIn(list)
	ok := !list.HasErrors()
	o.page.Diagnostics(list, o.sources())
	for _, s := range o.streams() {
		s.Diagnostics(list, o.sources())
	}
	if o.stream != nil {
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
	to, v := o.env.Stdout, o.view
	if o.document {
		to, v = o.env.Stderr, o.errView
	}
	// Warnings and errors are written apart here, so view cannot see that there are errors.
	v.CompactWarnings = o.view.CompactWarnings && ok
	// An error of writing to the stream cannot be reported in the stream.
	_ = view.Diagnostics(to, warnings, o.sources(), v)
	_ = view.Diagnostics(o.env.Stderr, failures, o.sources(), o.errView)
	return ok
}

// fail reports one error and returns the exit status.
func (o *output) fail(summary, format string, args ...any) int {
	o.report(diag.Errorf(summary, format, args...))
	return exitError
}

// wrote returns the exit status for the error of writing the command's result; nil is success. A result that
// could not be delivered is an error, since scripts go by the status.
func (o *output) wrote(err error) int {
	if err != nil {
		return o.fail("Failed to write the output", "%s", diag.Sentence(err))
	}
	return exitOK
}

// wroteText is wrote for text beside the command's result. If its reader has gone, the text is lost and the
// command succeeds.
func (o *output) wroteText(err error) int {
	if term.ReaderGone(err) {
		return exitOK
	}
	return o.wrote(err)
}

// writeDocument writes the document of a command that has nothing but a document, and returns the exit
// status. err is the error of making it.
func (o *output) writeDocument(doc []byte, err error) int {
	if err == nil {
		_, err = fmt.Fprintf(o.env.Stdout, "%s\n", trimNewline(doc))
	}
	return o.wrote(err)
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
func (o *output) argsError(command, want string) int {
	return o.fail("Wrong number of arguments", "The command %s expects %s. For its usage, run: mayfly %s -help", command, want, command)
}

// downloading returns a function that draws a progress bar per download; nil unless standard output is a
// terminal at which a person sits. Lines that are written meanwhile appear above the bars.
func (o *output) downloading() func(addr.Provider, versions.Version) (install.Progress, func()) {
	out := term.Of(o.env.Stdout)
	if out == nil || o.stream != nil || o.document || o.env.vars["TF_IN_AUTOMATION"] != "" || o.env.vars["TERM"] == "dumb" {
		return nil
	}
	o.bars = term.NewBars(out, &o.status.Bottom)
	return func(p addr.Provider, v versions.Version) (install.Progress, func()) {
		return o.bars.Begin(p.ForDisplay() + " v" + v.String())
	}
}

// lineOutput returns the stream for lines that people read. While progress bars are drawn, lines go above
// them.
func (o *output) lineOutput() io.Writer {
	if o.bars != nil {
		return o.bars
	}
	return o.env.Stdout
}

// notice shows a message beside the output of the run.
func (o *output) notice(text string) {
	for _, s := range o.streams() {
		s.Notice(text)
	}
	if o.stream != nil {
		return
	}
	// The run goes on, whether or not this can be read.
	_, _ = o.env.Stderr.Write([]byte("\n" + text + "\n\n"))
}
