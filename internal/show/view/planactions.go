package view

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
)

// invokedEphemeral is in place of the status of a value that an action gets and that is not in the plan.
const invokedEphemeral plan.WithheldStatus = "invoked"

// actions writes the actions that a change triggers, below its block.
func (w *planWriter) actions(a addr.Instance) error {
	for _, before := range []bool{true, false} {
		var list []*plan.Invocation
		for _, i := range w.triggered[a] {
			if i.Trigger.Event.IsBefore() == before {
				list = append(list, i)
			}
		}
		if len(list) == 0 {
			continue
		}
		when := "after"
		if before {
			when = "before"
		}
		w.WriteString("    " + w.o.paint(bold, "# Actions to be invoked "+when+" this change, in order:") + "\n")
		for _, i := range list {
			if err := w.invocation(i, 4); err != nil {
				return err
			}
		}
	}
	return nil
}

// invocations writes the actions that the user asked for.
func (w *planWriter) invocations() error {
	if w.plan.Errored {
		w.WriteString(w.o.program() + " planned the following actions, but then encountered a problem:\n\n")
	} else {
		w.WriteString(w.o.program() + " will invoke the following actions, in order:\n\n")
	}
	for _, i := range w.plan.Invocations {
		w.WriteString(w.o.paint(bold, "  # "+i.Action.String()) + " will be invoked\n")
		if err := w.invocation(i, 4); err != nil {
			return err
		}
	}
	w.planLine()
	return nil
}

// invocation writes the block of an action, which begins at the column.
func (w *planWriter) invocation(i *plan.Invocation, at int) error {
	config, err := i.Config.Live()
	if err != nil {
		return fmt.Errorf("%s: %w", i.Action, err)
	}
	indent := fmt.Sprintf("%*s", at, "")
	if i.Undecided {
		w.WriteString(indent + "# (if the condition of the trigger holds, which is known after apply)\n")
	}
	fmt.Fprintf(w, "%saction %q %q {", indent, i.Action.Resource.Type, i.Action.Resource.Name)
	if i.Action.Key != addr.NoKey || !i.Action.Module.IsRoot() {
		w.WriteString(" # " + i.Action.String())
	}
	w.WriteByte('\n')
	c := plan.Change{}
	for _, path := range i.Ephemeral {
		c.Withheld = append(c.Withheld, plan.Withheld{Path: path, Status: invokedEphemeral})
	}
	block := document.Block(w.schemas, i.Provider.Provider, i.Action.Resource)
	if body, ok := w.differ.block(block, config, config, newPaths(&c)).body.(nested); ok && config.IsKnown() {
		body.attrs = slices.DeleteFunc(body.attrs, func(it named) bool { return unsetWriteOnly(it, i) })
		w.WriteString(indent + "    config {\n")
		w.content(body, at+2, false)
		w.WriteString(indent + "    }\n")
	}
	w.WriteString(indent + "}\n\n")
	return nil
}

// unsetWriteOnly reports whether an item is a write-only attribute that the action does not get.
func unsetWriteOnly(it named, i *plan.Invocation) bool {
	if _, ok := it.node.body.(writeOnlyValue); !ok {
		return false
	}
	return !slices.ContainsFunc(i.Ephemeral, func(path cty.Path) bool { return path.Equals(cty.GetAttrPath(it.name)) })
}
