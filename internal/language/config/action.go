package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	registry "github.com/opentofu/registry-address/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

var (
	actionSchema  = schema("count for_each provider depends_on", "config")
	triggerSchema = schema("events! condition actions! on_failure")
)

// The events that trigger actions.
const (
	BeforeCreate = "before_create"
	AfterCreate  = "after_create"
	BeforeUpdate = "before_update"
	AfterUpdate  = "after_update"
)

var triggerEvents = []string{BeforeCreate, AfterCreate, BeforeUpdate, AfterUpdate}

// Failures of actions: the values of on_failure.
const (
	OnFailureHalt     = "halt"
	OnFailureTaint    = "taint"
	OnFailureContinue = "continue"
)

// ActionTrigger is an action_trigger block of a managed resource.
type ActionTrigger struct {
	Events    []string
	Condition hcl.Expression // nil if there is none
	Actions   []Trigger      // references to actions, or to instances of them
	OnFailure string
	Range     hcl.Range
}

// Before reports whether an event of the trigger comes before the object is changed.
func (t *ActionTrigger) Before() bool {
	return slices.Contains(t.Events, BeforeCreate) || slices.Contains(t.Events, BeforeUpdate)
}

// action decodes an action block. Its arguments for the provider are in a block of their own.
func (d *resourceDecoder) action(block *hcl.Block) {
	r := &Resource{
		Addr: addr.Resource{Mode: addr.Action, Type: block.Labels[0], Name: block.Labels[1]}, Module: d.m, Body: hcl.EmptyBody(), NoBody: true,
		Range: block.DefRange, TypeRange: block.LabelRanges[0],
	}
	okType, okName := d.name(block, 0, "action type"), d.name(block, 1, "action name")
	if !okType || !okName {
		return
	}
	content, rest, diags := block.Body.PartialContent(actionSchema)
	d.hcl(diags)
	d.strayArguments(rest)
	if b := d.single(content, "config", "config block"); b != nil {
		r.Body, r.NoBody = b.Body, false
	}
	if attr := content.Attributes["provider"]; attr != nil {
		r.Provider = d.providerRef(attr.Expr)
	} else if _, err := registry.ParseProviderPart(r.ImpliedProvider()); err != nil {
		d.errorAt(r.TypeRange, "Invalid action type", "The type %q starts with %q, which can't be the name of a provider: %s. Set the \"provider\" argument if the type is right.",
			r.Addr.Type, r.ImpliedProvider(), err)
	}
	r.DependsOn = d.dependsOn(content)
	d.repetition(&r.Repeat, content)
	d.conflicts(r.Repeat)
	d.addResource(r)
}

// strayArguments reports the rest of an action block, which is probably meant for its config block.
func (d *resourceDecoder) strayArguments(rest hcl.Body) {
	content, _, _ := rest.PartialContent(schema("", "lifecycle", "provisioner type", "connection"))
	for _, b := range content.Blocks {
		d.errorAt(b.DefRange, "Unsupported block type", "An action block has no %s block: an action is not an object. Conditions and triggers are in the lifecycle block of a resource.", b.Type)
	}
	if len(content.Blocks) > 0 {
		return
	}
	for _, attr := range inOrder(d.attributes(rest)) {
		d.errorAt(attr.NameRange, "Unsupported argument", "An action block has no argument %q. Arguments of the provider are in its config block:\n\n  config {\n    %s = ...\n  }", attr.Name, attr.Name)
	}
}

// actionTriggers decodes the action_trigger blocks in the lifecycle block of a managed resource.
func (d *resourceDecoder) actionTriggers(content *hcl.BodyContent) (out []*ActionTrigger) {
	for _, block := range content.Blocks.OfType("action_trigger") {
		t := &ActionTrigger{OnFailure: OnFailureHalt, Range: block.DefRange}
		arguments := d.content(block.Body, triggerSchema)
		if attr := arguments.Attributes["events"]; attr != nil {
			t.Events = d.triggerEvents(attr)
		}
		if attr := arguments.Attributes["condition"]; attr != nil {
			t.Condition = attr.Expr
		}
		if attr := arguments.Attributes["actions"]; attr != nil {
			t.Actions = d.triggeredActions(attr)
		}
		if attr := arguments.Attributes["on_failure"]; attr != nil {
			if word, ok := d.keyword(attr, OnFailureHalt, OnFailureTaint, OnFailureContinue); ok {
				t.OnFailure = word
			}
			if t.OnFailure == OnFailureTaint && t.Before() {
				d.errorAt(attr.Expr.Range(), "Invalid on_failure argument",
					"When an action fails that comes before the object is created or updated, there is nothing to taint. Use halt or continue, or write a trigger of its own for the events after it.")
			}
		}
		out = append(out, t)
	}
	return out
}

// triggerEvents decodes the events of a trigger.
func (d *resourceDecoder) triggerEvents(attr *hcl.Attribute) (out []string) {
	const summary = "Invalid events argument"
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		d.errorAt(attr.Expr.Range(), summary, "The argument \"events\" takes a list of events, such as [after_create]. The events are %s.", diag.Names(triggerEvents))
		return nil
	}
	if len(exprs) == 0 {
		d.errorAt(attr.Expr.Range(), summary, "A trigger without events never invokes an action. Name one or more of %s.", diag.Names(triggerEvents))
	}
	for _, expr := range exprs {
		inner := d.unquote(expr)
		if inner == nil {
			continue
		}
		word := hcl.ExprAsKeyword(inner)
		switch {
		case word == "before_destroy" || word == "after_destroy":
			d.errorAt(expr.Range(), summary, "Destroying an object triggers no actions. The events are %s.", diag.Names(triggerEvents))
		case !slices.Contains(triggerEvents, word):
			hint := diag.DidYouMean(word, triggerEvents)
			if hint == "" {
				hint = " The events are " + diag.Names(triggerEvents) + "."
			}
			d.errorAt(expr.Range(), summary, "This is not an event that triggers actions.%s", hint)
		case slices.Contains(out, word):
			d.errorAt(expr.Range(), summary, "The event %s is in the list twice.", word)
		default:
			out = append(out, word)
		}
	}
	return out
}

// triggeredActions decodes the actions of a trigger. Keys in brackets may use count.index and each.key.
func (d *resourceDecoder) triggeredActions(attr *hcl.Attribute) (out []Trigger) {
	const summary = "Invalid actions argument"
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		d.errorAt(attr.Expr.Range(), summary, "The argument \"actions\" takes a list of actions, such as [action.TYPE.NAME].")
		return nil
	}
	if len(exprs) == 0 {
		d.errorAt(attr.Expr.Range(), summary, "A trigger without actions does nothing. Name one or more, such as action.TYPE.NAME.")
	}
	for _, expr := range exprs {
		inner := d.unquote(expr)
		if inner == nil {
			continue
		}
		base, keys := flatten(inner)
		ref, _ := lang.ParseRef(base)
		if len(base) < 2 || ref.Kind != lang.Resource || ref.Resource.Mode != addr.Action {
			d.errorAt(expr.Range(), summary, "Each element of the list must be the address of an action, such as action.TYPE.NAME or action.TYPE.NAME[\"KEY\"].%s", notAnAction(ref))
			continue
		}
		if !d.repetitionKeys(summary, keys) {
			continue
		}
		t := Trigger{Expr: inner}
		for _, i := range slices.Sorted(maps.Keys(keys)) {
			t.Keys = append(t.Keys, keys[i])
		}
		out = append(out, t)
	}
	return out
}

// notAnAction returns a sentence on the target of a reference that is not an action, "" if that is not clear.
func notAnAction(ref lang.Ref) string {
	what := notManaged[ref.Kind]
	if ref.Kind == lang.Resource {
		if what = notManagedMode[ref.Resource.Mode]; what == "" {
			what = "a resource"
		}
	}
	if what == "" {
		return ""
	}
	return " This is " + what + "."
}
