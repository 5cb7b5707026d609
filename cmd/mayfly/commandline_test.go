package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
)

// FuzzCommandLine has any words and any TF_CLI_ARGS interpreted, by commands that do nothing: each line ends
// with a command, the help or an error that says something.
func FuzzCommandLine(f *testing.F) {
	for _, line := range [][2]string{
		{"plan\x00-out=x", ""},
		{"apply\x00-var\x00a=b\x00-var=c=d\x00x", "-lock=false"},
		{"-help", ""},
		{"-version\x00-json", ""},
		{"state\x00mv\x00-dry-run\x00a\x00b", "-no-color"},
		{"workspace\x00select\x00-or-create\x00x", ""},
		{"plan\x00-parallelism=x", ""},
		{"plan\x00-=", "'"},
		{"-pedantic\x00validate", "\\"},
		{"state\x00-help\x00list", "-help"},
		{"--", ""},
		{"plan\x00-lock-timeout=9999999999999h", ""},
		{"force-unlock\x00-force\x00--\x00-x", ""},
		{"", "plan"},
	} {
		f.Add(line[0], line[1])
	}
	f.Chdir(f.TempDir())
	cli.HelpPrinter = usage.Print
	f.Fuzz(func(t *testing.T, line, extra string) {
		args := strings.Split(line, "\x00")
		if strings.Contains(line, "chdir") || strings.HasPrefix(args[0], "__complete") {
			return // the directory is the process's; completion has a fuzzer of its own
		}
		var out bytes.Buffer
		a := newApp(environment{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: []string{"TF_CLI_ARGS=" + extra}})
		a.out.env.Stdout = term.NewOutlet(&out, a.out.patience.Over())
		ran := false
		err := a.interpret(t.Context(), idle(a.root(), &ran), args)
		_ = a.out.env.Stdout.(*term.Outlet).Close()
		if err != nil && strings.TrimSpace(err.Error()) == "" || err == nil && !ran && out.Len() == 0 {
			t.Errorf("%q with %q: nothing is said: %v", args, extra, err)
		}
	})
}

// idle returns a table of commands in which those that do something only note that they were called.
func idle(c *cli.Command, ran *bool) *cli.Command {
	for _, sub := range c.Commands {
		idle(sub, ran)
	}
	if len(c.Commands) == 0 {
		c.Action = func(context.Context, *cli.Command) error {
			*ran = true
			return nil
		}
	}
	return c
}
