package main

import "github.com/mayfly-iac/mayfly/view/timeline"

// watched calls f, which does the work of a command that plans or applies, and writes the pages and
// the timeline that the options ask for. title is the heading of the page.
func (a *app) watched(c *changeFlags, title string, f func() int) int {
	return a.paged(c.pageFlags, title, func() int { return a.drawn(c.timeline, f) })
}

// drawn calls f, which does the command's work, and then writes its timeline to a file. An empty name means
// no timeline.
func (a *app) drawn(name string, f func() int) (code int) {
	t := timeline.New()
	return a.writeAfter("timeline", "-ephemeral-timeline", name, t.Write, func() int {
		if name != "" {
			a.timeline = t
		}
		return f()
	})
}
