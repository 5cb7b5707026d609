package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/plan"
)

// deferrals writes the section of everything that the plan leaves to a later one; nothing if it is complete.
func (w *planWriter) deferrals() error {
	if w.plan.Complete() {
		return nil
	}
	if text := w.String(); len(text) > 1 && !strings.HasSuffix(text, "\n\n") {
		w.WriteByte('\n')
	}
	w.WriteString(w.o.paint(bold, "Deferred to a later plan") + ", because not enough is known yet:\n\n")
	for _, d := range w.plan.Deferrals {
		if err := w.deferral(d); err != nil {
			return err
		}
	}
	return nil
}

// deferral writes one deferral: its heading and, where a creation or change is known in part, its block.
func (w *planWriter) deferral(d *plan.Deferral) error {
	fmt.Fprintf(w, "%s is deferred\n", w.o.paint(bold, "  # "+d.Change.Object().String()))
	fmt.Fprintf(w, "  # (%s)\n", d.Reason.Text())
	if waits := d.WaitsForText(); waits != "" {
		fmt.Fprintf(w, "  # (waits for %s)\n", waits)
	}
	if d.Change.Action == plan.NoOp || d.Change.After.IsZero() {
		w.WriteByte('\n')
		return nil
	}
	return w.body(d.Change)
}

// deferredCount returns the end of the summary line that counts deferrals, "" if there are none.
func deferredCount(p *plan.Plan) string {
	if p.Complete() {
		return ""
	}
	return fmt.Sprintf(" Deferred: %d.", len(p.Deferrals))
}

// DeferredNote writes the note about everything that a plan has deferred, after it was applied; nothing if it
// is complete.
func DeferredNote(w io.Writer, p *plan.Plan, o Options) error {
	if p.Complete() {
		return nil
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "\nDeferred to a later plan: %d. To go on, run:\n    %s apply -converge\n", len(p.Deferrals), o.command())
	_, err := io.WriteString(w, sb.String())
	return err
}
