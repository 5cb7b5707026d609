// Package provision runs provisioners: commands on this machine and work on others. It is where the engine
// meets the operating system.
//
// A provisioner has evaluated arguments, which may carry marks. If they do, its errors reveal nothing about
// them, the connection or the output.
//
// It may import diag, leak, processgroup, ssh and value. It must not know blocks, sessions, plans or when a
// provisioner runs.
package provision

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Provisioner is one provisioner with its arguments.
type Provisioner struct {
	// Type is local-exec, remote-exec or file.
	Type string
	// Arguments is the decoded block, wholly known. It may carry marks.
	Arguments cty.Value
	// Connection is the decoded connection block, wholly known, or cty.NilVal. It may carry marks.
	Connection cty.Value
	// Environ is the environment of commands, as "name=value".
	Environ []string
	// WorkDir is the absolute directory that relative names refer to.
	WorkDir string
	// ShowSensitive shows output although an argument is sensitive. Ephemeral ones hide it in any case.
	ShowSensitive bool
	// Output is called with each line to show, without line end, by one goroutine at a time. It may block.
	Output func(line string)
	// Behind reports whether Output is blocked by its reader, so that a command that has ended may still
	// have output.
	Behind func() bool
}

// Run runs the provisioner until it ends or a context does: soft asks a command to end, hard kills it and
// everything it has started. The error names the failed step. If an argument carries a mark, the error quotes
// neither arguments nor output, unless the argument "output" asks for both with the marked values masked.
func (p *Provisioner) Run(hard, soft context.Context) error {
	w := work{Provisioner: p, hard: hard, soft: soft, secret: p.hidden()}
	if w.secret == "" || !p.wantsMask() {
		return w.run()
	}
	hide, err := p.mask()
	if err != nil {
		w.secret = strings.TrimSuffix(w.secret, ")") + fmt.Sprintf("; it cannot be masked: %s)", err)
		return w.run()
	}
	masked := *p
	masked.Output = func(line string) { p.Output(hide(line)) }
	w.Provisioner, w.secret = &masked, ""
	if err := w.run(); err != nil {
		return errors.New(hide(err.Error()))
	}
	return nil
}

// run runs the provisioner.
func (w work) run() error {
	args, _ := w.Arguments.UnmarkDeep()
	switch w.Type {
	case "local-exec":
		if err := (&localExec{work: w}).execute(args); err != nil {
			return fmt.Errorf("Error running command %w", err)
		}
		return nil
	case "remote-exec", "file":
		return (&remoteWork{work: w}).execute(args)
	default:
		return fmt.Errorf("of type %q: there is no such provisioner", w.Type)
	}
}

// work is a running provisioner.
type work struct {
	*Provisioner
	hard, soft context.Context
	secret     string // shown in place of output and in errors; "" to show everything
}

// hidden returns the text shown in place of all output if an argument carries a mark, or "" if output may
// be shown.
func (p *Provisioner) hidden() string {
	has := func(m value.Mark) bool { return value.Contains(p.Arguments, m) || value.Contains(p.Connection, m) }
	var words []string
	if has(value.Sensitive) && !p.ShowSensitive {
		words = append(words, "sensitive")
	}
	if has(value.Ephemeral) {
		words = append(words, "ephemeral")
	}
	if len(words) == 0 {
		return ""
	}
	return "(output suppressed due to " + strings.Join(words, ", ") + " value in config)"
}
