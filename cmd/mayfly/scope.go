package main

import (
	"context"

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
