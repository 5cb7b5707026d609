package funcs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// canFunc is HCL's, with one difference: whether an expression works can tell a bit about an ephemeral value,
// and so the answer is ephemeral if it could depend on one. Sensitive and deprecated marks don't carry over:
// conditions such as `count = can(tonumber(var.x)) ? 1 : 0` are common with sensitive variables and have
// always been allowed.
var canFunc = function.New(&function.Spec{
	Description: descriptions["can"],
	Params:      tryfunc.CanFunc.Params(),
	Type:        function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		closure := customdecode.ExpressionClosureFromVal(args[0])
		v, err := tryfunc.CanFunc.Call(args)
		if err != nil {
			return cty.NilVal, err
		}
		v = v.WithMarks(ephemeralOnly(dependencyMarks(closure)))
		return markKnown(v, args), nil
	},
})

// tryFunc is HCL's, with three differences. A result that was reached because an expression over ephemeral
// values failed, or did not, is ephemeral itself; an unknown result keeps its marks; and the error of a
// failed call shows no details of expressions over secret values. The result's type is not predicted: that
// would evaluate each expression twice, and nested calls exponentially often.
var tryFunc = function.New(&function.Spec{
	Description: descriptions["try"],
	VarParam:    tryfunc.TryFunc.VarParam(),
	Type:        function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if len(args) == 0 {
			return cty.NilVal, errors.New("at least one argument is required")
		}
		failed := make(cty.ValueMarks)
		var failures []string
		for i, arg := range args {
			closure := customdecode.ExpressionClosureFromVal(arg)
			v, diags := closure.Value()
			if !diags.HasErrors() {
				if !value.Settled(v) {
					v = unsettled(v, args[i+1:])
				}
				return attempted(v, failed, args, i), nil
			}
			marks := dependencyMarks(closure)
			for m := range marks {
				failed[m] = struct{}{}
			}
			failures = appendFailures(failures, diags, marks)
		}
		return cty.NilVal, fmt.Errorf("no expression succeeded:\n%s\n\nAt least one expression must produce a successful result",
			strings.Join(failures, "\n"))
	},
})

// attempted returns the result of the attempt with the given number. If an ephemeral value has decided that
// it is this one, the result is ephemeral, and so is its type, and whether it is known.
func attempted(v cty.Value, failed cty.ValueMarks, args []cty.Value, number int) cty.Value {
	_, decided := failed[value.Ephemeral]
	if number < len(args)-1 && !decided {
		_, decided = dependencyMarks(customdecode.ExpressionClosureFromVal(args[number]))[value.Ephemeral]
	}
	if !decided {
		return v
	}
	return markKnown(v.Mark(value.Ephemeral).Mark(value.EphemeralType), args)
}

// markKnown marks an ephemeral result that may be unknown with other ephemeral values, as a part of an
// expression is.
func markKnown(v cty.Value, args []cty.Value) cty.Value {
	if !value.MayBeUnknown(v) {
		return v
	}
	for _, arg := range args {
		if closure := customdecode.ExpressionClosureFromVal(arg); ReadsUnknown(closure.Expression, closure.EvalContext) {
			return v.Mark(value.EphemeralKnown)
		}
	}
	return v
}

// unsettled returns the result of an attempt of which a part is unknown, or may be with other ephemeral
// values. Once the unknown parts are known the expression may still fail, and so not even the type is
// certain.
func unsettled(v cty.Value, others []cty.Value) cty.Value {
	_, marks := v.UnmarkDeep()
	if v.IsWhollyKnown() {
		return v.WithMarks(marks).Mark(value.EphemeralType)
	}
	return cty.DynamicVal.WithMarks(marks, alternatives(others))
}

// alternatives returns the ephemeral mark if an expression gives a value with an ephemeral part, or could
// give one.
func alternatives(args []cty.Value) cty.ValueMarks {
	for _, arg := range args {
		closure := customdecode.ExpressionClosureFromVal(arg)
		v, _ := closure.Value()
		if value.Contains(v, value.Ephemeral) || EphemeralOutcome(closure.Expression, closure.EvalContext) {
			return cty.NewValueMarks(value.Ephemeral)
		}
	}
	return nil
}

// maxFailure bounds the text that one failed expression adds to the message, in bytes.
const maxFailure = 2000

// appendFailures appends the errors of one attempt as text. Details are withheld if the marks are secret,
// and cut if they are long: nested calls repeat the text of those within them.
func appendFailures(failures []string, diags hcl.Diagnostics, marks cty.ValueMarks) []string {
	for _, d := range diags {
		line := "- " + d.Summary
		if d.Subject != nil {
			line += fmt.Sprintf(" (at %s)", d.Subject) // with the columns: the expressions are often on one line
		}
		detail := d.Detail
		if word, secret := value.Redacted(marks); secret {
			detail = "The details are withheld because the expression uses a value: " + word
		}
		if len(detail) > maxFailure { // as of calls within calls, each of which repeats the inner ones
			detail = strings.ToValidUTF8(detail[:maxFailure], "") + "..."
		}
		failures = append(failures, line+"\n  "+detail)
	}
	return failures
}

func ephemeralOnly(marks cty.ValueMarks) cty.ValueMarks {
	if _, ok := marks[value.Ephemeral]; !ok {
		return nil
	}
	return cty.NewValueMarks(value.Ephemeral)
}
