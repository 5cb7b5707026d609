package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/pty"
)

// eventually waits for a condition that another goroutine or the kernel brings about.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for range 500 {
		if cond() {
			return
		}
		pause()
	}
	t.Fatalf("never: %s", what)
}

// pause gives others the time to do something.
func pause() { time.Sleep(10 * time.Millisecond) }

const secretVariable = `
variable "password" {
  ephemeral = true
}
`

// TestE5 checks that what is typed for an ephemeral variable is not echoed, and that the terminal echoes
// again afterwards.
func TestE5(t *testing.T) {
	for name, test := range map[string]struct {
		typed, interrupts string
		want              int
	}{
		"answered":    {typed: "correct-horse\n", want: exitOK},
		"interrupted": {interrupts: "x", want: exitError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			filetest.Write(t, "main.tf", secretVariable)
			master, slave := pty.Open(t)
			var stdout, stderr pty.Screen
			signals := make(chan chan<- os.Signal, 1)
			env := environment{Stdin: slave, Stdout: &stdout, Stderr: &stderr, Environ: os.Environ(), Notify: func(c chan<- os.Signal) func() {
				signals <- c
				return func() {}
			}}
			done := make(chan int, 1)
			go func() { done <- run(context.Background(), []string{"plan"}, env) }()
			eventually(t, "the terminal is silent", func() bool {
				return strings.Contains(stdout.String(), "Enter a value:") && !pty.Echoes(t, slave)
			})
			if test.interrupts != "" {
				(<-signals) <- os.Interrupt
			}
			if _, err := master.WriteString(test.typed); err != nil {
				t.Fatal(err)
			}
			if got := <-done; got != test.want {
				t.Fatalf("exit status: got %d, want %d\n%s%s", got, test.want, stdout.String(), stderr.String())
			}
			if !pty.Echoes(t, slave) {
				t.Error("the terminal stays silent")
			}
			if !strings.Contains(stdout.String(), "var.password (ephemeral)\n") {
				t.Errorf("asked:\n%s", stdout.String())
			}
			if strings.Contains(stdout.String()+stderr.String(), "correct-horse") {
				t.Error("the program repeats what was typed")
			}
		})
	}
}

// TestE6_AskedForOnATerminal checks that what a saved plan needs again is asked for, without echo.
func TestE6_AskedForOnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, "main.tf", secretVariable+"\noutput \"o\" {\n  value = 1\n}\n")
	master, slave := pty.Open(t)
	var stdout, stderr pty.Screen
	env := environment{Stdin: slave, Stdout: &stdout, Stderr: &stderr, Environ: os.Environ(), Notify: func(chan<- os.Signal) func() { return func() {} }}
	if got := run(context.Background(), []string{"plan", "-out=p", "-var=password=at-plan"}, env); got != exitOK || strings.Contains(stdout.String(), "Enter a value") {
		t.Fatalf("exit status: got %d, want %d\n%s%s", got, exitOK, stdout.String(), stderr.String())
	}
	done := make(chan int, 1)
	go func() { done <- run(context.Background(), []string{"apply", "p"}, env) }()
	eventually(t, "the terminal is silent", func() bool {
		return strings.Contains(stdout.String(), "Enter a value:") && !pty.Echoes(t, slave)
	})
	if _, err := master.WriteString("correct-horse\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != exitOK {
		t.Fatalf("exit status: got %d, want %d\n%s%s", got, exitOK, stdout.String(), stderr.String())
	}
	if !strings.Contains(stdout.String(), "var.password (ephemeral)\n") || strings.Contains(stdout.String()+stderr.String(), "correct-horse") {
		t.Errorf("asked:\n%s", stdout.String())
	}
}

// TestE5_AskedAgain checks that an answer which fails the validation is reported without what was typed, and
// that the question comes again before the next one, three times at most.
func TestE5_AskedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		typed        []string
		want, failed int
	}{
		"corrected":   {typed: []string{"canary-a", "canary-b", "canary-long-enough", "next"}, want: exitOK, failed: 2},
		"never right": {typed: []string{"canary-a", "canary-b", "canary-c"}, want: exitError, failed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			filetest.Write(t, "main.tf", `
variable "a" {
  ephemeral = true
  validation {
    condition     = length(var.a) > 10
    error_message = "Too short."
  }
}
variable "b" {
  sensitive = true
}
`)
			master, slave := pty.Open(t)
			var stdout, stderr pty.Screen
			env := environment{Stdin: slave, Stdout: &stdout, Stderr: &stderr, Environ: os.Environ(), Notify: func(chan<- os.Signal) func() { return func() {} }}
			done := make(chan int, 1)
			go func() { done <- run(context.Background(), []string{"plan", "-html=page.html"}, env) }()
			for i, text := range test.typed {
				eventually(t, "the terminal is silent", func() bool {
					return strings.Count(stdout.String(), "Enter a value:") == i+1 && !pty.Echoes(t, slave)
				})
				if _, err := master.WriteString(text + "\n"); err != nil {
					t.Fatal(err)
				}
			}
			if got := <-done; got != test.want {
				t.Fatalf("exit status: got %d, want %d\n%s%s", got, test.want, stdout.String(), stderr.String())
			}
			if got := strings.Count(stderr.String(), "Too short."); got != test.failed {
				t.Errorf("reported %d times, want %d:\n%s", got, test.failed, stderr.String())
			}
			page, _ := os.ReadFile("page.html")
			if bytes.Contains(page, []byte("Too short.")) != (test.want != exitOK) {
				t.Errorf("page: got\n%s\nwant it to say that the answer was too short: %t", page, test.want != exitOK)
			}
			if strings.Contains(stdout.String()+stderr.String()+string(page), "canary") {
				t.Error("the program repeats what was typed")
			}
		})
	}
}
