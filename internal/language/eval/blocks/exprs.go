package blocks

import "github.com/mayfly-iac/mayfly/internal/language/lang"

// Role is the purpose of an expression of a block, or of a reference to another block. Roles are bits, so
// that a walk can choose a set of them.
type Role uint32

// The roles of expressions.
const (
	InBody               Role = 1 << iota // the arguments of a block, the expression of a value
	InRepetition                          // count, for_each, enabled
	InPrecondition                        // also validations of variables and assertions of checks
	InPostcondition                       // evaluated once the object exists
	InProvisioner                         // of creation, with the connection that it uses
	InDestroyProvisioner                  // with the connection that it uses
	InIdleConnection                      // of a connection that no provisioner of creation uses
	InConnection                          // the connection that applies to a provisioner, whether or not it uses it
	InTrigger                             // replace_triggered_by, and the keys in brackets in it
	InPrevention                          // prevent_destroy
	InVersion                             // of an ephemeral attribute
	InProviderKey                         // the key of the provider configuration's instance
	InActions                             // of a trigger: the actions, and the keys in brackets in them
	InActionCondition                     // of a trigger

	// The other roles are for references without an expression.
	inDependsOn // depends_on, where a module means everything in it
	toProvider  // from a resource to its provider configuration
	toCall      // from a reference to a module's output to the call of the module
	AroundIt    // from a block to the call of the module that it is in
	toOutput    // from a module to its outputs
	toPart      // from a module to the resources in it and below, from a check to its nested block
	InElement   // from a variable whose argument has each.value to the references in for_each of the call

	// toFunction is combined with the role of an expression: from its block to the configuration of the
	// provider whose function it calls.
	toFunction
)

// Sets of roles.
const (
	// Afterwards are the roles in which a block may refer to itself: its object exists by then.
	Afterwards = InPostcondition | InProvisioner | InIdleConnection | InDestroyProvisioner
	// Opening are the roles in which an operation on an object may open the resources that an expression
	// refers to. For a value, InBody is the only one: its conditions are operations of their own.
	Opening = InBody | InPrecondition | InPostcondition | InProvisioner
	// Reading are the roles of references that an object waits for. prevent_destroy is not among them: it is
	// evaluated only if the object is to be destroyed. Nor are triggers: actions wait for the object, or are
	// waited for step by step.
	Reading = referring &^ (InPrevention | Triggering)
	// Triggering are the roles in the triggers of actions.
	Triggering = InActions | InActionCondition

	// referring are the roles in which a block refers to others. A connection counts by how it is used.
	referring = ^InConnection
)

// Exprs yields the expressions of the resource with their roles, in the same order each time. One of a
// connection may have several roles. It returns false if yield wants no more, as all lists do.
func (r *Resource) Exprs(yield func(Role, *lang.Expr) bool) bool {
	l := lister(yield)
	return l.repetition(r.Repeat) &&
		l.exprs(InBody, r.Body...) &&
		l.exprs(InBody, r.Include, r.Limit) &&
		l.conditions(InPrecondition, r.Preconditions) &&
		l.exprs(InTrigger, r.Triggers...) &&
		l.exprs(InTrigger, r.TriggerKeys...) &&
		l.exprs(InPrevention, r.Prevent) &&
		l.exprs(InVersion, r.Versions...) &&
		l.exprs(InProviderKey, r.ProviderKey) &&
		l.exprs(InIdleConnection, r.IdleConnections...) &&
		l.conditions(InPostcondition, r.Postconditions) &&
		l.triggers(r.ActionTriggers) &&
		l.provisioners(InProvisioner, r.Provisioners) &&
		l.provisioners(InDestroyProvisioner, r.DestroyProvisioners)
}

// Exprs yields the expressions with their roles, provisioner by provisioner.
func (d DestroyProvisioners) Exprs(yield func(Role, *lang.Expr) bool) bool {
	return lister(yield).provisioners(InDestroyProvisioner, d)
}

// Exprs yields the expressions of the value with their roles. For a variable, the expression with the
// role InBody is written in the calling module.
func (v *Value) Exprs(yield func(Role, *lang.Expr) bool) bool {
	return lister(yield).exprs(InBody, v.Expr) && lister(yield).conditions(InPrecondition, v.Conditions)
}

// Exprs yields the expressions of the provider configuration with their roles.
func (p *Provider) Exprs(yield func(Role, *lang.Expr) bool) bool {
	return lister(yield).exprs(InRepetition, p.ForEach) && lister(yield).exprs(InBody, p.Body...)
}

// Exprs yields the expressions of the call with their roles. Its arguments belong to the variables of the
// called module.
func (c *Call) Exprs(yield func(Role, *lang.Expr) bool) bool {
	return lister(yield).repetition(c.Repeat)
}

// Exprs yields the expressions of the check with their roles, without the expressions of its nested block.
func (b *Check) Exprs(yield func(Role, *lang.Expr) bool) bool {
	return lister(yield).conditions(InPrecondition, b.Assertions)
}

// lister yields expressions, without nil ones.
type lister func(Role, *lang.Expr) bool

func (l lister) exprs(r Role, exprs ...*lang.Expr) bool {
	for _, x := range exprs {
		if x != nil && !l(r, x) {
			return false
		}
	}
	return true
}

func (l lister) repetition(r Repetition) bool {
	return l.exprs(InRepetition, r.Count, r.ForEach, r.Enabled)
}

func (l lister) conditions(r Role, list []Condition) bool {
	for _, c := range list {
		if !l.exprs(r, c.Expr, c.Message) {
			return false
		}
	}
	return true
}

func (l lister) provisioners(r Role, list []Provisioner) bool {
	for i := range list {
		if !l.exprs(r, list[i].Exprs...) || !l.exprs(InConnection, list[i].Connection...) {
			return false
		}
	}
	return true
}
