package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/install"
	"github.com/mayfly-iac/mayfly/install/lockfile"
	"github.com/mayfly-iac/mayfly/view"
)

func (a *app) versionCommand() *cli.Command {
	asJSON := false
	return a.command("version", "Show the current version", "", "Shows the versions of Mayfly and of the providers that are selected in this directory.",
		[]cli.Flag{boolFlag("json", "Write a JSON document.", &asJSON)},
		func(_ context.Context, _ []string) int {
			a.document = asJSON
			// A damaged lock file is the business of the commands that need it.
			lock, _ := lockfile.Read(lockfile.FileName)
			selected := map[addr.Provider]string{}
			for e := range lock.All() {
				selected[e.Provider] = e.Version.String()
			}
			if asJSON {
				return a.writeDocument(view.VersionJSON(a.versions(), install.CurrentPlatform().String(), selected))
			}
			a.say("Mayfly v%s\non %s", version, install.CurrentPlatform())
			var lines []string
			for p, v := range selected {
				lines = append(lines, "+ provider "+p.String()+" v"+v)
			}
			slices.Sort(lines)
			for _, l := range lines {
				a.say("%s", l)
			}
			return exitOK
		})
}
