package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
)

// scopeFlag returns the option -scope. An empty value is a mistake, and not the default.
func (c *changeFlags) scopeFlag(usage string) cli.Flag {
	return &cli.StringFlag{
		Name: "scope", Usage: usage, Destination: &c.scope, Local: true,
		Action: func(context.Context, *cli.Command, string) error {
			c.scopeGiven = true
			return nil
		},
	}
}

// checkScope reports options that -scope=changed contradicts.
func (c *changeFlags) checkScope() diag.List {
	if !c.scopeGiven || c.scope == "all" {
		return nil
	}
	if c.scope != "changed" {
		return diag.Errorf("Invalid value of -scope", "The option takes the value \"all\" or \"changed\", not %q.", c.scope)
	}
	option, why := "", ""
	switch {
	case c.destroy:
		option, why = "-destroy", "everything is to be destroyed, changed or not"
	case c.refreshOnly || c.command == "refresh":
		option, why = "-refresh-only", "what has changed outside is found by asking about all objects"
	case len(c.targets)+len(c.targetFiles) > 0:
		option, why = "-target", "it chooses other objects"
	case len(c.excludes)+len(c.excludeFiles) > 0:
		option, why = "-exclude", "it chooses other objects"
	case len(c.invoke) > 0:
		option, why = "-invoke", "such a plan looks at nothing but the actions"
	case c.converge:
		option, why = "-converge", "its rounds leave out other objects"
	case c.allowDeferral:
		option, why = "-allow-deferral", "it leaves out other objects"
	default:
		return nil
	}
	return diag.Errorf("Incompatible options", "-scope=changed cannot be used with %s: %s. Leave out one of them.", option, why)
}

// checkRefresh reports options that contradict -refresh-target and -refresh-older.
func (c *changeFlags) checkRefresh() diag.List {
	option := ""
	switch {
	case len(c.refreshTargets) > 0:
		option = "-refresh-target"
	case c.refreshOlder != nil:
		option = "-refresh-older"
	}
	switch {
	case option == "":
		return nil
	case !c.refresh:
		return diag.Errorf("Incompatible refresh options", "The options %s and -refresh=false cannot be used together: one asks for something that the other turns off.", option)
	case c.scope != "changed":
		return diag.Errorf("Option takes -scope=changed", "%s adds objects to a plan of changes, so it takes -scope=changed. A plan without that refreshes all objects, or the ones that -target selects.", option)
	}
	return nil
}

// parseAge reads the value of -refresh-older.
func parseAge(text string) (time.Duration, diag.List) {
	age, err := time.ParseDuration(text)
	if days, is := strings.CutSuffix(text, "d"); is {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		age = time.Duration(n) * 24 * time.Hour
	}
	switch {
	case err != nil:
		return 0, diag.Errorf("Invalid value of -refresh-older", "The value %q is not an age. Write a number of days such as 7d, or a duration such as 12h or 90m.", text)
	case age <= 0:
		return 0, diag.Errorf("Invalid value of -refresh-older", "The age must be more than 0, not %q. To ask about all objects, plan without -scope=changed.", text)
	}
	return age, nil
}
