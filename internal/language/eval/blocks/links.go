package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// Purpose is the reason why a block refers to another one.
type Purpose string

// The purposes.
const (
	ForArgument    Purpose = "argument" // an argument of a block, the expression of a value
	ForRepetition  Purpose = "repetition"
	ForCondition   Purpose = "condition"
	ForProvisioner Purpose = "provisioner"
	ForTrigger     Purpose = "replace_triggered_by"
	ForPrevention  Purpose = "prevent_destroy"
	ForProvider    Purpose = "provider"
	ForDependsOn   Purpose = "depends_on"
	ForVersion     Purpose = "ephemeral_attributes"
	ForAction      Purpose = "action_trigger"
	ForModule      Purpose = "module" // the call of a module whose output is read
)

// purposes has the roles in which a block refers to another one. The other roles connect a module with its
// parts.
var purposes = map[Role]Purpose{
	InBody: ForArgument, InRepetition: ForRepetition, InPrecondition: ForCondition, InPostcondition: ForCondition,
	InProvisioner: ForProvisioner, InIdleConnection: ForProvisioner, InDestroyProvisioner: ForProvisioner,
	InTrigger: ForTrigger, InPrevention: ForPrevention, InVersion: ForVersion, InProviderKey: ForProvider, toProvider: ForProvider,
	InActions: ForAction, InActionCondition: ForCondition, inDependsOn: ForDependsOn, toCall: ForModule,
}

// Link is a reference from one block to another one, for explaining it to people.
type Link struct {
	To       Node // a *Resource, *Value, *Provider or *Call
	Purpose  Purpose
	Argument string    // of the body that refers to it; "" elsewhere
	Ref      *lang.Ref // nil for the provider of a resource
	Range    hcl.Range // of the reference

	expr *lang.Expr // that has the reference, nil if none has
}

// In reports whether the reference is within a call of a function, such as nonsensitive.
func (l Link) In(function string) bool {
	return l.expr != nil && slices.ContainsFunc(callRanges(l.expr.Source, function), l.Range.Overlaps)
}

// Links calls yield for the references of a block, in the order of the block, until it returns false. A
// reference to all of a module leads to each of its outputs, one in depends_on to the call.
func Links(n Node, yield func(Link) bool) {
	for e := range n.edges {
		purpose, ok := purposes[e.role]
		if !ok {
			continue
		}
		l := Link{To: e.to, Purpose: purpose, Ref: e.ref, expr: e.expr}
		if e.expr != nil {
			l.Argument = e.expr.Argument
		}
		if e.via != nil {
			l.Range = *e.via
		}
		switch to := e.to.(type) {
		case outputsOf:
			for part := range to.edges {
				l.To = part.to
				if !yield(l) {
					return
				}
			}
			continue
		case insideOf:
			l.To = to.call()
		}
		if !yield(l) {
			return
		}
	}
}

// EachBlock calls yield for every block of the tree, in the same order each time, until it returns false.
func (c *Config) EachBlock(yield func(Node) bool) { c.eachNode(yield) }

// Declared returns where a block is declared, the zero Range for a group of blocks.
func Declared(n Node) hcl.Range {
	switch b := n.(type) {
	case *Resource:
		return b.Config.Range
	case *Value:
		if b.Kind == VariableValue {
			return b.Variable.Range
		}
		return b.Range
	case *Call:
		return b.Config.Range
	case *Provider:
		return b.Config.Range
	case *Check:
		return b.Config.Range
	}
	return hcl.Range{}
}

// Secret reports whether the block of a variable or output declares its value sensitive.
func (v *Value) Secret() bool {
	switch v.Kind {
	case VariableValue:
		return v.Variable.Sensitive
	case OutputValue:
		return v.Output.Sensitive
	}
	return false
}

// Passed returns the references of a value's expression from which the part of it comes that rest leads to.
func (v *Value) Passed(rest hcl.Traversal, yield func(Link) bool) {
	if v.Expr == nil {
		return
	}
	part := lang.Descend(v.Expr.Expression, rest).Range()
	Links(v, func(l Link) bool {
		if l.Purpose != ForArgument || l.Ref == nil || !part.Overlaps(l.Range) {
			return true
		}
		return yield(l)
	})
}

// Given reports whether the value is a variable of the root module, whose value comes from outside.
func (v *Value) Given() bool { return v.Kind == VariableValue && v.Module.Parent == nil }
