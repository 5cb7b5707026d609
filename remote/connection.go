package remote

import (
	"cmp"
	"encoding"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Secret is a text that formatting and encoding hide, also where they don't ask its methods. The zero value
// is none.
type Secret struct{ text *string }

// NewSecret returns a secret, none for an empty text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Given reports whether there is a secret.
func (s Secret) Given() bool { return s.text != nil }

func (s Secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

var (
	_ fmt.Formatter          = Secret{}
	_ encoding.TextMarshaler = Secret{}
)

// Format implements fmt.Formatter for all verbs.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "(hidden)") }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte("(hidden)"), nil }

// Host is an SSH server and how to log in there.
type Host struct {
	Address     string // name or IP address, of version 6 with or without brackets
	Port        int    // 22 if zero
	User        string // root if empty
	Password    Secret // also the answer to questions of keyboard-interactive authentication
	PrivateKey  Secret // in PEM, not encrypted
	Certificate Secret // of the private key, a line of OpenSSH's format
	// HostKey is the server's public key, or that of the authority that signs its host certificate, as a line
	// of OpenSSH's format. While it is empty, any server is believed.
	HostKey Secret
}

func (h *Host) address() string {
	host := strings.TrimSuffix(strings.TrimPrefix(h.Address, "["), "]")
	return net.JoinHostPort(host, strconv.Itoa(cmp.Or(h.Port, 22)))
}

// Login returns the name of the user who logs in.
func (h *Host) Login() string { return cmp.Or(h.User, "root") }

// Proxy is a proxy through which the first TCP connection is made.
type Proxy struct {
	Scheme   string // http (also if empty), https or socks5
	Address  string
	Port     int // that of the scheme if zero
	User     string
	Password Secret
}

// proxyPorts are the schemes with their ports.
var proxyPorts = map[string]int{"http": 80, "https": 443, "socks5": 1080}

func (p *Proxy) scheme() string { return cmp.Or(p.Scheme, "http") }

func (p *Proxy) address() string {
	host := strings.TrimSuffix(strings.TrimPrefix(p.Address, "["), "]")
	return net.JoinHostPort(host, strconv.Itoa(cmp.Or(p.Port, proxyPorts[p.scheme()])))
}

// AgentUse tells whether keys of an authentication agent are used.
type AgentUse uint8

// The uses of an agent.
const (
	AgentIfAny AgentUse = iota // if one is there
	AgentNever
	AgentAlways // it is an error if there is none
)

// Connection is what there is to know to work on a host.
type Connection struct {
	Target  Host
	Bastion *Host  // the target is reached from there; nil for none
	Proxy   *Proxy // the first of target and bastion is reached through it; nil for none

	Timeout time.Duration // until when connecting is tried again; 5 minutes if zero
	// ScriptPath is where scripts are put, with %RAND% for random digits; the platform's place for temporary
	// files if empty.
	ScriptPath string
	Windows    bool // whether the target is a Windows system

	Agent         AgentUse
	AgentIdentity string // the key of the agent to try first: its public key, fingerprint or comment, or the name of a file that has the public key
	AgentSocket   string // of the agent; empty for none. Windows has a fixed place
}

// Problem is something that is wrong with a setting, found without connecting.
type Problem struct {
	Argument string // as connection blocks name it: "bastion_private_key"
	Text     string // a sentence that has no part of the setting's value
}

// Check returns what is wrong with keys, certificates and other settings. Settings that are empty are passed
// over, so that it can be asked about an incomplete connection.
func (c *Connection) Check() []Problem {
	problems := c.Target.check("")
	if c.Bastion != nil {
		problems = append(problems, c.Bastion.check("bastion_")...)
	}
	if c.Proxy != nil && proxyPorts[c.Proxy.scheme()] == 0 {
		problems = append(problems, Problem{"proxy_scheme", "The scheme of a proxy is \"http\", \"https\" or \"socks5\"."})
	}
	if c.Timeout < 0 {
		problems = append(problems, Problem{"timeout", "The time to wait cannot be negative."})
	}
	return problems
}

func (h *Host) check(prefix string) []Problem {
	var out []Problem
	if h.PrivateKey.Given() || h.Certificate.Given() {
		if _, p := h.signers(); p != nil {
			out = append(out, Problem{prefix + p.Argument, p.Text})
		}
	}
	if _, err := h.pinned(); err != nil {
		out = append(out, Problem{prefix + "host_key", "This is " + err.Error() + "."})
	}
	const maxPort = 65535
	if h.Port < 0 || h.Port > maxPort {
		out = append(out, Problem{prefix + "port", "The port must be a whole number from 1 to 65535."})
	}
	return out
}
