package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/interrupt"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// workingDir is the working directory of a run, opened at most once, and the data that sessions in it share.
type workingDir struct {
	out *output
	in  *input
	// user has the user's settings, which are read when one of them is needed.
	user *workdir.User
	// leakPolicy says how to treat ephemeral values that a provider returns.
	leakPolicy leak.Policy
	// log receives the log lines of this run, nil if none are asked for.
	log    func(line string)
	opened *workdir.Dir // nil until dir
	// stopLog ends the log of providers that keep states.
	stopLog func()
}

// dir returns the working directory for a command that asks no questions.
func (wd *workingDir) dir() *workdir.Dir { return wd.dirOf("", false) }

// dirOf returns the working directory, with the root module in the directory root unless that is empty.
// ask allows asking for missing input. Only the first call of a run opens it; later ones return the same,
// since loading it twice could give two configurations.
func (wd *workingDir) dirOf(root string, ask bool) *workdir.Dir {
	if wd.opened != nil {
		return wd.opened
	}
	environ := append([]string{}, wd.out.env.Environ...) // nil would mean the environment of the process
	opt := workdir.Options{Root: root, Environ: environ, Settings: wd.in.settings, Version: version, User: wd.user, Leaks: wd.out.leaks}
	if ask {
		opt.Asker = wd.in
	}
	opt.ProviderLog, wd.stopLog = wd.out.logs().Provider()
	return wd.use(workdir.New(opt))
}

// close ends the providers that keep states, if there are any. It does nothing if no directory was opened.
func (wd *workingDir) close() {
	if wd.opened != nil {
		wd.opened.Backend.Close()
	}
	if wd.stopLog != nil {
		wd.stopLog()
	}
}

// use makes a directory the one that is open, whose files diagnostics quote, and returns it.
func (wd *workingDir) use(d *workdir.Dir) *workdir.Dir {
	if wd.opened != nil {
		wd.opened.Backend.Close()
	}
	wd.opened, wd.out.sources = d, func() document.Sources { return d.Sources() }
	return d
}

// session is a session of the library that reports errors of its end. It must be closed by close, also after
// an error of opening it.
type session struct {
	*workdir.Session
	out     *output
	stopLog func()
}

// session opens a session with the logs that the environment asks for. observer may be nil; parallelism 0 is
// the default of the library. The session must be closed even if there are errors.
func (wd *workingDir) session(observer event.Observer, parallelism int, open func(workdir.SessionOptions) (*workdir.Session, diag.List)) (*session, diag.List) {
	providers, stop := wd.out.logs().Provider()
	s, diags := open(workdir.SessionOptions{
		Observer: observer, Parallelism: parallelism, Log: wd.log, ProviderLog: providers, LeakPolicy: wd.leakPolicy, ShowSensitive: wd.out.view.ShowSensitive,
	})
	return &session{s, wd.out, stop}, diags
}

// leakFlag is the option for the treatment of ephemeral values that a provider returns.
func (wd *workingDir) leakFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "leak-guard", Value: "standard", Local: true,
		Usage: "What to do about ephemeral values that a provider returns in an object: `POLICY` standard leaves confidential ones out, strict leaves all out, warn stores them with a warning.",
		Validator: func(s string) error {
			p, ok := leak.Policies[s]
			if !ok {
				return fmt.Errorf("%q is none of standard, strict and warn", s)
			}
			wd.leakPolicy = p
			return nil
		},
	}
}

// open opens the loaded configuration with the providers that it and the state need, and locks nothing. st
// may be nil.
func (wd *workingDir) open(ctx context.Context, st *state.State) (*session, diag.List) {
	return wd.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) { return wd.dir().Open(ctx, st, o) })
}

// saved opens the saved plan that the directory was opened with, with the schemas in it.
func (wd *workingDir) saved(ctx context.Context, f *planfile.File) (*session, diag.List) {
	return wd.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) { return wd.dir().Plans.Show(ctx, f, o) })
}

// reader opens a session that only looks up the schemas for a state.
func (wd *workingDir) reader(ctx context.Context, st *state.State) (*session, diag.List) {
	return wd.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return wd.dir().OpenState(ctx, st, o)
	})
}

// close ends the session and reports errors.
func (s *session) close() {
	s.out.report(s.Close())
	s.stopLog()
}

// relevant returns a function that finds the attributes that contributed to a plan. Renderers call it only
// if they need it.
func (s *session) relevant(ctx context.Context, p *plan.Plan) document.Relevant {
	return func() []plan.RelevantAttribute { return s.Project.Relevant(ctx, p) }
}

// interruptible returns the contexts of a command that must not break off its work; see interrupt.Source.
func interruptible(ctx context.Context, signals interrupt.Source) (hard, soft context.Context, stop func()) {
	return signals.Contexts(ctx,
		"Interrupt received.\nWaiting for what is under way, and starting nothing new.\nA second interrupt gives it up.",
		"Second interrupt received. What is under way is given up.\nWhat it has made may not be in the state.\nA third interrupt ends the program where it stands.")
}

// required reports whether there are configuration files, and the error if there are none. command needs
// them.
func (wd *workingDir) required(command string) bool {
	if wd.dir().HasConfig() {
		return true
	}
	return wd.out.report(diag.Errorf("No configuration files",
		"The command %s needs a configuration, but this directory has no configuration files: their names end in .tf, .tofu, .tf.json or .tofu.json. Create one, or use another directory with -chdir.%s", command, instead[command]))
}

// instead names, by command, the alternative that may have been meant without configuration files.
var instead = map[string]string{
	"plan":  "\n\nNothing is planned from an empty configuration, since that would destroy everything in the state. If that is what you want, run: mayfly plan -destroy",
	"apply": "\n\nNothing is applied from an empty configuration, since that would destroy everything in the state. If that is what you want, run: mayfly destroy",
}
