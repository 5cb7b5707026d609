package provision

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/ssh"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// invalidConnection is the summary of all errors about a connection's arguments.
const invalidConnection = "Invalid connection argument"

// CheckConnection reports errors in a connection. Unknown arguments are not checked. The value may carry
// marks; diagnostics never quote marked values. Their paths are within the connection.
func CheckConnection(marked cty.Value) diag.List {
	conn, _ := marked.UnmarkDeep()
	if !conn.IsKnown() {
		return nil
	}
	var diags diag.List
	quoted := func(name string) string {
		if v := marked.GetAttr(name); value.Contains(v, value.Sensitive) || value.Contains(v, value.Ephemeral) {
			return "The value"
		}
		return fmt.Sprintf("%q", text(conn, name))
	}
	switch text(conn, "type") {
	case "", "ssh":
	case "winrm":
		return problem("type", "WinRM is not supported",
			"Connections of type \"winrm\" are not made. Windows comes with an OpenSSH server: enable that, and use type \"ssh\" with target_platform = \"windows\".")
	default:
		return problem("type", invalidConnection, "%s is not a type of connection. Set the type to \"ssh\", or leave it out.", quoted("type"))
	}
	if h := conn.GetAttr("host"); h.IsKnown() && text(conn, "host") == "" {
		diags = append(diags, problem("host", invalidConnection, "The host is empty, so there is nothing to connect to. If the resource gets this address only some time after it was created, use another one.")...)
	}
	if !slices.Contains([]string{"", "unix", "windows"}, text(conn, "target_platform")) {
		diags = append(diags, problem("target_platform", invalidConnection, "%s is not a known platform. Use \"unix\" or \"windows\".", quoted("target_platform"))...)
	}
	if s := text(conn, "timeout"); s != "" {
		if d, err := time.ParseDuration(s); err != nil || d <= 0 {
			diags = append(diags, problem("timeout", invalidConnection, "%s is not a duration. Write it with a unit, such as \"30s\" or \"5m\".", quoted("timeout"))...)
		}
	}
	for _, name := range []string{"port", "bastion_port", "proxy_port"} {
		if v := conn.GetAttr(name); v.IsKnown() && !v.IsNull() && port(conn, name) == 0 {
			diags = append(diags, problem(name, invalidConnection, "The port must be a whole number from 1 to 65535.")...)
		}
	}
	if conn.GetAttr("private_key").IsKnown() && conn.GetAttr("bastion_private_key").IsKnown() {
		for _, p := range connection(conn, nil).Check() {
			if p.Argument == "bastion_private_key" && text(conn, p.Argument) == "" {
				continue // the private_key, which has been reported
			}
			diags = append(diags, problem(p.Argument, invalidConnection, "%s", p.Text)...)
		}
	}
	return diags
}

// connection decodes a connection, treating unknown arguments as unset. Port, user, password and key that the
// bastion lacks are taken from the target, as with other engines.
func connection(v cty.Value, environ []string) *ssh.Connection {
	c := &ssh.Connection{
		Target: ssh.Host{
			Address: text(v, "host"), Port: port(v, "port"), User: text(v, "user"), Password: secret(v, "password"),
			PrivateKey: secret(v, "private_key"), Certificate: secret(v, "certificate"), HostKey: secret(v, "host_key"),
		},
		ScriptPath: text(v, "script_path"), Windows: text(v, "target_platform") == "windows",
		AgentIdentity: text(v, "agent_identity"), AgentSocket: variable(environ, "SSH_AUTH_SOCK"),
	}
	c.Timeout, _ = time.ParseDuration(text(v, "timeout"))
	if use := v.GetAttr("agent"); use.IsKnown() && !use.IsNull() {
		c.Agent = ssh.AgentNever
		if use.True() {
			c.Agent = ssh.AgentAlways
		}
	}
	if text(v, "bastion_host") != "" {
		t := &c.Target
		c.Bastion = &ssh.Host{
			Address: text(v, "bastion_host"), Port: cmp.Or(port(v, "bastion_port"), t.Port), User: cmp.Or(text(v, "bastion_user"), t.User),
			Password:   cmp.Or(secret(v, "bastion_password"), t.Password),
			PrivateKey: cmp.Or(secret(v, "bastion_private_key"), t.PrivateKey), Certificate: secret(v, "bastion_certificate"),
			HostKey: secret(v, "bastion_host_key"),
		}
	}
	if text(v, "proxy_host") != "" {
		c.Proxy = &ssh.Proxy{
			Scheme: text(v, "proxy_scheme"), Address: text(v, "proxy_host"), Port: port(v, "proxy_port"),
			User: text(v, "proxy_user_name"), Password: secret(v, "proxy_user_password"),
		}
	}
	return c
}

// text returns a string argument, or "" if it is null or unknown.
func text(v cty.Value, name string) string {
	if a := v.GetAttr(name); a.IsKnown() && !a.IsNull() {
		return a.AsString()
	}
	return ""
}

// secret returns a string argument as a secret.
func secret(v cty.Value, name string) ssh.Secret { return ssh.NewSecret(text(v, name)) }

// port returns a port, or 0 if it is null, unknown or invalid.
func port(v cty.Value, name string) int {
	const highest = 65535
	a := v.GetAttr(name)
	if !a.IsKnown() || a.IsNull() {
		return 0
	}
	n, exact := a.AsBigFloat().Int64()
	if exact != big.Exact || n < 1 || n > highest {
		return 0
	}
	return int(n)
}

// variable returns an environment variable.
func variable(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
