package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// errNoAnswer is returned by ask when there is nobody to answer.
var errNoAnswer = errors.New("there is no input")

// question is what a person is asked.
type question struct {
	Title, Text string
	Secret      bool // don't show what is typed
}

// ask shows a question and returns the line typed. It fails with errNoAnswer at the end of input and with
// ctx's error if that ends first.
func (a *app) ask(ctx context.Context, q question) (string, error) {
	if a.stream != nil {
		return "", errNoAnswer // what is written is for programs
	}
	a.asking.Store(true)
	defer a.asking.Store(false)
	out := a.env.Stdout
	fmt.Fprintf(out, "%s\n", a.bold(q.Title))
	if q.Text != "" {
		fmt.Fprintf(out, "%s\n", indent(q.Text, "  "))
	}
	fmt.Fprintf(out, "\n  %s ", a.bold("Enter a value:"))
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	restore := a.rememberTerminal()
	go func() {
		text, err := a.readLine(q.Secret)
		answered <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		restore()
		fmt.Fprintln(out)
		return "", context.Cause(ctx)
	case got := <-answered:
		fmt.Fprintln(out)
		if q.Secret || got.err != nil {
			fmt.Fprintln(out)
		}
		return got.text, got.err
	}
}

func (a *app) bold(s string) string {
	if !a.view.Color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// rememberTerminal returns a function that sets the terminal as it is now: hidden typing that is interrupted
// must not leave it silent.
func (a *app) rememberTerminal() func() {
	f, ok := a.env.Stdin.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) } // nothing more can be done
}

func (a *app) readLine(secret bool) (string, error) {
	if f, ok := a.env.Stdin.(*os.File); ok && secret && term.IsTerminal(int(f.Fd())) {
		line, err := term.ReadPassword(int(f.Fd()))
		if errors.Is(err, io.EOF) {
			return "", errNoAnswer
		}
		return string(line), err
	}
	return line(a.in)
}

// line reads a line without its end. The end of input counts as one unless there is nothing before it.
func line(in *bufio.Reader) (string, error) {
	text, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		if text == "" {
			return "", errNoAnswer
		}
		err = nil
	}
	return strings.TrimRight(text, "\r\n"), err
}
