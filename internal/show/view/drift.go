package view

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// drift writes the changes made outside that matter to the plan, and reports whether there were any. An error
// is of a value that cannot be decoded.
func (w *planWriter) drift() (bool, error) {
	shown, err := w.relevantDrift()
	if err != nil || len(shown) == 0 {
		return false, err
	}
	w.WriteString(w.o.paint(cyan, "Note: ") + w.o.paint(bold, "Objects have changed outside of "+w.o.program()) + "\n\n")
	w.para(w.o.program() + " detected the following changes made outside of " + w.o.program() + ` since the last "` + w.o.command() + ` apply" which may have affected this plan:`)
	w.WriteByte('\n')
	// Nothing is sent to the provider here, so write-only attributes don't count as changed.
	w.differ.found = true
	defer func() { w.differ.found = false }()
	var folds []*Fold
	if w.o.Fold {
		if folds, err = w.foldDrift(shown); err != nil {
			return false, err
		}
	}
	first, hidden := folded(folds)
	for _, d := range shown {
		if hidden[d.change] {
			continue
		}
		fmt.Fprintf(w, "%s %s\n", w.o.paint(bold, "  # "+headingObject(d.change)), driftHeadline(d.change))
		w.movedFrom(d.change)
		w.driftBody(d)
		if f := first[d.change]; f != nil {
			w.foldLines(f, f.Headline)
		}
	}
	w.WriteByte('\n')
	if w.plan.Mode != plan.RefreshOnly {
		w.para("Unless you have made equivalent changes to your configuration, or ignored the relevant attributes using ignore_changes, the following " +
			"plan may include actions to undo or respond to these changes.")
		w.WriteByte('\n')
	}
	return true, nil
}

// driftBody writes the block of a change made outside.
func (w *planWriter) driftBody(d drifted) {
	w.resource(d.change, w.differ.block(w.block(d.change), orAbsent(d.before), orAbsent(d.after), newPaths(d.change)))
}

// driftHeadline returns the end of a heading that says how an object changed outside.
func driftHeadline(c *plan.Change) string {
	switch {
	case c.Action == plan.Delete:
		return "has been deleted"
	case c.Action == plan.NoOp && c.Moved():
		return "has moved to " + c.Addr.String()
	default:
		return "has changed"
	}
}

// drifted is a change made outside, reduced to the part that is shown.
type drifted struct {
	change        *plan.Change
	before, after cty.Value
}

// relevantDrift returns the changes made outside that contributed to the plan: changes of attributes that
// other changing objects refer to. A change that the object's own update reverts is left out, since the
// update shows it. Everything counts in refresh-only mode, and if the relevant attributes are unknown.
func (w *planWriter) relevantDrift() ([]drifted, error) {
	if len(w.plan.Drift) == 0 {
		return nil, nil
	}
	all := w.plan.Mode == plan.RefreshOnly || w.relevant == nil
	relevant := map[addr.ConfigResource][]plan.RelevantAttribute{}
	if !all {
		for _, a := range w.relevant() {
			relevant[a.Instance.Config()] = append(relevant[a.Instance.Config()], a)
		}
	}
	var out []drifted
	for _, c := range w.plan.Drift {
		before, after, err := c.Sides()
		if err != nil {
			return nil, err
		}
		shown := drifted{c, before, after}
		if !all {
			shown.after = driftOf(c, before, after, relevant[c.Addr.Config()])
			if shown.after.RawEquals(before) {
				continue
			}
		}
		out = append(out, shown)
	}
	return out, nil
}

// driftOf returns the object before, with only its relevant attributes as they are after.
func driftOf(c *plan.Change, before, after cty.Value, relevant []plan.RelevantAttribute) cty.Value {
	old, marksBefore := before.UnmarkDeepWithPaths()
	var now cty.Value
	var marksAfter []cty.PathValueMarks
	gone := !exists(orAbsent(after))
	if gone {
		now = nullAttributes(old)
	} else {
		now, marksAfter = after.UnmarkDeepWithPaths()
	}
	out := old
	for _, a := range relevant {
		if !a.Covers(c.Addr) {
			continue
		}
		path := a.Path
		if gone && len(path) > 1 {
			path = path[:1] // no part of it is left
		}
		out = value.ReplaceAt(out, now, path)
	}
	return out.MarkWithPaths(marksBefore).MarkWithPaths(marksAfter)
}

// nullAttributes returns an object of the type of v with all attributes null.
func nullAttributes(v cty.Value) cty.Value {
	if !v.Type().IsObjectType() {
		return cty.NullVal(v.Type())
	}
	attrs := map[string]cty.Value{}
	for name, ty := range v.Type().AttributeTypes() {
		attrs[name] = cty.NullVal(ty)
	}
	return cty.ObjectVal(attrs)
}
