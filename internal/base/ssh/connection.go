package ssh

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

// Secret is a text that is hidden from formatting and encoding, even by packages that ignore its methods. The
// zero value has no secret.
type Secret struct{ text *string }

// NewSecret returns a secret, the zero value for an empty text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Given reports whether the secret is set.
func (s Secret) Given() bool { return s.text != nil }

// reveal returns the text; "" for none.
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
	// HostKey is the public key of the server, or of the authority that signs its host certificate, as a line
	// in OpenSSH's format. If it is empty, KnownHosts decides.
	HostKey Secret
	// KnownHosts names a file with the keys of servers in OpenSSH's format. If it is empty too, any server is
	// trusted.
	KnownHosts string
}

// address returns the host's address with its port, for dialing.
func (h *Host) address() string {
	host := strings.TrimSuffix(strings.TrimPrefix(h.Address, "["), "]")
	return net.JoinHostPort(host, strconv.Itoa(cmp.Or(h.Port, 22)))
}

// Login returns the name of the user that logs in.
func (h *Host) Login() string { return cmp.Or(h.User, "root") }

// Proxy is a proxy through which the first TCP connection is made.
type Proxy struct {
	Scheme   string // http (also if empty), https or socks5
	Address  string
	Port     int // the scheme's if zero
	User     string
	Password Secret
}

// proxyPorts maps schemes to their default ports.
var proxyPorts = map[string]int{"http": 80, "https": 443, "socks5": 1080}

// scheme returns the proxy's scheme, or the default one.
func (p *Proxy) scheme() string { return cmp.Or(p.Scheme, "http") }

// address returns the proxy's address with its port, for dialing.
func (p *Proxy) address() string {
	host := strings.TrimSuffix(strings.TrimPrefix(p.Address, "["), "]")
	return net.JoinHostPort(host, strconv.Itoa(cmp.Or(p.Port, proxyPorts[p.scheme()])))
}

// AgentUse says whether keys of an authentication agent are used.
type AgentUse uint8

// The uses of an agent.
const (
	AgentIfAny AgentUse = iota // if one is there
	AgentNever
	AgentAlways // it is an error if there is none
)

// Connection has the settings for working on a host.
type Connection struct {
	Target  Host
	Bastion *Host  // the target is reached from there; nil for none
	Proxy   *Proxy // the first of target and bastion is reached through it; nil for none

	Timeout time.Duration // how long connecting is retried; 5 minutes if zero
	// ScriptPath is the remote path of uploaded scripts, with %RAND% for random digits; if empty, a file in
	// the platform's temporary directory.
	ScriptPath string
	Windows    bool // the target is a Windows system

	Agent         AgentUse
	AgentIdentity string // the agent's key to try first: its public key, fingerprint or comment, or the name of a file with the public key
	AgentSocket   string // of the agent; empty for none. On Windows it is fixed
}

// Problem is an error in a setting that was found without connecting.
type Problem struct {
	Argument string // as named in connection blocks: "bastion_private_key"
	Text     string // a sentence without any part of the setting's value
}

// Check returns errors in keys, certificates and other settings. It ignores empty settings, so it works for
// incomplete connections.
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

// check is Connection.Check for one host, whose arguments begin with prefix.
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
