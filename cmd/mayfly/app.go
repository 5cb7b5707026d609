package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/internal/show/view/timeline"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/workdir"
)

// version is the product's own version; release builds set it.
var version = "0.1.0-dev"

// The exit statuses that scripts know.
const (
	exitOK      = 0
	exitError   = 1
	exitChanges = 2   // plan -detailed-exitcode: there are changes
	exitNoVerb  = 127 // no command was given
)

// environment is a run's access to the world outside, so that tests can run the whole program in their own
// process. The working directory is missing from it because it belongs to the process, and -chdir changes it.
type environment struct {
	Called         string // the path or name by which the program was started
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // entries of the form name=value
	// Notify delivers interrupt signals to c until stop is called.
	Notify func(c chan<- os.Signal) (stop func())
	// Die ends the process as the signal would have without Notify.
	Die func(os.Signal)
}

// app is one run of the program. It is passed around as the receiver of commands because nearly all of them
// need the streams, the environment and the options that every command has; what belongs to one command is
// in a struct of its own.
type app struct {
	env  environment
	vars map[string]string // the environment variables
	// in is standard input. All readers of it share one buffer: questions, the console, and files given as
	// "-".
	in *bufio.Reader
	// code is the exit status, set by the command.
	code    int
	noColor bool
	// leaks remembers the ephemeral values of this run and keeps them out of what is written. leakPolicy says
	// what becomes of those that a provider returns.
	leaks      *leak.Guard
	leakPolicy leak.Policy
	// log receives the log lines of this run, nil if none are asked for.
	log func(line string)
	// pedantic makes every warning an error.
	pedantic bool

	view    view.Options     // for standard output
	errView view.Options     // for standard error
	sources document.Sources // shown instead of the directory's files; nil for those
	// stream is set while standard output is a stream of JSON messages; diagnostics go there then.
	stream *view.JSONStream
	// into is a second stream, to the file of -json-into, while standard output is for people. intoFile is
	// that file; a command with a document writes the document to it.
	into     *view.JSONStream
	intoFile *os.File
	// verbatim makes the streams carry the lines that people read.
	verbatim bool
	shared   sharedFlags
	bars     *term.Bars // progress bars of downloads, nil if none are drawn
	status   statusLine
	prompt   term.Prompt
	patience term.Patience // with readers of the output
	// timeline records the events of this run, nil if not requested.
	timeline *timeline.Recorder
	// page collects what -html and -markdown show, nil if neither is given.
	page *report.Report
	// settings are the -var and -var-file options in the order given: later ones override earlier ones.
	settings []workdir.Setting
	dir      *workdir.Dir // nil until directory
	// document reserves standard output for one document; warnings go to standard error then.
	document bool
}

// setUpView determines how text is written to the two streams. It is called once the options are parsed,
// since -no-color is one of them.
func (a *app) setUpView() {
	a.view, a.errView = a.terminal(a.env.Stdout), a.terminal(a.env.Stderr)
}

// plainWidth is the width of text that does not go to a terminal: programs that match it expect the
// line breaks of the ecosystem's tools.
const plainWidth = 78

// terminal returns the options for text on a stream. COLUMNS sets the width elsewhere; 0 means no
// line breaks.
func (a *app) terminal(stream io.Writer) view.Options {
	o := view.Options{Width: plainWidth, Program: a.env.nameOn(stream), Command: a.env.command()}
	if columns, err := strconv.ParseUint(a.vars["COLUMNS"], 10, 16); err == nil {
		o.Width = int(columns)
	}
	f := term.Of(stream)
	o.Color = !a.noColor && term.Colored(a.vars, f != nil)
	if f == nil {
		return o
	}
	o.KeepCommands = true
	o.Fold = a.vars["TF_IN_AUTOMATION"] == "" // what watches a terminal there looks for each object
	if width, ok := term.Width(f); ok {
		o.Width = width
	}
	return o
}

// versions returns the versions for documents and messages. Tools read the compatible one and refuse an
// engine that is too old for them.
func (a *app) versions() document.Versions {
	return document.Versions{Compat: mayfly.CompatibleVersion, Product: version}
}

// beginStream makes standard output a stream of JSON messages.
func (a *app) beginStream() {
	a.silence()
	a.view.Color = false
	a.stream = view.NewJSONStream(a.env.Stdout, time.Now)
	a.stream.Version(a.env.compatibleName(), a.versions())
}
