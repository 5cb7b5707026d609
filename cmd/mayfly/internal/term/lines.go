package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	xterm "golang.org/x/term"
)

// ErrAbandoned is returned for lines that the person has given up.
var ErrAbandoned = errors.New("what was typed was abandoned")

// Lines is the source of the lines of a dialogue.
type Lines interface {
	// Line returns the next line without its end. more is set if it continues the lines before. It fails
	// with ErrNoAnswer at the end of input, with ErrAbandoned if the lines before are to be discarded,
	// and with ctx's cause if that ends first.
	Line(ctx context.Context, more bool) (string, error)
	// Interactive reports whether a person types the lines.
	Interactive() bool
}

// NewLines returns an editor of lines if in and out are a terminal that supports it, else the lines of
// piped, which reads in. The Tab key completes names.
func NewLines(in io.Reader, out io.Writer, piped *bufio.Reader, names func() []string) Lines {
	from, to := Of(in), Of(out)
	if from == nil || to == nil {
		return &pipedLines{in: piped}
	}
	return newTerminalLines(from, to, names())
}

// pipedLines reads from a file or pipe.
type pipedLines struct{ in *bufio.Reader }

// Line implements Lines.
func (p *pipedLines) Line(ctx context.Context, _ bool) (string, error) {
	return await(ctx, func() (string, error) { return line(p.in) })
}

// Interactive implements Lines.
func (p *pipedLines) Interactive() bool { return false }

// terminalLines edits lines on a terminal. The terminal is in raw mode only while a line is read, so that
// an interrupt key can end an evaluation.
type terminalLines struct {
	in, out  *os.File
	terminal *xterm.Terminal
	names    []string
	history  lineHistory

	given   atomic.Bool // the interrupt key was pressed in this line
	nothing atomic.Bool // and nothing was typed before it
}

func newTerminalLines(in, out *os.File, names []string) *terminalLines {
	l := &terminalLines{in: in, out: out, names: names}
	l.terminal = xterm.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keyReader{in: in}, out}, "")
	l.history.skip = l.given.Load
	l.terminal.History = &l.history
	l.terminal.AutoCompleteCallback = l.key
	return l
}

// Interactive implements Lines.
func (l *terminalLines) Interactive() bool { return true }

// Line implements Lines.
func (l *terminalLines) Line(ctx context.Context, more bool) (string, error) {
	if more {
		l.terminal.SetPrompt(". ")
	} else {
		l.terminal.SetPrompt("> ")
	}
	fd := int(l.in.Fd())
	before, err := xterm.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = xterm.Restore(fd, before) }() // nothing more can be done
	defer followSize(l.resize)()
	l.given.Store(false)
	text, err := await(ctx, l.terminal.ReadLine)
	if errors.Is(err, xterm.ErrPasteIndicator) {
		err = nil
	}
	if err != nil {
		_, _ = io.WriteString(l.out, "\r\n") // for the next text; a failure could not be shown either
	}
	switch {
	case errors.Is(err, io.EOF):
		return "", ErrNoAnswer
	case err != nil:
		return "", err
	case l.given.Load() && l.nothing.Load() && !more:
		return "", ErrNoAnswer
	case l.given.Load():
		return "", ErrAbandoned
	}
	return text, nil
}

// resize sets the width at which the line editor breaks lines.
func (l *terminalLines) resize() {
	if width, height, err := xterm.GetSize(int(l.out.Fd())); err == nil && width > 0 {
		_ = l.terminal.SetSize(width, height) // which writes to a terminal that the next line is written to anyway
	}
}

// keyReader replaces the interrupt key by keyInterrupt, about which the terminal asks key, and keyEnter.
const (
	keyInterrupt = '\x1d'
	keyEnter     = '\r'
)

// keyReader reads keys. The terminal would take the interrupt key for the end of input.
type keyReader struct {
	in      io.Reader
	pending []byte
}

// Read implements io.Reader.
func (k *keyReader) Read(b []byte) (int, error) {
	if len(k.pending) == 0 {
		chunk := make([]byte, len(b))
		n, err := k.in.Read(chunk)
		if n == 0 || err != nil {
			return 0, err
		}
		for _, c := range chunk[:n] {
			if c == '\x03' {
				k.pending = append(k.pending, keyInterrupt, keyEnter)
				continue
			}
			k.pending = append(k.pending, c)
		}
	}
	n := copy(b, k.pending)
	k.pending = k.pending[n:]
	return n, nil
}

// key is asked about keys that the terminal itself has no use for.
func (l *terminalLines) key(line string, pos int, key rune) (string, int, bool) {
	switch key {
	case keyInterrupt:
		l.nothing.Store(line == "")
		l.given.Store(true)
		return line + "^C", len(line) + 2, true
	case '\t':
		line, pos = l.complete(line, pos)
		return line, pos, true
	}
	return "", 0, false
}

// complete completes the name before the cursor as far as it is the same for all candidates, and shows these
// if it is complete so far.
func (l *terminalLines) complete(line string, pos int) (string, int) {
	start := pos
	for start > 0 && isNamePart(line[start-1]) {
		start--
	}
	word := line[start:pos]
	found := completions(l.names, word)
	if word == "" || len(found) == 0 {
		return line, pos
	}
	common := found[0]
	for _, name := range found {
		for !strings.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
	}
	if common == word && len(found) > 1 {
		_, _ = fmt.Fprintln(l.terminal, strings.Join(found, "  ")) // to the terminal that is typed on
		return line, pos
	}
	return line[:start] + common + line[pos:], start + len(common)
}

// isNamePart reports whether a character belongs to a name that is completed, such as module.a or
// provider::x::f.
func isNamePart(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == ':' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// completions returns the names that begin with word. Functions with their namespace count only if that was
// typed.
func completions(names []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, word) || strings.Contains(name, "::") && !strings.Contains(word, ":")
	})
}

// lineHistory keeps the lines typed in this run, in memory only.
type lineHistory struct {
	lines []string
	skip  func() bool
}

// maxHistory bounds the history.
const maxHistory = 1000

// Add implements xterm.History.
func (h *lineHistory) Add(entry string) {
	if strings.TrimSpace(entry) == "" || h.skip() || len(h.lines) > 0 && h.lines[len(h.lines)-1] == entry {
		return
	}
	if h.lines = append(h.lines, entry); len(h.lines) > maxHistory {
		h.lines = h.lines[1:]
	}
}

// Len implements xterm.History.
func (h *lineHistory) Len() int { return len(h.lines) }

// At implements xterm.History: 0 is the newest.
func (h *lineHistory) At(i int) string { return h.lines[len(h.lines)-1-i] }
