package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/cli/browser"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/disco"
	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install"
	"github.com/mayfly-iac/mayfly/install/cliconfig"
	"github.com/mayfly-iac/mayfly/install/credential"
	"github.com/mayfly-iac/mayfly/install/login"
)

// The services for logging in, by the names under which hosts announce them.
const (
	loginService  = "login.v1"
	tokensService = "tfe.v2" // hosts with it have a page for creating tokens
)

func (a *app) loginCommand() *cli.Command {
	var in inputFlag
	return a.command("login", "Obtain and save credentials for a remote host", "HOST",
		"Obtains an API token from a host, through the browser or by asking for it here, and keeps it for the commands that talk to that host. The token is given to the credentials helper that the CLI configuration names, or written to the file credentials.tfrc.json in the CLI configuration directory, which only you can read.",
		in.flags(a), func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return a.argsError("login", "exactly one argument, the host to log in to")
			}
			if !in.input {
				return a.fail("Login is an interactive command", "Logging in asks for consent, and with -input=false or TF_INPUT=0 Mayfly does not ask. Put a token into the CLI configuration instead, or into an environment variable TF_TOKEN_... that is named after the host.")
			}
			ctx, stop := a.stoppable(ctx)
			defer stop()
			l := &loginRun{app: a}
			if !a.report(l.prepare(args[0])) || !a.report(l.login(ctx)) {
				return exitError
			}
			return exitOK
		})
}

func (a *app) logoutCommand() *cli.Command {
	return a.command("logout", "Remove locally-stored credentials for a remote host", "HOST",
		"Removes the API token that login has stored for a host. The token itself remains valid until it is revoked at the host.",
		nil, func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return a.argsError("logout", "exactly one argument, the host to log out of")
			}
			ctx, stop := a.stoppable(ctx)
			defer stop()
			l := &loginRun{app: a}
			if !a.report(l.prepare(args[0])) || !a.report(l.logout(ctx)) {
				return exitError
			}
			return exitOK
		})
}

// loginRun is one login or logout.
type loginRun struct {
	app     *app
	host    svchost.Hostname
	keeper  credential.Keeper
	network *install.Network
}

// prepare reads the host's name and the user's settings.
func (l *loginRun) prepare(name string) diag.List {
	host, err := svchost.ForComparison(name)
	if err != nil {
		return diag.Errorf("Invalid hostname", "The host name %q is not valid: %s. Give the name alone, such as app.example.com, without a scheme or path.", name, err)
	}
	l.host = host
	var diags diag.List
	if l.network, diags = l.app.directory().Network(); diags.HasErrors() {
		return diags
	}
	l.keeper, err = credential.NewKeeper(l.network.Config, l.network.Env)
	if err != nil {
		diags = append(diags, diag.Errorf("Cannot keep credentials", "%s", diag.Sentence(err))...)
	}
	return diags
}

// place returns where tokens are kept, as the end of a sentence.
func (l *loginRun) place() string {
	switch k := l.keeper.(type) {
	case *credential.HelperKeeper:
		return fmt.Sprintf("with the credentials helper %q", k.Name())
	case *credential.FileKeeper:
		return "in plain text in the file\n    " + k.Path
	}
	return ""
}

// login obtains a token by OAuth if the host offers it, else from the person, and stores it. Reasons why
// OAuth cannot be used are errors only if there is no other way.
func (l *loginRun) login(ctx context.Context) diag.List {
	services, diags := l.network.Services(ctx, l.host)
	if diags.HasErrors() {
		return diags
	}
	client, ds := l.oauthClient(services)
	tokens, err := services.ServiceURL(tokensService)
	if client == nil && err != nil {
		if len(ds) > 0 {
			return append(diags, ds...)
		}
		return append(diags, diag.Errorf("Host does not support logging in", "The host %s neither offers logins by OAuth (%s) nor has a page for creating API tokens. If you can get a token in another way, put it into the environment variable %s or into a credentials block of the CLI configuration.",
			l.host.ForDisplay(), loginService, cliconfig.TokenVariable(l.host))...)
	}
	if client == nil {
		diags = append(diags, ds.AsWarnings()...)
	}
	l.app.report(diags)
	if ds := l.confirm(ctx, client); ds.HasErrors() {
		return ds
	}
	token, ds := l.token(ctx, client, tokens)
	if ds.HasErrors() {
		return ds
	}
	if err := l.keeper.Store(ctx, l.host, token); err != nil {
		return diag.Errorf("Failed to save the API token", "The host %s has issued a token, but it could not be stored: %s.", l.host.ForDisplay(), err)
	}
	l.app.say("\n%s\n\nIt was saved %s\n\nCommands that talk to %s use it from now on.\n", l.app.view.Success("Success! Mayfly has obtained an API token for "+l.host.ForDisplay()+"."), l.place(), l.host.ForDisplay())
	return nil
}

// oauthClient returns the host's OAuth settings, nil if it offers none. The diagnostics say why an offer
// cannot be used.
func (l *loginRun) oauthClient(services *disco.Host) (*disco.OAuthClient, diag.List) {
	client, err := services.ServiceOAuthClient(loginService)
	var absent *disco.ErrServiceNotProvided
	switch {
	case errors.As(err, &absent):
		return nil, nil
	case err != nil:
		return nil, diag.Errorf("Host does not support logging in", "The login settings that the host %s announces cannot be used: %s.", l.host.ForDisplay(), err)
	case client.SupportedGrantTypes.Has(disco.OAuthAuthzCodeGrant), client.SupportedGrantTypes.Has(disco.OAuthOwnerPasswordGrant):
		return client, nil
	}
	return nil, diag.Errorf("Host does not support logging in", "The host %s offers none of the OAuth grant types that Mayfly supports: authz_code and password.", l.host.ForDisplay())
}

// confirm asks whether to go on.
func (l *loginRun) confirm(ctx context.Context, client *disco.OAuthClient) diag.List {
	how := "using your browser.\nYou will be asked to paste it here"
	switch {
	case client == nil:
	case client.SupportedGrantTypes.Has(disco.OAuthAuthzCodeGrant):
		how = "using OAuth.\nYou need a browser on this machine, with which to sign in at the host"
	default:
		how = "using OAuth.\nYou will be asked for your user name and password at the host, which are sent there"
	}
	l.app.say("Mayfly will request an API token for %s %s.\n\nIf that succeeds, the token is stored %s", l.host.ForDisplay(), how, l.place())
	l.app.report(l.shadowed(ctx))
	answer, err := l.app.ask(ctx, term.Question{Title: "\nDo you want to proceed?", Text: "Only 'yes' will be accepted to confirm."})
	switch {
	case errors.Is(err, term.ErrNoAnswer):
		return diag.Errorf("Login cancelled", "Standard input has ended, so there is no answer. Nothing was changed.")
	case err != nil:
		return diag.Errorf("Login cancelled", "%s Nothing was changed.", diag.Sentence(err))
	case answer != "yes":
		return diag.Errorf("Login cancelled", "It was not confirmed. Nothing was changed.")
	}
	return nil
}

// shadowed warns if another setting overrides the new token, and mentions a token that is replaced.
func (l *loginRun) shadowed(ctx context.Context) diag.List {
	origin := l.network.Config.TokenOrigins[l.host]
	file, _ := l.keeper.(*credential.FileKeeper)
	if origin != "" && (file == nil || origin != file.Path) {
		return diag.Warnf("Another token takes precedence", "There is a token for %s in %s. As long as it is there, it is used instead of the one that is about to be stored.", l.host.ForDisplay(), origin)
	}
	if _, explicit := l.network.Env.MainFile(); explicit && file != nil {
		return diag.Warnf("The file with the token will not be read", "An environment variable names the file of the CLI configuration, so the directory with %s is not read. Commands use the token only when TF_CLI_CONFIG_FILE is not set.", file.Path)
	}
	if has, err := l.keeper.Has(ctx, l.host); err == nil && has {
		l.app.say("\nThere is a token for %s already, which will be replaced.", l.host.ForDisplay())
	}
	return nil
}

// token obtains the token: through the browser, with user name and password, or pasted by the person. The
// browser is preferred because the program never sees the password then.
func (l *loginRun) token(ctx context.Context, client *disco.OAuthClient, tokens *url.URL) (cliconfig.Secret, diag.List) {
	if client == nil {
		return l.pasted(ctx, tokens)
	}
	transport, diags := l.network.UsableTransport()
	if diags.HasErrors() {
		return cliconfig.Secret{}, diags
	}
	var token cliconfig.Secret
	var err error
	if client.SupportedGrantTypes.Has(disco.OAuthAuthzCodeGrant) {
		code := &login.Code{
			Client: client, Transport: transport, Title: "Mayfly",
			Visit: func(address string) {
				l.visit("sign in", address)
				l.app.say("Waiting for the host to send the browser back.\n")
			},
			Ignored: func() {
				l.app.notice("A request that did not belong to this login was refused. Mayfly is still waiting.")
			},
		}
		token, err = code.Token(ctx)
	} else {
		var user, password string
		if user, err = l.app.ask(ctx, term.Question{Title: "\nUser name for " + l.host.ForDisplay() + ":"}); err == nil {
			password, err = l.app.ask(ctx, term.Question{Title: "Password for " + user + " at " + l.host.ForDisplay() + ":", Secret: true})
		}
		if err == nil {
			token, err = login.Password(ctx, client, transport, user, cliconfig.NewSecret(password))
		}
	}
	if err != nil {
		return token, diag.Errorf("Login failed", "No token was obtained from %s: %s.", l.host.ForDisplay(), err)
	}
	return token, nil
}

// pasted asks for a token that the person created on the host's page.
func (l *loginRun) pasted(ctx context.Context, service *url.URL) (cliconfig.Secret, diag.List) {
	page := url.URL{Scheme: "https", Host: service.Host, Path: "/app/settings/tokens", RawQuery: "source=terraform-login"}
	l.visit("make a token", page.String())
	text, err := l.app.ask(ctx, term.Question{Title: "Token for " + l.host.ForDisplay() + ":", Text: "Make a token on that page and paste it here. It is not shown.", Secret: true})
	text = strings.TrimSpace(text)
	switch {
	case errors.Is(err, term.ErrNoAnswer):
		err = errors.New("standard input has ended")
	case err == nil && text == "":
		err = errors.New("it is empty")
	}
	if err != nil {
		return cliconfig.Secret{}, diag.Errorf("Failed to retrieve token", "No token was given: %s.", err)
	}
	token := cliconfig.NewSecret(text)
	name, valid := l.network.Account(ctx, service, token)
	if !valid {
		return token, diag.Errorf("Token is invalid", "The host %s does not accept this token. Nothing was stored. Check that you copied all of it, or create another one.", l.host.ForDisplay())
	}
	if name != "" {
		l.app.say("The token belongs to the account %s.", name)
	}
	return token, nil
}

// visit opens the browser and shows the address too, in case no browser or the wrong one opens.
func (l *loginRun) visit(what, address string) {
	l.app.say("To %s, open this address in a browser, if it has not opened by itself:\n    %s\n", what, address)
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	go func() { _ = browser.OpenURL(address) }() // some browsers return only when they are closed
}

// logout removes the stored token. A token from the environment or another file cannot be removed here: the
// warning says where it is.
func (l *loginRun) logout(ctx context.Context) diag.List {
	file, isFile := l.keeper.(*credential.FileKeeper)
	has := true
	if isFile {
		var err error
		if has, err = l.keeper.Has(ctx, l.host); err != nil {
			return diag.Errorf("Failed to remove the API token", "%s", diag.Sentence(err))
		}
	}
	origin := l.network.Config.TokenOrigins[l.host]
	elsewhere := origin != "" && (!isFile || origin != file.Path)
	if !has {
		if elsewhere {
			return diag.Warnf("Credentials are configured manually", "There is a token for %s in %s, where login does not store tokens. Remove it there.", l.host.ForDisplay(), origin)
		}
		l.app.say("No credentials for %s are stored.\n", l.host.ForDisplay())
		return nil
	}
	l.app.say("Removing the stored credentials for %s, which are %s\n", l.host.ForDisplay(), l.place())
	if err := l.keeper.Forget(ctx, l.host); err != nil {
		return diag.Errorf("Failed to remove the API token", "%s", diag.Sentence(err))
	}
	l.app.say("%s", l.app.view.Success("Success! Mayfly has removed the stored API token for "+l.host.ForDisplay()+"."))
	if elsewhere {
		return diag.Warnf("Another token is still configured", "There is another token for %s in %s, which is still used.", l.host.ForDisplay(), origin)
	}
	return nil
}

// stoppable returns a context that ends at the first interrupt, for commands that have no work to finish.
// stop must be called at the end.
func (a *app) stoppable(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done, signals := make(chan struct{}), make(chan os.Signal, 1)
	unsubscribe := a.env.Notify(signals)
	go func() {
		select {
		case <-done:
		case <-signals:
			unsubscribe() // a second interrupt ends the process
			cancel(errInterrupted)
		}
	}()
	return ctx, func() {
		unsubscribe()
		close(done)
		cancel(nil)
	}
}
