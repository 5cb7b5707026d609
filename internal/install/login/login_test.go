package login

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/opentofu/svchost/disco"
	"go.uber.org/goleak"

	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a server with a token, and how to log in to it.
func start(t *testing.T, fault string) (*registrytest.Server, *disco.OAuthClient) {
	t.Helper()
	s, err := registrytest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Token = "s3cr3t"
	s.OAuth = &registrytest.OAuth{Grants: []string{"authz_code", "password"}, User: "ada", Password: "pa55", Fault: fault}
	at := func(path string) *url.URL { return &url.URL{Scheme: "https", Host: s.Host(), Path: path} }
	return s, &disco.OAuthClient{
		ID: "mayfly-cli", AuthorizationURL: at("/oauth/authorize"), TokenURL: at("/oauth/token"), MinPort: 20000, MaxPort: 40000, Scopes: []string{"read", "write"},
	}
}

// visitor is a browser, which runs beside the login. Its outcome is available when it has closed its
// connections.
func visitor(t *testing.T, s *registrytest.Server, pages chan<- string) func(string) {
	return func(address string) {
		go func() {
			transport := s.Transport().(*http.Transport)
			defer transport.CloseIdleConnections()
			resp, err := (&http.Client{Transport: transport}).Get(address)
			if err != nil {
				t.Error(err)
				pages <- ""
				return
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Error(err)
			}
			pages <- string(text)
		}()
	}
}

func TestCode(t *testing.T) {
	for fault, want := range map[string]string{
		"": "", "state": "", "denied": "access was denied", "code": "without an authorization code", "reused": "used before",
		"broken": "answers 500 Internal Server Error", "empty": "has no usable token", "redirect": "redirects to another address",
	} {
		t.Run("fault "+fault, func(t *testing.T) {
			s, client := start(t, fault)
			pages := make(chan string, 1)
			ignored := 0
			transport := s.Transport().(*http.Transport)
			defer transport.CloseIdleConnections()
			c := &Code{Client: client, Transport: transport, Visit: visitor(t, s, pages), Title: "A & B", Ignored: func() { ignored++ }}
			token, err := c.Token(t.Context())
			page := <-pages
			http.DefaultTransport.(*http.Transport).CloseIdleConnections() // the server's own request in the case of a wrong state
			switch {
			case want == "" && (err != nil || token.Reveal() != "s3cr3t" || !strings.Contains(page, "The login continues")):
				t.Errorf("token %q, %v; the page says %s", token.Reveal(), err, page)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), registrytest.LoginHidden)):
				t.Errorf("%v, want %s", err, want)
			}
			if !strings.Contains(page, "<h1>A &amp; B</h1>") || (ignored == 1) != (fault == "state") {
				t.Errorf("got %d requests ignored and the page %s, want the name in it, escaped, and one ignored only with a wrong state", ignored, page)
			}
		})
	}
}

// TestCodeProvesPossession takes the code away from the login, as a program could that sees the browser's
// addresses.
func TestCodeProvesPossession(t *testing.T) {
	s, client := start(t, "")
	transport := s.Transport().(*http.Transport)
	defer transport.CloseIdleConnections()
	browser := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ctx, cancel := context.WithCancelCause(t.Context())
	seen := make(chan *url.URL, 1)
	c := &Code{Client: client, Transport: transport, Visit: func(address string) {
		resp, err := browser.Get(address)
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
		back, err := resp.Location()
		if err != nil {
			t.Error(err)
		}
		seen <- back
		cancel(errors.New("enough"))
	}}
	if _, err := c.Token(ctx); err == nil || err.Error() != "enough" {
		t.Errorf("Token: got %v, want the cause of the end: enough", err)
	}
	back := <-seen
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {"mayfly-cli"}, "code": {back.Query().Get("code")}, "redirect_uri": {"http://" + back.Host + "/login"}, "code_verifier": {"guess"}}
	resp, err := browser.PostForm(client.TokenURL.String(), form)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("request without proof: got %s, want the status %d", resp.Status, http.StatusBadRequest)
	}
}

func TestCodeLimits(t *testing.T) {
	_, client := start(t, "")
	nobody := func(string) {}
	if _, err := (&Code{Client: client, Visit: nobody, Wait: time.Millisecond}).Token(t.Context()); err == nil || !strings.Contains(err.Error(), "there was no login within 1ms") {
		t.Errorf("nobody signs in: %v", err)
	}
	plain := *client
	plain.AuthorizationURL = &url.URL{Scheme: "http", Host: "example.com"}
	if _, err := (&Code{Client: &plain, Visit: nobody}).Token(t.Context()); err == nil || !strings.Contains(err.Error(), "not encrypted") {
		t.Errorf("page without encryption: %v", err)
	}
	plain.TokenURL = plain.AuthorizationURL
	if _, err := Password(t.Context(), &plain, nil, "ada", cliconfig.NewSecret("pa55")); err == nil || !strings.Contains(err.Error(), "not encrypted") {
		t.Errorf("password without encryption: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	narrow := *client
	narrow.MinPort = uint16(taken.Addr().(*net.TCPAddr).Port)
	narrow.MaxPort = narrow.MinPort
	if _, err := (&Code{Client: &narrow, Visit: nobody}).Token(t.Context()); err == nil || !strings.Contains(err.Error(), "no free port") {
		t.Errorf("no port: %v", err)
	}
}

func TestPassword(t *testing.T) {
	s, client := start(t, "")
	transport := s.Transport().(*http.Transport)
	defer transport.CloseIdleConnections()
	token, err := Password(t.Context(), client, transport, "ada", cliconfig.NewSecret("pa55"))
	if err != nil || token.Reveal() != "s3cr3t" {
		t.Errorf("Password: got %q, %v, want \"s3cr3t\"", token.Reveal(), err)
	}
	_, err = Password(t.Context(), client, transport, "ada", cliconfig.NewSecret("wr0ng"))
	if err == nil || !strings.Contains(err.Error(), "invalid_grant") || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("wrong password: %v", err)
	}
}

func TestRefusal(t *testing.T) {
	for code, want := range map[string]string{
		"access_denied": "access was denied", "needs_mfa": "the reason has the code needs_mfa",
		"<script>": "the reason has a code that the standard does not define", strings.Repeat("x", 61): "the reason has a code that the standard does not define",
	} {
		if got := refusal(code); got != want {
			t.Errorf("%q: got %s, want %s", code, got, want)
		}
	}
}
