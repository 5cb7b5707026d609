package view

import (
	"strings"

	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
)

// Changes renders the changes of a plan one by one, as Plan shows them, without line breaks in paragraphs and
// without sensitive values. It belongs to one goroutine.
type Changes struct{ w planWriter }

// NewChanges returns a renderer of the changes of a plan. s may be nil.
func NewChanges(p *plan.Plan, s document.Schemas) *Changes {
	return &Changes{planWriter{writer: writer{o: Options{Fold: true}}, plan: p, schemas: s, triggered: p.Triggered()}}
}

// Headline returns the end of a sentence that says how the plan changes the object.
func (c *Changes) Headline(change *plan.Change) string { return c.w.headline(change) }

// Text returns the block of a change, with the remarks above it. An error is of a value that cannot be
// decoded.
func (c *Changes) Text(change *plan.Change) (string, error) {
	c.w.Reset()
	err := c.w.change(change)
	_, text, _ := strings.Cut(c.w.String(), "\n") // without the headline
	return strings.TrimRight(text, "\n") + "\n", err
}

// Invocation returns the block of an action. An error is of a value that cannot be decoded.
func (c *Changes) Invocation(i *plan.Invocation) (string, error) {
	c.w.Reset()
	err := c.w.invocation(i, 4)
	return strings.TrimRight(c.w.String(), "\n") + "\n", err
}

// Drift returns the headline and the block of a change made outside.
func (c *Changes) Drift(change *plan.Change) (headline, text string, err error) {
	before, after, err := change.Sides()
	if err != nil {
		return "", "", err
	}
	c.w.Reset()
	c.w.differ.found = true
	defer func() { c.w.differ.found = false }()
	c.w.resource(change, c.w.differ.block(c.w.block(change), orAbsent(before), orAbsent(after), nil))
	return driftHeadline(change), strings.TrimRight(c.w.String(), "\n") + "\n", nil
}

// Deferral returns the block of a deferred change, "" if it has none. An error is of a value that cannot be
// decoded.
func (c *Changes) Deferral(d *plan.Deferral) (string, error) {
	c.w.Reset()
	err := c.w.deferralBody(d)
	text := strings.TrimRight(c.w.String(), "\n")
	if text != "" {
		text += "\n"
	}
	return text, err
}

// Folds returns the changes that are alike, those made outside among them.
func (c *Changes) Folds() ([]*Fold, error) {
	folds, err := c.w.foldChanges()
	if err != nil || len(c.w.plan.Drift) == 0 {
		return folds, err
	}
	shown, err := c.w.relevantDrift() // all of it
	if err != nil {
		return nil, err
	}
	c.w.differ.found = true
	defer func() { c.w.differ.found = false }()
	drift, err := c.w.foldDrift(shown)
	return append(folds, drift...), err
}

// Outputs returns the lines of changed outputs, "" if none changes.
func (c *Changes) Outputs() (string, error) { return c.w.outputs() }

// Summary returns the line with the numbers of changes.
func (c *Changes) Summary() string { return planSummary(c.w.plan) }
