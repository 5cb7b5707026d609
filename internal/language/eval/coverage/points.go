package coverage

import (
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
)

// lister finds the points of compiled modules. What a test puts into a module is not a part of it.
type lister struct{ *Set }

// module adds the points of the blocks of a module, and those of the arguments of its calls.
func (l lister) module(m *blocks.Module) {
	for _, v := range m.Variables {
		if m.Parent != nil && l.declares(m.Parent) {
			l.expressions("module."+m.Config.Call.Name, v.Expr)
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
	}
	for name, c := range m.Checks {
		if !c.Config.Test {
			l.conditions("check."+name, "assertion", c.Assertions)
		}
	}
	for name, p := range m.Providers {
		if !p.Config.Test {
			l.expressions(`provider "`+name+`"`, append(p.Body, p.ForEach)...)
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
	l.expressions(name, v.Expr)
}

// resource adds the points of a resource block.
func (l lister) resource(r *blocks.Resource) {
	name := r.Config.Addr.String()
	l.add(Resource, r.Config.Range, name)
	l.repetition(name, r.Repeat)
	l.conditions(name, "precondition", r.Preconditions)
	l.conditions(name, "postcondition", r.Postconditions)
	l.expressions(name, r.Body...)
	l.expressions(name, r.Prevent, r.ProviderKey)
	for _, provisioners := range [][]blocks.Provisioner{r.Provisioners, r.DestroyProvisioners} {
		for _, p := range provisioners {
			l.expressions(name, p.Exprs...)
		}
	}
}

// repetition adds the points of the argument that repeats a block. One that refers to nothing has the same
// instances always.
func (l lister) repetition(name string, r blocks.Repetition) {
	if x := r.Expr(); x != nil && len(x.Refs) > 0 {
		l.add(Repetition, x.Range(), r.Argument()+" of "+name)
	}
	l.expressions(name, r.Expr())
}

// conditions adds conditions, and the points of their expressions. Messages have none: they are tried also
// while the condition holds.
func (l lister) conditions(name, what string, list []blocks.Condition) {
	for _, c := range list {
		l.add(Condition, c.Expr.Range(), what+" of "+name)
		l.expressions(name, c.Expr)
	}
}

// expressions adds the conditional expressions in what belongs to a block.
func (l lister) expressions(name string, list ...*lang.Expr) {
	for _, x := range list {
		if x == nil {
			continue
		}
		for _, at := range marked.Conditionals(x.Source) {
			l.add(Conditional, at, "conditional expression in "+name)
		}
	}
}
