package blocks

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// ActionTrigger is a compiled action_trigger block.
type ActionTrigger struct {
	Config    *config.ActionTrigger
	Condition *lang.Expr   // nil if there is none
	Actions   []*lang.Expr // each is a reference to an action
	Keys      []*lang.Expr // keys in brackets within Actions
}

// IsAction reports whether the block is an action.
func (r *Resource) IsAction() bool { return r.Config.Addr.Mode == addr.Action }

// actionTriggers compiles the triggers of a managed resource. A condition may refer to self if the object
// exists at each of the events.
func (c *compiler) actionTriggers(b *Resource, inside, after site) {
	for _, t := range b.Config.Lifecycle.ActionTriggers {
		out := ActionTrigger{Config: t}
		if t.Before() {
			early := inside
			early.beforeChange = true
			out.Condition = c.expr(b.Module, t.Condition, early)
		} else {
			out.Condition = c.expr(b.Module, t.Condition, after)
		}
		for _, a := range t.Actions {
			list := inside
			list.actions = true
			out.Actions = append(out.Actions, c.expr(b.Module, a.Expr, list))
			for _, key := range a.Keys {
				out.Keys = append(out.Keys, c.expr(b.Module, key, inside))
			}
		}
		b.ActionTriggers = append(b.ActionTriggers, out)
	}
}

// triggers yields the expressions of triggers with their roles.
func (l lister) triggers(list []ActionTrigger) bool {
	for _, t := range list {
		if !l.exprs(InActionCondition, t.Condition) || !l.exprs(InActions, t.Actions...) || !l.exprs(InActions, t.Keys...) {
			return false
		}
	}
	return true
}

// Invokes reports whether a trigger of the resource names the action.
func (r *Resource) Invokes(action *Resource) bool {
	for e := range r.edges {
		if e.role == InActions && e.to == Node(action) {
			return true
		}
	}
	return false
}

// triggersBefore reports whether a trigger of the resource invokes the action before a change.
func (r *Resource) triggersBefore(action *Resource) bool {
	for e := range r.edges {
		if e.role == InActions && e.to == Node(action) && slices.ContainsFunc(r.ActionTriggers, func(t ActionTrigger) bool {
			return t.Config.Before() && slices.Contains(t.Actions, e.expr)
		}) {
			return true
		}
	}
	return false
}

// lacksConfig reports that an action without a config block needs one, if so.
func (c *compiler) lacksConfig(b *Resource) bool {
	var required []string
	block := b.Schema.Block
	for _, name := range slices.Sorted(maps.Keys(block.Attributes)) {
		if block.Attributes[name].Required {
			required = append(required, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(block.Blocks)) {
		if block.Blocks[name].MinItems > 0 {
			required = append(required, name)
		}
	}
	if len(required) == 0 {
		return false
	}
	c.diags = append(c.diags, diag.At(b.Config.Range, "Missing config block", "An action of the type %q needs a config block with %s:\n\n  config {\n    ...\n  }", b.Config.Addr.Type, diag.Names(required))...)
	return true
}

// checkActionRef checks a reference to an action, which only a trigger may have.
func (m *Module) checkActionRef(ref lang.Ref, u site) diag.List {
	if !u.actions {
		return diag.At(ref.Range, "Reference to an action",
			"%s is an action, which has no value: only the actions argument of an action_trigger block can refer to it.", ref.Resource)
	}
	b := m.Resources[ref.Resource]
	switch {
	case b == nil && m.Config.Resources[ref.Resource] != nil:
		return nil // declared, but it did not compile, which was reported
	case b == nil:
		return undeclaredAction(m, ref)
	case len(ref.Rest) > 0:
		return diag.At(ref.Range, "Invalid reference to an action", "An action has no attributes. Write %s, followed by nothing but the key of an instance if it has several.", ref.Resource)
	case FormOf(b.Repeat).Keyed() && ref.Index == nil:
		return missingActionKey(ref, b.Repeat, u)
	case !FormOf(b.Repeat).Keyed() && ref.Index != nil:
		return b.checkNoIndex(ref)
	}
	return nil
}

// undeclaredAction explains a reference to an action that the module does not declare.
func undeclaredAction(m *Module, ref lang.Ref) diag.List {
	hint := ""
	if near := m.nearestResource(ref.Resource); near != nil && near.Addr.Mode == addr.Action {
		hint = " Did you mean " + near.Addr.String() + "?"
	} else if hint = m.sameType(ref.Resource); declaredElsewhere(m, ref.Resource) {
		hint = " Another module does, but a trigger can invoke actions of its own module only."
	}
	return diag.At(ref.Range, "Reference to undeclared action", "This module declares no action %q %q.%s", ref.Resource.Type, ref.Resource.Name, hint)
}

// declaredElsewhere reports whether a module around m, or one that it calls, declares the resource.
func declaredElsewhere(m *Module, r addr.Resource) bool {
	for up := m.Parent; up != nil; up = up.Parent {
		if up.Config.Resources[r] != nil {
			return true
		}
	}
	for _, child := range m.Config.Children {
		if child.Resources[r] != nil {
			return true
		}
	}
	return false
}

// missingActionKey reports a reference to an action that has several instances.
func missingActionKey(ref lang.Ref, repeat Repetition, u site) diag.List {
	argument, key := "count", "[0]"
	if repeat.ForEach != nil {
		argument, key = "for_each", `["KEY"]`
		if k, ok := firstKey(repeat.ForEach); ok {
			key = addr.StringKey(k).String()
		}
	}
	switch {
	case repeat.Count != nil && u.repeat.Count != nil:
		key = "[count.index]"
	case repeat.ForEach != nil && u.repeat.ForEach != nil:
		key = "[each.key]"
	}
	return diag.At(ref.Range, "Missing action instance key", "Because %s has %q set, a reference to it must say which instance to invoke, such as %s%s.", ref.Resource, argument, ref.Resource, key)
}

// checkActionsBefore reports actions that are to be invoked before a resource is created or updated, and need
// that resource.
func (c *compiler) checkActionsBefore() {
	c.cfg.EachResource(func(b *Resource) {
		for _, t := range b.ActionTriggers {
			if !t.Config.Before() {
				continue
			}
			for e := range b.edges {
				if e.role != InActions || !slices.Contains(t.Actions, e.expr) {
					continue
				}
				s := search{
					found:  func(n Node) bool { return n == Node(b) },
					follow: func(_ Node, next edge) bool { return next.role&(Triggering|InPrevention) == 0 },
				}
				if s.visit(e) {
					c.diags = append(c.diags, diag.At(e.expr.Range(), "Action needs the object that it comes before",
						"%s is invoked before %s is created or updated, but it refers to that resource, which is not as its configuration says by then. Use the events after_create and after_update, or remove the reference.",
						e.to.Address(), b.Address())...)
				}
			}
		}
	})
}

// ActionNames returns the addresses of all action blocks, sorted.
func (c *Config) ActionNames() []string {
	declared := map[string]struct{}{}
	c.EachResource(func(b *Resource) {
		if b.IsAction() {
			declared[b.Address()] = struct{}{}
		}
	})
	return slices.Sorted(maps.Keys(declared))
}
