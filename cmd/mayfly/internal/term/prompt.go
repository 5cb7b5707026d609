package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	xterm "golang.org/x/term"
)

// ErrNoAnswer is returned if the input has ended before an answer.
var ErrNoAnswer = errors.New("there is no input")

// Question is a question for a person.
type Question struct {
	Title, Text string
	Secret      bool   // don't show the typed text
	Spared      string // a sentence on the things that an interrupt leaves as they are; "" for all
}

// Prompt asks the person at standard input. It may ask one question at a time.
type Prompt struct {
	Stdin io.Reader     // whose echo is switched off for secrets, if it is a terminal
	In    *bufio.Reader // of Stdin, which others may read too
	Out   io.Writer
	Bold  func(string) string // emphasizes a text

	asking atomic.Bool
}

// Asking reports whether a question waits for its answer. It is safe for concurrent use.
func (p *Prompt) Asking() bool { return p.asking.Load() }

// Ask shows a question and returns the line typed. It fails with ErrNoAnswer at the end of input and with
// ctx's cause if that ends first.
func (p *Prompt) Ask(ctx context.Context, q Question) (string, error) {
	p.asking.Store(true)
	defer p.asking.Store(false)
	fmt.Fprintf(p.Out, "%s\n", p.Bold(q.Title))
	if q.Text != "" {
		fmt.Fprintf(p.Out, "  %s\n", strings.ReplaceAll(q.Text, "\n", "\n  "))
	}
	fmt.Fprintf(p.Out, "\n  %s ", p.Bold("Enter a value:"))
	restore := p.rememberTerminal()
	text, err := await(ctx, func() (string, error) { return p.readLine(q.Secret) })
	if ctx.Err() != nil {
		restore()
	}
	fmt.Fprintln(p.Out)
	if ctx.Err() == nil && (q.Secret || err != nil) {
		fmt.Fprintln(p.Out)
	}
	return text, err
}

// rememberTerminal returns a function that restores the terminal's current mode: an interrupt while a
// secret is typed must not leave the echo switched off.
func (p *Prompt) rememberTerminal() func() {
	f, ok := p.Stdin.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := xterm.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = xterm.Restore(int(f.Fd()), state) } // nothing more can be done
}

func (p *Prompt) readLine(secret bool) (string, error) {
	if f := Of(p.Stdin); f != nil && secret {
		text, err := xterm.ReadPassword(int(f.Fd()))
		if errors.Is(err, io.EOF) {
			return "", ErrNoAnswer
		}
		return string(text), err
	}
	return line(p.In)
}

// line reads a line without its end. Text before the end of input counts as a line.
func line(in *bufio.Reader) (string, error) {
	text, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		if text == "" {
			return "", ErrNoAnswer
		}
		err = nil
	}
	return strings.TrimRight(text, "\r\n"), err
}

// await returns the result of get, or ctx's cause if ctx ends first; get then continues in the background,
// because a blocked read cannot be cancelled.
func await(ctx context.Context, get func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := get()
		got <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-got:
		return a.text, a.err
	}
}
