package blocks

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/lang/marked"
	"github.com/mayfly-iac/mayfly/schema"
)

// Schemas gives access to the schemas of the configuration's providers. Its methods may be called
// concurrently.
type Schemas interface {
	// Provider returns the schema of a provider's configuration.
	Provider(p addr.Provider) (*schema.Schema, diag.List)
	// Resource returns the schema of a type; nil without diagnostics if the provider has no such type.
	Resource(p addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List)
	// Types returns the names of the provider's types of a mode, in any order.
	Types(p addr.Provider, mode addr.Mode) []string
	// Functions returns the functions that the provider defines, by name.
	Functions(p addr.Provider) (map[string]*schema.Function, diag.List)
}

// Compile resolves every reference of the tree. The diagnostics report everything that is wrong before
// anything is evaluated: unknown types, references to what is not declared, each and count where there are
// none, ephemeral blocks that open each other in a cycle. The configuration is returned with errors too,
// without the blocks that did not compile.
func Compile(tree *config.Tree, schemas Schemas) (*Config, diag.List) {
	c := &compiler{cfg: &Config{Tree: tree, Schemas: schemas, Modules: map[addr.Module]*Module{}, Removed: map[*config.Removed][]Provisioner{}}}
	c.module(tree.Root, nil)
	for _, m := range c.sorted() {
		c.cfg.Modules[m].checkRefs(c)
	}
	c.cfg.Modules[addr.RootModule].checkWriteOnlyOutputs(c)
	c.cfg.computeOpens()
	c.diags = append(c.diags, c.cfg.openCycles()...)
	c.departures()
	return c.cfg, c.diags
}

// compiler is the state of one Compile.
type compiler struct {
	cfg   *Config
	diags diag.List
	// sites has the references of each module and where they are, to be checked once all blocks are known.
	sites map[*Module][]site
	// warned has the arguments of deprecated variables: a module that is called twice is compiled twice, and
	// warned of once.
	warned map[hcl.Range]struct{}
	// schemaErrors has the texts of what reading schemas reported: a provider that cannot be started is one
	// error.
	schemaErrors map[string]struct{}
}

type site struct {
	refs         []lang.Ref
	repeat       Repetition
	anyKey       bool // whether count or for_each gave the key is not known
	self         bool
	check        *config.Check // that the references stand in, if any
	inDefinition string
	validationFor/* variable's own name */ string
}

func (c *compiler) sorted() []addr.Module { return c.cfg.sorted() }

// sorted returns the paths of the modules in order.
func (c *Config) sorted() []addr.Module {
	return slices.SortedFunc(maps.Keys(c.Modules), func(a, b addr.Module) int { return slices.Compare(a.Calls(), b.Calls()) })
}

func (c *compiler) module(cfg *config.Module, parent *Module) *Module {
	m := &Module{
		Config: cfg, Parent: parent,
		Variables: map[string]*Value{}, Locals: map[string]*Value{}, Outputs: map[string]*Value{},
		Resources: map[addr.Resource]*Resource{}, Calls: map[string]*Call{}, Providers: map[string]*Provider{},
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
		m.Locals[name] = &Value{Kind: LocalValue, Name: name, Module: m, Expr: c.expr(m, l.Expr, site{inDefinition: "local value"}), Range: l.Range}
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

// expr compiles e and notes its references for checking.
func (c *compiler) expr(m *Module, e hcl.Expression, u site) *lang.Expr {
	if e == nil {
		return nil
	}
	x, diags := lang.Compile(e)
	c.diags = append(c.diags, lang.Propose(diags, m.Config.MeantBy)...)
	c.compiled(m, x, u)
	x.Expression = marked.Expression(x.Expression)
	return x
}

// CompileExpr compiles an expression that is in no block of the configuration as if it were in a block of
// this module that repeat repeats. It may be called concurrently, after Compile.
func (m *Module) CompileExpr(e hcl.Expression, repeat Repetition) (*lang.Expr, diag.List) {
	c := &compiler{cfg: &Config{}}
	x := c.expr(m, e, site{repeat: repeat})
	m.checkRefs(c)
	return x, c.diags
}

// compiled notes what an expression refers to and calls.
func (c *compiler) compiled(m *Module, x *lang.Expr, u site) {
	widen(m, x)
	c.note(m, x.Refs, u)
	c.cfg.nullsEphemeral = c.cfg.nullsEphemeral || x.NullsEphemeral
}

// widen makes references read all outputs of a module where what the expression reads of each element is not
// outputs of each instance.
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

func (c *compiler) note(m *Module, refs []lang.Ref, u site) {
	if len(refs) == 0 {
		return
	}
	if c.sites == nil {
		c.sites = map[*Module][]site{}
	}
	u.refs = refs
	c.sites[m] = append(c.sites[m], u)
}

func (c *compiler) body(m *Module, body hcl.Body, block *schema.Block, u site) []*lang.Expr {
	exprs, diags := lang.CompileBody(body, block)
	c.diags = append(c.diags, lang.Propose(diags, m.Config.MeantBy)...)
	for _, x := range exprs {
		c.compiled(m, x, u)
	}
	return exprs
}

// guards compiles the conditions of a variable or output.
func (c *compiler) guards(m *Module, in []*config.Condition, u site) []Condition {
	c.cfg.HasGuards = c.cfg.HasGuards || len(in) > 0
	return c.conditions(m, in, u)
}

func (c *compiler) conditions(m *Module, in []*config.Condition, u site) []Condition {
	var out []Condition
	for _, cond := range in {
		out = append(out, Condition{Config: cond, Expr: c.expr(m, cond.Condition, u), Message: c.expr(m, cond.ErrorMessage, u), Validation: u.validationFor != ""})
	}
	return out
}

func (c *compiler) traversals(m *Module, in []hcl.Traversal, u site) []lang.Ref {
	var out []lang.Ref
	for _, t := range in {
		ref, diags := lang.ParseRef(t)
		c.diags = append(c.diags, lang.Propose(diags, m.Config.MeantBy)...)
		if !diags.HasErrors() {
			out = append(out, ref)
		}
	}
	c.note(m, out, u)
	return out
}

func (c *compiler) repetition(m *Module, r config.Repetition) Repetition {
	return Repetition{Count: c.expr(m, r.Count, site{}), ForEach: c.expr(m, r.ForEach, site{}), Enabled: c.expr(m, r.Enabled, site{})}
}

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
	b := &Call{Config: call, Module: m, Repeat: c.repetition(m, call.Repeat), DependsOn: c.traversals(m, call.DependsOn, site{})}
	m.Calls[call.Name] = b // variables of the child look for it
	if child := m.Config.Children[call.Name]; child != nil {
		b.Child = c.module(child, m)
	}
	return b
}

// noSchema reports why a schema cannot be had, unless another block had the same answer.
func (c *compiler) noSchema(diags diag.List) {
	for _, d := range diags {
		text := d.Summary + "\n" + d.Detail
		if _, again := c.schemaErrors[text]; again {
			continue
		}
		if c.schemaErrors == nil {
			c.schemaErrors = map[string]struct{}{}
		}
		c.schemaErrors[text] = struct{}{}
		c.diags = append(c.diags, d)
	}
}

func (c *compiler) provider(m *Module, p *config.Provider) *Provider {
	b := &Provider{Config: p, Module: m, Source: m.Config.ProviderFor(p.Name)}
	s, diags := c.cfg.Schemas.Provider(b.Source)
	c.noSchema(diags)
	if s == nil {
		s = &schema.Schema{Block: &schema.Block{}}
	}
	b.Schema = s
	b.ForEach = c.expr(m, p.ForEach, site{})
	b.Body = c.body(m, p.Body, s.Block, site{repeat: Repetition{ForEach: b.ForEach}})
	b.View = marked.Body(p.Body, lang.Expressions(b.Body))
	return b
}
