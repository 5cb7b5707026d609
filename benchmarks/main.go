// Command benchmarks does the same work with one engine or several and prints the cost: processor time, time,
// memory, provider calls and bytes.
//
//	go run ./benchmarks -binary ./mayfly -vs tofu
//	go run ./benchmarks -binary ./mayfly -shape 'for_each|count' -n 500,1000 -kind plugin
//
// Each engine is any program with the commands and files of the ecosystem. They alternate, command by
// command, so that whatever else the machine does meets both. The provider is this program itself: it counts
// its calls.
//
// It may import the packages below it. It must not know the engine otherwise than as a program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
)

// settings are the options of the command line.
type settings struct {
	binaries []string // the others are compared with the first one
	shapes   *regexp.Regexp
	sizes    []int // instead of the table's
	kinds    []work.Kind
	timeout  time.Duration
	repeat   int
	dir      string
}

func main() {
	if strings.HasPrefix(filepath.Base(os.Args[0]), provider.Program) {
		if err := provider.Serve(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s\n", provider.Program, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	todo := jobs(s)
	if len(todo) == 0 {
		return errors.New("no kind of work has such a -shape and -kind; -list lists them")
	}
	dir, err := os.MkdirTemp(s.dir, "benchmarks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := newBench(s, dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.counts)
	t := newTable(os.Stdout, s.binaries)
	for _, j := range todo {
		if err := b.do(ctx, j, t); err != nil {
			return err
		}
	}
	if err := t.end(); err != nil {
		return err
	}
	if b.failures > 0 {
		return fmt.Errorf("commands that have failed: %d", b.failures)
	}
	return nil
}

func parse(args []string) (settings, error) {
	f := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	binary := f.String("binary", "", "the engine to measure (required)")
	vs := f.String("vs", "", "engines to compare it with, separated by commas")
	shapes := f.String("shape", ".", "regular expression: which kinds of work; -list lists them")
	sizes := f.String("n", "", "sizes, separated by commas, instead of those of the table")
	kinds := f.String("kind", "", "terraform_data or plugin; both by default, where the table has them")
	timeout := f.Duration("timeout", 5*time.Minute, "end a command that takes longer")
	repeat := f.Int("repeat", 1, "do everything this number of times and show the best run: the one with the least processor time or, if the time has a bound, the least time")
	dir := f.String("dir", "", "work in this directory; the system's for temporary files by default")
	list := f.Bool("list", false, "list the kinds of work and stop")
	if err := f.Parse(args); err != nil {
		return settings{}, err
	}
	if *list {
		for _, l := range legend() {
			fmt.Println(l)
		}
		os.Exit(0)
	}
	s := settings{timeout: *timeout, repeat: max(1, *repeat), dir: *dir}
	for _, name := range append([]string{*binary}, strings.Split(*vs, ",")...) {
		if name == "" {
			continue
		}
		path, err := executable(name)
		if err != nil {
			return s, err
		}
		s.binaries = append(s.binaries, path)
	}
	if *binary == "" {
		return s, fmt.Errorf("-binary is required: the path of an engine")
	}
	var err error
	if s.shapes, err = regexp.Compile("^(?:" + *shapes + ")"); err != nil {
		return s, fmt.Errorf("-shape: %w", err)
	}
	for n := range strings.SplitSeq(*sizes, ",") {
		if n == "" {
			continue
		}
		size, err := strconv.Atoi(n)
		if err != nil || size < 1 {
			return s, fmt.Errorf("-n: %q is not a size", n)
		}
		s.sizes = append(s.sizes, size)
	}
	for _, k := range []work.Kind{work.Builtin, work.Plugin} {
		if *kinds == "" || *kinds == k.Name {
			s.kinds = append(s.kinds, k)
		}
	}
	if len(s.kinds) == 0 {
		return s, fmt.Errorf("-kind: %q is neither %s nor %s", *kinds, work.Builtin.Name, work.Plugin.Name)
	}
	return s, nil
}
