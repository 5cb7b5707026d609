package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/value"
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

// warnDeprecated warns of a value that comes from deprecated outputs, where expressions refer to these outputs themselves, and not again where the value is
// passed on. It is for planning, in which all are evaluated and values are known.
func (r *Run) warnDeprecated(m *moduleBlock, v cty.Value, exprs []*lang.Expr, at func(cty.Path) *hcl.Range) {
	if r.opt.Phase != Planning || !r.cfg.deprecates {
		return
	}
	from := m.deprecatedOutputs(exprs)
	if len(from) == 0 || !value.IsMarked(v) {
		return
	}
	_, marked := v.UnmarkDeepWithPaths()
	for _, pm := range marked {
		for _, d := range deprecations(pm.Marks) {
			o, ok := from[d.By]
			if !ok {
				continue
			}
			r.Report(diag.List{{
				Severity: diag.Warning, Summary: "Value derived from a deprecated source", Subject: at(pm.Path), Extra: o.of,
				Detail: "This value comes from " + o.name + ", which is deprecated: " + d.Message,
			}})
		}
	}
}

// deprecations returns the marks that tell of deprecated outputs, by address.
func deprecations(marks cty.ValueMarks) []value.Deprecated {
	var out []value.Deprecated
	for m := range maps.Keys(marks) {
		if d, ok := m.(value.Deprecated); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b value.Deprecated) int { return strings.Compare(a.By, b.By) })
	return out
}

// rangeInBody returns a function that finds the place of a path in a body.
func rangeInBody(body hcl.Body) func(cty.Path) *hcl.Range {
	return func(path cty.Path) *hcl.Range {
		return diag.List{{Path: path}}.InConfigBody(body)[0].Subject
	}
}

// warnRootVariable warns of a value for a deprecated variable of the root module.
func (v *Value) warnRootVariable() {
	b := v.block.variable
	if b.Deprecated == "" || v.module.run.opt.Phase != Planning {
		return
	}
	v.module.run.Report(diag.List{{
		Severity: diag.Warning, Summary: "Deprecated variable used from the root module", Subject: b.Range.Ptr(),
		Detail: "A value is given to var." + b.Name + ", which is deprecated: " + b.Deprecated,
	}})
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
