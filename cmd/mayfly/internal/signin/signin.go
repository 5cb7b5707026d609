// Package signin leads a person through logging in to a host and out of it: the questions, the way to obtain
// a token, and the place where it is kept.
//
// It may import packages that obtain and keep tokens. It must not know the command line or a terminal: it
// talks to a Person.
package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/cli/browser"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/disco"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/credential"
	"github.com/mayfly-iac/mayfly/internal/install/login"
)

// The services for logging in, by the names under which hosts announce them.
const (
	loginService  = "login.v1"
	tokensService = "tfe.v2" // hosts with it have a page for creating tokens
)

// Person is the person who logs in. Answers may be secrets, which Ask does not show if the question says so.
type Person interface {
	Ask(ctx context.Context, q term.Question) (string, error) // term.ErrNoAnswer if there is no input
	Say(format string, args ...any)
	Report(list diag.List) bool
	Notice(text string)         // a message that may come at any time, from another goroutine
	Success(text string) string // emphasizes good news
}

// Session is one login or logout. It belongs to one goroutine. Tokens and passwords are secrets that are
// hidden from formatting; none is written to a message.
type Session struct {
	person  Person
	host    svchost.Hostname
	keeper  credential.Keeper
	network *install.Network
}

// New returns the session for a host, whose name it checks before it asks for the settings of the network.
// The person is asked nothing yet.
func New(person Person, name string, settings func() (*install.Network, diag.List)) (*Session, diag.List) {
	host, err := svchost.ForComparison(name)
	if err != nil {
		return nil, diag.Errorf("Invalid hostname", "The host name %q is not valid: %s. Give the name alone, such as app.example.com, without a scheme or path.", name, err)
	}
	network, diags := settings()
	if diags.HasErrors() {
		return nil, diags
	}
	keeper, err := credential.NewKeeper(network.Config, network.Env)
	if err != nil {
		diags = append(diags, diag.Errorf("Cannot keep credentials", "%s", diag.Sentence(err))...)
	}
	return &Session{person, host, keeper, network}, diags
}

// place returns where tokens are kept, as the end of a sentence, with its full stop left out after a path:
// people copy it.
func (l *Session) place() string {
	switch k := l.keeper.(type) {
	case *credential.HelperKeeper:
		return fmt.Sprintf("with the credentials helper %q", k.Name())
	case *credential.FileKeeper:
		return "in plain text in the file\n    " + k.Path
	}
	return ""
}

// Login obtains a token by OAuth if the host offers it, else from the person, and stores it. Reasons why
// OAuth cannot be used are errors only if there is no other way. Nothing is stored unless the person has
// confirmed.
func (l *Session) Login(ctx context.Context) diag.List {
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
	l.person.Report(diags)
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
	l.person.Say("\n%s\n\nIt was saved %s\n\nCommands that talk to %s use it from now on.\n", l.person.Success("Success! Mayfly has obtained an API token for "+l.host.ForDisplay()+"."), l.place(), l.host.ForDisplay())
	return nil
}

// oauthClient returns the host's OAuth settings, nil if it offers none. The diagnostics say why an offer
// cannot be used. They are errors for login only if the host has no page for tokens either.
func (l *Session) oauthClient(services *disco.Host) (*disco.OAuthClient, diag.List) {
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

// confirm says how the token will be obtained and where it will be kept, and asks whether to go on. It
// returns an error for any answer but yes.
func (l *Session) confirm(ctx context.Context, client *disco.OAuthClient) diag.List {
	how := "using your browser.\nYou will be asked to paste it here"
	switch {
	case client == nil:
	case client.SupportedGrantTypes.Has(disco.OAuthAuthzCodeGrant):
		how = "using OAuth.\nYou need a browser on this machine, with which to sign in at the host"
	default:
		how = "using OAuth.\nYou will be asked for your user name and password at the host, which are sent there"
	}
	l.person.Say("Mayfly will request an API token for %s %s.\n\nIf that succeeds, the token is stored %s", l.host.ForDisplay(), how, l.place())
	l.person.Report(l.shadowed(ctx))
	answer, err := l.person.Ask(ctx, term.Question{Title: "\nDo you want to proceed?", Text: "Only 'yes' will be accepted to confirm."})
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
func (l *Session) shadowed(ctx context.Context) diag.List {
	origin := l.network.Config.TokenOrigins[l.host]
	file, _ := l.keeper.(*credential.FileKeeper)
	if origin != "" && (file == nil || origin != file.Path) {
		return diag.Warnf("Another token takes precedence", "There is a token for %s in %s. As long as it is there, it is used instead of the one that is about to be stored.", l.host.ForDisplay(), origin)
	}
	if _, explicit := l.network.Env.MainFile(); explicit && file != nil {
		return diag.Warnf("The file with the token will not be read", "An environment variable names the file of the CLI configuration, so the directory with %s is not read. Commands use the token only when TF_CLI_CONFIG_FILE is not set.", file.Path)
	}
	if has, err := l.keeper.Has(ctx, l.host); err == nil && has {
		l.person.Say("\nThere is a token for %s already, which will be replaced.", l.host.ForDisplay())
	}
	return nil
}

// token obtains the token: through the browser, with user name and password, or pasted by the person. The
// browser is preferred because the program never sees the password then. client is nil if the host offers no
// OAuth; tokens is its page for tokens then.
func (l *Session) token(ctx context.Context, client *disco.OAuthClient, tokens *url.URL) (cliconfig.Secret, diag.List) {
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
				l.person.Say("Waiting for the host to send the browser back.\n")
			},
			Ignored: func() {
				l.person.Notice("A request that did not belong to this login was refused. Mayfly is still waiting.")
			},
		}
		token, err = code.Token(ctx)
	} else {
		var user, password string
		if user, err = l.person.Ask(ctx, term.Question{Title: "\nUser name for " + l.host.ForDisplay() + ":"}); err == nil {
			password, err = l.person.Ask(ctx, term.Question{Title: "Password for " + user + " at " + l.host.ForDisplay() + ":", Secret: true})
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

// pasted asks for a token that the person created on the host's page. The token is tried before it is stored:
// a wrong one would fail later, in another command, for no visible reason.
func (l *Session) pasted(ctx context.Context, service *url.URL) (cliconfig.Secret, diag.List) {
	page := url.URL{Scheme: "https", Host: service.Host, Path: "/app/settings/tokens", RawQuery: "source=terraform-login"}
	l.visit("make a token", page.String())
	text, err := l.person.Ask(ctx, term.Question{Title: "Token for " + l.host.ForDisplay() + ":", Text: "Make a token on that page and paste it here. It is not shown.", Secret: true})
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
		l.person.Say("The token belongs to the account %s.", name)
	}
	return token, nil
}

// visit opens the browser and shows the address too, in case no browser or the wrong one opens. what names
// the action there. The browser's own output is dropped, since it would disturb the questions.
func (l *Session) visit(what, address string) {
	l.person.Say("To %s, open this address in a browser, if it has not opened by itself:\n    %s\n", what, address)
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	go func() { _ = browser.OpenURL(address) }() // some browsers return only when they are closed
}

// Logout removes the stored token. A token from the environment or another file cannot be removed here: the
// warning says where it is.
func (l *Session) Logout(ctx context.Context) diag.List {
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
		l.person.Say("No credentials for %s are stored.\n", l.host.ForDisplay())
		return nil
	}
	l.person.Say("Removing the stored credentials for %s, which are %s\n", l.host.ForDisplay(), l.place())
	if err := l.keeper.Forget(ctx, l.host); err != nil {
		return diag.Errorf("Failed to remove the API token", "%s", diag.Sentence(err))
	}
	l.person.Say("%s", l.person.Success("Success! Mayfly has removed the stored API token for "+l.host.ForDisplay()+"."))
	if elsewhere {
		return diag.Warnf("Another token is still configured", "There is another token for %s in %s, which is still used.", l.host.ForDisplay(), origin)
	}
	return nil
}
