package eval

import (
	"fmt"
	"maps"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// providerFunctions returns the table with the named provider-defined functions added, as seen from m.
func (r *Run) providerFunctions(m *Module, names []string, table map[string]function.Function) map[string]function.Function {
	if len(names) == 0 {
		return table
	}
	table = maps.Clone(table)
	for _, name := range names {
		parts := strings.Split(name, "::")
		if len(parts) != 3 {
			continue // HCL reports the unknown function
		}
		source := m.block.cfg.ProviderFor(parts[1])
		declared, diags := r.cfg.schemas.Functions(source)
		r.Report(diags)
		if f := declared[parts[2]]; f != nil {
			table[name] = r.providerFunction(source, parts[2], f)
		}
	}
	return table
}

func (r *Run) providerFunction(p addr.Provider, name string, f *schema.Function) function.Function {
	spec := &function.Spec{Description: f.Summary}
	for _, param := range f.Params {
		spec.Params = append(spec.Params, parameter(param))
	}
	if f.Variadic != nil {
		v := parameter(*f.Variadic)
		spec.VarParam = &v
	}
	spec.Type = function.StaticReturnType(f.Return)
	spec.Impl = func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		marks := make([]cty.ValueMarks, len(args))
		secret, wait := false, r.opt.Phase == Validating
		for i := range args {
			wait = wait || !args[i].IsWhollyKnown() && !param(f, i).AllowUnknown
			secret = secret || value.Contains(args[i], value.Sensitive) || value.Contains(args[i], value.Ephemeral)
			args[i], marks[i] = args[i].UnmarkDeep()
		}
		if wait {
			return cty.UnknownVal(retType).WithMarks(marks...), nil
		}
		got, err := r.opt.Host.CallFunction(p, name, args)
		if err != nil {
			if secret {
				err = fmt.Errorf("the provider's message is hidden, because an argument is sensitive or ephemeral")
			}
			return cty.UnknownVal(retType), err
		}
		return got.WithMarks(marks...), nil
	}
	return function.New(spec)
}

// param returns the declaration of the argument at i.
func param(f *schema.Function, i int) schema.FunctionParam {
	if i < len(f.Params) {
		return f.Params[i]
	}
	return *f.Variadic
}

// parameter lets every argument through to the call, which keeps the marks of unknown ones; what the provider does not take is sorted out there.
func parameter(p schema.FunctionParam) function.Parameter {
	return function.Parameter{
		Name: p.Name, Type: p.Type, AllowNull: p.AllowNull, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true, Description: p.Description,
	}
}
