package funcs

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// guard wraps a function so that it keeps the promises of the language for all functions:
//
//   - an error message never depends on the content of a sensitive or ephemeral argument;
//   - an unknown result carries the marks of its arguments, also where another argument made the function
//     return at once, and is ephemeral if a part of an argument is;
//   - a result whose type is not known without the ephemeral arguments is ephemeral, and marked as such;
//   - so is marked an ephemeral result that may be unknown with other ephemeral arguments;
//   - a failure inside the function is an ordinary error, without a stack.
//
// The signature stays as it is, for descriptions of the functions.
func guard(name string, f function.Function) function.Function {
	spec := &function.Spec{
		Description: descriptions[name],
		Params:      f.Params(),
		VarParam:    f.VarParam(),
	}
	for i := range spec.Params {
		passThrough(&spec.Params[i])
	}
	if spec.VarParam != nil {
		passThrough(spec.VarParam)
	}
	spec.Type = func(args []cty.Value) (cty.Type, error) {
		// With known arguments the call itself decides on the type: computing it here as well would parse or
		// walk them twice.
		for _, arg := range args {
			if arg.IsKnown() {
				return cty.DynamicPseudoType, nil
			}
		}
		ty, err := f.ReturnTypeForValues(args)
		if err != nil {
			return cty.NilType, guardedError(name, f, args, err)
		}
		return ty, nil
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		err := checkSize(name, args)
		var v cty.Value
		if err == nil {
			v, err = f.Call(args)
		}
		if err == nil {
			err = checkResult(name, v)
		}
		if err != nil {
			return cty.NilVal, guardedError(name, f, args, err)
		}
		return value.MarkKnown(markType(name, f, unknownResult(name, v, args), args), Decides(name, args)...), nil
	}
	return function.New(spec)
}

// decidesMarks names the functions whose very purpose is to change marks, or that choose between arguments by
// themselves.
var decidesMarks = map[string]bool{
	"assumeequal": true, "sensitive": true, "nonsensitive": true, "issensitive": true, "ephemeralasnull": true, "fingerprint": true, "lookup": true,
}

// passThrough makes the guard receive every argument as it is: the guarded function applies its own rules.
// Null stays as declared.
func passThrough(p *function.Parameter) {
	p.AllowMarked = true
	p.AllowUnknown = true
	p.AllowDynamicType = true
}

// rejections says, for functions that people often feed with secrets, the meaning of a rejected argument
// without its content.
var rejections = map[string]string{
	"base64decode":     "failed to decode base64 data",
	"base64gunzip":     "failed to decode or uncompress base64 data",
	"assumeequal":      "the value is not equal to the assumed one",
	"cidrcontains":     "invalid IP address or prefix",
	"cidrhost":         "invalid CIDR expression or host number",
	"cidrnetmask":      "invalid CIDR expression",
	"cidrsubnet":       "invalid CIDR expression or subnet number",
	"cidrsubnets":      "invalid CIDR expression or prefix extension",
	"convert":          "cannot convert the value to that type",
	"csvdecode":        "not valid CSV",
	"formatdate":       "invalid date format or timestamp",
	"jsondecode":       "not valid JSON",
	"lookup":           "the map has no such element",
	"parseint":         "cannot parse the value as an integer of that base",
	"rsadecrypt":       "cannot decrypt the ciphertext with that key",
	"templatestring":   "the template could not be rendered",
	"templatefile":     "the template could not be rendered",
	"textdecodebase64": "failed to decode base64 data in that encoding",
	"timeadd":          "not a valid timestamp or duration",
	"timecmp":          "not a valid RFC3339 timestamp",
	"tobool":           "cannot convert the value to bool",
	"tonumber":         "cannot convert the value to number",
	"tostring":         "cannot convert the value to string",
	"urldecode":        "failed to decode the URL-encoded text",
	"uuidv5":           "unsupported namespace",
	"yamldecode":       "not valid YAML",
}

// guardedError returns an error that tells as much about a failed call as the marks of the arguments allow.
func guardedError(name string, f function.Function, args []cty.Value, err error) error {
	marks := secretMarks(args)
	if len(marks) == 0 {
		return plainError(args, err)
	}
	// A call that also fails with the secrets unknown cannot depend on them, and its error may be shown in
	// full.
	for _, open := range []error{bounds.ErrText, bounds.ErrNumber, bounds.ErrTooDeep, errProduct, errWidth, errPast, errDerived} {
		if errors.Is(err, open) {
			return open // says nothing about the content of the arguments
		}
	}
	public := withoutSecrets(args)
	if _, publicErr := f.Call(public); publicErr != nil {
		return plainError(public, publicErr)
	}
	reason, ok := rejections[name]
	if !ok {
		reason = "the arguments were rejected"
	}
	word, _ := value.Redacted(marks)
	withheld := fmt.Errorf("%s; the details are withheld because they could reveal a value: %s", reason, word)
	if argErr, ok := errors.AsType[function.ArgError](err); ok {
		return function.NewArgError(argErr.Index, withheld)
	}
	return withheld
}

// fitsInt64 reports whether a known number is a whole number in the range of int64.
func fitsInt64(n cty.Value) bool {
	_, exact := n.AsBigFloat().Int64()
	return exact == big.Exact
}

// plainError rewords, for the author of a call, errors that the library words for its own callers: the end of
// an input, the range of Go's integers, and panics, whose text is a stack. Other errors it returns unchanged.
func plainError(args []cty.Value, err error) error {
	switch {
	case len(args) == 0 && strings.Contains(err.Error(), "must have the same type"):
		return errors.New("at least one argument is required")
	case err == io.EOF || err == io.ErrUnexpectedEOF: // alone; functions that wrap them say more
		return errors.New("the text ends before it is complete")
	case strings.Contains(err.Error(), "must be a whole number"):
		for i, arg := range args {
			if arg, _ = arg.Unmark(); arg.Type() == cty.Number && arg.IsKnown() && !arg.IsNull() && !fitsInt64(arg) {
				return function.NewArgErrorf(i, "it must be a whole number, and not out of range")
			}
		}
	}
	if reason, ok := strings.CutPrefix(err.Error(), "error occured generating password "); ok {
		return errors.New("the password could not be hashed: " + reason)
	}
	if _, ok := errors.AsType[function.PanicError](err); ok {
		return errors.New("the function cannot handle these arguments; they may be out of its range")
	}
	return err
}

// secretMarks returns the marks anywhere in the values that forbid showing them.
func secretMarks(args []cty.Value) cty.ValueMarks {
	marks := make(cty.ValueMarks)
	for _, arg := range args {
		for _, m := range []value.Mark{value.Sensitive, value.Ephemeral} {
			if value.Contains(arg, m) {
				marks[m] = struct{}{}
			}
		}
	}
	return marks
}

// withoutSecrets returns the values with every sensitive or ephemeral part replaced by an unknown value. It
// has the type of that part if nothing secret is in it: errors quote the names of attributes.
func withoutSecrets(args []cty.Value) []cty.Value {
	out := make([]cty.Value, len(args))
	for i, arg := range args {
		// The callback never fails, and so Transform does not either.
		hidden, _ := cty.Transform(arg, func(_ cty.Path, v cty.Value) (cty.Value, error) {
			if value.Has(v, value.Sensitive) && !value.Has(v, value.Ephemeral) {
				if v = v.Mark(value.Ephemeral); value.HasKeys(v.Type()) {
					v = v.Mark(value.EphemeralType)
				}
			}
			return v, nil
		})
		out[i] = withoutEphemeral(hidden, cty.DynamicPseudoType)
	}
	return out
}
