package lang

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Step is the step of an attribute access or index that leads nowhere.
type Step struct {
	Of   cty.Value // the value that the step was to be taken from
	Path hcl.Traversal
	Attr string    // the name of an attribute
	Key  cty.Value // otherwise, the key of an index
}

// FailedStep finds the step at which evaluating an attribute access or index fails; ok is false if e is
// none, or does not fail for that reason. Path is how Of is referred to, nil if it is not by a plain
// reference. Evaluating parts once more has no effect but to find the place; the caller must not use it for
// expressions that call providers.
func FailedStep(e hcl.Expression, ctx *hcl.EvalContext) (s Step, ok bool) {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		for n := 1; n < len(e.Traversal); n++ {
			of, diags := e.Traversal[:n].TraverseAbs(ctx)
			if diags.HasErrors() {
				return s, false
			}
			if s, ok := failedStep(of, e.Traversal[n]); ok {
				s.Path = e.Traversal[:n]
				return s, true
			}
		}
	case *hclsyntax.RelativeTraversalExpr:
		of, diags := e.Source.Value(ctx)
		for _, step := range e.Traversal {
			if diags.HasErrors() {
				break
			}
			if s, ok := failedStep(of, step); ok {
				return s, true
			}
			of, diags = step.TraversalStep(of)
		}
	case *hclsyntax.IndexExpr:
		of, ofDiags := e.Collection.Value(ctx)
		key, keyDiags := e.Key.Value(ctx)
		if ofDiags.HasErrors() || keyDiags.HasErrors() {
			return s, false
		}
		s, ok = failedStep(of, hcl.TraverseIndex{Key: key})
		if coll, plain := e.Collection.(*hclsyntax.ScopeTraversalExpr); plain {
			s.Path = coll.Traversal
		}
		return s, ok
	}
	return s, false
}

// failedStep returns the step if it leads nowhere from a value.
func failedStep(of cty.Value, step hcl.Traverser) (Step, bool) {
	if _, diags := step.TraversalStep(of); !diags.HasErrors() {
		return Step{}, false
	}
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return Step{Of: of, Attr: step.Name}, true
	case hcl.TraverseIndex:
		return Step{Of: of, Key: step.Key}, true
	}
	return Step{}, false
}

// Advice returns a sentence on the correct spelling of the step; "" if there is nothing to add, or it could
// reveal a value.
func (s Step) Advice() string {
	if _, secret := value.Redacted(s.Of.Marks()); secret {
		return ""
	}
	of, _ := s.Of.Unmark()
	ty := of.Type()
	switch {
	case of.IsNull():
		return s.adviceOnNull()
	case ty.IsObjectType():
		return s.adviceOnNames("attribute", len(ty.AttributeTypes()), maps.Keys(ty.AttributeTypes()))
	case (ty.IsListType() || ty.IsTupleType()) && s.Attr != "":
		return s.adviceOnElements()
	case !of.IsKnown():
		return ""
	case ty.IsMapType():
		return s.adviceOnNames("key", of.LengthInt(), func(yield func(string) bool) {
			for k := range of.Elements() {
				if !yield(k.AsString()) {
					return
				}
			}
		})
	case ty.IsListType() || ty.IsTupleType():
		return adviceOnIndexes(of.LengthInt())
	case ty.IsSetType() && s.Attr != "" && s.Path != nil:
		return fmt.Sprintf("For the attribute of every element: [for x in %s : x.%s].", diag.Reference(s.Path), s.Attr)
	case ty.IsSetType() && s.Attr == "":
		return fmt.Sprintf("If it has one element: one(%s). To use indexes, make it a list: tolist(%s).", s.of(), s.of())
	case ty == cty.String && s.Attr == "" && s.Key.Type() == cty.Number:
		return fmt.Sprintf("For one character: substr(%s, INDEX, 1).", s.of())
	}
	return ""
}

// of returns the expression that the step was to be taken from, or a word for it.
func (s Step) of() string {
	if s.Path == nil {
		return "VALUE"
	}
	return diag.Reference(s.Path)
}

// adviceOnNull proposes a default for an attribute of null.
func (s Step) adviceOnNull() string {
	if s.Path == nil || s.Attr == "" {
		return ""
	}
	return fmt.Sprintf("If it may be null, write try(%s.%s, null).", diag.Reference(s.Path), s.Attr)
}

// Name returns the name that the step asks for, if it is a name and no secret.
func (s Step) Name() (string, bool) {
	if s.Attr != "" {
		return s.Attr, true
	}
	if k := s.Key; k != cty.NilVal && !k.IsMarked() && k.IsKnown() && !k.IsNull() && k.Type() == cty.String {
		return k.AsString(), true
	}
	return "", false
}

// mostCandidates bounds the names that are looked at for a message, since there may be as many messages as
// there are names.
const mostCandidates = 200

// adviceOnNames returns a sentence that proposes the nearest of the names or lists them, "" if there are
// none or too many for a reader.
func (s Step) adviceOnNames(noun string, n int, all iter.Seq[string]) string {
	if n > mostCandidates {
		return ""
	}
	names := slices.Collect(all)
	if wanted, ok := s.Name(); ok {
		if proposal := diag.DidYouMean(wanted, names); proposal != "" {
			return proposal[1:]
		}
	}
	if len(names) == 0 {
		return ""
	}
	if len(names) == 1 {
		return fmt.Sprintf("Its only %s is %q.", noun, names[0])
	}
	return fmt.Sprintf("Its %ss are %s.", noun, diag.Names(names))
}

// adviceOnElements proposes an index or a splat for an attribute that a list does not have.
func (s Step) adviceOnElements() string {
	if s.Path == nil {
		return ""
	}
	name := diag.Reference(s.Path)
	return fmt.Sprintf("For one element: %s[0].%s. For all of them: %s[*].%s.", name, s.Attr, name, s.Attr)
}

// adviceOnIndexes says which indexes a list of n elements has.
func adviceOnIndexes(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "There is one element, with the index 0."
	default:
		return fmt.Sprintf("The indexes are 0 to %d.", n-1)
	}
}
