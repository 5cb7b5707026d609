package main

import (
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/view/timeline"
)

// watched calls f, which does the work of a command that plans or applies, and writes the pages and
// the timeline that the options ask for. title is the heading of the page.
func (a *app) watched(c *changeFlags, title string, f func() int) int {
	return a.paged(c.pageFlags, title, func() int { return a.drawn(c.timeline, f) })
}

// drawn calls f, which does the command's work, and then writes its timeline to a file, even if f fails or
// panics. An empty name means no timeline. The file is tried before f is called, since the run cannot be
// repeated for its timeline.
func (a *app) drawn(name string, f func() int) (code int) {
	if name == "" {
		return f()
	}
	target, err := safefile.Replaceable(name)
	if err != nil {
		return a.fail("Cannot write the timeline", "The file %s of -ephemeral-timeline cannot be written: %s. Nothing was done.", name, diag.Reason(err))
	}
	a.timeline = timeline.New()
	defer func() { // deferred, so that a panic does not prevent it
		if err := safefile.ReplaceBy(target, a.guarded(a.timeline.Write)); err != nil {
			code = a.fail("Failed to write the timeline", "The file %s of -ephemeral-timeline could not be written: %s. Everything else was done as reported above.", name, diag.Reason(err))
		}
	}()
	return f()
}
