package main

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
)

// versionCommand returns the command version. Tools run it before anything else, in directories of any kind,
// so it never fails because of a file.
func versionCommand(a *app) *cli.Command {
	out := a.out
	asJSON := false
	return a.command("version", "Show the current version", "", "Shows the versions of Mayfly and of the providers that are selected in this directory.",
		[]cli.Flag{boolFlag("json", "Write a JSON document.", &asJSON)},
		func(_ context.Context, _ []string) int {
			out.document = asJSON
			// A damaged lock file is reported by the commands that need it.
			lock, _ := lockfile.Read(lockfile.FileName)
			selected := map[addr.Provider]string{}
			for e := range lock.All() {
				selected[e.Provider] = e.Version.String()
			}
			if asJSON {
				return out.writeDocument(document.Version(out.versions(), install.CurrentPlatform().String(), selected))
			}
			for _, l := range versionLines(out.env.nameOn(out.env.Stdout), out.env.compatible.OrDefault()) {
				out.say("%s", l)
			}
			var lines []string
			for p, v := range selected {
				lines = append(lines, "+ provider "+p.String()+" v"+v)
			}
			slices.Sort(lines)
			for _, l := range lines {
				out.say("%s", l)
			}
			return exitOK
		})
}

// versionLines returns the lines about the program itself, for readers to whom it has a name, if it is
// compatible with an engine. Programs that
// run this one parse the first line for the engine's name and version, and refuse or guess wrong if they know
// neither, so they get the compatible version first. A person gets the product first.
//
// The lines of providers that follow are sorted, and begin with a plus sign in both cases.
func versionLines(name string, with mayfly.Engine) []string {
	product, platform := ownName+" v"+version, "on "+install.CurrentPlatform().String()
	if info, ok := debug.ReadBuildInfo(); ok {
		if source := sourceOf(info); source != "" {
			product += " (" + source + ")"
		}
	}
	if name == ownName {
		return []string{product, platform, "compatible with " + with.Name + " v" + with.Version}
	}
	return []string{name + " v" + with.Version, "provided by " + product, platform}
}

// sourceOf returns which commit a program was built from, as "commit 0123456789ab, 2026-11-22", "" if it was
// built without version control.
func sourceOf(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit, date := settings["vcs.revision"], settings["vcs.time"]
	if len(commit) < 12 || len(date) < len(time.DateOnly) {
		return ""
	}
	text := "commit " + commit[:12] + ", " + date[:len(time.DateOnly)]
	if settings["vcs.modified"] == "true" {
		text += ", changed"
	}
	return text
}
