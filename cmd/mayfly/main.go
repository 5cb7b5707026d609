// Command mayfly is the command line program: it plans and applies configurations, and looks after their state.
//
// One file per command; what they share is, from the outside in: app (one run of the program: streams, environment, command table), flags,
// report and prompt (what is said and asked), variables (values of input variables from all their routes), directory (what init has set up),
// backend (where the state is), session (a project with its state locked), and changeRun (plan, show, confirm, apply).
//
// It may import everything of the module. Nothing imports it. Rendering is package view's: this program writes no plan, state or diagnostic
// by itself.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
)

// floor is memory that is never touched, so that the system never provides it. The collector takes it for live, which spares small runs most of
// the collections that a heap of a few megabytes is otherwise due. Commands that read nothing do without: making it makes the collector run.
var floor []byte

// raiseFloor makes the floor, once.
var raiseFloor = sync.OnceFunc(func() { floor = make([]byte, 32<<20) })

func main() {
	// A reader of the output that goes away, as head does, must not tear an apply apart. What is then written to nobody is lost, no more.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	code := guarded(environment{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Notify: notify}, os.Args[1:])
	runtime.KeepAlive(floor)
	os.Exit(code)
}

// notify delivers interrupts to c until stop is called. Before and after, an interrupt ends the process, as for any program.
func notify(c chan<- os.Signal) (stop func()) {
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return func() { signal.Stop(c) }
}

// guarded runs the program and survives a panic of it. Deferred calls on the way here have ended providers and released locks. The panic's
// value may hold anything, a secret too, so only the places are shown.
func guarded(env environment, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(env.Stderr, "\nMayfly has crashed: this is a bug. A %T was raised at:\n\n%s\nPlease report it with the lines above; they hold no values.\n", r, places(debug.Stack()))
			code = exitCrash
		}
	}()
	return run(context.Background(), args, env)
}
