package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// noChanges writes why there is nothing to do, which depends on the mode, on errors, and on changes made
// outside.
func (w *planWriter) noChanges(drift bool) {
	p := w.plan
	head := func(text string) {
		w.WriteString(w.o.paint(boldGreen, "No changes.") + w.o.paint(bold, " "+text) + "\n\n")
	}
	switch {
	case p.Errored:
		w.WriteString(w.o.paint(boldRed, "Planning failed.") + w.o.paint(bold, " "+w.o.program()+" encountered an error while generating this plan.") + "\n")
	case p.Mode == plan.RefreshOnly:
		head("Your infrastructure still matches the configuration.")
		w.para(w.o.program() + " has checked that the real remote objects still match the result of your most recent changes, and found no differences.")
	case !p.Complete():
		head("Nothing can be done before more is known.")
	case p.Mode == plan.Destroy:
		head("No objects need to be destroyed.")
		w.para("Either you have not created any objects yet or the existing objects were already deleted outside of " + w.o.program() + ".")
	case drift:
		head("Your infrastructure matches the configuration.")
		w.para("Your configuration already applies the changes detected above, so applying this plan will only update the " + w.o.program() +
			" state to include the changes detected above and won't change any real infrastructure.")
	case p.Extent.Partial():
		head("Nothing has changed that needs an action.")
		w.para(w.o.program() + " has looked at what has changed since the last apply, and found nothing to do. It has not asked whether the other objects were changed outside.")
	default:
		head("Your infrastructure matches the configuration.")
		w.para(w.o.program() + " found the real objects to be as the configuration wants them, so there is nothing to do.")
	}
}

// ScopeLine says how far a plan of changes has gone; "" for other plans.
func ScopeLine(e *plan.Extent) string {
	switch {
	case e == nil:
		return ""
	case !e.Partial():
		return "Scope: everything, because " + e.Full + "."
	}
	more, added, hint := "", "", ""
	if e.Objects == state.MostCounted {
		more = "at least "
	}
	if e.New > 0 {
		added = fmt.Sprintf(", and %d new", e.New)
	}
	if len(e.Unversioned) > 0 {
		hint = " Each plan evaluates all objects of " + strings.Join(e.Unversioned, " and of ") + ": a provider under development has no version that says whether it has changed."
	}
	return fmt.Sprintf("Scope: %d evaluated, of %s%d objects in the state%s; %d rows read%s.%s", e.Evaluated, more, e.Objects, added, e.Rows, collections(e), hint)
}

// namedCollections is how many of the collections that a plan has read are named where there is little room.
const namedCollections = 3

// collections says how many rows are of resources that are read as a whole, the largest of which it names.
func collections(e *plan.Extent) string {
	if len(e.Collections) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(e.Collections), func(a, b string) int {
		return cmp.Or(e.Collections[b]-e.Collections[a], strings.Compare(a, b))
	})
	others := len(names) - namedCollections
	if others > 0 {
		names = names[:namedCollections]
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d of %s", e.Collections[name], name)
	}
	if others > 0 {
		names = append(names, fmt.Sprintf("%d other", others))
	}
	return fmt.Sprintf(", %d of them because a resource is read as a whole: %s", e.Collected, strings.Join(names, ", "))
}

// refreshOnlyEnd writes the text after the changes made outside in refresh-only mode, which plans nothing
// else.
func (w *planWriter) refreshOnlyEnd(outputs string) {
	w.para("This is a refresh-only plan, so " + w.o.program() + " will not take any actions to undo these. If you were expecting these changes then you can " +
		"apply this plan to record the updated values in the " + w.o.program() + " state without changing any remote objects.")
	w.outputSection(outputs)
}

// outputs returns the lines of changed outputs, "" if none changes.
func (w *planWriter) outputs() (string, error) {
	var items []named
	for _, oc := range w.plan.Outputs {
		if oc.Action == plan.NoOp && !oc.Before.IsNull() && oc.Before.Same(oc.After) {
			items = append(items, named{name: oc.Name, node: &node{effect: same}})
			continue
		}
		before, after, err := oc.Sides()
		if err != nil {
			return "", err
		}
		if n := w.outputNode(orAbsent(before), orAbsent(after), oc); n != nil {
			items = append(items, named{name: oc.Name, node: n})
		}
	}
	out := &writer{o: w.o}
	width := widest(items)
	for _, it := range items {
		if it.node.effect != same {
			out.item(it, width, 2, true, "")
		}
	}
	return out.String(), nil
}

// outputNode returns the node of a changed output, nil if it exists on neither side. If a sensitive output
// looks unchanged, the action of the plan decides.
func (w *planWriter) outputNode(b, a cty.Value, oc *plan.OutputChange) *node {
	switch {
	case !exists(b) && !exists(a):
		return nil
	case oc.Sensitive && !w.differ.show:
		b, bs := value.Unmark(b)
		a, as := value.Unmark(a)
		n := w.differ.secret(b, a, bs || as || oc.Sensitive, as || oc.Sensitive)
		if n.effect == same && oc.Action == plan.Update {
			n.effect = changed
		}
		return n
	default:
		return w.differ.value(b, a, free, nil)
	}
}

// outputSection writes the lines of changed outputs under their heading; nothing if there are none.
func (w *planWriter) outputSection(lines string) {
	if lines == "" {
		return
	}
	if w.Len() > 1 {
		w.WriteByte('\n')
	}
	w.WriteString("Changes to Outputs:\n" + lines)
}

// PlanFooter writes the note below a plan that was shown and not applied. path is the file it was saved to,
// "" if it was not saved; generated is the file with generated configuration, "" if there is none.
func PlanFooter(w io.Writer, p *plan.Plan, path, generated string, o Options) error {
	var sb strings.Builder
	sb.WriteString("\n" + o.paint(dim, o.rule()) + "\n\n")
	if generated != "" {
		sb.WriteString(o.wrap(o.program()+" has generated configuration and written it to "+generated+". Read it, and edit what needs editing, before you keep it.", 0) + "\n\n")
	}
	if path == "" {
		sb.WriteString(o.wrap("Note: You didn't use the -out option to save this plan, so "+o.program()+
			` can't guarantee to take exactly these actions if you run "`+o.command()+` apply" now.`, 0) + "\n")
	} else {
		sb.WriteString(o.wrap("Saved the plan to: "+path, 0))
		fmt.Fprintf(&sb, "\n\nTo perform exactly these actions, run the following command to apply:\n    %s apply %q\n", o.command(), path)
	}
	if !p.Complete() {
		sb.WriteString("\n" + o.wrap("Some changes are deferred. When this plan is applied, plan again:", 0) + "\n" + nextPlan(p, o))
	}
	_, err := io.WriteString(w, sb.String())
	return err
}
