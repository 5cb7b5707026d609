// Package logs writes the logs that environment variables ask for: TF_LOG, TF_LOG_CORE, TF_LOG_PROVIDER and
// TF_LOG_PATH, in the meaning that other engines of the ecosystem give them.
//
// It knows lines and levels. It must not know the authors of lines, nor delay them: unread lines are dropped.
package logs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// Settings say where logs go and which are wanted.
type Settings struct {
	Vars   map[string]string // the environment variables
	Stderr io.Writer         // where logs go without TF_LOG_PATH
	Over   <-chan struct{}   // closed when a log file that nothing reads, such as a pipe, may be given up
	Redact func(string) string
	// WhenKnown calls f once Redact knows all that the provider was asked for; nil if it always does.
	WhenKnown func(provider string, f func())
}

// Provider returns the receiver of providers' log lines; nil, which drops them, unless TF_LOG_PROVIDER or
// TF_LOG ask for them. They go to the file that TF_LOG_PATH names, else to standard error. Lines of a
// provider may contain secrets; ephemeral values are taken out. The receiver is safe for concurrent use; stop
// must be called when nothing logs any more.
func (s Settings) Provider() (log func(addr.Provider, string), stop func()) {
	write, stop := s.open("TF_LOG_PROVIDER")
	if write == nil {
		return nil, stop
	}
	h := holder{until: s.WhenKnown}
	return func(p addr.Provider, line string) {
		at := time.Now()
		h.hold(p.String(), func() { write(at, "provider.terraform-provider-"+p.Type, line) }, func(missing int64) {
			write(time.Now(), "mayfly", fmt.Sprintf("[WARN] %d lines of providers are missing here: they would have waited for answers with ephemeral values", missing))
		})
	}, stop
}

// Core returns the receiver of the engine's own log lines, which TF_LOG_CORE or TF_LOG ask for. They contain
// no values. stop is like Provider's.
func (s Settings) Core() (log func(string), stop func()) {
	write, stop := s.open("TF_LOG_CORE")
	if write == nil {
		return nil, stop
	}
	return func(line string) { write(time.Now(), "mayfly", line) }, stop
}

// level returns the level that a variable, or else TF_LOG, asks for; hclog.Off if neither asks for any. A
// word that names no level asks for everything.
func (s Settings) level(variable string) hclog.Level {
	asked := cmp.Or(s.Vars[variable], s.Vars["TF_LOG"])
	if asked == "" {
		return hclog.Off
	}
	if level := hclog.LevelFromString(asked); level != hclog.NoLevel {
		return level
	}
	return hclog.Trace // "json" is such a word
}

// open returns a function that writes log lines with their source, nil if the variable asks for none.
func (s Settings) open(variable string) (write func(at time.Time, source, line string), stop func()) {
	level := s.level(variable)
	if level == hclog.Off {
		return nil, func() {}
	}
	lines := &term.Log{Out: s.Stderr}
	stop = lines.Flush
	if path := s.Vars["TF_LOG_PATH"]; path != "" {
		f, err := safefile.Append(path)
		if err != nil {
			fmt.Fprintf(s.Stderr, "The log file of TF_LOG_PATH cannot be opened: %s\n", err)
		} else {
			lines.Out = term.NewOutlet(f, s.Over)
			stop = func() {
				lines.Flush()
				_ = f.Close() // losing the log does not fail the run
			}
		}
	}
	return func(at time.Time, source, line string) {
		of, text := parse(line)
		if of >= level {
			lines.Add(fmt.Sprintf("%s [%s] %s: %s\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), strings.ToUpper(of.String()), source, s.redacted(text)))
		}
	}, stop
}

// redacted returns a line without the values that must not be in a log.
func (s Settings) redacted(line string) string {
	if s.Redact == nil {
		return line
	}
	return s.Redact(line)
}

// parse returns the level and text of a line that a provider wrote: a JSON record of hclog, a line
// that begins with its level in brackets, or plain text, which counts as debug output.
func parse(line string) (hclog.Level, string) {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) == nil && fields["@message"] != nil {
		level := hclog.LevelFromString(fmt.Sprint(fields["@level"]))
		var text strings.Builder
		fmt.Fprint(&text, fields["@message"])
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if !strings.HasPrefix(name, "@") {
				fmt.Fprintf(&text, ": %s=%v", name, fields[name])
			}
		}
		return level, text.String()
	}
	if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "]"); ok && strings.HasPrefix(line, "[") {
		if level := hclog.LevelFromString(name); level != hclog.NoLevel {
			return level, strings.TrimSpace(rest)
		}
	}
	return hclog.Debug, line
}
