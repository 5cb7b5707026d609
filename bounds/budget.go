package bounds

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

const (
	// MaxMade bounds the elements that the evaluation of one expression or body may make, in all of its
	// loops, splats, dynamic blocks and function calls together.
	MaxMade = 1 << 22
	// TextPerElement is how many bytes of text count like one element.
	TextPerElement = 128
)

var (
	// ErrMade says that an evaluation exceeds MaxMade.
	ErrMade = fmt.Errorf("the result is too large: one expression may make up to %d elements of lists, maps and objects, "+
		"where %d bytes of text count like one", MaxMade, TextPerElement)
	// ErrInterrupted says that an evaluation was interrupted.
	ErrInterrupted = errors.New("the evaluation was interrupted")
)

// Budget is what one evaluation may still make before it has to end. Loops multiply, so neither the length of
// an expression nor that of the values in it says how much memory and time it takes: whatever makes elements
// asks the budget first. It cannot stop the evaluation by itself. Once it is used up, loops have to make
// nothing more and return unknown values, and who began the evaluation replaces its outcome by Excess. An
// error of its own would be caught by functions such as try.
//
// A Budget belongs to one goroutine. A nil Budget has no bound.
type Budget struct {
	left        int
	interrupted <-chan struct{}
	excess      *Excess
}

// NewBudget returns the budget of one evaluation, which also ends when interrupted is closed. interrupted may
// be nil.
func NewBudget(interrupted <-chan struct{}) *Budget {
	return &Budget{left: MaxMade, interrupted: interrupted}
}

// Maker is the source text that makes elements.
type Maker interface{ Range() hcl.Range }

// Spend takes n elements, made by the given source text, from the budget. It reports whether the evaluation
// may go on.
func (b *Budget) Spend(n int, by Maker) bool {
	switch {
	case b == nil:
		return true
	case b.excess != nil:
		return false
	}
	select {
	case <-b.interrupted:
		b.excess = &Excess{by.Range(), ErrInterrupted}
		return false
	default:
	}
	if b.left -= n; b.left < 0 {
		b.excess = &Excess{by.Range(), ErrMade}
		return false
	}
	return true
}

// Excess returns why the evaluation had to end, and what made the last elements; nil if it has not had to.
func (b *Budget) Excess() *Excess {
	if b == nil {
		return nil
	}
	return b.excess
}

// budgetName is the variable that holds the budget of an evaluation. It is not an identifier, so no source
// text can refer to it.
const budgetName = "(budget)"

var budgetType = cty.Capsule("budget", reflect.TypeFor[Budget]())

// Within makes b the budget of evaluations with these variables.
func (b *Budget) Within(variables map[string]cty.Value) {
	if b != nil {
		variables[budgetName] = cty.CapsuleVal(budgetType, b)
	}
}

// BudgetOf returns the budget of evaluations in ctx, or nil.
func BudgetOf(ctx *hcl.EvalContext) *Budget {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[budgetName]; ok {
			return v.EncapsulatedValue().(*Budget)
		}
	}
	return nil
}

// Size returns how many elements v counts for, looking that many levels deep into it.
func Size(v cty.Value, levels int) int {
	if levels == 0 || v == cty.NilVal {
		return 0
	}
	if v, _ = v.Unmark(); !v.IsKnown() || v.IsNull() {
		return 0
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		return len(v.AsString()) / TextPerElement
	case ty.IsPrimitiveType() || !v.CanIterateElements():
		return 0
	}
	size := v.LengthInt()
	if levels == 1 {
		return size
	}
	for _, e := range v.Elements() {
		size += Size(e, levels-1)
	}
	return size
}
