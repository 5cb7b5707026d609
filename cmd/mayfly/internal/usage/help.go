package usage

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
)

// GlobalOption is an option that precedes the command.
type GlobalOption struct{ Name, Value, About string }

// GlobalOptions are all of them, in the order of the help. A name that ends in "=" takes a value.
var GlobalOptions = []GlobalOption{
	{"-chdir=", "DIR", "Switch to another directory before anything else is done."},
	{"-help", "", "Show this text, or the help of a command."},
	{"-version", "", "Same as the command \"version\"."},
	{"-pedantic", "", "Take warnings for errors."},
	{"-install-autocomplete", "", "Set up the shells of this user to complete commands, options and addresses."},
	{"-uninstall-autocomplete", "", "Undo -install-autocomplete."},
}

// Print writes the help of a command, with single-dash options as everyone types them. It is a
// cli.HelpPrinterFunc.
func Print(w io.Writer, _ string, data any) {
	c, ok := data.(*cli.Command)
	if !ok {
		return
	}
	var out strings.Builder
	switch {
	case c.Name == "mayfly":
		out.WriteString("Usage: mayfly [global options] <subcommand> [args]\n\n")
	case len(c.Commands) > 0:
		fmt.Fprintf(&out, "Usage: mayfly [global options] %s <subcommand> [options] [args]\n\n", trimProgram(c))
	default:
		fmt.Fprintf(&out, "Usage: %s\n\n", strings.TrimSpace(fmt.Sprintf("mayfly [global options] %s [options] %s", trimProgram(c), c.ArgsUsage)))
	}
	text := cmp.Or(c.Description, c.Usage)
	out.WriteString(indent(wrap(text, Width-2), "  ") + "\n")
	commandTables(&out, c)
	optionTables(&out, c.Flags)
	if c.Name == "mayfly" {
		var rows [][2]string
		for _, o := range GlobalOptions {
			rows = append(rows, [2]string{o.Name + o.Value, o.About})
		}
		table(&out, "Global options (before the command)", rows)
		out.WriteString("\nFor the options of a command, run: mayfly <command> -help\n")
	}
	_, _ = io.WriteString(w, out.String()) // a stream that is closed shows no help
}

// mainCommands are the commands of everyday work, in the order in which they are used.
var mainCommands = []string{"init", "validate", "plan", "apply", "destroy"}

// commandTables lists the subcommands of a command. The program's main commands come first.
func commandTables(out *strings.Builder, c *cli.Command) {
	row := func(c *cli.Command) [2]string { return [2]string{strings.Join(c.Names(), ", "), c.Usage} }
	var first, others [][2]string
	for _, sub := range c.Commands {
		if !sub.Hidden && (c.Name != "mayfly" || !slices.Contains(mainCommands, sub.Name)) {
			others = append(others, row(sub))
		}
	}
	if c.Name != "mayfly" {
		table(out, "Commands", others)
		return
	}
	for _, name := range mainCommands {
		if sub := c.Command(name); sub != nil {
			first = append(first, row(sub))
		}
	}
	slices.SortFunc(others, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	table(out, "Main commands", first)
	table(out, "All other commands", others)
}

// HelpAsOption replaces the command "help", which other programs have, by the option. args is the command
// line without the program's name.
func HelpAsOption(args []string) []string {
	if len(args) > 0 && args[0] == "help" {
		return append([]string{"-help"}, args[1:]...)
	}
	return args
}

// OnlyHelp reduces a command line with -help to the command and that option, so that nothing else on the
// line can be an error.
func OnlyHelp(root *cli.Command, args []string) []string {
	if !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains([]string{"-help", "--help", "-h", "--h"}, arg) }) {
		return args
	}
	n, cmd := 0, root
	for n < len(args) && cmd.Command(args[n]) != nil {
		cmd = cmd.Command(args[n])
		n++
	}
	return append(slices.Clone(args[:n]), "-help")
}

// VersionAsked returns the arguments of the version command if an option, which may be anywhere in the
// command line, asks for it. Everything else on the line is dropped, except options that the command has.
func VersionAsked(args []string) ([]string, bool) {
	asked, rest := false, []string{"version"}
	for _, arg := range args {
		switch arg {
		case "-v", "-version", "--version":
			asked = true
		case "-json", "--json", "-help", "--help", "-h":
			rest = append(rest, arg)
		case "--":
			return rest, asked
		}
	}
	return rest, asked
}

// valueForms are the forms of options' values, by how the error of a parser for them begins.
var valueForms = map[string]string{
	": strconv.":    "a whole number",
	": parse error": "true or false",
	": time: ":      "a number with a unit, such as 30s or 5m",
}

// Error explains why a command's options could not be parsed. It is a cli.OnUsageErrorFunc.
func Error(_ context.Context, c *cli.Command, err error, _ bool) error {
	reason := err.Error()
	for from, form := range valueForms {
		if before, _, ok := strings.Cut(reason, from); ok {
			reason = before + ": it must be " + form
		}
	}
	// The parser of options reports an unknown one in these words.
	if given, ok := strings.CutPrefix(reason, "flag provided but not defined: "); ok {
		var names []string
		for _, f := range c.Flags {
			names = append(names, f.Names()[0])
		}
		if near := diag.Nearest(strings.TrimLeft(given, "-"), names); near != "" {
			reason += fmt.Sprintf(". Did you mean -%s?", near)
		}
		if strings.TrimLeft(given, "-") == "converge" && slices.Contains(names, "allow-deferral") {
			reason += ". One plan is one round: -allow-deferral plans it, and apply -converge plans and applies all of them."
		}
	}
	return fmt.Errorf("Error: Failed to parse command-line flags\n\n%s\n\nFor the options, run:\n  %s -help", reason, c.FullName())
}

// trimProgram returns the full name of a command without the program's.
func trimProgram(c *cli.Command) string { return strings.TrimPrefix(c.FullName(), "mayfly ") }
