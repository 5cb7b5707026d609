package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
)

// Plan writes a plan for people, after an empty line: changes made outside, planned changes, summary, changed
// outputs. It shows changes made outside only if they are relevant, or all if relevant is nil. It fails if w
// fails, or if a value cannot be decoded.
func Plan(w io.Writer, p *plan.Plan, relevant document.Relevant, s document.Schemas, o Options) error {
	pw := &planWriter{writer: writer{o: o}, plan: p, relevant: relevant, schemas: s, differ: differ{show: o.ShowSensitive}, triggered: p.Triggered()}
	pw.WriteByte('\n')
	if err := pw.all(); err != nil {
		return err
	}
	if line := ScopeLine(p.Extent); line != "" && !p.Errored {
		pw.WriteByte('\n')
		pw.para(line)
	}
	_, err := io.WriteString(w, pw.String())
	return err
}

// planSummary returns the line "Plan: 1 to add, 0 to change, 0 to destroy." without colour or line end.
func planSummary(p *plan.Plan) string { return summaryLine(p.Counts()) }

// summaryLine returns the line with the counts. It has imports, forgotten objects, deferred changes and
// actions only if they are not 0: scripts match the three others.
func summaryLine(n plan.Counts) string {
	var sb strings.Builder
	sb.WriteString("Plan: ")
	if n.Import > 0 {
		fmt.Fprintf(&sb, "%d to import, ", n.Import)
	}
	fmt.Fprintf(&sb, "%d to add, %d to change, %d to destroy", n.Add, n.Change, n.Destroy)
	if n.Forget > 0 {
		fmt.Fprintf(&sb, ", %d to forget", n.Forget)
	}
	if n.Defer > 0 {
		fmt.Fprintf(&sb, ", %d deferred", n.Defer)
	}
	sb.WriteByte('.')
	if n.Invoke > 0 {
		fmt.Fprintf(&sb, " Actions: %d to invoke.", n.Invoke)
	}
	return sb.String()
}

// all writes the sections of a plan. Which headings and closing lines appear depends on the other sections,
// so drift and outputs are rendered before anything else is decided.
func (w *planWriter) all() error {
	drift, err := w.drift()
	if err != nil {
		return err
	}
	changes := shownChanges(w.plan.Changes)
	outputs, err := w.outputs()
	if err != nil {
		return err
	}
	if w.plan.Mode == plan.RefreshOnly && drift && len(changes) == 0 {
		w.refreshOnlyEnd(outputs)
		return w.deferredEnd()
	}
	if w.plan.Invoking() {
		return w.invocations()
	}
	deferred := !w.plan.Complete()
	if len(changes) == 0 && outputs == "" && (!deferred || w.plan.Errored || w.plan.Mode == plan.RefreshOnly) {
		w.noChanges(drift)
		return w.deferredEnd()
	}
	if drift {
		w.WriteString(w.o.rule() + "\n\n")
	}
	if len(changes) > 0 {
		if err := w.changes(changes); err != nil {
			return err
		}
	}
	if len(changes) == 0 && outputs == "" {
		w.onlyDeferred()
	}
	if err := w.deferrals(); err != nil {
		return err
	}
	if len(changes) > 0 || deferred {
		w.planLine()
	}
	w.outputSection(outputs)
	if len(changes) == 0 && outputs != "" {
		w.para("\nYou can apply this plan to save these new output values to the " + w.o.program() + " state, without changing any real infrastructure.")
	}
	return nil
}

// shownChanges returns the changes that are shown: all but those that leave an object as it is and where it
// is.
func shownChanges(all []*plan.Change) []*plan.Change {
	return slices.DeleteFunc(slices.Clone(all), func(c *plan.Change) bool {
		return c.Action == plan.NoOp && !c.Moved() && c.Importing == nil
	})
}

// changes writes the section of planned changes. A plan with errors is announced as such, since it is
// incomplete.
func (w *planWriter) changes(changes []*plan.Change) error {
	if slices.ContainsFunc(changes, func(c *plan.Change) bool { return c.Action != plan.NoOp }) {
		w.para(w.o.program() + " used the selected providers to generate the following execution plan. Resource actions are indicated with the following symbols:")
		w.legend(changes)
		w.WriteString("\n")
	}
	if w.plan.Errored {
		w.WriteString(w.o.program() + " planned the following actions, but then encountered a problem:\n\n")
	} else {
		w.WriteString(w.o.program() + " will perform the following actions:\n\n")
	}
	var folds []*Fold
	if w.o.Fold {
		var err error
		if folds, err = w.foldChanges(); err != nil {
			return err
		}
	}
	first, hidden := folded(folds)
	for _, c := range changes {
		if hidden[c] {
			continue
		}
		if err := w.change(c); err != nil {
			return err
		}
		if f := first[c]; f != nil {
			w.foldLines(f, f.Headline)
		}
	}
	return nil
}

// planLine writes the line with the counts.
func (w *planWriter) planLine() {
	w.WriteString(w.o.paint(bold, "Plan:") + strings.TrimPrefix(planSummary(w.plan), "Plan:") + "\n")
}

// legend explains the symbols that the changes use, in a fixed order.
func (w *planWriter) legend(changes []*plan.Change) {
	used := map[plan.Action]bool{}
	for _, c := range changes {
		used[c.Action] = true
	}
	for _, l := range []struct {
		action plan.Action
		text   string
	}{
		{plan.Create, "create"},
		{plan.Update, "update in-place (current -> planned)"},
		{plan.Delete, "destroy"},
		{plan.DeleteThenCreate, "destroy and then create replacement"},
		{plan.CreateThenDelete, "create replacement and then destroy"},
		{plan.ForgetThenCreate, "forget and then create replacement"},
		{plan.Read, "read (data resources)"},
		{plan.Forget, "forget"},
	} {
		if used[l.action] {
			w.WriteString(w.symbol(l.action) + " " + l.text + "\n")
		}
	}
}
