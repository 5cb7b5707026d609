package eval

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
)

// isLocal reports whether a module is called by a relative path, so that whoever calls it can change it.
func isLocal(m *config.Module) bool { return m.Call != nil && strings.HasPrefix(m.Call.Source, ".") }

// outputAddr returns the address of an output of a child module, without instance keys: one mark, and one warning, stands for all instances of the module.
func (m *moduleBlock) outputAddr(name string) string { return m.cfg.Path.String() + "." + name }

// deprecatedOutput is an output as those who refer to it write it.
type deprecatedOutput struct {
	name string
	of   diag.Deprecation
}

// deprecatedOutputs returns the outputs, by address, that are deprecated and that one of the expressions, which stand in m, refers to by their module.
func (m *moduleBlock) deprecatedOutputs(exprs []*lang.Expr) map[string]deprecatedOutput {
	var out map[string]deprecatedOutput
	for _, x := range exprs {
		for i := range x.Refs {
			ref := &x.Refs[i]
			if ref.Kind != lang.Module || m.calls[ref.Name] == nil || m.calls[ref.Name].child == nil {
				continue
			}
			child := m.calls[ref.Name].child
			for name, o := range child.outputs {
				if o.output.Deprecated == "" || ref.Output != "" && ref.Output != name {
					continue
				}
				if out == nil {
					out = map[string]deprecatedOutput{}
				}
				out[child.outputAddr(name)] = deprecatedOutput{"module." + ref.Name + "." + name, diag.Deprecation{Local: isLocal(child.cfg)}}
			}
		}
	}
	return out
}

// warnVariable warns of an argument of a call of m, at rng, for a deprecated variable.
func (c *compiler) warnVariable(m *moduleBlock, v *config.Variable, rng hcl.Range) {
	if _, told := c.warned[rng]; told || v.Deprecated == "" {
		return
	}
	if c.warned == nil {
		c.warned = map[hcl.Range]struct{}{}
	}
	c.warned[rng] = struct{}{}
	c.diags = append(c.diags, diag.Diagnostic{
		Severity: diag.Warning, Summary: "Variable marked as deprecated by the module author", Subject: rng.Ptr(), Extra: diag.Deprecation{Local: isLocal(m.cfg)},
		Detail: "The variable \"" + v.Name + "\" of this module is deprecated: " + v.Deprecated,
	})
}
