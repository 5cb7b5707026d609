package main

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// sharedFlags are options that many commands have and that take effect outside the commands: in how
// diagnostics are shown, or not at all.
type sharedFlags struct {
	listWarnings      bool // show each warning for itself
	consolidateErrors bool
	compactWarnings   bool
	deprecation       string
	full              *bool // whether to show each of many changes that are alike, if that was said

	// ignored is set by options that have no effect.
	ignored bool
}

// sharedTable says which commands have which shared options, by the words that app.sharedFlags knows. It is a
// table rather than a call in each command, since commands have the options that other engines accept there.
var sharedTable = map[string]string{
	"init":                   "notes compact remote",
	"validate":               "notes compact",
	"test":                   "notes compact full",
	"console":                "notes compact",
	"plan":                   "notes compact deprecation full",
	"apply":                  "notes compact deprecation full",
	"destroy":                "notes compact deprecation full",
	"refresh":                "notes compact deprecation full",
	"import":                 "notes compact remote",
	"show":                   "full",
	"taint":                  "remote",
	"untaint":                "remote",
	"state list":             "vars",
	"state history":          "vars",
	"state runs":             "vars",
	"state rollback":         "vars",
	"state query":            "vars",
	"state mv":               "vars remote",
	"state rm":               "vars remote",
	"state show":             "vars",
	"state pull":             "vars",
	"state push":             "vars remote",
	"state rekey":            "vars",
	"state replace-provider": "vars remote",
	"workspace list":         "vars",
	"workspace new":          "vars",
	"workspace select":       "vars",
	"workspace delete":       "vars",
	"workspace show":         "vars",
}

// share adds the shared options to the commands below c. path is the command line up to c. An option that a
// command declares itself stays as it is.
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
			for _, f := range a.sharedFlags(w) {
				if !have[f.Names()[0]] {
					sub.Flags = append(sub.Flags, f)
				}
			}
		}
	}
}

// sharedFlags returns the options that a word of sharedTable stands for. Several of them have no effect;
// scripts pass them to every command.
func (a *app) sharedFlags(word string) []cli.Flag {
	s := &a.out.shared
	switch word {
	case "vars":
		return a.in.variableFlags()
	case "notes":
		return usage.Grouped(usage.OutputGroup,
			genericFlagDefault("consolidate-warnings", "Show each warning separately instead of grouping similar ones.", true, func(on bool) { s.listWarnings = !on }),
			boolFlag("consolidate-errors", "Group similar errors.", &s.consolidateErrors),
		)
	case "compact":
		return usage.Grouped(usage.OutputGroup, boolFlag("compact-warnings", "Show each warning on one line, if there are no errors.", &s.compactWarnings))
	case "deprecation":
		return usage.Grouped(usage.OutputGroup, stringFlag("deprecation", "Show the warnings about deprecated parts of modules that `SCOPE` selects: module:all, module:local (only modules with a relative path) or module:none.", &s.deprecation))
	case "full":
		return usage.Grouped(usage.OutputGroup, genericFlagDefault("full", "Show each of many changes that are alike. Terminals and pages show the first and a line about the others; with -full=false, pipes and files do too.", false, func(on bool) { s.full = &on }))
	case "remote":
		return []cli.Flag{boolFlag("ignore-remote-version", "Has no effect. Accepted for compatibility.", &s.ignored)}
	}
	return nil
}

// genericFlagDefault returns a boolean option that passes its value to a function, if it is given. value is
// its default in the help.
func genericFlagDefault(name, usage string, value bool, set func(bool)) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, Value: value, Local: true, Action: func(_ context.Context, _ *cli.Command, on bool) error {
		set(on)
		return nil
	}}
}

// applyShared puts the shared options into effect before a command runs. It returns an error for a value that
// an option doesn't have.
func (o *output) applyShared() diag.List {
	s := &o.shared
	for _, o := range []*view.Options{&o.view, &o.errView} {
		o.ListWarnings, o.ConsolidateErrors = s.listWarnings, s.consolidateErrors
	}
	o.view.CompactWarnings = s.compactWarnings
	if s.full != nil {
		o.view.Fold = !*s.full
	}
	switch s.deprecation {
	case "", "module:all", "module:local", "module:none":
	default:
		return diag.Errorf("Invalid option", "The values of -deprecation are module:all, module:local and module:none, not %q.", s.deprecation)
	}
	return nil
}

// wanted leaves out the deprecation warnings that the option -deprecation excludes. list stays as it is.
func (s *sharedFlags) wanted(list diag.List) diag.List {
	if s.deprecation == "" || s.deprecation == "module:all" {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool {
		about, ok := d.Extra.(diag.Deprecation)
		return ok && (s.deprecation == "module:none" || !about.Local)
	})
}
