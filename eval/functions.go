package eval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// providerFunctions returns the table with the named provider-defined functions added, as seen from sc.
func (r *Run) providerFunctions(sc *scope, names []string, table map[string]function.Function) map[string]function.Function {
	if len(names) == 0 {
		return table
	}
	table = maps.Clone(table)
	for _, name := range names {
		if fn, ok := sc.functionName(name); ok {
			table[name] = r.functionOf(sc, fn)
		}
	}
	return table
}

// functionName is the parsed name of a provider-defined function.
type functionName struct {
	ref    config.ProviderRef // with an alias, the function is one of that configuration
	source addr.Provider
	name   string
	known  *schema.Function // as the provider's schema has it; nil if only a configured provider could know it
	absent bool             // the module does not require the provider, whose functions are unknown
}

// functionName parses a function name. It returns false for names that cannot be provider-defined; HCL
// reports these.
func (sc *scope) functionName(name string) (functionName, bool) {
	parts := strings.Split(name, "::")
	if len(parts) != 3 && len(parts) != 4 {
		return functionName{}, false
	}
	fn := functionName{ref: config.ProviderRef{Name: parts[1]}, name: parts[len(parts)-1]}
	if len(parts) == 4 {
		fn.ref.Alias = parts[2]
	}
	fn.source = sc.m.block.Config.ProviderFor(fn.ref.Name)
	declared, diags := sc.m.run.cfg.Schemas.Functions(fn.source)
	if fn.absent = diags.HasErrors() && !sc.m.block.Config.Uses(fn.ref.Name); !fn.absent {
		sc.m.run.Report(diags)
	}
	fn.known = declared[fn.name]
	return fn, true
}

// provider returns the provider configuration that the function needs, nil if it needs none.
func (fn functionName) provider(sc *scope) (*ProviderObject, error) {
	if fn.known != nil && fn.ref.Alias == "" {
		return nil, nil
	}
	found, diags := sc.m.findProvider(fn.ref, nil, nil)
	switch {
	case diags.HasErrors():
		return nil, fmt.Errorf("there is no provider configuration %q", fn.ref)
	case found.block != nil && found.block.ForEach != nil:
		return nil, fmt.Errorf("the provider configuration %q has for_each, and functions of one of its instances cannot be called", fn.ref)
	}
	po := sc.m.run.provider(sc.t, found, fn.source, fn.ref)
	if po != nil && po.Opens() {
		return nil, fmt.Errorf("the provider configuration %q comes from ephemeral values, so functions of the provider cannot be called", fn.ref)
	}
	return po, nil
}

// functionOf returns the function. One that cannot be called is replaced by a function that always fails
// with the explanation.
func (r *Run) functionOf(sc *scope, fn functionName) function.Function {
	if fn.absent {
		return errorFunction(fmt.Errorf("this module has no provider %q in its required_providers", fn.ref.Name))
	}
	on, err := fn.provider(sc)
	if err != nil {
		return errorFunction(err)
	}
	f := fn.known
	if f == nil && r.opt.Phase == Validating {
		return unknownFunction()
	}
	if f == nil && on != nil {
		more, ok := r.opt.Host.ConfiguredFunctions(sc.t, on)
		if !ok {
			return unknownFunction()
		}
		f = more[fn.name]
	}
	if f == nil {
		return errorFunction(fmt.Errorf("the provider %s has no function %q%s", fn.source.ForDisplay(), fn.name, r.alternatives(fn)))
	}
	return r.providerFunction(sc.t, fn, on, f)
}

// alternatives returns a hint that names a similar function, or all functions of the provider.
func (r *Run) alternatives(fn functionName) string {
	declared, diags := r.cfg.Schemas.Functions(fn.source)
	if diags.HasErrors() || len(declared) == 0 {
		return ""
	}
	if near := diag.Nearest(fn.name, slices.Collect(maps.Keys(declared))); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return "; it has " + strings.Join(slices.Sorted(maps.Keys(declared)), ", ")
}

// errorFunction returns a function that always fails with err.
func errorFunction(err error) function.Function {
	return function.New(&function.Spec{VarParam: anyParameter(), Type: func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, err }})
}

// unknownFunction returns the substitute for a function that is known only once its provider is configured,
// or not at all, because of an error that was reported.
func unknownFunction() function.Function {
	return function.New(&function.Spec{
		VarParam: anyParameter(), Type: function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			marks := make([]cty.ValueMarks, len(args))
			for i := range args {
				_, marks[i] = args[i].UnmarkDeep()
			}
			return cty.DynamicVal.WithMarks(marks...), nil
		},
	})
}

func anyParameter() *function.Parameter {
	return &function.Parameter{Name: "arguments", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}
}

// providerFunction returns the function with its marks handled here: arguments travel to the provider
// without marks, and the result gets those of all arguments, since the provider may copy any of them. If an
// argument is secret, an error could quote it, so its text is replaced.
func (r *Run) providerFunction(t *future.Task, fn functionName, on *ProviderObject, f *schema.Function) function.Function {
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
		secret, wait := false, r.opt.Phase == Validating && on != nil // no provider is configured then
		for i := range args {
			wait = wait || !args[i].IsWhollyKnown() && !param(f, i).AllowUnknown
			secret = secret || value.Contains(args[i], value.Sensitive) || value.Contains(args[i], value.Ephemeral)
			_, marks[i] = args[i].UnmarkDeep()
		}
		if wait {
			return cty.UnknownVal(retType).WithMarks(marks...), nil
		}
		got, err := r.opt.Host.CallFunction(t, FunctionCall{Provider: fn.source, On: on, Name: fn.name, Args: args})
		if err != nil && secret {
			err = hiddenError(err)
		}
		if err != nil {
			return cty.UnknownVal(retType), err
		}
		return got.WithMarks(marks...), nil
	}
	return function.New(spec)
}

// hiddenError returns an error to replace one that could quote an argument. It names the same argument.
func hiddenError(err error) error {
	const text = "the provider's message is hidden, because an argument is sensitive or ephemeral"
	var arg function.ArgError
	if errors.As(err, &arg) {
		return function.NewArgErrorf(arg.Index, text)
	}
	return errors.New(text)
}

// param returns the declaration of the argument at i.
func param(f *schema.Function, i int) schema.FunctionParam {
	if i < len(f.Params) {
		return f.Params[i]
	}
	return *f.Variadic
}

// parameter returns a parameter that accepts every argument, so that the call itself handles unknown and
// marked ones and keeps their marks.
func parameter(p schema.FunctionParam) function.Parameter {
	return function.Parameter{
		Name: p.Name, Type: p.Type, AllowNull: p.AllowNull, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true, Description: p.Description,
	}
}
