package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
)

// manualPage returns the page for man, in the language of its macro package an.
func manualPage() string {
	var out strings.Builder
	out.WriteString(`.TH MAYFLY 1
.SH NAME
mayfly \- infrastructure as code with ephemeral secrets
.SH SYNOPSIS
.B mayfly
[\fIglobal options\fR] \fIcommand\fR [\fIoptions\fR] [\fIarguments\fR]
.SH DESCRIPTION
Mayfly reads the configurations, runs the provider plugins and keeps the states of OpenTofu and Terraform. Its ephemeral values are open only while something
uses them, and never reach a plan or a state.
.SH GLOBAL OPTIONS
`)
	for _, o := range usage.GlobalOptions {
		manualItem(&out, o.Name+o.Value, o.About)
	}
	out.WriteString(".SH COMMANDS\n")
	root := newApp(environment{}).root()
	for _, c := range slices.SortedFunc(slices.Values(root.Commands), func(a, b *cli.Command) int { return cmp.Compare(a.Name, b.Name) }) {
		manualCommand(&out, "", c)
	}
	out.WriteString(".SH EXIT STATUS\n0 after success, 1 after an error, and 2 for changes with\n.BR \\-detailed-exitcode .\n" +
		".SH SEE ALSO\nhttps://github.com/mayfly-iac/mayfly/tree/main/docs\n")
	return out.String()
}

// manualCommand writes a command and those below it.
func manualCommand(out *strings.Builder, path string, c *cli.Command) {
	if c.Hidden {
		return
	}
	path = strings.TrimSpace(path + " " + c.Name)
	if len(c.Commands) == 0 {
		fmt.Fprintf(out, ".SS %s\n%s\n", roff(strings.TrimSpace("mayfly "+path+" [options] "+c.ArgsUsage)), roffLine(cmp.Or(c.Description, c.Usage+".")))
	}
	for _, f := range c.Flags {
		if v, ok := f.(cli.VisibleFlag); f.Names()[0] == "help" || len(c.Commands) > 0 || ok && !v.IsVisible() {
			continue
		}
		name, text := usage.Describe(f)
		manualItem(out, name, text)
	}
	for _, sub := range c.Commands {
		manualCommand(out, path, sub)
	}
}

// manualItem writes an option with what it does.
func manualItem(out *strings.Builder, name, text string) {
	fmt.Fprintf(out, ".TP\n\\fB%s\\fR\n%s\n", roff(name), roffLine(text))
}

// roff escapes text within a line.
func roff(text string) string { return strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text) }

// roffLine escapes text that begins a line, where a point or an apostrophe would begin a request.
func roffLine(text string) string {
	text = roff(strings.Join(strings.Fields(text), " "))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// TestManualPage has man's own formatter read the page.
func TestManualPage(t *testing.T) {
	program, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	out, err := exec.Command(program, "-man", "-Tutf8", "-ww", "-z", filepath.Join("..", "..", "docs", "man", "mayfly.1")).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
