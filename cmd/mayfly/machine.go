package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// machineFlags are the options of commands with output for programs: on standard output in place of the text,
// or in a file beside it. CI systems use the second: a person follows the text while programs get the
// document.
type machineFlags struct {
	json   bool
	into   string
	beside []fileOption // other files on the command line, set before begin
}

// flags returns the options. what describes their output in the help.
func (m *machineFlags) flags(what string) []cli.Flag {
	return usage.Grouped(usage.OutputGroup,
		boolFlag("json", "Write "+what+" instead of text.", &m.json),
		m.intoFlag("what -json writes"),
	)
}

// streamFlags are the options of commands that write messages while they run.
func (m *machineFlags) streamFlags() []cli.Flag { return m.flags("a stream of JSON messages") }

// intoFlag returns the option -json-into alone, for commands whose standard output is always text.
func (m *machineFlags) intoFlag(what string) cli.Flag {
	return stringFlag("json-into", "Write "+what+" to `FILE`, and text to standard output as usual. The file may have sensitive values.", &m.into)
}

// begin opens the file of -json-into and reports whether that succeeded. With -json, contradictory options
// are reported in JSON too. It comes before everything else that a command does: a file that cannot be
// written must not be found out after an apply.
func (m *machineFlags) begin(out *output) bool {
	if m.json && m.into != "" {
		return out.report(diag.Errorf("Invalid output format", "The options -json and -json-into cannot be used together: one writes to standard output instead of text, the other to a file in addition to it."))
	}
	if diags := checkFiles(append(m.beside, fileOption{"-json-into", m.into, false})); diags.HasErrors() {
		return out.report(diags)
	}
	if m.into == "" {
		return true
	}
	f, err := safefile.Create(m.into)
	if err != nil {
		return out.report(diag.Errorf("Invalid argument", "The file %q of -json-into cannot be written: %s.", m.into, diag.Reason(err)))
	}
	out.intoFile = f
	return true
}

// beginMessages is begin for commands whose output for programs is a stream of messages.
func (m *machineFlags) beginMessages(out *output) bool {
	if m.json {
		out.beginStream()
	}
	if !m.begin(out) {
		return false
	}
	if out.intoFile != nil {
		out.into = view.NewJSONStream(out.leaks.Writer(out.intoFile), time.Now)
		out.into.Version(out.env.compatibleName(), out.versions())
	}
	return true
}

// streams returns the open streams of messages: none, one or two.
func (o *output) streams() []*view.JSONStream {
	return slices.DeleteFunc([]*view.JSONStream{o.stream, o.into}, func(s *view.JSONStream) bool { return s == nil })
}

// finish closes the outputs beside standard output and returns the exit status, which is code unless closing
// fails. Output that could not be written is an error unless its reader has gone.
func (o *output) finish(code int) int {
	if o.intoFile == nil {
		return code
	}
	f := o.intoFile
	var err error
	if o.into != nil {
		err = o.into.Err()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	o.into, o.intoFile = nil, nil
	if err != nil && !term.ReaderGone(err) {
		o.fail("Failed to write the output", "The file %q of -json-into could not be written: %s.", f.Name(), diag.Reason(err))
		return max(code, exitError)
	}
	return code
}

// lineBreaks matches the line breaks of a text for the terminal, with the white space around them.
var lineBreaks = pattern.New(`\s*\n\s*`)

// tell sends a text for people to the streams as one line, without colours and surrounding white space. An
// empty one is left out.
func (o *output) tell(format string, args []any) {
	text := strings.TrimSpace(ansi.Strip(fmt.Sprintf(format, args...)))
	if text == "" {
		return
	}
	text = lineBreaks().ReplaceAllString(text, " ")
	for _, s := range o.streams() {
		s.Log(text)
	}
}

// documented writes a command's document where -json or -json-into direct it, and returns the exit status.
// done is true if people are to be shown nothing besides. make is not called if no document is wanted.
func (o *output) documented(m *machineFlags, make func() ([]byte, error)) (done bool, code int) {
	var to io.Writer = o.env.Stdout
	switch {
	case o.intoFile != nil:
		to = o.leaks.Writer(o.intoFile)
	case !m.json:
		return false, exitOK
	}
	doc, err := make()
	if err == nil {
		_, err = fmt.Fprintf(to, "%s\n", trimNewline(doc))
	}
	return err != nil || m.json, o.wrote(err)
}
