package bounds

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

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

// Budget is the number of elements that one evaluation may still make before it has to end. Loops multiply,
// so neither the length of an expression nor of the values in it says how much memory it takes: whatever
// makes elements asks the budget first. It cannot stop the evaluation by itself. Once it is used up, loops
// have to make nothing more and return unknown values, and the caller that began the evaluation replaces its
// outcome by Excess. An error of its own would be caught by functions such as try.
//
// It counts the elements that may be alive at a time, not the work: only memory that runs out ends the
// program with everything open. Work that takes too long can be interrupted, and how long is too long only
// the person who waits can tell. [Budget.Discard] gives back the elements made on the way to a value that
// cannot contain them.
//
// A Budget belongs to one goroutine. A nil Budget has no bound.
type Budget struct {
	left        int // negative once there is an excess
	rounds      int
	interrupted <-chan struct{}
	excess      *Excess
}

// roundsPerLook is how many rounds of loops go by from one look for an interrupt to the next: a look costs as
// much as some rounds do.
const roundsPerLook = 1024

// NewBudget returns the budget of one evaluation, which also ends when interrupted is closed. interrupted may
// be nil.
func NewBudget(interrupted <-chan struct{}) *Budget {
	return &Budget{left: MaxMade, interrupted: interrupted}
}

// Maker is the source text that makes elements.
type Maker interface{ Range() hcl.Range }

// Round takes n elements, made by one round of the given loop, from the budget. It reports whether the
// evaluation may go on. It costs next to nothing, and looks for an interrupt only now and then.
func (b *Budget) Round(n int, by Maker) bool {
	if b == nil {
		return true
	}
	b.rounds++
	if b.left -= n; b.left >= 0 && b.rounds%roundsPerLook != 0 {
		return true
	}
	return b.check(by)
}

// Spend takes n elements, made by the given source text, from the budget, and looks for an interrupt. It
// reports whether the evaluation may go on.
func (b *Budget) Spend(n int, by Maker) bool {
	if b == nil {
		return true
	}
	b.left -= n
	return b.check(by)
}

// Room reports whether there is room for n elements, before the given source text makes them. If there is
// not, the budget is used up.
func (b *Budget) Room(n int, by Maker) bool {
	return b == nil || n <= b.left || b.Spend(n, by)
}

// check reports whether there is no excess, and no reason for one.
func (b *Budget) check(by Maker) bool {
	if b.excess != nil {
		return false
	}
	select {
	case <-b.interrupted:
		b.excess, b.left = &Excess{by.Range(), ErrInterrupted}, -1
		return false
	default:
	}
	if b.left < 0 {
		b.excess = &Excess{by.Range(), ErrMade}
		return false
	}
	return true
}

// CheckWhole uses up the budget if v has more than MaxMade elements in all. An element that several parts of
// v share counts once for each of them: such a value takes little memory, but walking through it, printing it
// or storing it would not end.
func (b *Budget) CheckWhole(v cty.Value, by Maker) {
	if b == nil || b.excess != nil || v == cty.NilVal {
		return
	}
	if left := MaxMade; exhausts(v, &left) {
		b.excess, b.left = &Excess{by.Range(), ErrMade}, -1
	}
}

// exhausts subtracts the number of elements of v, in all levels, from left. It reports whether left became
// negative, and stops there.
func exhausts(v cty.Value, left *int) bool {
	if v, _ = v.Unmark(); v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return false
	}
	if *left -= v.LengthInt(); *left < 0 {
		return true
	}
	if Flat(v.Type()) {
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); exhausts(e, left) {
			return true
		}
	}
	return false
}

// Flat reports whether all elements of a value of the type are primitive. Looking at the types of a tuple
// takes less time than looking at its elements.
func Flat(ty cty.Type) bool {
	if ty.IsCollectionType() {
		return ty.ElementType().IsPrimitiveType()
	}
	if ty.IsTupleType() {
		return !slices.ContainsFunc(ty.TupleElementTypes(), func(elem cty.Type) bool { return !elem.IsPrimitiveType() })
	}
	return false
}

// Left returns how many elements are left, for Discard.
func (b *Budget) Left() int {
	if b == nil {
		return 0
	}
	return b.left
}

// Discard gives back the elements made since that many were left, if v is all that is kept of them and cannot
// contain them: if it is unknown, or a number, a bool or a text. A text then counts by its length.
func (b *Budget) Discard(left int, v cty.Value) {
	if b == nil || b.excess != nil || b.left == left || v == cty.NilVal {
		return
	}
	if v.IsKnown() && !v.Type().IsPrimitiveType() {
		return
	}
	b.left = max(b.left, left-Size(v, 1))
}

// Excess returns why the evaluation had to end, and the maker of the last elements; nil if it has not had to.
func (b *Budget) Excess() *Excess {
	if b == nil {
		return nil
	}
	return b.excess
}

// budgetName is the variable with the budget of an evaluation. It is not an identifier, so no source text can
// refer to it.
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
