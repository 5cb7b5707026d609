// Command mayfly is the command line program: it plans and applies configurations, and looks after their
// state.
//
// Each command has a file of its own: its options, its calls of package workdir, and how the result is shown.
// Files that commands share, in reading order: run.go (the command line, up to the table of commands),
// change.go (plan, show, confirm, apply), session.go (the working directory and its sessions), command.go and
// flags.go (the elements of every command), streams.go and report.go (its output), input.go (variables,
// questions and standard input), and app.go (one run of the program).
//
// Code beyond options and calls is in a package below internal, or in a library: a command should be read in
// a minute. Options keep the names, the texts of errors keep the summaries, and lines keep the words that
// tools for other engines look for; docs/compatibility.md lists the differences.
//
// It may import everything of the module. Nothing imports it. Rendering is package view's: this program
// writes no plan, state or diagnostic by itself.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/harden"
)

// main runs the program and exits with its status.
func main() {
	harden.Process(os.Getenv)
	floor := makeFloor()
	// A reader that closes the output early, as head does, must not abort an apply. Output to a
	// closed pipe is lost, no more.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	endOnQuit()
	code := guarded(environment{Called: os.Args[0], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: harden.TakeEnviron(), Notify: notify, Die: die}, os.Args[1:])
	runtime.KeepAlive(floor)
	os.Exit(code)
}

// notify delivers the signals that ask the program to end to c until stop is called. At other times they
// end the process, as for any program.
func notify(c chan<- os.Signal) (stop func()) {
	asks := []os.Signal{os.Interrupt, syscall.SIGTERM}
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) { // nohup(1) ignores them to outlive the terminal
			asks = append(asks, sig)
		}
	}
	signal.Notify(c, asks...)
	notified.Add(1) // only while c gets the signals, or a SIGQUIT could be lost
	return func() {
		notified.Add(-1)
		signal.Stop(c)
	}
}

// notified is the number of channels that get signals from notify.
var notified atomic.Int32

// endOnQuit makes SIGQUIT end the process through die while no channel gets it from notify: before a run, and
// after it, when values are still in memory.
func endOnQuit() {
	if signal.Ignored(syscall.SIGQUIT) {
		return
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		for sig := range quit {
			if notified.Load() == 0 {
				die(sig)
			}
		}
	}()
}

// signalStatus is added to the number of a signal, as shells do, for the exit status of a program that it has
// ended.
const signalStatus = 128

// die ends the process by the signal itself, so that the parent process sees which signal ended it.
func die(sig os.Signal) {
	if sig == syscall.SIGQUIT { // Go's runtime answers it with stack traces, in which the arguments are words of memory
		os.Exit(signalStatus + int(syscall.SIGQUIT))
	}
	signal.Reset(sig)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
		time.Sleep(time.Second) // until the signal arrives
	}
	os.Exit(exitError) // without signals, or if this one was ignored when the program started, as by nohup(1)
}

// guarded runs the program and recovers from a panic. Deferred calls have ended providers and released locks
// by then. Only the type of the panic's value and the places are shown, since the value may contain a secret.
func guarded(env environment, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(env.Stderr, "\nMayfly has crashed: this is a bug. A %T was raised at:\n\n%s\nPlease report it with the lines above; they hold no values.\n", r, places(debug.Stack()))
			code = exitCrash
		}
	}()
	return run(context.Background(), args, env)
}
