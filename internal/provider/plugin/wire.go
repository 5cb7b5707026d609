package plugin

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// wireError describes an error in a value, and its place, without quoting any part of the value.
type wireError struct {
	path cty.Path
	what string
}

// Error implements error. Keys of maps are left out of the path, since they are part of the value.
func (e *wireError) Error() string {
	if len(e.path) == 0 {
		return e.what
	}
	return schema.PathWithoutKeys(e.path) + ": " + e.what
}

// encodeValue returns v as a value of the given type, which is the type of block unless block is nil. A
// missing value (cty.NilVal) is sent as null.
func encodeValue(v cty.Value, ty cty.Type, block *schema.Block) (*tfplugin6.DynamicValue, error) {
	if v == cty.NilVal {
		v = cty.NullVal(ty)
	}
	data, err := value.Pack(v, ty, block)
	switch {
	case err != nil && schema.HoldsMarks(v):
		return nil, &wireError{what: "the value has marks, which cannot be sent"}
	case err != nil:
		return nil, mismatch(ty, err)
	}
	return &tfplugin6.DynamicValue{Msgpack: data}, nil
}

// decodeValue returns a value of exactly the given type, except that dynamic parts have any type. A missing
// value is null. The error is a *wireError.
func decodeValue(in *tfplugin6.DynamicValue, ty cty.Type) (v cty.Value, err error) {
	// The cty packages panic for some well-formed input that represents no value: lists with elements of
	// several types, invalid numbers, contradictory refinements.
	defer func() {
		if recover() != nil {
			v, err = cty.NilVal, &wireError{what: "it makes no value of the type that the schema declares"}
		}
	}()
	switch {
	case len(in.GetMsgpack()) > 0:
		if err := scan(in.Msgpack, refuse); err != nil {
			return cty.NilVal, &wireError{what: err.Error()}
		}
		v, err = value.Unpack(in.Msgpack, ty)
	case len(in.GetJson()) > 0:
		v, err = jsonvalue.Unmarshal(in.Json, ty)
	default:
		return cty.NullVal(ty), nil
	}
	if err != nil {
		return cty.NilVal, mismatch(ty, err)
	}
	if errs := v.Type().TestConformance(ty); len(errs) > 0 {
		return cty.NilVal, mismatch(ty, errs[0])
	}
	return v, nil
}

// hasValue reports whether the provider sent a value, which may be null.
func hasValue(in *tfplugin6.DynamicValue) bool {
	return len(in.GetMsgpack()) > 0 || len(in.GetJson()) > 0
}

// mismatch says which type is needed where err happened. It does not use the text of err, which may quote
// the value.
func mismatch(ty cty.Type, err error) error {
	var pathErr cty.PathError
	if !errors.As(err, &pathErr) {
		return &wireError{what: notOfType(ty)}
	}
	path, at, unknown := typedPath(pathErr.Path, ty)
	if unknown {
		return &wireError{path: path, what: "the schema declares no such attribute"}
	}
	return &wireError{path: path, what: notOfType(at)}
}

// notOfType says how a value violates a type, as a clause.
func notOfType(ty cty.Type) string {
	switch {
	case ty == cty.DynamicPseudoType:
		return "it doesn't tell its type, which the schema leaves open"
	case ty.IsObjectType():
		return "it is not an object with the attributes that the schema declares"
	default:
		return fmt.Sprintf("it is not of type %s, which the schema declares", ty.FriendlyName())
	}
}

// typedPath returns path with attribute steps for objects, where the decoders produce index steps. It also
// returns the type at its end, and whether the path ends in an attribute that the object type lacks. Steps
// below a dynamic part are dropped.
func typedPath(path cty.Path, ty cty.Type) (out cty.Path, at cty.Type, unknown bool) {
	for _, step := range path {
		switch {
		case ty.IsObjectType():
			name, ok := stepName(step)
			if !ok {
				return out, ty, false
			}
			out = out.GetAttr(name)
			if !ty.HasAttribute(name) {
				return out, ty, true
			}
			ty = ty.AttributeType(name)
		case ty.IsCollectionType():
			if ty.IsSetType() {
				// The key of a set's element is the element itself, or a number that means nothing to the
				// user.
				step = cty.IndexStep{Key: cty.UnknownVal(ty.ElementType())}
			}
			out, ty = append(out, step), ty.ElementType()
		case ty.IsTupleType():
			index, ok := step.(cty.IndexStep)
			if !ok || index.Key.Type() != cty.Number || !index.Key.IsKnown() {
				return out, ty, false
			}
			n, _ := index.Key.AsBigFloat().Int64()
			if n < 0 || n >= int64(ty.Length()) {
				return out, ty, false
			}
			out, ty = append(out, step), ty.TupleElementType(int(n))
		default:
			return out, ty, false
		}
	}
	return out, ty, false
}

// stepName returns the name of an attribute or the string key that a step has.
func stepName(step cty.PathStep) (string, bool) {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return step.Name, true
	case cty.IndexStep:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), true
		}
	}
	return "", false
}
