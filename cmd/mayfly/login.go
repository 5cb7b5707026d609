package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/signin"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
)

// loginCommand returns the command login. It needs a person who consents, so it refuses to run without input.
func loginCommand(a *app) *cli.Command {
	out, in, wd, signals := a.out, a.in, a.wd, a.signals
	var ask inputFlag
	return a.command("login", "Obtain and save credentials for a remote host", "HOST",
		"Obtains an API token from a host, through the browser or by asking for it here, and keeps it for the commands that talk to that host. The token is given to the credentials helper that the CLI configuration names, or written to the file credentials.tfrc.json in the CLI configuration directory, which only you can read.",
		ask.flags(out.env.vars), func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return out.argsError("login", "exactly one argument, the host to log in to")
			}
			if !ask.input {
				return out.fail("Login is an interactive command", "Logging in asks for consent, and with -input=false or TF_INPUT=0 Mayfly does not ask. Put a token into the CLI configuration instead, or into an environment variable TF_TOKEN_... that is named after the host.")
			}
			ctx, stop := signals.Once(ctx)
			defer stop()
			return signIn(out, in, wd, args[0], func(s *signin.Session) diag.List { return s.Login(ctx) })
		})
}

// logoutCommand returns the command logout.
func logoutCommand(a *app) *cli.Command {
	out, in, wd, signals := a.out, a.in, a.wd, a.signals
	return a.command("logout", "Remove locally-stored credentials for a remote host", "HOST",
		"Removes the API token that login has stored for a host. The token itself remains valid until it is revoked at the host.",
		nil, func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return out.argsError("logout", "exactly one argument, the host to log out of")
			}
			ctx, stop := signals.Once(ctx)
			defer stop()
			return signIn(out, in, wd, args[0], func(s *signin.Session) diag.List { return s.Logout(ctx) })
		})
}

// signIn opens a session for a host and reports the diagnostics of do.
func signIn(out *output, in *input, wd *workingDir, host string, do func(*signin.Session) diag.List) int {
	s, diags := signin.New(person{out, in}, host, wd.dir().Packages.Network)
	if !out.report(diags) || !out.report(do(s)) {
		return exitError
	}
	return exitOK
}

// person implements signin.Person by the terminal.
type person struct {
	out *output
	in  *input
}

// Ask implements signin.Person.
func (p person) Ask(ctx context.Context, q term.Question) (string, error) { return p.in.ask(ctx, q) }

// Say implements signin.Person.
func (p person) Say(format string, args ...any) { p.out.say(format, args...) }

// Report implements signin.Person.
func (p person) Report(list diag.List) bool { return p.out.report(list) }

// Notice implements signin.Person.
func (p person) Notice(text string) { p.out.notice(text) }

// Success implements signin.Person.
func (p person) Success(text string) string { return p.out.view.Success(text) }
