package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/safefile"
)

// providerLog returns the receiver of providers' log lines; nil, which drops them, unless TF_LOG_PROVIDER
// or TF_LOG ask for them. They go to the file that TF_LOG_PATH names, else to standard error. What a
// provider writes there is not filtered and may contain secrets.
func (a *app) providerLog() (log func(addr.Provider, string), stop func()) {
	write, stop := a.logTo(a.vars["TF_LOG_PROVIDER"])
	if write == nil {
		return nil, stop
	}
	return func(p addr.Provider, line string) { write("provider.terraform-provider-"+p.Type, line) }, stop
}

// coreLog returns the receiver of the engine's own log lines, which TF_LOG_CORE or TF_LOG ask for. They hold
// no values.
func (a *app) coreLog() (log func(string), stop func()) {
	write, stop := a.logTo(a.vars["TF_LOG_CORE"])
	if write == nil {
		return nil, stop
	}
	return func(line string) { write("mayfly", line) }, stop
}

// logTo returns a function that writes log lines with their source, at the level asked for or else that of
// TF_LOG; nil if neither asks for any.
func (a *app) logTo(asked string) (write func(source, line string), stop func()) {
	if asked == "" {
		asked = a.vars["TF_LOG"]
	}
	if strings.EqualFold(asked, "json") {
		asked = "trace"
	}
	level := hclog.LevelFromString(asked)
	if asked == "" || level == hclog.Off {
		return nil, func() {}
	}
	if level == hclog.NoLevel {
		level = hclog.Trace
	}
	lines := &term.Log{Out: a.env.Stderr}
	stop = lines.Flush
	if path := a.vars["TF_LOG_PATH"]; path != "" {
		f, err := safefile.Append(path)
		if err != nil {
			fmt.Fprintf(a.env.Stderr, "The log file of TF_LOG_PATH cannot be opened: %s\n", err)
		} else {
			lines.Out = term.NewOutlet(f, a.patience.Over())
			stop = func() {
				lines.Flush()
				_ = f.Close() // losing the log does not fail the run
			}
		}
	}
	return func(source, line string) {
		at, text := parseLogLine(line)
		if at < level {
			return
		}
		lines.Add(fmt.Sprintf("%s [%s] %s: %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), strings.ToUpper(at.String()), source, text))
	}, stop
}

// parseLogLine returns the level and text of a line that a provider wrote: a JSON record of hclog, a line
// that begins with its level in brackets, or plain text, which counts as debug output.
func parseLogLine(line string) (hclog.Level, string) {
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
