package blocks

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// isLocal reports whether a module is called by a relative path, so that the caller can edit it.
func isLocal(m *config.Module) bool { return m.Call != nil && strings.HasPrefix(m.Call.Source, ".") }

// OutputAddr returns the address of an output of a child module, without instance keys: all instances of
// the module share one mark and one warning.
func (m *Module) OutputAddr(name string) string { return m.Config.Path.String() + "." + name }

// deprecatedOutput is a deprecated output, named as in a reference to it.
type deprecatedOutput struct {
	Name        string
	Deprecation diag.Deprecation
}

// DeprecatedOutputs returns the outputs, by address, that are deprecated and that one of the expressions,
// which are in m, refers to through the module that declares them.
func (m *Module) DeprecatedOutputs(exprs []*lang.Expr) map[string]deprecatedOutput {
	var out map[string]deprecatedOutput
	for _, x := range exprs {
		for i := range x.Refs {
			ref := &x.Refs[i]
			if ref.Kind != lang.Module || m.Calls[ref.Name] == nil || m.Calls[ref.Name].Child == nil {
				continue
			}
			child := m.Calls[ref.Name].Child
			for name, o := range child.Outputs {
				if o.Output.Deprecated == "" || !ref.Reads(name) {
					continue
				}
				if out == nil {
					out = map[string]deprecatedOutput{}
				}
				out[child.OutputAddr(name)] = deprecatedOutput{"module." + ref.Name + "." + name, diag.Deprecation{Local: isLocal(child.Config)}}
			}
		}
	}
	return out
}

// warnVariable warns of an argument of a call of m, at rng, for a deprecated variable.
func (c *compiler) warnVariable(m *Module, v *config.Variable, rng hcl.Range) {
	if _, told := c.warned[rng]; told || v.Deprecated == "" {
		return
	}
	if c.warned == nil {
		c.warned = map[hcl.Range]struct{}{}
	}
	c.warned[rng] = struct{}{}
	c.diags = append(c.diags, diag.Diagnostic{
		Severity: diag.Warning, Summary: "Variable marked as deprecated by the module author", Subject: rng.Ptr(), Extra: diag.Deprecation{Local: isLocal(m.Config)},
		Detail: "The variable \"" + v.Name + "\" of this module is deprecated: " + v.Deprecated,
	})
}
