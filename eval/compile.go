package eval

import (
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/lang/marked"
	"github.com/mayfly-iac/mayfly/schema"
)

// Schemas gives access to the schemas of the configuration's providers. A nil schema without diagnostics means that there is no such type.
type Schemas interface {
	Provider(p addr.Provider) (*schema.Schema, diag.List)
	Resource(p addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List)
	Types(p addr.Provider, mode addr.Mode) []string
	Functions(p addr.Provider) (map[string]*schema.Function, diag.List)
}

// Config is a compiled configuration: every expression with its references resolved to blocks. It is immutable and shared by all runs.
type Config struct {
	Tree    *config.Tree
	schemas Schemas
	modules map[addr.Module]*moduleBlock
	removed map[*config.Removed][]provisionerBlock

	nullsEphemeral bool // ephemeralasnull is called somewhere
	deprecates     bool // a called module has a deprecated output
	guarded        bool // a variable or output has conditions

	neededOnce sync.Once
	neededSet  *openSet
}

type moduleBlock struct {
	cfg       *config.Module
	parent    *moduleBlock
	variables map[string]*valueBlock
	locals    map[string]*valueBlock
	outputs   map[string]*valueBlock
	resources map[addr.Resource]*ResourceBlock
	calls     map[string]*callBlock
	checks    map[string]*checkBlock
	providers map[string]*providerBlock // by local name, or "name.alias"

	held       *openSet   // by depends_on of the calls around it; nil until computed
	within     *openSet   // the ephemeral blocks in it and below it; nil until computed
	provenance provenance // of all values below; used of the root module only
}

type valueKind uint8

const (
	variableValue valueKind = iota
	localValue
	outputValue
)

// valueBlock is a variable, local or output.
type valueBlock struct {
	kind      valueKind
	name      string
	module    *moduleBlock
	variable  *config.Variable
	output    *config.Output
	expr      *lang.Expr // of a child module's variable: the argument, compiled in the calling module; nil if not given
	conds     []condition
	dependsOn []lang.Ref
	rng       hcl.Range
	opens     *openSet // the ephemeral resources that evaluating it may open; nil until computed
}

type condition struct {
	cfg       *config.Condition
	cond, msg *lang.Expr

	validation bool // of a variable
}

// ResourceBlock is a compiled resource, data or ephemeral block.
type ResourceBlock struct {
	Config   *config.Resource
	Provider addr.Provider
	Schema   *schema.Schema

	module       *moduleBlock
	repeat       repetition
	body         []*lang.Expr
	view         hcl.Body // of the configuration's body, to be decoded
	pre, post    []condition
	dependsOn    []lang.Ref
	triggers     []*lang.Expr
	prevent      *lang.Expr
	providerKey  *lang.Expr
	provisioners []provisionerBlock
	departing    []provisionerBlock // when = destroy
	idle         []*lang.Expr       // of connections, which nothing evaluates: the instance depends on what they refer to all the same
	opens        *openSet           // through body, conditions and depends_on, not the block itself
	throughBody  *openSet           // through the body alone
	held         *openSet           // by depends_on, of the block and of the modules around it
}

type provisionerBlock struct {
	cfg    *config.Provisioner
	schema *schema.Block
	view   hcl.Body // of the configuration's body, to be decoded
	exprs  []*lang.Expr
	// connection has the expressions of the connection that holds for it.
	connection []*lang.Expr
	connected  *connectionBody // nil if there is none; the exprs of remote provisioners have those of connection too
}

type callBlock struct {
	cfg       *config.ModuleCall
	module    *moduleBlock
	child     *moduleBlock
	repeat    repetition
	dependsOn []lang.Ref
}

type providerBlock struct {
	cfg    *config.Provider
	module *moduleBlock
	source addr.Provider
	schema *schema.Schema
	each   *lang.Expr
	body   []*lang.Expr
	view   hcl.Body // of the configuration's body, to be decoded
	opens  *openSet
}

// Compile resolves every reference of the tree. The diagnostics list everything that is wrong without evaluating: unknown types, references
// to objects that are not declared, each and count where there are none.
func Compile(tree *config.Tree, schemas Schemas) (*Config, diag.List) {
	c := &compiler{cfg: &Config{Tree: tree, schemas: schemas, modules: map[addr.Module]*moduleBlock{}, removed: map[*config.Removed][]provisionerBlock{}}}
	c.module(tree.Root, nil)
	for _, m := range c.sorted() {
		c.cfg.modules[m].checkRefs(c)
	}
	c.cfg.modules[addr.RootModule].checkWriteOnlyOutputs(c)
	c.cfg.computeOpens()
	c.diags = append(c.diags, c.cfg.openCycles()...)
	c.departures()
	return c.cfg, c.diags
}

type compiler struct {
	cfg   *Config
	diags diag.List
	// uses collects, per module, every expression with what is allowed in it, to be checked once all blocks are known.
	uses map[*moduleBlock][]use
	// warned has the arguments whose variables' deprecation was told: a module that is called twice is compiled twice.
	warned map[hcl.Range]struct{}
}

type use struct {
	refs         []lang.Ref
	repeat       repetition
	anyKey       bool // whether count or for_each gave the key is not known
	self         bool
	check        *config.Check // that the references stand in, if any
	inDefinition string
	validationFor/* variable's own name */ string
}

func (c *compiler) sorted() []addr.Module { return c.cfg.sorted() }

// sorted returns the paths of the modules in order.
func (c *Config) sorted() []addr.Module {
	return slices.SortedFunc(maps.Keys(c.modules), func(a, b addr.Module) int { return slices.Compare(a.Calls(), b.Calls()) })
}

func (c *compiler) module(cfg *config.Module, parent *moduleBlock) *moduleBlock {
	m := &moduleBlock{
		cfg: cfg, parent: parent,
		variables: map[string]*valueBlock{}, locals: map[string]*valueBlock{}, outputs: map[string]*valueBlock{},
		resources: map[addr.Resource]*ResourceBlock{}, calls: map[string]*callBlock{}, providers: map[string]*providerBlock{},
	}
	c.cfg.modules[cfg.Path] = m
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		m.providers[name] = c.provider(m, cfg.Providers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Variables)) {
		m.variables[name] = c.variable(m, cfg.Variables[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Locals)) {
		l := cfg.Locals[name]
		m.locals[name] = &valueBlock{kind: localValue, name: name, module: m, expr: c.expr(m, l.Expr, use{inDefinition: "local value"}), rng: l.Range}
	}
	for _, r := range cfg.Order {
		if b := c.resource(m, r); b != nil {
			m.resources[r.Addr] = b
		}
	}
	for _, r := range cfg.Removed {
		_, c.cfg.removed[r], _ = c.provisioners(m, r.Provisioners, r.Connection, use{self: true, anyKey: true})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Calls)) {
		m.calls[name] = c.call(m, cfg.Calls[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Outputs)) {
		m.outputs[name] = c.output(m, cfg.Outputs[name])
	}
	c.checks(m)
	return m
}

// expr compiles e and notes its references for checking.
func (c *compiler) expr(m *moduleBlock, e hcl.Expression, u use) *lang.Expr {
	if e == nil {
		return nil
	}
	x, diags := lang.Compile(e)
	c.diags = append(c.diags, lang.Propose(diags, m.cfg.MeantBy)...)
	c.compiled(m, x, u)
	x.Expression = marked.Expression(x.Expression)
	return x
}

// compileExpr compiles an expression that is in no block of the configuration as if it were in a block of this module that
// repeat repeats. It may be called concurrently, after Compile.
func (m *moduleBlock) compileExpr(e hcl.Expression, repeat repetition) (*lang.Expr, diag.List) {
	c := &compiler{cfg: &Config{}}
	x := c.expr(m, e, use{repeat: repeat})
	m.checkRefs(c)
	return x, c.diags
}

// compiled notes what an expression refers to and calls.
func (c *compiler) compiled(m *moduleBlock, x *lang.Expr, u use) {
	widen(m, x)
	c.note(m, x.Refs, u)
	c.cfg.nullsEphemeral = c.cfg.nullsEphemeral || x.NullsEphemeral
}

// widen corrects references to the instances of a module call that is not repeated: a for expression goes through its outputs then.
func widen(m *moduleBlock, x *lang.Expr) {
	for i := range x.Refs {
		ref := &x.Refs[i]
		if ref.EachOf {
			call := m.cfg.Calls[ref.Name]
			if ref.EachOf = call != nil && (call.Repeat.Count != nil || call.Repeat.ForEach != nil); !ref.EachOf {
				ref.Output = ""
			}
		}
		if ref.Index != nil && ref.Index.Expr != nil {
			widen(m, ref.Index.Expr)
		}
	}
}

func (c *compiler) note(m *moduleBlock, refs []lang.Ref, u use) {
	if len(refs) == 0 {
		return
	}
	if c.uses == nil {
		c.uses = map[*moduleBlock][]use{}
	}
	u.refs = refs
	c.uses[m] = append(c.uses[m], u)
}

func (c *compiler) body(m *moduleBlock, body hcl.Body, block *schema.Block, u use) []*lang.Expr {
	exprs, diags := lang.CompileBody(body, block)
	c.diags = append(c.diags, lang.Propose(diags, m.cfg.MeantBy)...)
	for _, x := range exprs {
		c.compiled(m, x, u)
	}
	return exprs
}

// guards compiles the conditions of a variable or output.
func (c *compiler) guards(m *moduleBlock, in []*config.Condition, u use) []condition {
	c.cfg.guarded = c.cfg.guarded || len(in) > 0
	return c.conditions(m, in, u)
}

func (c *compiler) conditions(m *moduleBlock, in []*config.Condition, u use) []condition {
	var out []condition
	for _, cond := range in {
		out = append(out, condition{cfg: cond, cond: c.expr(m, cond.Condition, u), msg: c.expr(m, cond.ErrorMessage, u), validation: u.validationFor != ""})
	}
	return out
}

func (c *compiler) traversals(m *moduleBlock, in []hcl.Traversal, u use) []lang.Ref {
	var out []lang.Ref
	for _, t := range in {
		ref, diags := lang.ParseRef(t)
		c.diags = append(c.diags, lang.Propose(diags, m.cfg.MeantBy)...)
		if !diags.HasErrors() {
			out = append(out, ref)
		}
	}
	c.note(m, out, u)
	return out
}

func (c *compiler) repetition(m *moduleBlock, r config.Repetition) repetition {
	return repetition{count: c.expr(m, r.Count, use{}), forEach: c.expr(m, r.ForEach, use{}), enabled: c.expr(m, r.Enabled, use{})}
}

func (c *compiler) variable(m *moduleBlock, v *config.Variable) *valueBlock {
	b := &valueBlock{kind: variableValue, name: v.Name, module: m, variable: v, rng: v.Range}
	if m.parent != nil {
		if attr := m.cfg.Call.Inputs[v.Name]; attr != nil {
			call := m.parent.calls[m.cfg.Call.Name]
			b.expr = c.expr(m.parent, attr.Expr, use{repeat: call.repeat})
			b.rng = attr.Range
			c.warnVariable(m, v, attr.Range)
		}
	}
	b.conds = c.guards(m, v.Validations, use{validationFor: v.Name})
	return b
}

func (c *compiler) output(m *moduleBlock, o *config.Output) *valueBlock {
	c.cfg.deprecates = c.cfg.deprecates || m.parent != nil && o.Deprecated != ""
	return &valueBlock{
		kind: outputValue, name: o.Name, module: m, output: o, expr: c.expr(m, o.Expr, use{}), rng: o.Range,
		conds: c.guards(m, o.Preconditions, use{}), dependsOn: c.traversals(m, o.DependsOn, use{}),
	}
}

func (c *compiler) call(m *moduleBlock, call *config.ModuleCall) *callBlock {
	b := &callBlock{cfg: call, module: m, repeat: c.repetition(m, call.Repeat), dependsOn: c.traversals(m, call.DependsOn, use{})}
	m.calls[call.Name] = b // variables of the child look for it
	if child := m.cfg.Children[call.Name]; child != nil {
		b.child = c.module(child, m)
	}
	return b
}

func (c *compiler) provider(m *moduleBlock, p *config.Provider) *providerBlock {
	b := &providerBlock{cfg: p, module: m, source: m.cfg.ProviderFor(p.Name)}
	s, diags := c.cfg.schemas.Provider(b.source)
	c.diags = append(c.diags, diags...)
	if s == nil {
		s = &schema.Schema{Block: &schema.Block{}}
	}
	b.schema = s
	b.each = c.expr(m, p.ForEach, use{})
	b.body = c.body(m, p.Body, s.Block, use{repeat: repetition{forEach: b.each}})
	b.view = marked.Body(p.Body, lang.Expressions(b.body))
	return b
}
