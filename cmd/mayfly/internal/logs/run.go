package logs

import (
	"strconv"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// Run logs the course of a run, from its spans and notes: operations with their duration at level DEBUG,
// their beginning and the calls of providers at TRACE, and notes at their own level. It is safe for
// concurrent use if Log is.
type Run struct {
	Log func(line string) // of Settings.Core
}

// Began implements telemetry.Watcher.
func (r Run) Began(s *trace.Span) {
	if s.Kind != trace.Call {
		r.Log("[TRACE] " + s.Name + attributes(s) + " begins")
	}
}

// Wants implements telemetry.Watcher.
func (Run) Wants(string) bool { return true }

// Ended implements telemetry.Watcher.
func (r Run) Ended(s *trace.Span) {
	level, how := "DEBUG", " took "
	if s.Kind == trace.Call {
		level = "TRACE"
	}
	if s.Failed {
		how = " failed after "
	}
	r.Log("[" + level + "] " + s.Name + attributes(s) + how + s.End.Sub(s.Begin).Round(10*time.Microsecond).String())
}

// Noted writes a note.
func (r Run) Noted(level trace.Level, text string) {
	r.Log("[" + map[trace.Level]string{trace.Debug: "DEBUG", trace.Info: "INFO", trace.Warn: "WARN"}[level] + "] " + text)
}

// attributes returns the attributes of a span in parentheses, after a space; "" if it has none.
func attributes(s *trace.Span) string {
	var list []string
	for _, a := range s.All() {
		text := a.Text
		if text == "" {
			text = strconv.FormatInt(a.Number, 10)
		}
		list = append(list, strings.TrimPrefix(a.Key, "mayfly.")+"="+text)
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
