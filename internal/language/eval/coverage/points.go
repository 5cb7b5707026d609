package coverage

import (
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
)

// lister finds the points of compiled modules. Blocks that a test adds to a module are not counted.
type lister struct{ *Set }

// module adds the points of the blocks of a module and of the arguments of its calls.
func (l lister) module(m *blocks.Module) {
	for _, v := range m.Variables {
		if m.Parent != nil && l.declares(m.Parent) {
			v.Exprs(l.expressions("module." + m.Config.Call.Name))
		}
	}
	if !l.declares(m) {
		return
	}
	for _, group := range []map[string]*blocks.Value{m.Variables, m.Locals, m.Outputs} {
		for _, v := range group {
			l.value(v)
		}
	}
	for _, r := range m.Resources {
		l.resource(r)
	}
	for name, c := range m.Calls {
		l.repetition("module."+name, c.Repeat)
		c.Exprs(l.expressions("module." + name))
	}
	for name, c := range m.Checks {
		if !c.Config.Test {
			l.conditions("check."+name, "assertion", c.Assertions)
		}
	}
	for name, p := range m.Providers {
		if !p.Config.Test {
			p.Exprs(l.expressions(`provider "` + name + `"`))
		}
	}
}

// value adds the points of a variable, local value or output.
func (l lister) value(v *blocks.Value) {
	name := v.LocalName()
	switch v.Kind {
	case blocks.VariableValue:
		l.conditions(name, "validation", v.Conditions)
		return // the expression is in the calling module
	case blocks.OutputValue:
		if v.Range.Filename == "" {
			return
		}
		l.add(Output, v.Range, name)
		l.conditions(name, "precondition", v.Conditions)
	}
	v.Exprs(l.expressions(name))
}

// resource adds the points of a resource block.
func (l lister) resource(r *blocks.Resource) {
	name := r.Config.Addr.String()
	l.add(Resource, r.Config.Range, name)
	l.repetition(name, r.Repeat)
	l.conditions(name, "precondition", r.Preconditions)
	l.conditions(name, "postcondition", r.Postconditions)
	r.Exprs(l.expressions(name))
}

// repetition adds the point of the argument that repeats a block. One that refers to nothing has the same
// instances always.
func (l lister) repetition(name string, r blocks.Repetition) {
	if x := r.Expr(); x != nil && len(x.Refs) > 0 {
		l.add(Repetition, x.Range(), r.Argument()+" of "+name)
	}
}

// conditions adds conditions, and the points of their expressions. Messages have none: they are tried also
// while the condition holds.
func (l lister) conditions(name, what string, list []blocks.Condition) {
	for _, c := range list {
		l.add(Condition, c.Expr.Range(), what+" of "+name)
		l.conditionals(name, c.Expr)
	}
}

// apart are the roles of expressions that have no points, and of conditions, which are added by themselves.
const apart = blocks.InPrecondition | blocks.InPostcondition | blocks.InTrigger | blocks.InIdleConnection | blocks.InConnection

// expressions returns a function for the list of a block's expressions that adds their points, except for
// conditions.
func (l lister) expressions(name string) func(blocks.Role, *lang.Expr) bool {
	return func(role blocks.Role, x *lang.Expr) bool {
		if role&apart == 0 {
			l.conditionals(name, x)
		}
		return true
	}
}

// conditionals adds the conditional expressions in an expression of a block.
func (l lister) conditionals(name string, x *lang.Expr) {
	for _, at := range marked.Conditionals(x.Source) {
		l.add(Conditional, at, "conditional expression in "+name)
	}
}
