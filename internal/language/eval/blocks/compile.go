package blocks

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Compile resolves every reference of the tree. The diagnostics report everything that is wrong before
// anything is evaluated: unknown types, references to undeclared objects, each and count where there are
// none, ephemeral blocks that open each other in a cycle. The configuration is returned with errors too,
// without the blocks that did not compile.
func Compile(tree *config.Tree, schemas Schemas) (*Config, diag.List) {
	c := &compiler{cfg: &Config{Tree: tree, Schemas: schemas, Modules: map[addr.Module]*Module{}, Removed: map[*config.Removed]DestroyProvisioners{}}}
	c.module(tree.Root, nil)
	c.ephemeralPolicies(tree.Root)
	for _, m := range c.cfg.sorted() {
		c.cfg.Modules[m].checkRefs(c)
	}
	c.cfg.Modules[addr.RootModule].checkWriteOnlyOutputs(c)
	c.cfg.computeOpens()
	c.cfg.computeBorrows()
	c.diags = append(c.diags, c.cfg.openCycles()...)
	c.checkDestroyProvisioners()
	c.checkActionsBefore()
	return c.cfg, c.diags
}

// module compiles the blocks of one module. Maps are walked in sorted order, and resources in source order,
// so that diagnostics come in the same order every time.
func (c *compiler) module(cfg *config.Module, parent *Module) *Module {
	m := &Module{
		Config: cfg, Parent: parent,
		Variables: map[string]*Value{}, Locals: map[string]*Value{}, Outputs: map[string]*Value{},
		Resources: map[addr.Resource]*Resource{}, Calls: map[string]*Call{}, Providers: map[string]*Provider{},
		schemas: c.cfg.Schemas,
	}
	c.cfg.Modules[cfg.Path] = m
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		m.Providers[name] = c.provider(m, cfg.Providers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Variables)) {
		m.Variables[name] = c.variable(m, cfg.Variables[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Locals)) {
		l := cfg.Locals[name]
		m.Locals[name] = &Value{Kind: LocalValue, Name: name, Module: m, Expr: c.expr(m, l.Expr, site{}), Range: l.Range}
	}
	for _, r := range cfg.Order {
		if b := c.resource(m, r); b != nil {
			m.Resources[r.Addr] = b
		}
	}
	for _, r := range cfg.Removed {
		_, c.cfg.Removed[r], _ = c.provisioners(m, r.Provisioners, r.Connection, site{self: true, anyKey: true})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Calls)) {
		m.Calls[name] = c.call(m, cfg.Calls[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Outputs)) {
		m.Outputs[name] = c.output(m, cfg.Outputs[name])
	}
	c.checks(m)
	return m
}

// widen makes references read all outputs of a module where the attributes that the expression reads of each
// element are not outputs of each instance.
func widen(m *Module, x *lang.Expr) {
	for i := range x.Refs {
		ref := &x.Refs[i]
		if ref.Each != nil && !m.hasEach(ref) {
			ref.Each = nil
		}
		if ref.Index != nil && ref.Index.Expr != nil {
			widen(m, ref.Index.Expr)
		}
	}
}

// hasEach reports whether the elements that a reference goes through are the instances of a call, or the only
// one, and have the outputs that it reads.
func (m *Module) hasEach(ref *lang.Ref) bool {
	call, child := m.Config.Calls[ref.Name], m.Config.Children[ref.Name]
	if call == nil || child == nil || ref.Each.Loop && call.Repeat.Count == nil && call.Repeat.ForEach == nil {
		return false
	}
	return !slices.ContainsFunc(ref.Each.Names, func(name string) bool { return child.Outputs[name] == nil })
}

// variable compiles a variable. In a child module, its expression is the argument of the call and belongs
// to the parent, whose instances it may refer to by each.key and count.index.
func (c *compiler) variable(m *Module, v *config.Variable) *Value {
	b := &Value{Kind: VariableValue, Name: v.Name, Module: m, Variable: v, Range: v.Range}
	if m.Parent != nil {
		if attr := m.Config.Call.Inputs[v.Name]; attr != nil {
			call := m.Parent.Calls[m.Config.Call.Name]
			b.Expr = c.expr(m.Parent, attr.Expr, site{repeat: call.Repeat})
			b.Range = attr.Range
			c.warnVariable(m, v, attr.Range)
		}
	}
	b.Conditions = c.guards(m, v.Validations, site{validationFor: v.Name})
	return b
}

func (c *compiler) output(m *Module, o *config.Output) *Value {
	c.cfg.Deprecates = c.cfg.Deprecates || m.Parent != nil && o.Deprecated != ""
	return &Value{
		Kind: OutputValue, Name: o.Name, Module: m, Output: o, Expr: c.expr(m, o.Expr, site{}), Range: o.Range,
		Conditions: c.guards(m, o.Preconditions, site{}), DependsOn: c.traversals(m, o.DependsOn, site{}),
	}
}

func (c *compiler) call(m *Module, call *config.ModuleCall) *Call {
	b := &Call{
		Config: call, Module: m, Repeat: c.repetition(m, call.Repeat), DependsOn: c.traversals(m, call.DependsOn, site{}),
		ProviderKeys: map[string]*lang.Expr{},
	}
	m.Calls[call.Name] = b // variables of the child look for it
	for _, p := range call.Providers {
		if key := c.expr(m, p.InParent.KeyExpr, site{repeat: b.Repeat}); key != nil {
			b.ProviderKeys[p.InChild.String()] = key
		}
	}
	if child := m.Config.Children[call.Name]; child != nil {
		b.Child = c.module(child, m)
	}
	return b
}

// provider compiles a provider configuration. Without a schema, which is reported once, its arguments are
// not checked, but their references still count.
func (c *compiler) provider(m *Module, p *config.Provider) *Provider {
	b := &Provider{Config: p, Module: m, Source: m.Config.ProviderFor(p.Name)}
	s, diags := c.cfg.Schemas.Provider(b.Source)
	c.reportNoSchema(diags)
	if s == nil {
		s = &schema.Schema{Block: &schema.Block{}}
	}
	b.Schema = s
	b.ForEach = c.expr(m, p.ForEach, site{test: p.Test})
	b.Body = c.body(m, p.Body, s.Block, site{repeat: Repetition{ForEach: b.ForEach}, test: p.Test})
	b.View = s.Block.Bind(marked.Body(p.Body, lang.Expressions(b.Body)))
	return b
}
