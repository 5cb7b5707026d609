package main

import "github.com/mayfly-iac/mayfly/internal/show/view/timeline"

// watched calls f, which does the work of a command that plans or applies, and writes the pages and
// the timeline that the options ask for. title is the heading of the page.
func (o *output) watched(c *changeFlags, title string, f func() int) int {
	t := timeline.New()
	if c.timeline != "" {
		o.timeline = t
	}
	return o.paged(c.pageFlags, title, f, artifact{"timeline", "-ephemeral-timeline", c.timeline, beginOfPage, t.Write})
}
