package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/remote"
	"github.com/mayfly-iac/mayfly/value"
)

// remoteWork is one provisioner at work on another machine. On what occasion is not its business.
type remoteWork struct {
	*walk
	obj    addr.Object
	action plan.Action // of the change that the provisioner is part of, for events
	typ    string      // of the provisioner
	hidden string      // shown in place of output and in errors; "" to show everything
	conn   cty.Value   // the connection, known, with its marks
}

// execute carries the provisioner out. args are known and free of marks. With hidden set, the error has nothing of arguments, connection and output.
func (r *remoteWork) execute(args cty.Value) error {
	plain, _ := r.conn.UnmarkDeep()
	c := connection(plain, r.opt.Environ)
	// The first interrupt ends connecting and uploading, and asks a command to end.
	soft, cancel := context.WithCancel(r.ctx)
	defer cancel()
	defer context.AfterFunc(r.soft, cancel)()
	if r.typ == "remote-exec" {
		r.announce(c)
	}
	client, err := remote.Dial(soft, c, func(reason string) { r.line("No connection yet, trying again: " + reason) })
	if err != nil {
		return r.failure("Error connecting", "", err)
	}
	defer client.Close()
	if r.typ == "file" {
		return r.failure("Error uploading", "", r.upload(soft, client, args))
	}
	r.line("Connected!")
	return r.runScripts(soft, client, c, args)
}

// runScripts runs the inline commands or the scripts in order, until one fails.
func (r *remoteWork) runScripts(soft context.Context, client *remote.Client, c *remote.Connection, args cty.Value) error {
	told := false
	sink := func(line string) {
		if r.hidden == "" {
			r.line(line)
		} else if !told {
			told = true
			r.line(r.hidden)
		}
	}
	if inline := args.GetAttr("inline"); !inline.IsNull() {
		return r.failure("Error running the inline script", "", client.RunScript(r.ctx, soft, inlineScript(inline, c.Windows), sink))
	}
	for _, name := range scriptNames(args) {
		text, err := os.ReadFile(r.local(name))
		if err != nil {
			return r.failure("Error reading the script", name, err)
		}
		if err := client.RunScript(r.ctx, soft, string(text), sink); err != nil {
			return r.failure("Error running the script", name, err)
		}
	}
	return nil
}

// inlineScript joins commands into one script. The shell is that of the first line, if it names one.
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
		if home := variable(r.opt.Environ, "HOME"); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.opt.WorkDir, name)
}

// announce says where the provisioner connects to and how: which credentials it has, and no value that has a mark.
func (r *remoteWork) announce(c *remote.Connection) {
	r.line("Connecting to remote host via SSH...")
	r.announceHost(&c.Target, "")
	r.line(fmt.Sprintf("  SSH Agent: %t", c.Agent == remote.AgentAlways || c.Agent == remote.AgentIfAny && c.AgentSocket != ""))
	r.line("  Target Platform: " + map[bool]string{false: "unix", true: "windows"}[c.Windows])
	if c.Proxy != nil {
		r.line("Using configured proxy host...")
		r.line("  Host: " + r.shown("proxy_host"))
	}
	if c.Bastion != nil {
		r.line("Using configured bastion host...")
		r.announceHost(c.Bastion, "bastion_")
	}
}

func (r *remoteWork) announceHost(h *remote.Host, prefix string) {
	r.line("  Host: " + r.shown(prefix+"host"))
	user := r.shown(prefix + "user")
	if user == "" && prefix != "" {
		user = r.shown("user")
	}
	if user == "" {
		user = h.Login()
	}
	r.line("  User: " + user)
	for _, credential := range []struct {
		name  string
		given bool
	}{
		{"Password", h.Password.Given()},
		{"Private key", h.PrivateKey.Given()},
		{"Certificate", h.Certificate.Given()},
		{"Checking Host Key", h.HostKey.Given()},
	} {
		r.line(fmt.Sprintf("  %s: %t", credential.name, credential.given))
	}
}

// shown returns an argument of the connection as it may be shown, "" if it is not set.
func (r *remoteWork) shown(name string) string {
	v := r.conn.GetAttr(name)
	if value.Contains(v, value.Sensitive) || value.Contains(v, value.Ephemeral) {
		return "(hidden)"
	}
	return text(r.conn, name)
}

func (r *remoteWork) line(text string) {
	r.output(Event{Kind: Output, Op: OpProvision, Object: r.obj, Action: r.action, Provisioner: r.typ, Line: text})
}

// failure describes an error; nil stays nil. With secrets in arguments or connection, only the exit status or the kind of problem is told.
func (r *remoteWork) failure(what, name string, err error) error {
	var exit *remote.ExitError
	switch {
	case err == nil:
		return nil
	case r.hidden != "" && errors.As(err, &exit):
		return fmt.Errorf("%s: %s. More is hidden for the same reason", r.hidden, remote.Public(err))
	case r.hidden != "":
		return fmt.Errorf("%s: %s: %s. More is hidden for the same reason", r.hidden, strings.ToLower(what), remote.Public(err))
	case name != "":
		return fmt.Errorf("%s %q: %w", what, name, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
