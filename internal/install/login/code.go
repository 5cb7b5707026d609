package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/opentofu/svchost/disco"
	"golang.org/x/oauth2"

	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// The default time limits.
const (
	usualWait    = 10 * time.Minute // for the user, who may need a second factor
	usualTimeout = 30 * time.Second // for the server
)

// Code is a login with an authorization code and PKCE. The browser delivers the code to a temporary server
// on this machine.
type Code struct {
	// Client describes the host's service.
	Client *disco.OAuthClient
	// Transport carries out the request for the token; nil means the default transport.
	Transport http.RoundTripper
	// Visit is called once, with the address that the user has to visit. It must return soon.
	Visit func(address string)
	// Ignored is called for each request to the local server that does not belong to this login. It may be
	// nil and must be safe for concurrent use.
	Ignored func()
	// Wait is how long the user may take, 0 for ten minutes.
	Wait time.Duration
	// Title is the heading of the page that the browser shows at the end.
	Title string
}

// Token waits for the user to sign in and returns the token. If ctx ends, it returns the context's cause.
func (c *Code) Token(ctx context.Context) (cliconfig.Secret, error) {
	if err := secure(c.Client.AuthorizationURL); err != nil {
		return cliconfig.Secret{}, fmt.Errorf("the host's authorization page %w", err)
	}
	listener, port, err := listen(ctx, c.Client.MinPort, c.Client.MaxPort)
	if err != nil {
		return cliconfig.Secret{}, err
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	back := newCallback(state, c.Title, c.Ignored)
	stop := back.serve(listener)
	defer stop()

	conf := config(c.Client)
	conf.RedirectURL = fmt.Sprintf("http://localhost:%d%s", port, callbackPath)
	c.Visit(conf.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)))

	code, err := back.wait(ctx, cmp.Or(c.Wait, usualWait))
	if err != nil {
		return cliconfig.Secret{}, err
	}
	return exchange(ctx, c.Client, c.Transport, func(ctx context.Context) (*oauth2.Token, error) {
		return conf.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	})
}

// Password logs in with a name and a password, which are sent only to the host's token service.
func Password(ctx context.Context, client *disco.OAuthClient, transport http.RoundTripper, user string, password cliconfig.Secret) (cliconfig.Secret, error) {
	return exchange(ctx, client, transport, func(ctx context.Context) (*oauth2.Token, error) {
		return config(client).PasswordCredentialsToken(ctx, user, password.Reveal())
	})
}

func config(client *disco.OAuthClient) *oauth2.Config {
	return &oauth2.Config{ClientID: client.ID, Endpoint: client.Endpoint(), Scopes: client.Scopes}
}

// listen opens a port in the range for the local server. It starts at a random port, so that no other
// program can wait for the login at the first one.
func listen(ctx context.Context, least, most uint16) (net.Listener, uint16, error) {
	n := int64(most) - int64(least) + 1
	start, err := rand.Int(rand.Reader, big.NewInt(n))
	if err != nil {
		return nil, 0, err
	}
	var first error
	for i := range n {
		port := uint16(int64(least) + (start.Int64()+i)%n)
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return l, port, nil
		}
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		first = cmp.Or(first, err)
	}
	return nil, 0, fmt.Errorf("this machine has no free port from %d to %d, to which the host could send the browser back: %w", least, most, first)
}

// exchange sends a request to the token service. It follows no redirects, which would reveal the proof of
// the login to another address.
func exchange(ctx context.Context, client *disco.OAuthClient, transport http.RoundTripper, f func(context.Context) (*oauth2.Token, error)) (cliconfig.Secret, error) {
	if err := secure(client.TokenURL); err != nil {
		return cliconfig.Secret{}, fmt.Errorf("the host's token service %w", err)
	}
	hc := &http.Client{Transport: transport, Timeout: usualTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	token, err := f(context.WithValue(ctx, oauth2.HTTPClient, hc))
	if err != nil {
		return cliconfig.Secret{}, explain(ctx, client.TokenURL, err)
	}
	return cliconfig.NewSecret(token.AccessToken), nil
}

// explain describes a failure of the token service. The library's own message would contain the response.
func explain(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	at := web.Show(u)
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) {
		if _, ok := errors.AsType[*url.Error](err); ok {
			return fmt.Errorf("no answer from the token service at %s: %w", at, web.Reason(err))
		}
		return fmt.Errorf("the answer of the token service at %s has no usable token", at)
	}
	code := 0
	if answer.Response != nil {
		code = answer.Response.StatusCode
	}
	switch {
	case code >= http.StatusMultipleChoices && code < http.StatusBadRequest:
		return fmt.Errorf("the token service at %s redirects to another address (status %d), which is not followed", at, code)
	case answer.ErrorCode != "":
		return fmt.Errorf("the token service at %s refused: %s", at, refusal(answer.ErrorCode))
	}
	return fmt.Errorf("the token service at %s answers %d %s", at, code, http.StatusText(code))
}

// secure refuses unencrypted addresses, except on this machine.
func secure(u *url.URL) error {
	if u == nil {
		return errors.New("has no address")
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	if u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("at %s is not encrypted", web.Show(u))
}
