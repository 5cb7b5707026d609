package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/reformat"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
)

// The exit statuses that only fmt has.
const (
	exitUnreadable  = 2 // some files could not be read, parsed or written
	exitUnformatted = 3 // fmt -check: some files are not in the standard style
)

// fmtCommand returns the command fmt. Editors and hooks run it on standard input, and CI systems with -check,
// whose exit status tells them the result.
func fmtCommand(a *app) *cli.Command {
	out, in := a.out, a.in
	f := &reformat.Options{List: true, Write: true}
	flags := []cli.Flag{
		boolFlag("list", "Don't list the files whose style differs. Never done for standard input.", &f.List),
		boolFlag("write", "Don't change the files. -check does not change them either.", &f.Write),
		boolFlag("diff", "Show what differs.", &f.Diff),
		boolFlag("check", "Change nothing, and exit with status 3 if a file is not in the standard style.", &f.Check),
		boolFlag("recursive", "Also format the files in subdirectories.", &f.Recursive),
	}
	return a.command("fmt", "Reformat your configuration in the standard style", "[DIRECTORY or FILE or -]...",
		"Rewrites files of the native syntax in the standard style: configuration (.tf, .tofu), values of variables (.tfvars), tests (.tftest.hcl, .tofutest.hcl) and queries (.tfquery.hcl). "+
			"It works on the files in the current directory or in the given ones, on given files, or, with a dash as the only argument, from standard input to standard output.\n\n"+
			"The exit status is 0, or 2 if there were errors, or 3 if -check has found a file to format.",
		flags, func(_ context.Context, args []string) int { return reformatFiles(out, in, *f, args) })
}

// reformatFiles formats the named files and directories, or standard input for a dash.
func reformatFiles(out *output, in *input, o reformat.Options, args []string) int {
	sources := document.Sources{}
	out.sources = func() document.Sources { return sources }
	f := &reformat.Run{Options: o, Out: out.env.Stdout, Sources: sources, Report: func(diags diag.List) { out.report(diags) }}
	switch {
	case slices.Equal(args, []string{"-"}):
		f.Stream(in.stdin)
	case len(args) == 0:
		f.Path(".")
	default:
		for _, arg := range args {
			f.Path(arg)
		}
	}
	switch {
	case f.Failed:
		return exitUnreadable
	case f.Check && f.Changed:
		return exitUnformatted
	}
	return exitOK
}
