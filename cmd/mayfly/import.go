package main

import (
	"context"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
)

// importFlags are the options of the import command, some of which it shares with plan and apply.
type importFlags struct {
	changeFlags
	config       string
	allowMissing bool
}

// importCommand returns the command import. It has few of the options of plan, because it plans nothing.
func (c *changeCommands) importCommand(a *app) *cli.Command {
	f := &importFlags{}
	f.refresh = true
	flags := append(f.runFlags(c.in, c.wd), f.parallelFlag(),
		stringFlag("config", "Read the configuration from `DIR`. The state, providers, modules and variable files are still those of the working directory.", &f.config),
		boolFlag("allow-missing-config", "Not supported: a configuration is needed.", &f.allowMissing),
	)
	flags = usage.Hide(flags, "allow-missing-config")
	return a.command("import", "Associate existing infrastructure with a Mayfly resource", "ADDRESS ID",
		"Takes an object that exists into the state, as the object of a resource instance that the configuration declares. Nothing else is changed. Import blocks in the configuration do the same with a plan.",
		flags, func(ctx context.Context, args []string) int { return c.importObject(ctx, f, args) })
}

// importObject checks the address against the configuration and the state, then imports. It checks before the
// provider is asked, since reading a remote object may be slow. args are an address and an ID, which the
// provider interprets.
func (c *changeCommands) importObject(ctx context.Context, f *importFlags, args []string) int {
	if !f.setUp(c.out, c.in) {
		return exitError
	}
	switch {
	case len(args) != 2:
		return c.out.argsError("import", "two arguments, an address and an id")
	case f.allowMissing:
		return c.out.fail("Unsupported option", "The option -allow-missing-config is not supported: the object needs a resource block.")
	}
	target, err := addr.ParseInstance(args[0])
	if err != nil || target.Resource.Mode != addr.Managed {
		return c.out.fail("Invalid import address", "%q is not the address of an instance of a managed resource, such as aws_instance.web or module.app.aws_instance.web[0].", args[0])
	}
	if !c.out.report(f.check()) {
		return exitError
	}
	hard, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	root := ""
	if f.config != "" {
		root = filepath.Clean(f.config)
		if !c.wd.dirOf(root, f.input).HasConfig() {
			return c.out.fail("No configuration files", "The directory %s, which the option -config names, has no configuration files: their names end in .tf, .tofu, .tf.json or .tofu.json.", f.config)
		}
	}
	r, ok := c.start(hard, soft, &f.changeFlags, "import", root)
	defer r.end()
	if !ok {
		return exitError
	}
	m := c.wd.dir().Tree().Modules[target.Module.Module()]
	if m == nil || m.Resources[target.Resource] == nil {
		return c.out.fail("Resource address does not exist in the configuration", "Before importing %s, please create its configuration. For example:\n\n  resource %q %q {\n    # (resource arguments)\n  }%s", target, target.Resource.Type, target.Resource.Name, selection.InConfiguration(c.wd.dir().Tree(), target))
	}
	if r.Operation.State().Object(addr.Object{Instance: target}) != nil {
		return c.out.fail("Resource already managed by Mayfly", "The state already has an object for %s. Remove it with \"mayfly state rm\" before importing another in its place.", target)
	}
	return r.importInstance(target, args[1])
}

// importInstance imports the object with an ID as target and stores the state.
func (r *changeRun) importInstance(target addr.Instance, id string) int {
	diags := r.working(func() diag.List {
		return r.Operation.Import(r.hard, target, id, mayfly.ImportOptions{Variables: r.Variables, Soft: r.soft})
	})
	if !r.out.report(diags) {
		return exitError
	}
	r.out.verbatim = true
	r.out.say("\n%s\n", r.out.view.Success("Import successful!\n\nThe state now has the object. The next plan compares it with the configuration."))
	return exitOK
}
