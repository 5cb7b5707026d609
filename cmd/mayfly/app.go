package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/view"
	"github.com/mayfly-iac/mayfly/view/timeline"
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

// environment is what a run sees of the world outside. The working directory is the process's, because -chdir
// changes it for everything.
type environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // entries of the form name=value
	// Notify delivers the signals that interrupt to c until stop is called.
	Notify func(c chan<- os.Signal) (stop func())
	// Die ends the process as the signal would have without Notify.
	Die func(os.Signal)
}

// app is one run of the program.
type app struct {
	env     environment
	vars    map[string]string // the environment variables
	in      *bufio.Reader
	code    int
	noColor bool
	// pedantic makes every warning an error.
	pedantic bool

	view    view.Options // for standard output
	errView view.Options // for standard error
	sources view.Sources // to show in place of those of the directory; nil for these
	// stream is set while standard output is a stream of JSON messages; diagnostics go there then.
	stream *view.JSONStream
	// into is a second stream, to the file of -json-into, while people read standard output; a document may
	// go to the file instead.
	into     *view.JSONStream
	intoFile *os.File
	// verbatim says that the streams have the lines that people read.
	verbatim bool
	shared   sharedFlags
	bars     *term.Bars // of downloads, nil if there are none to draw
	status   statusLine
	prompt   term.Prompt
	patience term.Patience // with those who read what is written
	// timeline records what happens in this run, if requested.
	timeline *timeline.Recorder
	// settings are the -var and -var-file options, in one order.
	settings []workdir.Setting
	dir      *workdir.Dir // nil until directory
	// document says that standard output is for one document only; warnings go to standard error then.
	document bool
}

func (a *app) setUpView() {
	a.view, a.errView = a.terminal(a.env.Stdout), a.terminal(a.env.Stderr)
}

// plainWidth is the width of text that goes to no terminal: programs match what they read, and expect the
// line breaks of the ecosystem's tools.
const plainWidth = 78

// terminal returns the options for text on a stream. Colour is for terminals. COLUMNS is the width of text
// for anything else, 0 for no line breaks.
func (a *app) terminal(stream io.Writer) view.Options {
	o := view.Options{Width: plainWidth}
	if columns, err := strconv.ParseUint(a.vars["COLUMNS"], 10, 16); err == nil {
		o.Width = int(columns)
	}
	f := term.Of(stream)
	if f == nil {
		return o
	}
	o.Color = !a.noColor && a.vars["NO_COLOR"] == ""
	if width, ok := term.Width(f); ok {
		o.Width = width
	}
	return o
}

func (a *app) versions() view.Versions {
	return view.Versions{Compat: mayfly.CompatibleVersion, Product: version}
}

// beginStream makes standard output a stream of JSON messages.
func (a *app) beginStream() {
	a.view.Color = false
	a.stream = view.NewJSONStream(a.env.Stdout, time.Now)
	a.stream.Version(a.versions())
}
