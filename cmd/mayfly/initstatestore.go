package main

import (
	"context"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/workdir"
)

// initStateStore installs the provider that keeps the state, before the state is read. Modules are installed
// first, since they may say which versions of the provider there may be. It reports whether that succeeded.
func (c *installCommands) initStateStore(ctx context.Context, f *initFlags) bool {
	d := c.wd.dir()
	if f.get {
		files, diags := f.tests.files(ctx, d)
		f.warned = diags
		if !c.out.report(diags) || !trace.Do(ctx, "install modules", func(ctx context.Context) bool { return c.initModules(ctx, f.upgrade, files) }) {
			return false
		}
	}
	if !c.out.report(d.LoadDeclarations(ctx)) {
		return false
	}
	c.out.say("\n%s", c.out.view.Bold("Initializing the provider of the state store..."))
	lines := installLines{c.out}
	return trace.Do(ctx, "install state store", func(ctx context.Context) bool {
		before, after, diags := d.Packages.InstallStateStore(ctx, workdir.ProviderOptions{
			Options: install.Options{Upgrade: f.upgrade, Readonly: f.lockfile == "readonly"}, PluginDirs: f.pluginDirs, Observer: lines, Downloading: c.out.downloading(),
		})
		f.installed = diags
		return c.out.report(diags) && c.sayLocked(before, after)
	})
}
