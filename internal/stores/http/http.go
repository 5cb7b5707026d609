//go:build !mayfly_no_http

// Package http keeps the state of one workspace behind a URL: GET reads it, POST or another method writes it,
// DELETE removes it, and LOCK and UNLOCK requests lock it, with the information about the lock as their body.
//
// It may import backend, state/store and remote. It must not know other configuration, plans or providers.
package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace/requests"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Options say where a state is. Errors of New name them as the arguments of a backend block.
type Options struct {
	Address       string // of the state
	LockAddress   string // "" for a state without locking
	UnlockAddress string // "" if the server releases locks by itself
	// UpdateMethod, LockMethod and UnlockMethod are POST, LOCK and UNLOCK if they are empty.
	UpdateMethod, LockMethod, UnlockMethod string

	Username, Password string            // for basic authentication, if one of them is not empty
	Headers            map[string]string // of each request

	SkipVerification bool // accepts any certificate of the server
	// Certificates in PEM: of the authorities that sign the server's, and of this client with its key.
	CACertificates, ClientCertificate, ClientKey string

	// Retries limits how often a request is repeated that fails for a moment, with at least RetryWaitMin and,
	// as far as the server is asked, at most RetryWaitMax before each repetition; nil for the usual limit of
	// time.
	Retries                    *int
	RetryWaitMin, RetryWaitMax time.Duration
}

// service implements remote.Service.
type service struct {
	opt                   Options
	address, lock, unlock *url.URL
	client                *http.Client
	failures              atomic.Int64 // requests in a row that failed for a moment
}

// New returns the service for one state. It contacts nothing.
func New(opt Options) (remote.Service, error) {
	s := &service{opt: opt}
	for _, a := range []struct {
		name, text string
		parsed     **url.URL
	}{{"address", opt.Address, &s.address}, {"lock_address", opt.LockAddress, &s.lock}, {"unlock_address", opt.UnlockAddress, &s.unlock}} {
		if a.text == "" {
			continue
		}
		u, err := url.Parse(a.text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("the argument %q must be a URL that begins with http:// or https://", a.name)
		}
		*a.parsed = u
	}
	if s.address == nil {
		return nil, errors.New(`the argument "address" is missing`)
	}
	transport, err := opt.transport()
	if err != nil {
		return nil, err
	}
	s.client = &http.Client{Transport: requests.Noted(transport), CheckRedirect: checkRedirect}
	return s, nil
}

// transport returns the transport for the options. Errors name arguments and never quote certificates or
// keys.
func (o Options) transport() (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = responseTimeout
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: o.SkipVerification, MinVersion: tls.VersionTLS12} //nolint:gosec // as asked for
	if o.CACertificates != "" {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(o.CACertificates)) {
			return nil, errors.New(`the argument "client_ca_certificate_pem" has no certificate in PEM`)
		}
	}
	if (o.ClientCertificate == "") != (o.ClientKey == "") {
		return nil, errors.New(`the arguments "client_certificate_pem" and "client_private_key_pem" belong together, and only one of them is set`)
	}
	if o.ClientCertificate != "" {
		pair, err := tls.X509KeyPair([]byte(o.ClientCertificate), []byte(o.ClientKey))
		if err != nil { // the error may quote the key
			return nil, errors.New(`the arguments "client_certificate_pem" and "client_private_key_pem" are not a certificate and its key in PEM`)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// checkRedirect follows redirects within a host only: others must not get the headers, which may be
// credentials.
func checkRedirect(req *http.Request, via []*http.Request) error {
	const most = 10
	if len(via) >= most || req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// Workspaces implements remote.Service.
func (s *service) Workspaces(context.Context) ([]string, error) { return nil, nil }

// Place implements remote.Service.
func (s *service) Place(workspace string) (remote.Place, error) {
	if workspace != store.DefaultWorkspace {
		return remote.Place{}, remote.ErrNoWorkspaces
	}
	b := &blob{service: s}
	p := remote.Place{Path: Place(s.opt.Address), State: b}
	if s.lock != nil {
		p.Lock = &lock{service: s, state: b}
	}
	return p, nil
}

// Place returns an address without possible credentials.
func Place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
