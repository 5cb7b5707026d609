package main

import (
	"io"
	"os"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/logs"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/internal/show/view/timeline"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

// output is where a run shows its work: standard output and standard error, streams of messages for programs,
// a page, and the options about all that. No ephemeral value gets through it.
type output struct {
	env     environment
	noColor bool
	// pedantic makes every warning an error.
	pedantic bool
	// leaks remembers the ephemeral values of this run and keeps them out of the output.
	leaks *leak.Guard

	view    view.Options // for standard output
	errView view.Options // for standard error
	// sources returns the files that diagnostics quote, from the working directory once it is open, or the
	// files that a command has read itself.
	sources func() document.Sources
	// stream is set while standard output is a stream of JSON messages; diagnostics go there then.
	stream *view.JSONStream
	// into is a second stream, to the file of -json-into, while standard output is for people. intoFile is
	// that file; a command with a document writes the document to it.
	into     *view.JSONStream
	intoFile *os.File
	// verbatim makes the streams carry the lines that people read.
	verbatim bool
	// document reserves standard output for one document; warnings go to standard error then.
	document bool
	shared   sharedFlags
	bars     *term.Bars // progress bars of downloads, nil if none are drawn
	status   statusLine
	patience term.Patience // with readers of the output
	// timeline records the events of this run, nil if not requested.
	timeline *timeline.Recorder
	// page collects the content for -html and -markdown, nil if neither is given.
	page *report.Report
}

// outlets makes the outputs of the run ones that wait for their readers, and keeps ephemeral values out of
// them. Both must be closed.
func (o *output) outlets() (stdout, stderr *term.Outlet) {
	stdout, stderr = term.NewOutlet(o.env.Stdout, o.patience.Over()), term.NewOutlet(o.env.Stderr, o.patience.Over())
	stdout.Filter = func(b []byte) []byte { b, _ = o.leaks.RedactDocument(b); return b }
	stderr.Filter = stdout.Filter
	stdout.Bottom, stderr.Bottom = &o.status.Bottom, &o.status.Bottom
	o.env.Stdout, o.env.Stderr = stdout, stderr
	return stdout, stderr
}

// setUpView determines how text is written to the two streams. It is called once the options are parsed,
// since -no-color is one of them.
func (o *output) setUpView() {
	o.view, o.errView = o.terminal(o.env.Stdout), o.terminal(o.env.Stderr)
}

// plainWidth is the width of text that does not go to a terminal: programs that match it expect the
// line breaks of the ecosystem's tools.
const plainWidth = 78

// terminal returns the options for text on a stream. COLUMNS sets the width elsewhere; 0 means no
// line breaks.
func (o *output) terminal(stream io.Writer) view.Options {
	v := view.Options{Width: plainWidth, Program: o.env.nameOn(stream), Command: o.env.command()}
	if columns, err := strconv.ParseUint(o.env.vars["COLUMNS"], 10, 16); err == nil {
		v.Width = int(columns)
	}
	f := term.Of(stream)
	v.Color = !o.noColor && term.Colored(o.env.vars, f != nil)
	if f == nil {
		return v
	}
	v.KeepCommands = true
	v.Fold = o.env.vars["TF_IN_AUTOMATION"] == "" // programs that watch a terminal there look for each object
	if width, ok := term.Width(f); ok {
		v.Width = width
	}
	return v
}

// observer returns who sees the events of a run: the streams of messages, or else lines and the status line
// on standard output, and the timeline if one is drawn.
func (o *output) observer() event.Observer {
	v := o.view
	v.StatusLine = o.status.drawn.Load() != nil
	// The status line counts the same events that the lines are about.
	var lines event.Observer = event.Observers(view.NewHumanObserver(o.env.Stdout, v), &o.status)
	if o.stream != nil {
		lines = o.stream
	}
	if o.into != nil {
		lines = event.Observers(lines, o.into)
	}
	if o.timeline != nil {
		lines = event.Observers(lines, o.timeline)
	}
	if o.page != nil {
		lines = event.Observers(lines, o.page)
	}
	return lines
}

// versions returns the versions for documents and messages. Tools read the compatible one and refuse an
// engine that is too old for them.
func (o *output) versions() document.Versions {
	return document.Versions{Engine: o.env.compatible.Name, Compat: o.env.compatible.OrDefault().Version, Product: version}
}

// beginStream makes standard output a stream of JSON messages.
func (o *output) beginStream() {
	o.silence()
	o.view.Color = false
	o.stream = view.NewJSONStream(o.env.Stdout, time.Now)
	o.stream.Version(o.env.compatibleName(), o.versions())
}

// logs returns the settings of logs from the environment.
func (o *output) logs() logs.Settings {
	return logs.Settings{Vars: o.env.vars, Stderr: o.env.Stderr, Over: o.patience.Over(), Redact: o.leaks.Redact, WhenKnown: o.leaks.WhenKnown}
}
