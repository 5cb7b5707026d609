package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/interrupt"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/workdir"
)

// input is the input of a run at the terminal: the values of variables on the command line, and standard
// input with the answers to its questions. It implements workdir.Asker.
type input struct {
	out *output
	// stdin is standard input. All readers of it share one buffer: questions, the console, and files given as
	// "-".
	stdin  *bufio.Reader
	prompt term.Prompt
	// settings are the -var and -var-file options in the order given: later ones override earlier ones.
	settings []workdir.Setting
}

// variableFlags returns the options that set input variables. All commands that load a configuration have
// them, since sources and versions of modules may depend on variables.
func (in *input) variableFlags() []cli.Flag {
	set := func(file bool) func(string) error {
		return func(s string) error {
			in.settings = append(in.settings, workdir.Setting{File: file, Text: s})
			return nil
		}
	}
	return usage.Grouped(usage.VariableGroup,
		genericFlag("var", "Set an input variable of the root module, as in `NAME=VALUE`.", set(false)),
		genericFlag("var-file", "Set input variables from `FILE`, in addition to terraform.tfvars and *.auto.tfvars.", set(true)),
	)
}

// variableFiles returns the files of -var-file, for checkFiles.
func (in *input) variableFiles() []fileOption {
	var out []fileOption
	for _, s := range in.settings {
		if s.File {
			out = append(out, fileOption{"-var-file", s.Text, true})
		}
	}
	return out
}

// readFileOrStdin reads a file, or standard input for "-". Both are bounded.
func (in *input) readFileOrStdin(name string) ([]byte, error) {
	if name == "-" {
		src, err := io.ReadAll(io.LimitReader(in.stdin, maxInput+1))
		if len(src) > maxInput {
			err = safefile.ErrTooLarge
		}
		return src, err
	}
	return readGiven(name)
}

// ask shows a question and returns the line typed; see term.Prompt. It fails while standard output is for
// programs.
func (in *input) ask(ctx context.Context, q term.Question) (string, error) {
	if in.out.stream != nil {
		return "", term.ErrNoAnswer
	}
	return in.prompt.Ask(ctx, q)
}

// approved asks for approval, and reports whether it was given. asked is false if there was no answer, which
// has been reported; hint says how to do without one.
func (in *input) approved(ctx context.Context, q term.Question, hint string) (yes, asked bool) {
	answer, err := in.ask(ctx, q)
	switch {
	case errors.Is(err, term.ErrNoAnswer):
		in.out.fail("Error asking for approval", "Standard input has ended, so there is no answer. %s", hint)
	case errors.Is(err, interrupt.Err):
		in.out.fail("Error asking for approval", "Interrupted before there was an answer. %s", cmp.Or(q.Spared, "Nothing was changed."))
	case err != nil:
		in.out.fail("Error asking for approval", "%s", diag.Sentence(err))
	}
	return answer == "yes", err == nil
}

// Value implements workdir.Asker.
func (in *input) Value(ctx context.Context, v *config.Variable) (string, error) {
	title := "var." + v.Name
	if v.Ephemeral {
		title += " (ephemeral)"
	}
	text, err := in.ask(ctx, term.Question{Title: title, Text: v.Description, Secret: v.Secret()})
	if errors.Is(err, term.ErrNoAnswer) {
		err = workdir.ErrNoAnswer
	}
	return text, err
}

// Again implements workdir.Asker. A wrong answer that a person at a terminal can correct does not make the
// command fail, so it is neither in its streams nor on its page.
func (in *input) Again(wrong diag.List) bool {
	if term.Of(in.out.env.Stdin) == nil {
		return false
	}
	// Nothing can be done about an error of writing to the terminal.
	_ = view.Diagnostics(in.out.env.Stderr, in.out.env.commandsIn(wrong), in.out.sources(), in.out.errView)
	fmt.Fprintln(in.out.env.Stderr)
	return true
}

// CopyStates implements workdir.Asker.
func (in *input) CopyStates(ctx context.Context, workspaces int) (bool, error) {
	answer, err := in.ask(ctx, term.Question{
		Title: "\nDo you want to copy existing state to the new backend?",
		Text:  fmt.Sprintf("The previous backend configuration has state in %d workspace(s), which will be\ncopied to the new one. Only 'yes' will be accepted to confirm.", workspaces),
	})
	return answer == "yes", err
}
