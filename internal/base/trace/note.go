package trace

import (
	"context"
	"fmt"
)

// Level says for whom a note is.
type Level uint8

// The levels of notes.
const (
	Debug Level = iota // actions, step by step
	Info               // decisions, and their reasons
	Warn               // repetitions after failures
)

// Noting reports whether anything receives the notes of a context. Callers ask before they prepare a note
// that takes time.
func Noting(ctx context.Context) bool {
	s := Of(ctx)
	return s != nil && s.tracer.Noted != nil
}

// Note notes something that takes no time, such as a decision. Like the names of spans, it has no value of
// the configuration.
func Note(ctx context.Context, level Level, format string, args ...any) {
	if Noting(ctx) {
		Of(ctx).tracer.Noted(level, fmt.Sprintf(format, args...))
	}
}
