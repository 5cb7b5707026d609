package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/view"
)

// sharedFlags are the options that many commands have and that are carried out around them.
type sharedFlags struct {
	vars variableFlags // of commands that read no values: they are taken for compatibility

	listWarnings      bool // show each warning for itself
	consolidateErrors bool
	compactWarnings   bool
	deprecation       string
	// lines says that what the command says goes out as JSON messages; into names a file for the JSON form beside what is shown.
	lines     bool
	into      string
	intoLines bool // what the command says is all that it has

	ignored     bool // of options that are about what there is not
	ignoredText string
}

// sharedTable says which commands have which shared options, by the words that sharedFlags.flags knows.
var sharedTable = map[string]string{
	"init":                   "notes compact remote tests into",
	"validate":               "notes compact no-tests document",
	"plan":                   "notes deprecation into",
	"apply":                  "notes deprecation into",
	"destroy":                "notes deprecation into",
	"refresh":                "notes deprecation into",
	"import":                 "notes remote into",
	"output":                 "document",
	"show":                   "document",
	"force-unlock":           "lines",
	"taint":                  "remote lines",
	"untaint":                "remote lines",
	"state list":             "vars lines",
	"state mv":               "vars remote lines",
	"state rm":               "vars remote lines",
	"state show":             "vars document",
	"state pull":             "vars",
	"state push":             "vars remote lines",
	"state replace-provider": "vars remote lines",
	"workspace list":         "vars lines",
	"workspace new":          "vars lines",
	"workspace select":       "vars lines",
	"workspace delete":       "vars lines",
	"providers lock":         "lines",
	"providers mirror":       "lines",
}

// share gives the commands below c their shared options.
func (a *app) share(c *cli.Command, path string) {
	for _, sub := range c.Commands {
		name := strings.TrimSpace(path + " " + sub.Name)
		a.share(sub, name)
		words := strings.Fields(sharedTable[name])
		have := map[string]bool{}
		for _, f := range sub.Flags {
			have[f.Names()[0]] = true
		}
		for _, w := range words {
			for _, f := range a.shared.flags(w) {
				if !have[f.Names()[0]] {
					sub.Flags = append(sub.Flags, a.noteVariables("", []cli.Flag{f})...)
				}
			}
		}
		if slices.Contains(words, "document") {
			a.twice(sub)
		}
	}
}

func (s *sharedFlags) flags(word string) []cli.Flag {
	switch word {
	case "vars":
		return s.vars.flags()
	case "notes":
		return []cli.Flag{
			genericFlagDefault("consolidate-warnings", "Show each warning for itself, rather than those that are alike as one.", true, func(on bool) { s.listWarnings = !on }),
			boolFlag("consolidate-errors", "Show errors that are alike as one.", &s.consolidateErrors),
		}
	case "compact":
		return []cli.Flag{boolFlag("compact-warnings", "Show warnings in one line each, if there are no errors.", &s.compactWarnings)}
	case "deprecation":
		return []cli.Flag{stringFlag("deprecation", "Which warnings about deprecated parts of modules to show: module:all, module:local for modules of relative paths, or module:none.", &s.deprecation)}
	case "remote":
		return []cli.Flag{boolFlag("ignore-remote-version", "Accepted for compatibility: it is about versions of a service that runs operations.", &s.ignored)}
	case "tests":
		return []cli.Flag{stringFlag("test-directory", "Accepted for compatibility; tests are not looked at.", &s.ignoredText)}
	case "no-tests":
		return []cli.Flag{boolFlag("no-tests", "Accepted for compatibility; tests are not looked at.", &s.ignored)}
	case "lines":
		return []cli.Flag{boolFlag("json", "Write a stream of JSON messages instead of text.", &s.lines), genericFlag("json-into", intoUsage, func(path string) error {
			s.into, s.intoLines = path, true
			return nil
		})}
	case "into", "document":
		return []cli.Flag{s.intoFlag()}
	}
	return nil
}

const intoUsage = "Write the output in its JSON form into this file, beside what is shown."

func (s *sharedFlags) intoFlag() cli.Flag {
	return stringFlag("json-into", intoUsage, &s.into)
}

// genericFlagDefault is a boolean option that calls a function.
func genericFlagDefault(name, usage string, value bool, set func(bool)) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, Value: value, Local: true, Action: func(_ context.Context, _ *cli.Command, on bool) error {
		set(on)
		return nil
	}}
}

// applyShared carries out the shared options before a command runs. done is called after it.
func (a *app) applyShared() (done func() diag.List, diags diag.List) {
	s := &a.shared
	nothing := func() diag.List { return nil }
	for _, o := range []*view.Options{&a.view, &a.errView} {
		o.ListWarnings, o.ConsolidateErrors = s.listWarnings, s.consolidateErrors
	}
	a.view.CompactWarnings = a.view.CompactWarnings || s.compactWarnings
	switch s.deprecation {
	case "", "module:all", "module:local", "module:none":
	default:
		return nothing, diag.Errorf("Invalid option", "The values of -deprecation are module:all, module:local and module:none, not %q.", s.deprecation)
	}
	if s.lines {
		a.beginStream()
	}
	if s.into == "" {
		return nothing, nil
	}
	f, err := os.Create(s.into)
	if err != nil {
		return nothing, diag.Errorf("Cannot write the JSON output", "The file %s of -json-into could not be written: %s.", s.into, pathReason(err))
	}
	a.into = view.NewJSONStream(f, time.Now)
	a.into.Version(a.versions())
	return func() diag.List {
		err := a.into.Err()
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return diag.Errorf("Cannot write the JSON output", "The file %s of -json-into could not be written: %s.", s.into, pathReason(err))
		}
		return nil
	}, nil
}

// twice makes a command whose JSON form is one document write that into a file first if that is asked for.
func (a *app) twice(c *cli.Command) {
	var asJSON *bool
	for _, f := range c.Flags {
		if b, ok := f.(*cli.BoolFlag); ok && b.Name == "json" {
			asJSON = b.Destination
		}
	}
	action := c.Action
	c.Action = func(ctx context.Context, cmd *cli.Command) error {
		path := a.shared.into
		if path == "" || asJSON == nil {
			return action(ctx, cmd)
		}
		a.shared.into = ""
		f, err := os.Create(path)
		if err != nil {
			a.code = exitError
			return fmt.Errorf("the file %s of -json-into could not be written: %w", path, pathReason(err))
		}
		env, given := a.env, *asJSON
		a.env.Stdout, a.env.Stderr, *asJSON = f, io.Discard, true
		err = action(ctx, cmd)
		if closed := f.Close(); err == nil {
			err = closed
		}
		a.env, a.document, *asJSON = env, false, given
		if err != nil {
			return err
		}
		return action(ctx, cmd)
	}
}

// wanted leaves out the warnings about deprecated parts of modules that the person does not want to see.
func (s *sharedFlags) wanted(list diag.List) diag.List {
	if s.deprecation == "" || s.deprecation == "module:all" {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool {
		about, ok := d.Extra.(diag.Deprecation)
		return ok && (s.deprecation == "module:none" || !about.Local)
	})
}
