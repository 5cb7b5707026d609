package keep

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/base/ssh"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/tunnel"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// The defaults of keep_tunnel.
const (
	defaultTunnelTimeout = "1m"
	defaultTunnelPort    = 22
	tunnelCheck          = 30 * time.Second // between two looks at the connection
)

func tunnelSchema() *schema.Schema {
	return schemaOf("A port of this machine that leads, through an SSH server, to an address that the server reaches. It is open as long as the resource.", map[string]*schema.Attribute{
		"tunnel_host":   {Type: cty.String, Required: true, Description: "The SSH server: a name or an IP address."},
		"tunnel_port":   {Type: cty.Number, Optional: true, Computed: true, Description: "The server's port. Default: 22."},
		"user":          {Type: cty.String, Required: true, Description: "The user to log in as."},
		"password":      {Type: cty.String, Optional: true, Description: "The user's password."},
		"private_key":   {Type: cty.String, Optional: true, Description: "The user's private key, in PEM and without a passphrase."},
		"certificate":   {Type: cty.String, Optional: true, Description: "The certificate of the private key: a line in OpenSSH's format."},
		"agent":         {Type: cty.Bool, Optional: true, Computed: true, Description: "Whether to use the keys of the SSH agent. Default: true if one is running."},
		"host_key":      {Type: cty.String, Optional: true, Description: "The server's public key, or that of the authority that signs its host certificate: a line in OpenSSH's format."},
		"known_hosts":   {Type: cty.String, Optional: true, Description: "The file with the public keys of servers that is used without host_key. Default: .ssh/known_hosts in the home directory."},
		"timeout":       {Type: cty.String, Optional: true, Computed: true, Description: "How long to try to connect. Default: 1m."},
		"remote_host":   {Type: cty.String, Required: true, Description: "Where the tunnel leads: a name or an IP address, as the server sees it."},
		"remote_port":   {Type: cty.Number, Required: true, Description: "The port there."},
		"local_port":    {Type: cty.Number, Optional: true, Computed: true, Description: "The port of this machine. Default: one that is free."},
		"local_host":    {Type: cty.String, Computed: true, Description: "The address of this machine that the port belongs to: 127.0.0.1."},
		"local_address": {Type: cty.String, Computed: true, Description: "local_host and local_port, separated by a colon."},
	})
}

// heldTunnel is an open keep_tunnel.
type heldTunnel struct{ *tunnel.Tunnel }

func (h *heldTunnel) renew(ctx context.Context, now time.Time) (time.Time, error) {
	return now.Add(tunnelCheck), h.check(ctx)
}

// check is Check with an error that reveals no argument.
func (h *heldTunnel) check(ctx context.Context) error {
	if err := h.Check(ctx); err != nil {
		return errors.New(tunnel.Reason(err))
	}
	return nil
}

func (h *heldTunnel) close(context.Context) error {
	h.Tunnel.Close()
	return nil
}

// openTunnel opens a keep_tunnel.
func (p *keepProvider) openTunnel(ctx context.Context, result map[string]cty.Value, resp *provider.OpenResponse) diag.List {
	for name, v := range map[string]cty.Value{
		"tunnel_port": cty.NumberIntVal(defaultTunnelPort), "timeout": cty.StringVal(defaultTunnelTimeout), "local_port": cty.Zero,
	} {
		if result[name].IsNull() {
			result[name] = v
		}
	}
	if diags := checkTunnel(result); diags.HasErrors() {
		return diags
	}
	server, diags := serverOf(result)
	if diags.HasErrors() {
		return diags
	}
	remotePort, _ := whole(result["remote_port"]) // was checked
	localPort, _ := whole(result["local_port"])
	remote := net.JoinHostPort(text(result["remote_host"]), strconv.FormatInt(remotePort, 10))
	ctx, done := p.during(ctx)
	defer done()
	t, err := tunnel.Open(ctx, server, remote, int(localPort))
	if err != nil {
		return diag.Errorf("Tunnel not opened", "The tunnel through the server of tunnel_host to remote_host could not be opened: %s.", tunnel.Reason(err))
	}
	const host = "127.0.0.1"
	result["local_host"], result["local_port"] = cty.StringVal(host), cty.NumberIntVal(int64(t.Port()))
	result["local_address"] = cty.StringVal(net.JoinHostPort(host, strconv.Itoa(t.Port())))
	result["agent"] = cty.BoolVal(server.Agent != ssh.AgentNever)
	return p.hold(&heldTunnel{t}, resp, p.now().Add(tunnelCheck))
}

// serverOf returns how to connect to the server of a keep_tunnel.
func serverOf(a map[string]cty.Value) (*ssh.Connection, diag.List) {
	port, _ := whole(a["tunnel_port"]) // was checked
	timeout, _ := time.ParseDuration(text(a["timeout"]))
	c := &ssh.Connection{
		Target: ssh.Host{
			Address: text(a["tunnel_host"]), Port: int(port), User: text(a["user"]), Password: ssh.NewSecret(text(a["password"])),
			PrivateKey: ssh.NewSecret(text(a["private_key"])), Certificate: ssh.NewSecret(text(a["certificate"])),
			HostKey: ssh.NewSecret(text(a["host_key"])), KnownHosts: text(a["known_hosts"]),
		},
		Timeout: timeout, AgentSocket: os.Getenv("SSH_AUTH_SOCK"),
	}
	switch {
	case a["agent"].IsNull():
	case a["agent"].True():
		c.Agent = ssh.AgentAlways
	default:
		c.Agent = ssh.AgentNever
	}
	if c.Target.HostKey.Given() || c.Target.KnownHosts != "" {
		return c, nil
	}
	home, err := os.UserHomeDir()
	if err == nil {
		c.Target.KnownHosts = filepath.Join(home, ".ssh", "known_hosts")
		_, err = os.Stat(c.Target.KnownHosts)
	}
	if err != nil {
		return nil, diag.List{attributeError("host_key", "Server's key not known", fmt.Sprintf("The server must prove that it is the right one, but host_key is not set, and there is no file of known hosts: %s. "+
			"Set host_key to the server's public key: the command \"ssh-keyscan HOST\" prints it, and the server's administrator can confirm it.", safefile.Reason(err)))}
	}
	return c, nil
}

// checkTunnel checks the known arguments of a keep_tunnel.
func checkTunnel(a map[string]cty.Value) (diags diag.List) {
	known := func(name string) bool { return !a[name].IsNull() && a[name].IsKnown() }
	for _, name := range []string{"tunnel_port", "remote_port", "local_port"} {
		const maxPort = 65535
		if n, _ := whole(a[name]); known(name) && (n < 0 || n > maxPort || n == 0 && name != "local_port") {
			diags = append(diags, attributeError(name, "Invalid port", "Give "+name+" a whole number from 1 to 65535."))
		}
	}
	for _, name := range []string{"tunnel_host", "user", "remote_host"} {
		if known(name) && text(a[name]) == "" {
			diags = append(diags, attributeError(name, "Empty argument", "The argument "+name+" must not be an empty string."))
		}
	}
	if d, err := time.ParseDuration(text(a["timeout"])); known("timeout") && (err != nil || d <= 0) {
		diags = append(diags, attributeError("timeout", "Invalid timeout", "Give a duration such as \"30s\" or \"2m\"."))
	}
	if known("host_key") && known("known_hosts") {
		diags = append(diags, attributeError("known_hosts", "Two ways to check the server", "host_key names the server's key already. Remove host_key or known_hosts."))
	}
	host := ssh.Host{PrivateKey: ssh.NewSecret(text(a["private_key"])), HostKey: ssh.NewSecret(text(a["host_key"]))}
	if known("private_key") { // a certificate needs it
		host.Certificate = ssh.NewSecret(text(a["certificate"]))
	}
	for _, problem := range (&ssh.Connection{Target: host}).Check() {
		diags = append(diags, attributeError(problem.Argument, "Invalid "+problem.Argument, problem.Text))
	}
	return diags
}
