package kubeconfig

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/term"
)

// program is a program that prints credentials, as a file or the arguments name it.
type program struct {
	APIVersion         string     `yaml:"apiVersion"`
	Command            string     `yaml:"command"`
	Args               []string   `yaml:"args"`
	Env                []variable `yaml:"env"`
	InstallHint        string     `yaml:"installHint"`
	ProvideClusterInfo bool       `yaml:"provideClusterInfo"`
	InteractiveMode    string     `yaml:"interactiveMode"`
}

type variable struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

// The versions of the protocol.
const (
	v1      = "client.authentication.k8s.io/v1"
	v1beta1 = "client.authentication.k8s.io/v1beta1"
)

// Whether a program may ask the user.
const (
	never       = "Never"
	ifAvailable = "IfAvailable" // if there is a terminal
	always      = "Always"
)

func (p *program) check() error {
	switch {
	case p.Command == "":
		return errors.New("the user's \"exec\" has no command")
	case p.APIVersion != v1 && p.APIVersion != v1beta1:
		return fmt.Errorf("the apiVersion of the user's \"exec\" must be %s or %s, and is %q", v1, v1beta1, p.APIVersion)
	case p.InteractiveMode != never && p.InteractiveMode != ifAvailable && p.InteractiveMode != always:
		return fmt.Errorf("the interactiveMode of the user's \"exec\" must be %s, %s or %s, and is %q", never, ifAvailable, always, p.InteractiveMode)
	}
	return nil
}

// CredentialsError is that there are no credentials to send.
type CredentialsError struct{ err error }

// Error implements error.
func (e *CredentialsError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *CredentialsError) Unwrap() error { return e.err }

// credentials are the credentials that a program has printed.
type credentials struct {
	token string
	pair  *tls.Certificate // nil for none
	until time.Time        // zero for no limit
}

// printed keeps the credentials that a program has printed until they expire. It is safe for concurrent use.
type printed struct {
	program *program
	cluster *cluster
	changed func() // is called after a certificate was replaced

	mu   sync.Mutex // one run of the program serves all
	last *credentials
	pair *tls.Certificate // the last one that was in use
}

// get returns credentials.
func (p *printed) get(ctx context.Context) (*credentials, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil && (p.last.until.IsZero() || time.Now().Before(p.last.until)) {
		return p.last, nil
	}
	c, err := p.program.run(ctx, p.cluster)
	if err != nil {
		return nil, err
	}
	if p.pair != nil {
		p.changed()
	}
	p.last, p.pair = c, c.pair
	return c, nil
}

// drop forgets credentials that the server has refused.
func (p *printed) drop(used *credentials) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == used {
		p.last = nil
	}
}

// certificate answers a server that asks for a certificate.
func (p *printed) certificate(req *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c, err := p.get(req.Context())
	switch {
	case err != nil:
		return nil, &CredentialsError{err}
	case c.pair == nil:
		return &tls.Certificate{}, nil
	}
	return c.pair, nil
}

// execCredential is the input and the output of a program.
type execCredential struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Spec       execSpec    `json:"spec"`
	Status     *execStatus `json:"status,omitempty"`
}

type execSpec struct {
	Cluster     *execCluster `json:"cluster,omitempty"`
	Interactive bool         `json:"interactive"`
}

type execCluster struct {
	Server             string `json:"server"`
	ServerName         string `json:"tls-server-name,omitempty"`
	Insecure           bool   `json:"insecure-skip-tls-verify,omitempty"`
	CA                 []byte `json:"certificate-authority-data,omitempty"`
	Proxy              string `json:"proxy-url,omitempty"`
	DisableCompression bool   `json:"disable-compression,omitempty"`
	Config             any    `json:"config,omitempty"`
}

type execStatus struct {
	Token       string     `json:"token"`
	Certificate string     `json:"clientCertificateData"`
	Key         string     `json:"clientKeyData"`
	Until       *time.Time `json:"expirationTimestamp"`
}

// run runs the program. Its standard error is shown to the user, as with kubectl.
func (p *program) run(ctx context.Context, c *cluster) (*credentials, error) {
	interactive := p.InteractiveMode != never && term.IsTerminal(int(os.Stdin.Fd()))
	if p.InteractiveMode == always && !interactive {
		return nil, fmt.Errorf("%s asks for a terminal, and standard input is none", p.Command)
	}
	given := execCredential{APIVersion: p.APIVersion, Kind: "ExecCredential", Spec: execSpec{Interactive: interactive}}
	if p.ProvideClusterInfo {
		var err error
		if given.Spec.Cluster, err = c.info(); err != nil {
			return nil, err
		}
	}
	info, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.Command, p.Args...)
	cmd.Env = os.Environ()
	for _, v := range p.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Env = append(cmd.Env, "KUBERNETES_EXEC_INFO="+string(info))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if interactive {
		cmd.Stdin = os.Stdin
	}
	defer func() { clear(out.Bytes()) }()
	if err := cmd.Run(); err != nil {
		if missing := (*exec.Error)(nil); errors.As(err, &missing) && p.InstallHint != "" {
			err = fmt.Errorf("%w. %s", err, printable(p.InstallHint))
		}
		return nil, fmt.Errorf("running %s: %w", p.Command, err)
	}
	got, err := p.parse(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Command, err)
	}
	return got, nil
}

// extension is the name of the extension of a cluster that is for programs.
const extension = "client.authentication.k8s.io/exec"

// info describes a cluster for a program.
func (c *cluster) info() (*execCluster, error) {
	ca, err := content(c.CA, c.CAFile)
	if err != nil {
		return nil, err
	}
	info := &execCluster{c.Server, c.ServerName, c.Insecure, ca, c.Proxy, c.DisableCompression, nil}
	for _, e := range c.Extensions {
		if e.Name == extension {
			info.Config = e.Extension
		}
	}
	return info, nil
}

// parse reads the output of the program. Errors show nothing of it.
func (p *program) parse(out []byte) (*credentials, error) {
	var answer execCredential
	switch err := json.Unmarshal(out, &answer); {
	case err != nil || answer.Kind != "ExecCredential":
		return nil, errors.New("it does not print an ExecCredential")
	case answer.APIVersion != p.APIVersion:
		return nil, fmt.Errorf("it prints credentials of %q, and is configured for %q", answer.APIVersion, p.APIVersion)
	case answer.Status == nil || answer.Status.Token == "" && answer.Status.Certificate == "" && answer.Status.Key == "":
		return nil, errors.New("it prints neither a token nor a certificate")
	}
	c := &credentials{token: answer.Status.Token}
	if answer.Status.Until != nil {
		c.until = *answer.Status.Until
	}
	if answer.Status.Certificate != "" || answer.Status.Key != "" {
		pair, err := tls.X509KeyPair([]byte(answer.Status.Certificate), []byte(answer.Status.Key))
		if err != nil {
			return nil, fmt.Errorf("it prints a certificate and a key that cannot be used: %w", err)
		}
		c.pair = &pair
	}
	return c, nil
}

// printable returns text without control characters, which could change the terminal.
func printable(text string) string {
	out := []rune(text)
	for i, r := range out {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			out[i] = ' '
		}
	}
	return string(out)
}
