package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/pty"
)

// typist plays the user of a console on a terminal.
type typist struct {
	t       *testing.T
	master  *os.File
	slave   *os.File
	screen  *pty.Screen
	signals chan chan<- os.Signal
	done    chan int
	seen    int // how much of the screen was looked at
}

func startTypist(t *testing.T, args ...string) *typist {
	t.Helper()
	master, slave := pty.Open(t)
	p := &typist{t: t, master: master, slave: slave, screen: &pty.Screen{}, signals: make(chan chan<- os.Signal, 1), done: make(chan int, 1)}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			_, _ = p.screen.Write(buf[:n])
		}
	}()
	env := environment{Stdin: slave, Stdout: slave, Stderr: slave, Notify: func(c chan<- os.Signal) func() {
		p.signals <- c
		return func() {}
	}}
	go func() { p.done <- run(context.Background(), append([]string{"console", "-no-color"}, args...), env) }()
	p.sees("> ")
	return p
}

// sees waits for text that was not there when something was last seen.
func (p *typist) sees(text string) {
	p.t.Helper()
	at := -1
	for range 1000 {
		if at = strings.Index(p.screen.String()[p.seen:], text); at >= 0 {
			break
		}
		pause()
	}
	if at < 0 {
		p.t.Fatalf("the screen does not show %q:\n%q", text, p.screen.String()[p.seen:])
	}
	p.seen += at + len(text)
}

// types presses keys, and waits for what they bring to the screen, in order.
func (p *typist) types(keys string, want ...string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
	for _, text := range want {
		p.sees(text)
	}
}

func (p *typist) ends(want int) {
	p.t.Helper()
	if got := <-p.done; got != want {
		p.t.Errorf("exit status: got %d, want %d:\n%s", got, want, p.screen.String())
	}
	if !pty.Echoes(p.t, p.slave) {
		p.t.Error("the terminal stays raw")
	}
	if _, err := os.Stat(".terraform.tfstate.lock.info"); err == nil {
		p.t.Error("the state stays locked")
	}
}

const consoleConfig = `
terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}

ephemeral "keep_password" "p" {
  length = 40
}

variable "region" {
  default = "north"
}

locals {
  broken = tonumber("x${var.region}")
}
`

func consoleDir(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	filetest.Write(t, "main.tf", consoleConfig)
}

func TestConsoleAtATerminal(t *testing.T) {
	consoleDir(t)
	p := startTypist(t)
	p.types("1 + 1\r", "2\r\n", "> ")
	p.types("[1,\r", ". ")
	p.types("2]\r", "[\r\n  1,\r\n  2,\r\n]\r\n", "> ")
	p.types("<<E\r", ". ")
	p.types("exit\r", ". ")
	p.types("E\r", "<<EOT\r\nexit\r\n", "> ")
	p.types("local.broken\r", "Invalid function argument", "> ")
	p.types("local.broken\r", "Invalid function argument", "> ") // each time that it is needed
	p.types(strings.Repeat("\x1b[A", 7)+"\r", "2\r\n", "> ")
	p.types("var.r\t", "var.region")
	p.types("\r", `"north"`, "> ")
	p.types("base64s\t", "base64sha")
	p.types("\t", "base64sha256(  base64sha512(")
	p.types("\x03", "^C\r\n", "> ")
	p.types("(1 +\r", ". ")
	p.types("\x03", "^C\r\n", "> ")
	p.types("ephemeral.keep_password.p.result\r", "(ephemeral value)", "> ")
	p.types("help\r", "To leave", "> ")
	p.types("\r", "> ")
	p.types("  exit \r")
	p.ends(exitOK)
	if files, err := os.ReadDir("."); err != nil || len(files) != 1 {
		t.Errorf("files left behind: got %v, %v, want one", files, err)
	}
}

func TestConsoleEnds(t *testing.T) {
	for name, test := range map[string]struct {
		keys   string
		signal os.Signal
		want   int
	}{
		"with the end of input":   {keys: "\x04", want: exitOK},
		"with an interrupt":       {keys: "\x03", want: exitOK},
		"when it is told to end":  {signal: os.Interrupt, want: exitError},
		"in an open expression":   {keys: "[1,\r\x04", want: exitOK},
		"with exit in an opening": {keys: "[1,\rexit\r", want: exitOK},
	} {
		t.Run(name, func(t *testing.T) {
			consoleDir(t)
			p := startTypist(t)
			p.types("ephemeral.keep_password.p.result\r", "(ephemeral value)", "> ")
			if test.signal != nil {
				(<-p.signals) <- test.signal
			} else {
				p.types(test.keys)
			}
			p.ends(test.want)
		})
	}
}
