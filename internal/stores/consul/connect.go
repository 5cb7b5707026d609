//go:build !mayfly_no_consul

package consul

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/trace/requests"
)

// is reports whether a variable says that something is so, or, with false for want, that it is not.
func is(variable string, want bool) bool {
	got, err := strconv.ParseBool(os.Getenv(variable))
	return err == nil && got == want
}

// connect returns a client, with the options and the variables of Consul's own programs. It contacts nothing.
func connect(opt Options) (*client, error) {
	c := &client{head: http.Header{}, query: url.Values{}}
	for name, value := range map[string]string{
		"dc": opt.Datacenter, "ns": os.Getenv("CONSUL_NAMESPACE"), "partition": os.Getenv("CONSUL_PARTITION"),
	} {
		if value != "" {
			c.query.Set(name, value)
		}
	}
	token, err := tokenOf(opt)
	if err != nil {
		return nil, err
	}
	if token != "" {
		c.head.Set("X-Consul-Token", token)
	}
	if auth := cmp.Or(opt.Auth, os.Getenv("CONSUL_HTTP_AUTH")); auth != "" {
		user, password, _ := strings.Cut(auth, ":")
		c.head.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	if t.TLSClientConfig, err = tlsOf(opt); err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: requests.Noted(t), CheckRedirect: sameHost}
	return c, c.locate(opt, t)
}

// locate finds the server. Its address may begin with a scheme and end with a path.
func (c *client) locate(opt Options, t *http.Transport) error {
	c.base.Scheme = opt.Scheme
	if c.base.Scheme == "" {
		c.base.Scheme = "http"
		if is("CONSUL_HTTP_SSL", true) {
			c.base.Scheme = "https"
		}
	}
	address := cmp.Or(opt.Address, os.Getenv("CONSUL_HTTP_ADDR"), "localhost:8500")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "", address
	}
	switch scheme {
	case "", "http": // TLS that was asked for stays
	case "https":
		c.base.Scheme = scheme
	case "unix":
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", rest)
		}
		c.base.Host = "localhost"
		return nil
	default:
		return fmt.Errorf("the address of the server begins with %q, and not with http, https or unix", scheme)
	}
	host, path, _ := strings.Cut(rest, "/")
	if strings.Contains(host, "@") {
		return errors.New("the address of the server must have the form HOST:PORT, without a user: use the argument \"http_auth\"")
	}
	c.base.Host = host
	if path = strings.TrimSuffix(path, "/"); path != "" {
		c.base.Path = "/" + path
	}
	return nil
}

// tokenOf returns the token of the options, or of the file or the variable that the environment has.
func tokenOf(opt Options) (string, error) {
	token := os.Getenv("CONSUL_HTTP_TOKEN")
	file := os.Getenv("CONSUL_HTTP_TOKEN_FILE")
	if opt.Token != "" && opt.Token != token {
		return opt.Token, nil
	}
	if file == "" {
		return token, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("the file that CONSUL_HTTP_TOKEN_FILE names cannot be read: %w", err)
	}
	if read := strings.TrimSpace(string(text)); read != "" {
		return read, nil
	}
	return token, nil
}

// tlsOf returns how the server is verified, and the certificate for it.
func tlsOf(opt Options) (*tls.Config, error) {
	server := os.Getenv("CONSUL_TLS_SERVER_NAME")
	if host, _, err := net.SplitHostPort(server); err == nil {
		server = host
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: server, InsecureSkipVerify: is("CONSUL_HTTP_SSL_VERIFY", false)}
	certificate, key := cmp.Or(opt.CertFile, os.Getenv("CONSUL_CLIENT_CERT")), cmp.Or(opt.KeyFile, os.Getenv("CONSUL_CLIENT_KEY"))
	switch {
	case (certificate == "") != (key == ""):
		return nil, errors.New("the certificate of the client needs both \"cert_file\" and \"key_file\"")
	case certificate != "":
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	files := []string{cmp.Or(opt.CAFile, os.Getenv("CONSUL_CACERT"))}
	if dir := os.Getenv("CONSUL_CAPATH"); files[0] == "" && dir != "" {
		var err error
		if files, err = filesIn(dir); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if config.RootCAs == nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("the file %s has no certificates in PEM", file)
		}
	}
	return config, nil
}

// filesIn returns the files of a directory.
func filesIn(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}
