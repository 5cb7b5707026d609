// Command mutate takes single guards out of the program's code and reports those that no test misses: a
// statement that remembers, checks, redacts, synchronizes or closes, an operand of a condition, a call that
// returns its argument. Only the places in a list are mutated, with the tests that are named for each. A
// package is compiled once with all its mutants, and a file selects the one that runs. Of the tests only
// those that call its function run. The tree is not written to: the files reach the compiler through the
// option -overlay.
//
//	go run ./internal/mutate                     # all places in guards.txt, which takes an hour or more
//	go run ./internal/mutate -only safefile      # those below one directory, or in one file
//	go run ./internal/mutate -since HEAD~1       # places changed since a commit
//
// The exit status is 1 if a mutant survives that accepted.txt does not list with a reason, or if that
// file lists one that no longer survives, and 3 if the system cannot keep mutants from doing harm.
//
// It may import nothing of this module. It must not know the purpose of guards.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// options are the arguments of the command.
type options struct {
	guards, accepted string // files
	only             string // directory or file; "" for all
	match            string // pattern for the texts of mutants; "" for all
	since, diff      string // a commit, and a file with a diff; at most one of them
	errors           bool   // errors that are only passed on are guards too
	list             bool   // print the mutants and run nothing
	verbose          bool
	workers          int
	budget           time.Duration // 0 for none
}

func main() {
	var o options
	flag.StringVar(&o.guards, "guards", "internal/mutate/guards.txt", "`file` with the places to mutate and the tests for each")
	flag.StringVar(&o.accepted, "accepted", "internal/mutate/accepted.txt", "`file` with survivors that are known, and why")
	flag.StringVar(&o.only, "only", "", "mutate only this `directory` or file")
	flag.StringVar(&o.match, "match", "", "test only mutants whose lines in the output match a `pattern`")
	flag.StringVar(&o.since, "since", "", "mutate only what has changed since a `commit`")
	flag.StringVar(&o.diff, "diff", "", "mutate only what a `file` in the form of diff -U0 changes; - is standard input")
	flag.BoolVar(&o.errors, "errors", false, "also remove conditions that only pass on an error")
	flag.BoolVar(&o.list, "list", false, "print the mutants and run no test")
	flag.BoolVar(&o.verbose, "v", false, "print every mutant and what noticed it")
	flag.IntVar(&o.workers, "workers", 2, "how many mutants are tested at once")
	flag.DurationVar(&o.budget, "budget", 0, "start no test after this `time`; what is left out is counted")
	flag.Parse()
	status, err := start(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		status = toolFailed
		if errors.Is(err, errUnconfined) {
			status = 3
		}
	}
	os.Exit(status)
}

// toolFailed is the exit status if the tool fails. With 1, guards survive.
const toolFailed = 2

// errUnconfined is wrapped by errors about a system on which mutants cannot be kept from doing harm.
var errUnconfined = errors.New("mutants can only run where they can do no harm: on Linux, with a kernel that lets this user have a process and mount namespace")

// start runs the command in confinement, if it runs any test, and returns its exit status.
func start(o options) (int, error) {
	if !o.list {
		status, inside, err := confine()
		if err != nil || !inside {
			return status, err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, o, os.Stdin, os.Stdout)
	if err == nil && !ok {
		return 1, nil
	}
	return 0, err
}

// run carries out the command in the root of the module and reports whether every survivor is accepted and,
// if everything was tested, every accepted one survives.
func run(ctx context.Context, o options, in io.Reader, out io.Writer) (bool, error) {
	places, err := readGuards(o.guards)
	if err != nil {
		return false, err
	}
	known, err := readAccepted(o.accepted)
	if err != nil {
		return false, err
	}
	changed, err := changes(ctx, o, in)
	if err != nil {
		return false, err
	}
	all, broken, err := mutants(ctx, places, o, changed)
	if err != nil {
		return false, err
	}
	if o.list {
		for _, m := range all {
			fmt.Fprintln(out, m)
		}
		fmt.Fprintf(out, "%d mutants; %d more do not compile\n", len(all), broken)
		return true, nil
	}
	r := &runner{options: o, out: out, known: known}
	if err := r.run(ctx, all); err != nil {
		return false, err
	}
	whole := changed == nil && o.only == "" && o.match == "" && !o.errors
	r.stale(all, whole)
	fmt.Fprintf(out, "%d mutants: %d noticed, %d survived, of which %d are accepted; %d more do not compile\n", len(all), r.noticed, r.survived, r.accepted, broken)
	if r.left > 0 {
		fmt.Fprintf(out, "%d were left out when the time of %s was over\n", r.left, o.budget)
	}
	return r.survived == r.accepted && (r.outdated == 0 || !whole), nil // a slow machine may notice mutants that survive elsewhere
}

// changes returns the lines that are to be mutated, or nil for all.
func changes(ctx context.Context, o options, in io.Reader) (lineSet, error) {
	switch {
	case o.since != "" && o.diff != "":
		return nil, fmt.Errorf("-since and -diff exclude each other")
	case o.since != "":
		var text strings.Builder
		cmd := exec.CommandContext(ctx, "git", "diff", "-U0", "--no-color", "--no-ext-diff", "--relative", "--find-renames", "-l0", o.since, "--", "*.go")
		cmd.Stdout, cmd.Stderr = &text, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("comparing with %s: %w", o.since, err)
		}
		return readDiff(strings.NewReader(text.String()))
	case o.diff == "-":
		return readDiff(in)
	case o.diff != "":
		f, err := os.Open(o.diff)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readDiff(f)
	}
	return nil, nil
}
