package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/interrupt"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/logs"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// directory returns the working directory for a command that asks no questions.
func (a *app) directory() *workdir.Dir { return a.directoryOf("", false) }

// directoryOf returns the working directory, with the root module in the directory root unless that is empty.
// ask allows asking for missing input. Only the first call of a run opens it; later ones return the same,
// since loading it twice could give two configurations.
func (a *app) directoryOf(root string, ask bool) *workdir.Dir {
	if a.dir == nil {
		environ := append([]string{}, a.env.Environ...) // nil would mean the environment of the process
		opt := workdir.Options{Root: root, Environ: environ, Settings: a.settings, Version: version, Leaks: a.leaks}
		if ask {
			opt.Asker = asker{a}
		}
		a.dir = workdir.New(opt)
	}
	return a.dir
}

// snippets returns the source files that diagnostics quote.
func (a *app) snippets() document.Sources {
	if a.sources == nil && a.dir != nil {
		return a.dir.Sources()
	}
	return a.sources
}

// asker implements workdir.Asker by asking at the terminal.
type asker struct{ *app }

// Value implements workdir.Asker.
func (q asker) Value(ctx context.Context, v *config.Variable) (string, error) {
	title := "var." + v.Name
	if v.Ephemeral {
		title += " (ephemeral)"
	}
	text, err := q.ask(ctx, term.Question{Title: title, Text: v.Description, Secret: v.Secret()})
	if errors.Is(err, term.ErrNoAnswer) {
		err = workdir.ErrNoAnswer
	}
	return text, err
}

// Again implements workdir.Asker. A wrong answer that a person at a terminal can correct does not make the
// command fail, so it is neither in its streams nor on its page.
func (q asker) Again(wrong diag.List) bool {
	if term.Of(q.env.Stdin) == nil {
		return false
	}
	// Nothing can be done about an error of writing to the terminal.
	_ = view.Diagnostics(q.env.Stderr, q.env.commandsIn(wrong), q.snippets(), q.errView)
	fmt.Fprintln(q.env.Stderr)
	return true
}

// CopyStates implements workdir.Asker.
func (q asker) CopyStates(ctx context.Context, workspaces int) (bool, error) {
	answer, err := q.ask(ctx, term.Question{
		Title: "\nDo you want to copy existing state to the new backend?",
		Text:  fmt.Sprintf("The previous backend configuration has state in %d workspace(s), which will be\ncopied to the new one. Only 'yes' will be accepted to confirm.", workspaces),
	})
	return answer == "yes", err
}

// session is a session of the library that reports errors of its end. It must be closed by close, also after
// an error of opening it.
type session struct {
	*workdir.Session
	app     *app
	stopLog func()
}

// session opens a session with the logs that the environment asks for. observer may be nil; parallelism 0 is
// the default of the library. The session must be closed even if there are errors.
func (a *app) session(observer event.Observer, parallelism int, open func(workdir.SessionOptions) (*workdir.Session, diag.List)) (*session, diag.List) {
	providers, stop := a.logs().Provider()
	s, diags := open(workdir.SessionOptions{
		Observer: observer, Parallelism: parallelism, Log: a.log, ProviderLog: providers, LeakPolicy: a.leakPolicy,
	})
	return &session{s, a, stop}, diags
}

// logs returns what the environment asks for of logs.
func (a *app) logs() logs.Settings {
	return logs.Settings{Vars: a.vars, Stderr: a.env.Stderr, Over: a.patience.Over(), Redact: a.leaks.Redact, WhenKnown: a.leaks.WhenKnown}
}

// open opens the loaded configuration with the providers that it and the state need, and locks nothing. st
// may be nil.
func (a *app) open(ctx context.Context, st *state.State) (*session, diag.List) {
	return a.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) { return a.directory().Open(ctx, st, o) })
}

// reader opens a session that only looks up the schemas for a state.
func (a *app) reader(ctx context.Context, st *state.State) (*session, diag.List) {
	return a.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return a.directory().OpenState(ctx, st, o)
	})
}

// close ends the session and reports what went wrong.
func (s *session) close() {
	s.app.report(s.Close())
	s.stopLog()
}

// relevant returns a function that finds the attributes that contributed to a plan. Renderers call it only
// if they need it.
func (s *session) relevant(ctx context.Context, p *plan.Plan) document.Relevant {
	return func() []plan.RelevantAttribute { return s.Project.Relevant(ctx, p) }
}

// interrupts returns the source of interrupts for the contexts of a run.
func (a *app) interrupts() interrupt.Source {
	return interrupt.Source{Notify: a.env.Notify, Die: a.env.Die, Announce: a.notice, Interrupted: func() bool {
		a.patience.Interrupt()
		return a.prompt.Asking()
	}}
}

// interruptible returns the contexts of a command that must not break off its work; see interrupt.Source.
func (a *app) interruptible(ctx context.Context) (hard, soft context.Context, stop func()) {
	return a.interrupts().Contexts(ctx,
		"Interrupt received.\nWaiting for what is under way, and starting nothing new.\nA second interrupt gives it up.",
		"Second interrupt received. What is under way is given up.\nWhat it has made may not be in the state.\nA third interrupt ends the program where it stands.")
}

// stoppable returns the context of a command that has no work to finish.
func (a *app) stoppable(ctx context.Context) (_ context.Context, stop func()) {
	return a.interrupts().Once(ctx)
}

// required reports whether there are configuration files, and the error if there are none. command is what
// needs them.
func (a *app) required(command string) bool {
	if a.directory().HasConfig() {
		return true
	}
	return a.report(diag.Errorf("No configuration files",
		"The command %s needs a configuration, but this directory has no configuration files: their names end in .tf, .tofu, .tf.json or .tofu.json. Create one, or use another directory with -chdir.%s", command, instead[command]))
}

// instead says, by command, how to get what may have been wanted without configuration files.
var instead = map[string]string{
	"plan":  "\n\nNothing is planned from an empty configuration, since that would destroy everything in the state. If that is what you want, run: mayfly plan -destroy",
	"apply": "\n\nNothing is applied from an empty configuration, since that would destroy everything in the state. If that is what you want, run: mayfly destroy",
}
