package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/urfave/cli/v3"
)

const helpWidth = 78

// printHelp writes the help of a command, with single-dash options as everyone types them. It is a cli.HelpPrinterFunc.
func printHelp(w io.Writer, _ string, data any) {
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
	text := c.Description
	if text == "" {
		text = c.Usage
	}
	out.WriteString(indent(ansi.Wordwrap(text, helpWidth-2, ""), "  ") + "\n")
	var rows [][2]string
	for _, sub := range c.Commands {
		if !sub.Hidden {
			rows = append(rows, [2]string{sub.Name, sub.Usage})
		}
	}
	table(&out, "Commands", rows)
	rows = nil
	if c.Name == "mayfly" {
		rows = [][2]string{
			{"-chdir=DIR", "Switch to another directory first."},
			{"-help", "Show this text, or the help of a command."},
			{"-version", "Same as the command \"version\"."},
		}
	}
	for _, f := range c.Flags {
		if name := f.Names()[0]; name != "help" {
			rows = append(rows, [2]string{flagName(f, name), f.(interface{ GetUsage() string }).GetUsage()})
		}
	}
	table(&out, "Options", rows)
	_, _ = io.WriteString(w, out.String()) // whoever closed the stream does not read help
}

func trimProgram(c *cli.Command) string { return strings.TrimPrefix(c.FullName(), "mayfly ") }

func flagName(f cli.Flag, name string) string {
	if b, ok := f.(*cli.BoolFlag); ok {
		if b.Value {
			return "-" + name + "=false"
		}
		return "-" + name
	}
	return "-" + name + "=VALUE"
}

func table(out *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	fmt.Fprintf(out, "\n%s:\n\n", title)
	for _, r := range rows {
		text := indent(ansi.Wordwrap(r[1], helpWidth-width-4, ""), strings.Repeat(" ", width+4))
		fmt.Fprintf(out, "  %-*s  %s\n", width, r[0], strings.TrimLeft(text, " "))
	}
}

func indent(s, by string) string { return by + strings.ReplaceAll(s, "\n", "\n"+by) }
