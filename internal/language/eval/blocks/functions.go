package blocks

import (
	"strings"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// FunctionName is the name of a provider-defined function, as an expression has it.
type FunctionName struct {
	Provider config.ProviderRef // with an alias, the function is one of that configuration
	Name     string
}

// ParseFunctionName returns false for names that cannot be provider-defined.
func ParseFunctionName(name string) (FunctionName, bool) {
	parts := strings.Split(name, "::")
	if len(parts) != 3 && len(parts) != 4 {
		return FunctionName{}, false
	}
	fn := FunctionName{Provider: config.ProviderRef{Name: parts[1]}, Name: parts[len(parts)-1]}
	if len(parts) == 4 {
		fn.Provider.Alias = parts[2]
	}
	return fn, true
}

// functions emits the edges of an expression to the provider configurations whose functions it calls.
func (y emit) functions(m *Module, r Role, x *lang.Expr) bool {
	for _, name := range x.Functions {
		if p := calledOn(m, name); p != nil && !y(edge{to: p, role: r | toFunction, expr: x, via: x.Range().Ptr()}) {
			return false
		}
	}
	return true
}

// calledOn returns the provider configuration that a function needs, nil if it needs none or there is none. A
// function that the provider declares is called without a configuration unless its name has an alias.
func calledOn(m *Module, function string) *Provider {
	fn, ok := ParseFunctionName(function)
	if !ok {
		return nil
	}
	p := m.ProviderFor(fn.Provider)
	if p == nil || fn.Provider.Alias != "" {
		return p
	}
	if declared, _ := m.schemas.Functions(p.Source); declared[fn.Name] != nil {
		return nil
	}
	return p
}
