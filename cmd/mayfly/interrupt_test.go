package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// arrival is a signal, and the time since the one before.
type arrival struct {
	after time.Duration
	sig   os.Signal
}

func TestInterruptsAreCounted(t *testing.T) {
	const intr, term, hup, quit = syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT
	var held []arrival
	for range 50 {
		held = append(held, arrival{30 * time.Millisecond, intr})
	}
	for name, test := range map[string]struct {
		signals []arrival
		want    int
	}{
		"none":                            {nil, 0},
		"one":                             {[]arrival{{0, intr}}, 1},
		"to the process and its group":    {[]arrival{{0, term}, {time.Millisecond, term}}, 1},
		"the same twice":                  {[]arrival{{0, term}, {time.Millisecond, term}, {time.Second, term}, {time.Millisecond, term}}, 2},
		"two keys":                        {[]arrival{{0, intr}, {time.Millisecond, quit}}, 2},
		"a key that is held":              {held, 1},
		"pressed twice":                   {[]arrival{{0, intr}, {300 * time.Millisecond, intr}}, 2},
		"a terminal that is closed":       {[]arrival{{0, hup}, {time.Millisecond, hup}, {3 * time.Second, hup}}, 1},
		"closed after an interrupt":       {[]arrival{{0, intr}, {time.Millisecond, hup}, {time.Second, hup}}, 2},
		"interrupted after it was closed": {[]arrival{{0, hup}, {time.Second, term}, {time.Millisecond, hup}}, 2},
		"three":                           {[]arrival{{0, intr}, {time.Second, intr}, {time.Second, quit}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var signals chan<- os.Signal
				var died os.Signal
				a := newApp(environment{Stderr: io.Discard, Notify: func(c chan<- os.Signal) func() {
					signals = c
					return func() {}
				}, Die: func(sig os.Signal) { died = sig }})
				hard, soft, stop := interruptible(t.Context(), a.signals)
				for _, s := range test.signals {
					time.Sleep(s.after)
					signals <- s.sig
					synctest.Wait()
				}
				got := 0
				for _, ended := range []bool{soft.Err() != nil, hard.Err() != nil, died != nil} {
					if ended {
						got++
					}
				}
				if got != test.want {
					t.Errorf("got %d interrupts, want %d", got, test.want)
				}
				if died != nil && died != test.signals[len(test.signals)-1].sig {
					t.Errorf("got an end by %v, want %v", died, test.signals[len(test.signals)-1].sig)
				}
				stop()
			})
		})
	}
}

// TestInterruptsAreNotHeldUp has a standard error, and a stream of messages, that nothing reads: what is to
// end must end all the same.
func TestInterruptsAreNotHeldUp(t *testing.T) {
	for _, json := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var signals chan<- os.Signal
			out := newStall()
			a := newApp(environment{Notify: func(c chan<- os.Signal) func() {
				signals = c
				return func() {}
			}})
			a.out.env.Stdout, a.out.env.Stderr = term.NewOutlet(out, a.out.patience.Over()), term.NewOutlet(out, a.out.patience.Over())
			if json {
				a.out.stream = view.NewJSONStream(a.out.env.Stdout, time.Now)
			}
			hard, soft, stop := interruptible(t.Context(), a.signals)
			signals <- os.Interrupt
			<-soft.Done()
			signals <- syscall.SIGTERM
			<-hard.Done()
			begun := time.Now()
			stop()
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("the end took %s", took)
			}
			out.goOn()
			a.out.env.Stdout.(*term.Outlet).Close()
			a.out.env.Stderr.(*term.Outlet).Close()
		})
	}
}

// stall is a pipe that is full: writing to it waits until its reader goes on.
type stall struct {
	full chan struct{}
	text bytes.Buffer
}

func newStall() *stall { return &stall{full: make(chan struct{})} }

func (s *stall) goOn() { close(s.full) }

func (s *stall) Write(p []byte) (int, error) {
	<-s.full
	return s.text.Write(p)
}

// TestInterruptAtPrompt interrupts where an answer is awaited. Nothing is under way, so nothing is said to be
// waited for.
func TestInterruptAtPrompt(t *testing.T) {
	const rounds = "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n for_each = toset([terraform_data.a.id])\n}\n"
	for name, test := range map[string]struct{ config, prompt, typed, want string }{
		"approval": {"output \"o\" { value = 1 }\n", "Enter a value:", "", "Interrupted before there was an answer. Nothing was changed."},
		"variable": {"variable \"v\" {}\n", "Enter a value:", "", "Interrupted before there was a value for var.v. Nothing was changed."},
		"round":    {rounds, "Plan: 1 to add, 0 to change, 0 to destroy.\n", "yes\n", "Interrupted before there was an answer. This round changed nothing."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			filetest.Write(t, "main.tf", test.config)
			typed, keys := io.Pipe()
			defer keys.Close()
			signals := make(chan chan<- os.Signal, 1)
			prompt := &watcher{text: test.prompt, seen: make(chan struct{})}
			go func() { _, _ = io.WriteString(keys, test.typed) }()
			var stderr bytes.Buffer
			env := environment{Stdin: typed, Stdout: prompt, Stderr: &stderr, Environ: os.Environ(), Notify: func(c chan<- os.Signal) func() {
				signals <- c
				return func() {}
			}}
			done := make(chan int, 1)
			go func() { done <- run(t.Context(), []string{"apply", "-converge"}, env) }()
			<-prompt.seen
			(<-signals) <- os.Interrupt
			if code := <-done; code != exitError {
				t.Errorf("exit status: got %d, want %d", code, exitError)
			}
			text := strings.Join(strings.Fields(stderr.String()), " ")
			if !strings.Contains(text, test.want) || strings.Contains(text, "under way") || strings.Count(text, "Error:") != 1 {
				t.Errorf("standard error: got\n%s\nwant one error with %q", stderr.String(), test.want)
			}
		})
	}
}

// watcher is a stream that tells when a text was written to it.
type watcher struct {
	text string
	seen chan struct{}
	got  strings.Builder
}

func (w *watcher) Write(p []byte) (int, error) {
	before := strings.Contains(w.got.String(), w.text)
	w.got.Write(p)
	if !before && strings.Contains(w.got.String(), w.text) {
		close(w.seen)
	}
	return len(p), nil
}
