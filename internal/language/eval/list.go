package eval

import (
	"fmt"
	"math/big"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// defaultLimit is the most results of a list whose block does not say.
const defaultLimit = 100

// maxLimit is the largest limit, a number that every language of providers can represent.
const maxLimit = 1 << 53

// ListArguments are the arguments of a list that do not belong to the provider.
type ListArguments struct {
	Include bool
	Limit   int64 // 0 if it is not known, while validating
}

// ListArgumentsOf evaluates the arguments of a list that do not belong to the provider.
func ListArgumentsOf(t *future.Task, in *Instance) (out ListArguments, diags diag.List) {
	b := in.Resource.Block
	include, diags := listArgument(t, in, b.Include, "include_resource", cty.False)
	limit, more := listArgument(t, in, b.Limit, "limit", cty.NumberIntVal(defaultLimit))
	if diags = append(diags, more...); diags.HasErrors() {
		return out, diags
	}
	out.Include = include.IsKnown() && include.True()
	if !limit.IsKnown() {
		return out, diags
	}
	n, accuracy := limit.AsBigFloat().Int64()
	if accuracy != big.Exact || n < 1 || n > maxLimit {
		return out, append(diags, listError(t, in, b.Limit, "The limit of a list must be a whole number of results, 1 or more.")...)
	}
	out.Limit = n
	return out, diags
}

// listArgument evaluates an argument to the type of its default, without marks.
func listArgument(t *future.Task, in *Instance, x *lang.Expr, name string, def cty.Value) (cty.Value, diag.List) {
	if x == nil {
		return def, nil
	}
	v, diags := in.Run().eval(in.scope(t, nil), x)
	if diags.HasErrors() {
		return def, diags
	}
	if value.Contains(v, value.Ephemeral) && in.Run().opt.Phase != Validating {
		return def, append(diags, listError(t, in, x, "The argument %s of a list must not be ephemeral.", name)...)
	}
	v, _ = v.UnmarkDeep()
	got, err := convert.Convert(v, def.Type())
	switch {
	case err != nil:
		return def, append(diags, listError(t, in, x, "The argument %s of a list must be a %s, but this is %s.", name, def.Type().FriendlyName(), value.Kind(v))...)
	case got.IsNull():
		return def, diags
	case !got.IsKnown() && in.Run().opt.Phase != Validating:
		return def, append(diags, listError(t, in, x, "The argument %s of this list is not known: it refers to something that does not exist yet.", name)...)
	}
	return got, diags
}

// listError returns an error about an argument of the list block.
func listError(t *future.Task, in *Instance, x *lang.Expr, format string, args ...any) diag.List {
	d := diag.Diagnostic{Summary: "Invalid list argument", Detail: fmt.Sprintf(format, args...)}
	sc := in.scope(t, nil)
	return sc.located(in.Run().about(sc, x, d))
}

// ListResult returns the value of a list with the results.
func ListResult(results []cty.Value) cty.Value {
	data := cty.EmptyTupleVal
	if len(results) > 0 {
		data = cty.TupleVal(results)
	}
	return cty.ObjectVal(map[string]cty.Value{"data": data})
}

// UnknownList returns the value of a list whose results are not known.
func UnknownList() cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"data": cty.DynamicVal})
}
