package funcs

import (
	"errors"

	"github.com/hashicorp/go-cty-funcs/collection"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

var collectionFuncs = map[string]function.Function{
	"alltrue":         quantifier(false),
	"anytrue":         quantifier(true),
	"chunklist":       stdlib.ChunklistFunc,
	"coalesce":        collection.CoalesceFunc,
	"coalescelist":    stdlib.CoalesceListFunc,
	"compact":         stdlib.CompactFunc,
	"concat":          stdlib.ConcatFunc,
	"contains":        containsFunc,
	"distinct":        distinctFunc,
	"element":         stdlib.ElementFunc,
	"flatten":         stdlib.FlattenFunc,
	"index":           indexFunc,
	"keys":            stdlib.KeysFunc,
	"length":          lengthFunc,
	"lookup":          lookupFunc,
	"matchkeys":       matchkeysFunc,
	"merge":           mergeFunc,
	"one":             oneFunc,
	"reverse":         stdlib.ReverseListFunc,
	"setintersection": stdlib.SetIntersectionFunc,
	"setproduct":      setproductFunc,
	"setsubtract":     stdlib.SetSubtractFunc,
	"setunion":        stdlib.SetUnionFunc,
	"slice":           stdlib.SliceFunc,
	"sort":            stdlib.SortFunc,
	"transpose":       transposeFunc,
	"values":          stdlib.ValuesFunc,
	"zipmap":          stdlib.ZipmapFunc,
}

func isSequence(ty cty.Type) bool { return ty.IsListType() || ty.IsSetType() || ty.IsTupleType() }

// quantifier returns anytrue for true and alltrue for false: the answer is decisive as soon as one element
// equals it, and the opposite if none does. Null counts as false. A decisive element settles the result
// whatever unknown elements stand beside it.
func quantifier(decisive bool) function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:         function.StaticReturnType(cty.Bool),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result := cty.BoolVal(!decisive)
			for _, v := range args[0].Elements() {
				switch {
				case !v.IsKnown():
					result = cty.UnknownVal(cty.Bool)
				case (!v.IsNull() && v.True()) == decisive:
					return cty.BoolVal(decisive), nil
				}
			}
			return result, nil
		},
	})
}

// distinctFunc keeps the first of equal elements. It hashes, so that its time grows with the length of the
// list only.
var distinctFunc = function.New(&function.Spec{
	Params:       []function.Parameter{{Name: "list", Type: cty.List(cty.DynamicPseudoType)}},
	Type:         func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	RefineResult: notNull,
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(retType), nil
		}
		if args[0].LengthInt() == 0 {
			return args[0], nil
		}
		seen := cty.NewValueSet(retType.ElementType())
		var kept []cty.Value
		for _, v := range args[0].Elements() {
			if !seen.Has(v) {
				seen.Add(v)
				kept = append(kept, v)
			}
		}
		return cty.ListVal(kept), nil
	},
})

// indexFunc returns the position of the first element equal to the value, without any type conversion.
var indexFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "list", Type: cty.DynamicPseudoType},
		{Name: "value", Type: cty.DynamicPseudoType},
	},
	Type:         function.StaticReturnType(cty.Number),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		list, want := args[0], args[1]
		if !list.Type().IsListType() && !list.Type().IsTupleType() {
			return cty.NilVal, errors.New("argument must be a list or tuple")
		}
		if list.LengthInt() == 0 {
			return cty.NilVal, errors.New("cannot search an empty list")
		}
		for i, v := range list.Elements() {
			switch eq := want.Equals(v); {
			case !eq.IsKnown():
				return cty.UnknownVal(cty.Number), nil
			case eq.True():
				return i, nil
			}
		}
		return cty.NilVal, errors.New("item not found")
	},
})

// containsFunc also finds null, of whatever type: cty takes nulls without a type for values that are not
// known yet.
var containsFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "list", Type: cty.DynamicPseudoType},
		{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true},
	},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if list := args[0]; args[1].IsNull() && isSequence(list.Type()) {
			found := cty.False
			for _, v := range list.Elements() {
				if !v.IsKnown() {
					found = cty.UnknownVal(cty.Bool)
				} else if v.IsNull() {
					return cty.True, nil
				}
			}
			return found, nil
		}
		return stdlib.Contains(args[0], args[1])
	},
})

// lengthFunc counts characters, elements or attributes. The marks of the whole value stay; marks of elements
// don't touch their number.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowUnknown: true, AllowMarked: true,
	}},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty := args[0].Type()
		if ty == cty.String || ty == cty.DynamicPseudoType || ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType() {
			return cty.Number, nil
		}
		return cty.NilType, errors.New("argument must be a string, a collection type, or a structural type")
	},
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, marks := args[0].Unmark()
		switch ty := v.Type(); {
		case ty.IsTupleType():
			return cty.NumberIntVal(int64(ty.Length())).WithMarks(marks), nil
		case ty.IsObjectType():
			return cty.NumberIntVal(int64(len(ty.AttributeTypes()))).WithMarks(marks), nil
		case ty == cty.DynamicPseudoType:
			return cty.UnknownVal(cty.Number).WithMarks(marks), nil
		case ty == cty.String:
			n, err := stdlib.Strlen(v)
			if err != nil {
				return cty.NilVal, err
			}
			return n.WithMarks(marks), nil
		default:
			return v.Length().WithMarks(marks), nil
		}
	},
})

// matchkeysFunc selects the values whose key, at the same position, occurs in the search set. It hashes the
// search set.
var matchkeysFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "values", Type: cty.List(cty.DynamicPseudoType), AllowUnknown: true},
		{Name: "keys", Type: cty.List(cty.DynamicPseudoType), AllowUnknown: true},
		{Name: "searchset", Type: cty.List(cty.DynamicPseudoType), AllowUnknown: true},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		if ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); ty == cty.NilType {
			return cty.NilType, errors.New("keys and searchset must be of the same type")
		}
		return args[0].Type(), nil
	},
	RefineResult: notNull,
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		if same := args[0].Length().Equals(args[1].Length()); same.IsKnown() && same.False() {
			return cty.NilVal, errors.New("length of keys and values should be equal")
		}
		if !args[0].IsWhollyKnown() || !args[1].IsWhollyKnown() || !args[2].IsWhollyKnown() {
			return cty.UnknownVal(retType), nil
		}
		if args[1].LengthInt() == 0 || args[2].LengthInt() == 0 {
			return cty.ListValEmpty(retType.ElementType()), nil
		}
		unified, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
		keys, err := convert.Convert(args[1], unified)
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		searched, err := convert.Convert(args[2], unified)
		if err != nil {
			return cty.NilVal, function.NewArgError(2, err)
		}
		wanted := cty.NewValueSet(unified.ElementType())
		for _, v := range searched.Elements() {
			wanted.Add(v)
		}
		var selected []cty.Value
		values := args[0].AsValueSlice()
		for i, key := range keys.AsValueSlice() {
			if wanted.Has(key) {
				selected = append(selected, values[i])
			}
		}
		if len(selected) == 0 {
			return cty.ListValEmpty(retType.ElementType()), nil
		}
		return cty.ListVal(selected), nil
	},
})

var errNotOne = function.NewArgErrorf(0, "must be a list, set, or tuple value with either zero or one elements")

// oneFunc turns a sequence of at most one element into that element or null.
var oneFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowMarked: true}},
	Type: func(args []cty.Value) (cty.Type, error) {
		switch ty := args[0].Type(); {
		case ty.IsListType() || ty.IsSetType():
			return ty.ElementType(), nil
		case ty.IsTupleType() && ty.Length() == 0:
			return cty.DynamicPseudoType, nil
		case ty.IsTupleType() && ty.Length() == 1:
			return ty.TupleElementType(0), nil
		default:
			return cty.NilType, errNotOne
		}
	},
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		seq, marks := args[0].Unmark()
		length := seq.Length()
		if seq.Type().IsTupleType() {
			length = cty.NumberIntVal(int64(seq.Type().Length()))
		}
		if !seq.IsKnown() || !length.IsKnown() {
			return cty.UnknownVal(retType).WithMarks(marks), nil
		}
		switch seq.LengthInt() {
		case 0:
			return cty.NullVal(retType).WithMarks(marks), nil
		case 1:
			return seq.AsValueSlice()[0].WithMarks(marks), nil
		default:
			return cty.NilVal, errNotOne
		}
	},
})

// mergeFunc is the library's, except that the result has the marks of arguments that are null.
var mergeFunc = function.New(&function.Spec{
	VarParam: stdlib.MergeFunc.VarParam(),
	Type:     stdlib.MergeFunc.ReturnTypeForValues,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, err := stdlib.MergeFunc.Call(args)
		for _, arg := range args {
			if err == nil && arg.IsNull() {
				v = v.WithSameMarks(arg)
			}
		}
		return v, err
	},
})

// transposeFunc swaps keys and values of a map of lists of strings.
var transposeFunc = function.New(&function.Spec{
	Params:       []function.Parameter{{Name: "values", Type: cty.Map(cty.List(cty.String))}},
	Type:         function.StaticReturnType(cty.Map(cty.List(cty.String))),
	RefineResult: notNull,
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(retType), nil
		}
		keysOf := make(map[string][]cty.Value)
		for key, list := range args[0].Elements() {
			if list.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "cannot use null list for [%q]", key.AsString())
			}
			for i, v := range list.AsValueSlice() {
				if v.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "cannot use null string for [%q][%d]", key.AsString(), i)
				}
				keysOf[v.AsString()] = append(keysOf[v.AsString()], key)
			}
		}
		if len(keysOf) == 0 {
			return cty.MapValEmpty(cty.List(cty.String)), nil
		}
		out := make(map[string]cty.Value, len(keysOf))
		for v, keys := range keysOf {
			out[v] = cty.ListVal(keys)
		}
		return cty.MapVal(out), nil
	},
})
