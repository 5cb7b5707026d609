package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/detach"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/provided"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// providerFunctions returns the table with the named provider-defined functions added, as seen from the
// scope.
func (sc *scope) providerFunctions(names []string, table map[string]function.Function) map[string]function.Function {
	if len(names) == 0 {
		return table
	}
	table = maps.Clone(table)
	if sc.caller == nil {
		sc.caller = &detach.Caller{}
	}
	for _, name := range names {
		if fn, ok := sc.functionName(name); ok {
			table[name] = fn.function(sc)
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
	parsed, ok := blocks.ParseFunctionName(name)
	if !ok {
		return functionName{}, false
	}
	fn := functionName{ref: parsed.Provider, name: parsed.Name}
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
	po := sc.m.run.Providers.get(sc.t, found, fn.source, fn.ref)
	if po != nil && po.Opens() {
		return nil, fmt.Errorf("the provider configuration %q comes from ephemeral values, so functions of the provider cannot be called", fn.ref)
	}
	return po, nil
}

// function returns the function, as seen from sc. One that cannot be called is replaced by a function that
// always fails with the explanation.
func (fn functionName) function(sc *scope) function.Function {
	opt := &sc.m.run.opt
	if fn.absent {
		return provided.Failing(fmt.Errorf("this module has no provider %q in its required_providers", fn.ref.Name))
	}
	on, err := fn.provider(sc)
	if err != nil {
		return provided.Failing(err)
	}
	f := fn.known
	if f == nil && opt.Phase == Validating {
		return provided.Unknown()
	}
	if f == nil && on != nil {
		more, ok := opt.Host.ConfiguredFunctions(sc.t, on)
		if !ok {
			return provided.Unknown()
		}
		f = more[fn.name]
	}
	if f == nil {
		return provided.Failing(fmt.Errorf("the provider %s has no function %q%s", fn.source.ForDisplay(), fn.name, fn.alternatives(sc.m.run.cfg.Schemas)))
	}
	return fn.callable(sc, on, f)
}

// alternatives returns a hint that names a similar function, or all functions of the provider.
func (fn functionName) alternatives(s blocks.Schemas) string {
	declared, diags := s.Functions(fn.source)
	if diags.HasErrors() || len(declared) == 0 {
		return ""
	}
	if near := diag.Nearest(fn.name, slices.Collect(maps.Keys(declared))); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return "; it has " + strings.Join(slices.Sorted(maps.Keys(declared)), ", ")
}

// callable returns the function f, which is called on the goroutine of the task.
func (fn functionName) callable(sc *scope, on *ProviderObject, f *schema.Function) function.Function {
	t, caller, opt := sc.t, sc.caller, &sc.m.run.opt
	wait := opt.Phase == Validating && on != nil // no provider is configured then
	return provided.New(f, wait, func(args []cty.Value) (got cty.Value, err error) {
		call := FunctionCall{Provider: fn.source, On: on, Name: fn.name, Args: args}
		caller.Do(func() { got, err = opt.Host.CallFunction(t, call) })
		return got, err
	})
}
