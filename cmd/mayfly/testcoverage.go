package main

import (
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/coverage"
)

// showCoverage shows the coverage of a suite: as text, as a message, and as a page in a file unless its name
// is "".
func (c *testCommand) showCoverage(r *coverage.Report, file string) error {
	doc, err := r.JSON()
	if err != nil {
		return err
	}
	for _, s := range c.out.streams() {
		s.Test("test_coverage", r.Summary(), view.TestMessage{Coverage: doc})
	}
	if c.out.stream == nil {
		if err := r.Text(c.out.env.Stdout); err != nil {
			return err
		}
	}
	if file == "" {
		return nil
	}
	if err := safefile.ReplaceBy(file, c.out.guarded(r.HTML)); err != nil {
		return err
	}
	c.out.saved("coverage", file)
	return nil
}
