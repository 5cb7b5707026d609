package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// momentUsage says in the help how a moment is given.
const momentUsage = "the ID of a run, or the beginning of it, for the time at which it ended; a time such as 2030-01-02T15:04:05Z or \"2030-01-02 15:04\"; or how long ago it was, such as 90m"

// parseMoment reads a moment. A text that is neither a time nor a duration is the ID of a run.
func parseMoment(text string, now time.Time) store.Moment {
	if d, err := time.ParseDuration(text); err == nil {
		return store.Moment{Time: now.Add(-d.Abs())}
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return store.Moment{Time: t}
		}
	}
	return store.Moment{Run: text}
}

// past reads the content that the state had at a moment: some instances, outputs and checks, or all. ok is
// false after an error, which was reported.
func (c *stateCommands) past(ctx context.Context, moment string, of ...state.Subject) (p *store.Past, ok bool) {
	h, diags := c.wd.dir().Backend.Historian(ctx)
	if !c.out.report(diags) {
		return nil, false
	}
	p, err := h.At(ctx, parseMoment(moment, time.Now()), of...)
	if err != nil {
		c.out.fail("Error reading the history", "%s\n\nA moment is %s. List the runs with: mayfly state history", diag.Sentence(err), momentUsage)
		return nil, false
	}
	return p, true
}

// isMoment reports whether an argument that may name a file names a moment instead: there is no such file,
// and the backend keeps a history.
func (c *stateCommands) isMoment(ctx context.Context, name string) bool {
	if name == "" || name == "-" || strings.HasPrefix(name, workspacePrefix) {
		return false
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, diags := c.wd.dir().Backend.Historian(ctx)
	return !diags.HasErrors()
}

// fileOf returns a former state as a file.
func fileOf(p *store.Past) *state.File {
	return &state.File{Meta: state.Meta{Lineage: p.Lineage}, State: p.State}
}
