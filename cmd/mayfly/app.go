package main

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/interrupt"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/workdir"
)

// version is the product's own version; release builds set it.
var version = "0.1.0-dev"

// The exit statuses that scripts know.
const (
	exitOK      = 0
	exitError   = 1
	exitChanges = 2   // plan -detailed-exitcode: there are changes
	exitNoVerb  = 127 // no command was given
)

// environment is a run's access to the world outside, so that tests can run the whole program in their own
// process. The working directory is missing from it because it belongs to the process, and -chdir changes it.
type environment struct {
	Called         string // the path or name by which the program was started
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // entries of the form name=value
	// Notify delivers interrupt signals to c until stop is called.
	Notify func(c chan<- os.Signal) (stop func())
	// Die ends the process as the signal would have without Notify.
	Die func(os.Signal)

	vars map[string]string // Environ by name; nil until the app is made
	// compatible is the engine that the user wants programs to take this one for, zero for no choice.
	compatible mayfly.Engine
}

// dependencies are shared by all commands. A command with several steps has them all; functions without a
// receiver are passed the ones that they use.
type dependencies struct {
	out     *output
	in      *input
	wd      *workingDir
	signals interrupt.Source
}

// app is one run of the program: its command line, and the dependencies of commands.
type app struct {
	dependencies
	// code is the exit status, set by the command.
	code int
}

// newApp returns the run of a program in an environment.
func newApp(env environment) *app {
	env.vars = map[string]string{}
	for _, kv := range env.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env.vars[name] = value
		}
	}
	out := &output{env: env, leaks: leak.New(), sources: func() document.Sources { return nil }}
	in := &input{out: out, stdin: bufio.NewReader(env.Stdin)}
	return &app{dependencies: dependencies{out, in, &workingDir{out: out, in: in, user: workdir.NewUser(env.Environ)}, interrupt.Source{
		Notify: env.Notify, Die: env.Die, Announce: out.notice, Interrupted: func() bool {
			out.patience.Interrupt()
			return in.prompt.Asking()
		},
	}}}
}
