package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
)

// outputFlags are the options of the output command.
type outputFlags struct {
	stateFlags
	machineFlags
	raw, showSensitive bool
}

// outputCommand returns the command output. Scripts read values with -raw and -json; -raw adds no line end,
// so that a value is passed on as it is.
func outputCommand(a *app) *cli.Command {
	out, in, wd := a.out, a.in, a.wd
	f := &outputFlags{}
	flags := append(append(in.variableFlags(), f.machineFlags.flags("JSON")...),
		boolFlag("raw", "Write the text of one output as it is, without quotes and without a line break at the end.", &f.raw),
		boolFlag("show-sensitive", "Show sensitive values.", &f.showSensitive),
		stringFlag("state", "Read the state from `FILE`. For the local backend.", &f.State),
	)
	return a.command("output", "Show output values from your root module", "[NAME]", "Shows the outputs that the state holds, or one of them.",
		flags, func(ctx context.Context, args []string) int { return showOutputs(ctx, out, wd, f, args) })
}

// showOutputs writes one output or all of them. It reads the stored state only, so it needs neither a
// configuration nor providers. args has the name of an output, or nothing.
func showOutputs(ctx context.Context, out *output, wd *workingDir, f *outputFlags, args []string) int {
	out.document = f.json || f.raw
	out.view.ShowSensitive = f.showSensitive
	if !f.begin(out) {
		return exitError
	}
	switch {
	case len(args) > 1:
		return out.argsError("output", "at most one argument, the name of an output")
	case f.json && f.raw:
		return out.fail("Invalid output format", "The -raw and -json options are mutually-exclusive.")
	case f.raw && len(args) == 0:
		return out.fail("Output name required", "The option -raw needs the name of one output.")
	}
	file, diags := wd.dir().Backend.ReadPart(ctx, f.StateFiles, state.Part{}) // outputs alone
	if !out.report(diags) {
		return exitError
	}
	outputs := map[string]*state.Output{}
	if file != nil {
		outputs = file.State.Outputs
	}
	if len(args) == 1 {
		return oneOutput(out, outputs, args[0], f)
	}
	if done, code := out.documented(&f.machineFlags, func() ([]byte, error) { return document.Outputs(outputs) }); done {
		return code
	}
	if len(outputs) == 0 {
		out.report(diag.Warnf("No outputs found", "The state has no output values. Declare an output block in the root module, and run \"mayfly apply\" to store its value."))
		return exitOK
	}
	return out.wrote(view.Outputs(out.env.Stdout, outputs, out.view))
}

// oneOutput writes the output that was named. Naming it means to see it, so a sensitive value is shown.
func oneOutput(out *output, outputs map[string]*state.Output, name string, f *outputFlags) int {
	stored := outputs[name]
	if stored == nil {
		hint := ""
		if near := diag.Nearest(name, slices.Collect(maps.Keys(outputs))); near != "" {
			hint = fmt.Sprintf(" Did you mean %q?", near)
		}
		return out.fail(fmt.Sprintf("Output %q not found", name), "The state has no output of that name.%s A new output block gets its value with the next \"mayfly apply\".", hint)
	}
	if done, code := out.documented(&f.machineFlags, func() ([]byte, error) { return document.Output(stored) }); done {
		return code
	}
	if f.raw {
		text, err := view.OutputRaw(stored)
		if err != nil {
			return out.fail("Unsupported value for raw output", "The output %q cannot be written with -raw: %s.", name, err)
		}
		_, err = fmt.Fprint(out.env.Stdout, text)
		return out.wrote(err)
	}
	val, err := stored.Value.Unmarked()
	if err != nil {
		return out.fail("Unreadable output value", "The output %q in the state: %s.", name, err)
	}
	out.say("%s", view.FormatValue(val, out.view))
	return exitOK
}
