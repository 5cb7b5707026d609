package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// remoteWork is a running provisioner that works on another machine.
type remoteWork struct{ work }

// execute carries out the provisioner. args are known and unmarked. If hidden is set, the error reveals
// nothing about arguments, connection and output.
func (r *remoteWork) execute(args cty.Value) error {
	plain, _ := r.Connection.UnmarkDeep()
	c := connection(plain, r.Environ)
	// The first interrupt ends connecting and uploading, and asks a command to end.
	soft, cancel := context.WithCancel(r.hard)
	defer cancel()
	defer context.AfterFunc(r.soft, cancel)()
	if r.Type == "remote-exec" {
		r.announce(c)
	}
	client, err := ssh.Dial(soft, c, func(reason string) { r.Output("No connection yet, trying again: " + reason) })
	if err != nil {
		return r.failure("Error connecting", "", err)
	}
	defer client.Close()
	if r.Type == "file" {
		return r.failure("Error uploading", "", r.upload(soft, client, args))
	}
	r.Output("Connected!")
	return r.runScripts(soft, client, c, args)
}

// runScripts runs the inline commands or the scripts in order, until one fails.
func (r *remoteWork) runScripts(soft context.Context, client *ssh.Client, c *ssh.Connection, args cty.Value) error {
	told := false
	sink := func(line string) {
		if r.secret == "" {
			r.Output(line)
		} else if !told {
			told = true
			r.Output(r.secret)
		}
	}
	if inline := args.GetAttr("inline"); !inline.IsNull() {
		return r.failure("Error running the inline script", "", client.RunScript(r.hard, soft, inlineScript(inline, c.Windows), sink))
	}
	for _, name := range scriptNames(args) {
		text, err := os.ReadFile(r.local(name))
		if err != nil {
			return r.failure("Error reading the script", name, err)
		}
		if err := client.RunScript(r.hard, soft, string(text), sink); err != nil {
			return r.failure("Error running the script", name, err)
		}
	}
	return nil
}

// inlineScript joins commands into one script. If the first line names a shell, that shell runs it.
func inlineScript(commands cty.Value, windows bool) string {
	var sb strings.Builder
	for _, c := range commands.AsValueSlice() {
		if c.IsNull() {
			continue
		}
		if sb.Len() == 0 && !windows && !strings.HasPrefix(c.AsString(), "#!") {
			sb.WriteString("#!/bin/sh\n")
		}
		sb.WriteString(c.AsString() + "\n")
	}
	return sb.String()
}

// scriptNames returns the names of the scripts to run, without those that are null.
func scriptNames(args cty.Value) []string {
	if one := args.GetAttr("script"); !one.IsNull() {
		return []string{one.AsString()}
	}
	var names []string
	if many := args.GetAttr("scripts"); !many.IsNull() {
		for _, v := range many.AsValueSlice() {
			if !v.IsNull() {
				names = append(names, v.AsString())
			}
		}
	}
	return names
}

// local returns the absolute name of a file on this machine.
func (r *remoteWork) local(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home := variable(r.Environ, "HOME"); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.WorkDir, name)
}

// announce prints where and how the provisioner connects: which kinds of credentials it has, and unmarked
// settings.
func (r *remoteWork) announce(c *ssh.Connection) {
	r.Output("Connecting to remote host via SSH...")
	r.announceHost(&c.Target, "")
	r.Output(fmt.Sprintf("  SSH Agent: %t", c.Agent == ssh.AgentAlways || c.Agent == ssh.AgentIfAny && c.AgentSocket != ""))
	platform := "unix"
	if c.Windows {
		platform = "windows"
	}
	r.Output("  Target Platform: " + platform)
	if c.Proxy != nil {
		r.Output("Using configured proxy host...")
		r.Output("  Host: " + r.shown("proxy_host"))
	}
	if c.Bastion != nil {
		r.Output("Using configured bastion host...")
		r.announceHost(c.Bastion, "bastion_")
	}
}

// announceHost prints how a host is logged in to. prefix is the prefix of its arguments' names.
func (r *remoteWork) announceHost(h *ssh.Host, prefix string) {
	r.Output("  Host: " + r.shown(prefix+"host"))
	user := r.shown(prefix + "user")
	if user == "" && prefix != "" {
		user = r.shown("user")
	}
	if user == "" {
		user = h.Login()
	}
	r.Output("  User: " + user)
	for _, credential := range []struct {
		name  string
		given bool
	}{
		{"Password", h.Password.Given()},
		{"Private key", h.PrivateKey.Given()},
		{"Certificate", h.Certificate.Given()},
		{"Checking Host Key", h.HostKey.Given()},
	} {
		r.Output(fmt.Sprintf("  %s: %t", credential.name, credential.given))
	}
}

// shown returns an argument of the connection in a form that may be shown, or "" if it is not set.
func (r *remoteWork) shown(name string) string {
	v := r.Connection.GetAttr(name)
	if value.Contains(v, value.Sensitive) || value.Contains(v, value.Ephemeral) {
		return "(hidden)"
	}
	return text(r.Connection, name)
}

// failure describes an error; nil stays nil. If arguments or connection are secret, it shows only the exit
// status or the kind of problem.
func (r *remoteWork) failure(what, name string, err error) error {
	var exit *ssh.ExitError
	switch {
	case err == nil:
		return nil
	case r.secret != "" && errors.As(err, &exit):
		return fmt.Errorf("%s: %s. More is hidden for the same reason", r.secret, ssh.Public(err))
	case r.secret != "":
		return fmt.Errorf("%s: %s: %s. More is hidden for the same reason", r.secret, strings.ToLower(what), ssh.Public(err))
	case name != "":
		return fmt.Errorf("%s %q: %w", what, name, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
