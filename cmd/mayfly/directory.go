package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install"
	"github.com/mayfly-iac/mayfly/install/cliconfig"
	"github.com/mayfly-iac/mayfly/install/lockfile"
	"github.com/mayfly-iac/mayfly/install/modules"
	"github.com/mayfly-iac/mayfly/provider/plugin"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// directory is a working directory: the configuration in it, and what init and the workspace command have set
// up.
type directory struct {
	app     *app
	dataDir string
	path    string // of the root module; everything else is where the process is
	loader  *config.Loader
	tree    *config.Tree   // nil until load
	root    *config.Module // nil until load or loadRoot, and without configuration files
	user    *cliconfig.Config
	running map[addr.Provider]*plugin.ReattachConfig // providers that somebody else runs
	ask     func(term.Question) (string, error)      // asks for values that loading needs; nil if nobody is to be asked
}

func (a *app) directory() *directory {
	raiseFloor()
	d := &directory{app: a, dataDir: a.vars["TF_DATA_DIR"], path: "."}
	if d.dataDir == "" {
		d.dataDir = ".terraform"
	}
	d.loader = &config.Loader{ModuleDir: modules.Installed(d.dataDir), Static: d.static(), Version: mayfly.CompatibleVersion}
	return d
}

// load reads the configuration; without configuration files it is empty. The tree serves to show sources also
// when there were errors.
func (d *directory) load() diag.List {
	return d.loadBut(func(diags diag.List) diag.List { return diags })
}

// loadFormal is load for commands that only want to know the modules and providers of the configuration,
// which it may use in a wrong way.
func (d *directory) loadFormal() diag.List { return d.loadBut(config.Formal) }

// loadBut is load with the diagnostics that but leaves.
func (d *directory) loadBut(but func(diag.List) diag.List) diag.List {
	tree, diags := d.loader.Load(d.path)
	diags = but(diags)
	d.tree = tree
	if d.loader.IsConfigDir(d.path) {
		d.root = tree.Root
	}
	d.app.useTree(tree)
	return diags
}

// loadRoot reads the root module alone, if there is one: that is enough to find the state.
func (d *directory) loadRoot() diag.List {
	if !d.loader.IsConfigDir(d.path) {
		return nil
	}
	root, diags := d.loader.LoadModule(d.path, addr.RootModule)
	if config.Formal(diags).HasErrors() {
		return d.load() // which says the same and can show the source
	}
	d.root = root
	return nil
}

// instead says, by command, how to get what may have been wanted without configuration files.
var instead = map[string]string{
	"plan":  "\n\nNothing is planned from an empty configuration, since that would destroy everything in the state. If that is what you want, run: mayfly plan -destroy",
	"apply": "\n\nNothing is applied from an empty configuration, since that would destroy everything in the state. If that is what you want, run: mayfly destroy",
}

// loadRequired is load for commands that make no sense without a configuration.
func (d *directory) loadRequired(command string) diag.List { return d.required(command, d.load) }

// required loads the configuration, without which the command makes no sense.
func (d *directory) required(command string, load func() diag.List) diag.List {
	if !d.loader.IsConfigDir(d.path) {
		return diag.Errorf("No configuration files",
			"The command %s needs a configuration, but this directory has no configuration files: their names end in .tf, .tofu, .tf.json or .tofu.json. Create one, or use another directory with -chdir.%s", command, instead[command])
	}
	return load()
}

// userConfig reads the user's CLI configuration once.
func (d *directory) userConfig() diag.List {
	if d.user != nil {
		return nil
	}
	cfg, diags := cliconfig.Load(d.cliEnvironment())
	d.user = cfg
	return diags
}

func (d *directory) cliEnvironment() cliconfig.Environment {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return cliconfig.Environment{Vars: d.app.vars, Home: home, GOOS: runtime.GOOS}
}

func (d *directory) readReattach() diag.List {
	running, err := plugin.ParseReattach(d.app.vars["TF_REATTACH_PROVIDERS"])
	if err != nil {
		return diag.Errorf("Invalid TF_REATTACH_PROVIDERS", "The environment variable TF_REATTACH_PROVIDERS could not be understood: %s.", strings.TrimSuffix(err.Error(), "."))
	}
	d.running = running
	return nil
}

// installer returns the installer for this directory. Sources are nil for one that only verifies.
func (d *directory) installer() (*install.Installer, diag.List) {
	diags := d.userConfig()
	diags = append(diags, d.readReattach()...)
	sources, ds := d.network().Sources()
	return &install.Installer{
		DataDir: d.dataDir, Config: d.user, Embedded: mayfly.Embedded,
		Reattached: func(p addr.Provider) bool { return d.running[p] != nil },
		Sources:    sources,
	}, append(diags, ds...)
}

// network makes sources by the user's settings, which have been read.
func (d *directory) network() *install.Network {
	return &install.Network{Config: d.user, Env: d.cliEnvironment()}
}

// providers returns the installed providers that the configuration and the state need. It changes nothing.
func (d *directory) providers(st *state.State) (install.Selections, diag.List) {
	ins, diags := d.installer()
	if diags.HasErrors() {
		return nil, diags
	}
	reqs, ds := install.Requirements(d.tree, st)
	diags = append(diags, ds...)
	if ds.HasErrors() {
		return nil, diags
	}
	lock, ds := lockfile.Read(lockfile.FileName)
	diags = append(diags, ds...)
	if ds.HasErrors() {
		return nil, diags
	}
	sel, ds := ins.Selected(reqs, lock)
	return sel, append(diags, ds...)
}

// workspace returns the name of the selected workspace and whether the environment selects it.
func (d *directory) workspace() (name string, fromEnv bool, diags diag.List) {
	if name := d.app.vars["TF_WORKSPACE"]; name != "" {
		if err := store.CheckWorkspaceName(name); err != nil {
			return "", true, diag.Errorf("Invalid workspace name", "The environment variable TF_WORKSPACE selects the workspace, but %s.", err)
		}
		return name, true, nil
	}
	text, err := safefile.Read(d.workspacePath(), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return store.DefaultWorkspace, false, nil
	}
	if err != nil {
		return "", false, diag.Errorf("Cannot read the selected workspace", "The file %s, which names the selected workspace, could not be read: %s.", d.workspacePath(), diag.Reason(err))
	}
	name = strings.TrimSpace(string(text))
	if name == "" {
		name = store.DefaultWorkspace
	}
	if err := store.CheckWorkspaceName(name); err != nil {
		return "", false, diag.Errorf("Invalid workspace name", "The file %s names the selected workspace, but %s. Select one with: mayfly workspace select NAME", d.workspacePath(), err)
	}
	return name, false, nil
}

func (d *directory) workspacePath() string { return filepath.Join(d.dataDir, "environment") }

// selectWorkspace remembers the workspace for the commands that follow.
func (d *directory) selectWorkspace(name string) error {
	if err := os.MkdirAll(d.dataDir, 0o755); err != nil {
		return err
	}
	return writeFile(d.workspacePath(), []byte(name))
}

// writeFile replaces a small file of ours.
func writeFile(path string, content []byte) error { return os.WriteFile(path, content, 0o644) }
