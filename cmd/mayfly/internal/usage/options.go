package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// The groups of options that several commands share, in the order in which help lists them after a command's
// own.
const (
	PlanningGroup = "Planning options"
	VariableGroup = "Input variables"
	StateGroup    = "State and locking"
	OutputGroup   = "Output and diagnostics"
)

// optionGroups are the groups in the order of the help; "" has a command's own options.
var optionGroups = []string{"", PlanningGroup, VariableGroup, StateGroup, OutputGroup}

// Grouped puts options into a group and returns them.
func Grouped(group string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.Category = group
		case *cli.StringFlag:
			f.Category = group
		case *cli.IntFlag:
			f.Category = group
		case *cli.DurationFlag:
			f.Category = group
		case *cli.GenericFlag:
			f.Category = group
		}
	}
	return flags
}

// Hide removes options from the help of a command that fixes or ignores them. They are still parsed, so
// that the command can say why it refuses one.
func Hide(flags []cli.Flag, names ...string) []cli.Flag {
	for _, f := range flags {
		if !slices.Contains(names, f.Names()[0]) {
			continue
		}
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.Hidden = true
		case *cli.GenericFlag:
			f.Hidden = true
		}
	}
	return flags
}

// optionTables writes the options of a command by group. Within a group they are in the order of their
// declaration.
func optionTables(out *strings.Builder, flags []cli.Flag) {
	rows := map[string][][2]string{}
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); f.Names()[0] == "help" || ok && !v.IsVisible() {
			continue
		}
		group := ""
		if c, ok := f.(cli.CategorizableFlag); ok {
			group = c.GetCategory()
		}
		name, text := Describe(f)
		rows[group] = append(rows[group], [2]string{name, text})
	}
	for _, group := range optionGroups {
		title := cmp.Or(group, "Options")
		table(out, title, rows[group])
	}
}

// Describe returns an option as help writes it, with the name of its value, and its effect. Both come from
// the declaration of the option alone: the name of the value is in backquotes in its text, as in the standard
// library.
func Describe(f cli.Flag) (name, text string) {
	name = "-" + f.Names()[0]
	before, rest, named := strings.Cut(f.(interface{ GetUsage() string }).GetUsage(), "`")
	value, after, _ := strings.Cut(rest, "`")
	text = before + value + after
	optional := OptionalValue(f)
	switch {
	case optional:
		name += "[=" + value + "]"
	case named:
		name += "=" + value
	}
	switch f := f.(type) {
	case *cli.BoolFlag:
		if f.Value {
			name += "=false"
		}
	case *cli.IntFlag:
		text += fmt.Sprintf(" The default is %d.", f.Value)
	case *cli.DurationFlag:
		text += " The default is " + f.Value.String() + "."
	case *cli.StringFlag:
		if f.Value != "" {
			text += fmt.Sprintf(" The default is %q.", f.Value)
		}
	case *cli.GenericFlag:
		if !optional {
			text += " May be given several times."
		}
	}
	return name, text
}

// OptionalValue reports whether an option has a value that may be left out.
func OptionalValue(f cli.Flag) bool {
	g, generic := f.(*cli.GenericFlag)
	if !generic {
		return false
	}
	b, ok := g.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
