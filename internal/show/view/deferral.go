package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
)

const (
	// maxAwaited is how many objects a line names that a deferred one waits for.
	maxAwaited = 5
	// maxLeft is how many deferred changes the end of an apply lists.
	maxLeft = 10
)

// DeferralHeadline says that a plan leaves an object to a later one, and why, as the end of a sentence about
// the object.
func DeferralHeadline(d *plan.Deferral) string {
	text := "is deferred"
	switch {
	case d.Change.Action == plan.Delete:
		text = "is not destroyed yet"
	case d.Change.Action.IsReplace():
		text = "is not replaced yet"
	case d.Change.Action == plan.NoOp:
		text = "stays as it is for now"
	}
	return text + ": " + deferralReason(d)
}

// deferralReason returns the reason in plain words. The document of the plan has it as a word.
func deferralReason(d *plan.Deferral) string {
	switch c := d.Change; {
	case d.Reason == plan.DeferredCountUnknown:
		if call, ok := genericCall(c.Addr.Module); ok {
			return "the instances of " + call.String() + " are known only after an apply"
		}
	case d.Reason == plan.DeferredAbsent && c.Importing != nil && document.ImportingOf(c.Importing).Unknown:
		return "the object to import is not known yet"
	}
	return d.Why()
}

// genericCall returns the outermost module call whose instances are not known, without its key.
func genericCall(m addr.ModuleInstance) (addr.ModuleInstance, bool) {
	for _, step := range m.Path() {
		if outer, call, key := step.Parent(); key == addr.AnyKey {
			return outer.Child(call, addr.NoKey), true
		}
	}
	return m, false
}

// DeferralWaits says which objects a deferred one waits for, "" if that is not known.
func DeferralWaits(d *plan.Deferral) string {
	if text := awaited(d); text != "" {
		return "waits for " + text
	}
	return ""
}

// awaited lists some of the objects that a deferred one waits for.
func awaited(d *plan.Deferral) string {
	names := d.Awaited()
	text := strings.Join(names[:min(len(names), maxAwaited)], ", ")
	if more := len(names) - maxAwaited; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// deferrals writes the section of the changes that are left to a later plan; nothing if there are none.
func (w *planWriter) deferrals() error {
	list := w.plan.Deferrals
	if len(list) == 0 {
		return nil
	}
	w.WriteString("Changes deferred to a later plan:\n\n")
	alike := map[string][]*plan.Deferral{}
	if w.o.Fold {
		for _, d := range list {
			alike[deferralKey(d)] = append(alike[deferralKey(d)], d)
		}
	}
	for _, d := range list {
		group := alike[deferralKey(d)]
		if len(group) > foldAbove && d != group[0] {
			continue
		}
		if err := w.deferral(d); err != nil {
			return err
		}
		if len(group) > foldAbove {
			fmt.Fprintf(w, "  # %d more like it, among %s to %s\n\n", len(group)-1, group[1].Change.Object(), group[len(group)-1].Change.Object())
		}
	}
	return nil
}

// deferredEnd writes the section of a plan that only detects changes, or that has failed before it had any.
func (w *planWriter) deferredEnd() error {
	if !w.plan.Complete() {
		w.WriteString("\n")
	}
	return w.deferrals()
}

// deferralKey is the same for deferrals of one block that say the same.
func deferralKey(d *plan.Deferral) string {
	moved := ""
	if d.Change.Moved() {
		moved = d.Change.PrevAddr.String()
	}
	return strings.Join([]string{d.Change.Addr.Config().String(), DeferralHeadline(d), DeferralWaits(d), moved}, "\n")
}

// deferral writes one deferral. The generic instance of a block has its content, since nothing else shows it.
func (w *planWriter) deferral(d *plan.Deferral) error {
	w.WriteString(w.o.paint(bold, "  # "+d.Change.Object().String()) + " " + DeferralHeadline(d) + "\n")
	if waits := DeferralWaits(d); waits != "" {
		w.WriteString("  # (" + waits + ")\n")
	}
	if d.Change.Moved() {
		fmt.Fprintf(w, "  # (moved from %s)\n", d.Change.PrevAddr)
	}
	return w.deferralBody(d)
}

// deferralBody writes the content of a generic instance, and an empty line for all others.
func (w *planWriter) deferralBody(d *plan.Deferral) error {
	if _, inCall := genericCall(d.Change.Addr.Module); !inCall && d.Change.Addr.Key != addr.AnyKey || d.Change.After.IsNull() {
		w.WriteString("\n")
		return nil
	}
	return w.body(d.Change)
}

// onlyDeferred says that nothing can be done before something else happens.
func (w *planWriter) onlyDeferred() {
	w.WriteString(w.o.paint(bold, "Nothing can be changed yet. All changes are deferred to a later plan.") + "\n\n")
	w.para("They wait for something that this plan does not change. Plan again once it is known.")
	w.WriteString("\n")
}

// Left writes, below the end of an apply of the plan, which changes are left to a later one, and how to go
// on; nothing if there are none.
func Left(w io.Writer, p *plan.Plan, o Options) error {
	list := p.Deferrals
	if len(list) == 0 {
		return nil
	}
	var sb strings.Builder
	sb.WriteString("\nDeferred to a later plan:\n")
	for i, d := range list {
		if i == maxLeft {
			fmt.Fprintf(&sb, "  - and %d more\n", len(list)-i)
			break
		}
		line := d.Change.Object().String() + ": "
		if waits := awaited(d); waits != "" {
			line += "it waited for " + waits
		} else {
			line += deferralReason(d)
		}
		sb.WriteString("  - " + o.Hanging(line, 4) + "\n")
	}
	sb.WriteString("\nTo go on with these, run:\n" + nextPlan(p, o))
	_, err := io.WriteString(w, sb.String())
	return err
}

// nextPlan returns lines with the command that plans the deferred changes of a plan, and with the one that
// plans and applies until nothing is deferred. A plan that only detects changes has no such command.
func nextPlan(p *plan.Plan, o Options) string {
	mode, apply := "", "apply"
	switch p.Mode {
	case plan.Destroy:
		mode, apply = "-destroy ", "destroy"
	case plan.RefreshOnly:
		return "    " + o.command() + " plan -refresh-only -allow-deferral\n"
	}
	return "    " + o.command() + " plan " + mode + "-allow-deferral\n\n" +
		o.wrap("To plan and apply in turn until nothing is deferred, run:", 0) + "\n    " + o.command() + " " + apply + " -converge\n"
}
