package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
)

// StateDiff writes how one state differs from another, as a plan shows changes: the first state is before.
// from and to name the states. It fails if w fails.
func StateDiff(w io.Writer, d *document.StateDiff, from, to string, o Options) error {
	dw := &planWriter{writer: writer{o: o}, differ: differ{show: o.ShowSensitive, found: true}}
	if d.Empty() {
		dw.para(fmt.Sprintf("%s and %s do not differ.", visible(from), visible(to)))
		_, err := io.WriteString(w, dw.String())
		return err
	}
	dw.para(fmt.Sprintf("From %s to %s:", visible(from), visible(to)))
	dw.WriteByte('\n')
	for _, one := range d.Objects {
		dw.objectDiff(one)
	}
	var items []named
	for _, one := range d.Outputs {
		oc := &plan.OutputChange{Name: one.Name, Action: one.Action, Sensitive: one.Sensitive}
		if n := dw.outputNode(orAbsent(one.Before), orAbsent(one.After), oc); n != nil {
			items = append(items, named{name: one.Name, node: n})
		}
	}
	if len(items) > 0 {
		dw.WriteString("Outputs:\n")
		for width, i := widest(items), 0; i < len(items); i++ {
			dw.item(items[i], width, 2, true, "")
		}
		dw.WriteByte('\n')
	}
	dw.WriteString(dw.o.paint(bold, "Difference:") + " " + stateDiffCounts(d) + "\n")
	_, err := io.WriteString(w, dw.String())
	return err
}

// objectDiff writes an object with a headline, and its attributes if they differ.
func (w *planWriter) objectDiff(d document.ObjectDiff) {
	at := d.Addr()
	change := &plan.Change{Addr: at.Instance, Deposed: at.Deposed, Action: d.Action}
	fmt.Fprintf(w, "%s %s\n", w.o.paint(bold, "  # "+headingObject(change)), stateHeadline(d))
	if d.Moved() {
		w.comment(2, "# (moved from %s)", visible(d.Before.Addr.Instance.String()))
	}
	if d.After != nil && d.After.Stored.Tainted {
		w.comment(2, "# (tainted)")
	}
	if len(d.Records) > 0 {
		w.comment(2, "# (in its record: %s)", strings.Join(d.Records, ", "))
	}
	before, after := d.Values()
	n := w.differ.block(d.Schema(), orAbsent(before), orAbsent(after), nil)
	if n.effect == same {
		w.WriteByte('\n')
		return
	}
	w.resource(change, n)
}

// stateHeadline returns the end of a heading that says how an object differs.
func stateHeadline(d document.ObjectDiff) string {
	switch d.Action {
	case plan.Create:
		return "has been added"
	case plan.Delete:
		return "is gone"
	case plan.NoOp:
		return "has another address"
	default:
		return "differs"
	}
}

// stateDiffCounts returns the numbers of differences by kind.
func stateDiffCounts(d *document.StateDiff) string {
	var added, changed, moved, gone int
	for _, one := range d.Objects {
		switch one.Action {
		case plan.Create:
			added++
		case plan.Delete:
			gone++
		case plan.NoOp:
			moved++
		default:
			changed++
		}
	}
	text := fmt.Sprintf("%d added, %d changed, %d moved, %d gone", added, changed, moved, gone)
	switch n := len(d.Outputs); n {
	case 0:
		return text + "."
	case 1:
		return text + "; 1 output."
	default:
		return fmt.Sprintf("%s; %d outputs.", text, n)
	}
}
