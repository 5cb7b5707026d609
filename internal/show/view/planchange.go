package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// planWriter writes a plan as text. The text collects in memory: the next section depends on the content of
// those before it. Sections are in plan.go, plansections.go and drift.go, single changes here.
type planWriter struct {
	writer
	plan     *plan.Plan
	relevant document.Relevant
	schemas  document.Schemas
	differ   differ
	// triggered has the actions that changes trigger.
	triggered map[addr.Instance][]*plan.Invocation
}

// para writes a paragraph, wrapped to the width.
func (w *planWriter) para(text string) { w.WriteString(w.o.wrap(text, 0) + "\n") }

// block returns the schema of a changed object's content, nil if it is unknown.
func (w *planWriter) block(c *plan.Change) *schema.Block {
	return document.Block(w.schemas, c.Provider.Provider, c.Addr.Resource)
}

// symbol returns the three columns in the margin of a change, coloured.
func (w *writer) symbol(a plan.Action) string {
	text, s := symbolFor(a)
	switch a {
	case plan.DeleteThenCreate:
		return w.o.paint(red, "-") + "/" + w.o.paint(green, "+")
	case plan.CreateThenDelete:
		return w.o.paint(green, "+") + "/" + w.o.paint(red, "-")
	case plan.ForgetThenCreate:
		return w.o.paint(yellow, ".") + "/" + w.o.paint(green, "+")
	}
	trimmed := strings.TrimLeft(text, " ")
	return text[:len(text)-len(trimmed)] + w.o.paint(s, trimmed)
}

// change writes one change: its heading with reasons, and the block.
func (w *planWriter) change(c *plan.Change) error {
	w.heading(c)
	if err := w.body(c); err != nil || c.Deposed != addr.Current {
		return err
	}
	return w.actions(c.Addr)
}

// body writes the block of a change.
func (w *planWriter) body(c *plan.Change) error {
	before, after, err := c.Sides()
	if err != nil {
		return err
	}
	schema := w.block(c)
	b, a := orAbsent(before), orAbsent(after)
	// A forgotten object continues to exist as it is.
	if c.Action == plan.Forget {
		a = b
	}
	w.resource(c, w.differ.block(schema, b, a, newPaths(c)))
	return nil
}

// resource writes the block of a change. Attributes that do not change are hidden where others do.
func (w *planWriter) resource(c *plan.Change, n *node) {
	fmt.Fprintf(w, "%s %s %q %q {\n", w.symbol(c.Action), c.Addr.Resource.Mode, c.Addr.Resource.Type, c.Addr.Resource.Name)
	body, ok := n.body.(nested)
	if ok {
		hide := n.effect == changed || c.Action == plan.Update || c.Action.IsReplace() || c.Action == plan.NoOp && c.Importing == nil
		if n.effect == same && (c.Action == plan.Update || c.Action.IsReplace()) {
			w.differ.showWriteOnly(body.attrs, changed)
		}
		w.content(body, 2, hide)
	}
	w.WriteString("    }\n\n")
}

// heading writes the comment lines above a block: the action, its reason, and the origin of an object that
// was moved or is imported. They are comments so that the text remains readable as configuration.
func (w *planWriter) heading(c *plan.Change) {
	fmt.Fprintf(w, "%s %s\n", w.o.paint(bold, "  # "+headingObject(c)), w.headline(c))
	for _, reason := range reasons(c) {
		w.WriteString("  # (" + reason + ")\n")
	}
	w.movedFrom(c)
	if c.Importing == nil {
		return
	}
	if c.GeneratedConfig != "" {
		w.WriteString("  # (config will be generated)\n")
	}
	w.importedFrom(c.Importing)
	if c.Action.DestroysReplaced() {
		w.WriteString("  # " + w.o.paint(red, "Warning: this will destroy the imported resource") + "\n")
	}
}

// movedFrom writes the previous address of a moved object unless the heading or a reason already has it.
func (w *planWriter) movedFrom(c *plan.Change) {
	if c.Moved() && c.Action != plan.NoOp && (c.Action == plan.Forget || c.Reason != plan.DeleteNoMoveTarget) {
		fmt.Fprintf(w, "  # (moved from %s)\n", c.PrevAddr)
	}
}

// importedFrom writes the ID or identity that an object is imported by.
func (w *planWriter) importedFrom(imp *plan.Importing) {
	identity := document.ImportingOf(imp).Identity
	var text bytes.Buffer
	switch {
	case imp.ID != "":
		fmt.Fprintf(w, "  # (imported from %q)\n", imp.ID)
	case identity == nil || json.Indent(&text, identity, "  # ", "  ") != nil:
		w.WriteString("  # (imported by identity)\n")
	default:
		w.WriteString("  # imported using resource identity: " + text.String() + "\n")
	}
}

// headingObject returns the address at the start of a heading. For an object that only moves, that is the
// old one, as the heading says where it has moved.
func headingObject(c *plan.Change) string {
	if c.Action == plan.NoOp && c.Moved() {
		return c.PrevAddr.String()
	}
	return c.Object().String()
}

// headline says how the plan changes the object. A replacement names its reason if the reason is not visible
// in the block.
func (w *planWriter) headline(c *plan.Change) string {
	destroyed := w.o.paint(boldRed, "destroyed")
	replaced := w.o.paint(boldRed, "replaced")
	switch c.Action {
	case plan.Create:
		return "will be created"
	case plan.Read:
		return "will be read during apply"
	case plan.Update:
		return "will be updated in-place"
	case plan.Delete:
		return "will be " + destroyed
	case plan.Forget:
		return "will be removed from the " + w.o.program() + " state but will not be destroyed"
	case plan.NoOp:
		if c.Moved() {
			return "has moved to " + w.o.paint(bold, c.Addr.String())
		}
		return "will be imported"
	}
	switch c.Reason {
	case plan.ReplaceTainted:
		return "is tainted, so it must be " + replaced
	case plan.ReplaceRequested:
		return "will be " + replaced + ", as requested"
	case plan.ReplaceTriggered:
		return "will be " + replaced + " due to changes in replace_triggered_by"
	}
	return "must be " + replaced
}

// reasons returns the remarks below a heading that explain the action. People and tools know their texts from
// other engines; the document of the plan has them as words (Change.Reason).
func reasons(c *plan.Change) []string {
	var out []string
	if c.Action == plan.ForgetThenCreate {
		out = append(out, "the old object will not be destroyed, because lifecycle.destroy = false is set in the configuration")
	}
	if c.KeepsReplaced {
		out = append(out, "the old object stays until a later plan, because something that is deferred depends on it")
	}
	if c.Deposed != addr.Current {
		out = append(out, "left over from a replacement of this instance, which did not destroy it")
	}
	switch c.Reason {
	case plan.ForgetInConfig:
		out = append(out, "because lifecycle.destroy = false is set in the configuration")
	case plan.ForgetInState:
		out = append(out, "because lifecycle.destroy = false was set in the configuration when it was last applied")
	case plan.DeleteNoConfig:
		if c.Action != plan.Forget {
			out = append(out, "because "+c.Addr.Config().Resource.String()+" is not in configuration")
		}
	case plan.DeleteNoMoveTarget:
		if c.Action != plan.Forget {
			out = append(out, "because "+c.PrevAddr.String()+" was moved to "+c.Addr.String()+", which is not in configuration")
		}
	case plan.DeleteNoModule:
		out = append(out, "because "+c.Addr.Module.String()+" is not in configuration")
	case plan.DeleteRepetition:
		out = append(out, wrongRepetition(c.Addr.Key))
	case plan.DeleteCountIndex:
		out = append(out, "because index "+c.Addr.Key.String()+" is out of range for count")
	case plan.DeleteEachKey:
		out = append(out, "because key "+c.Addr.Key.String()+" is not in for_each map")
	case plan.DeleteDisabled:
		out = append(out, "because enabled is false")
	case plan.ReadConfigUnknown:
		out = append(out, "config refers to values not yet known")
	case plan.ReadDependency:
		out = append(out, "depends on a resource or a module with changes pending")
	case plan.ReadCheckNested:
		out = append(out, "config will be reloaded to verify a check block")
	}
	return out
}

// wrongRepetition returns why an instance with a key has to go if its block is repeated in another way.
func wrongRepetition(k addr.Key) string {
	switch k.Kind() {
	case addr.KeyInt:
		return "because resource does not use count"
	case addr.KeyString:
		return "because resource does not use for_each"
	default:
		return "because resource uses count or for_each"
	}
}
