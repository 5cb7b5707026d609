package plugin

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Bounds of the kept output: lines for an error, the width of each in characters, and the bytes of a line
// after which it is cut.
const (
	tailLines    = 20
	tailWidth    = 300
	longestLine  = 64 << 10
	tailContinue = "..."
)

// tail receives the standard error of a plugin, passes the lines on, and keeps the last of them for error
// messages. Lines in the log format of plugins are not kept: unlike the last words of a dying process, they
// may quote requests.
type tail struct {
	sink func(line string)
	// A plugin has two standard errors: one of its process and, once it serves, a stream in the protocol,
	// which replaces the first for the plugin's own code. The runtime and loggers still use the first. The
	// lines of both must not be mixed.
	direct, synced lineWriter

	mu      sync.Mutex
	recent  []string
	inPanic bool // recent begins with the first line of a panic and is not shortened any more
}

// newTail returns a tail that calls sink, which may be nil, with every line.
func newTail(sink func(line string)) *tail {
	t := &tail{sink: sink}
	t.direct.emit, t.synced.emit = t.line, t.line
	return t
}

// lineWriter splits its input into lines.
type lineWriter struct {
	emit    func(line string)
	mu      sync.Mutex
	partial []byte
}

// Write implements io.Writer. It never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		line, rest, found := bytes.Cut(p, []byte{'\n'})
		w.partial = append(w.partial, line...)
		if found || len(w.partial) > longestLine {
			w.emit(strings.TrimSuffix(string(w.partial), "\r"))
			w.partial = w.partial[:0]
		}
		p = rest
	}
	return n, nil
}

// unfinished returns the last line if it is incomplete.
func (w *lineWriter) unfinished() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.partial)
}

// line handles a complete line. Once a panic begins, the first lines are kept rather than the last ones:
// they have its message and where it happened.
func (t *tail) line(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sink != nil {
		t.sink(line)
	}
	if strings.TrimSpace(line) == "" || isLogEntry(line) {
		return
	}
	if !t.inPanic && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		t.inPanic, t.recent = true, nil
	}
	if len(t.recent) == tailLines {
		if t.inPanic {
			return
		}
		t.recent = t.recent[1:]
	}
	t.recent = append(t.recent, printable(line))
}

// isLogEntry reports whether a line is in the log format of plugins: a JSON object.
func isLogEntry(line string) bool {
	return strings.HasPrefix(line, "{") && json.Valid([]byte(line))
}

// printable cuts a line to a reasonable width and replaces characters that could confuse a terminal.
func printable(line string) string {
	line = strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, line)
	if r := []rune(line); len(r) > tailWidth {
		line = string(r[:tailWidth]) + tailContinue
	}
	return line
}

// text returns the kept lines as the end of an error message, or "".
func (t *tail) text() string {
	last := t.direct.unfinished()
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := slices.Clone(t.recent)
	if last != "" && len(lines) < tailLines && !strings.HasPrefix(last, "{") {
		lines = append(lines, printable(last))
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n\nThe provider's last messages:\n  " + strings.Join(lines, "\n  ")
}
