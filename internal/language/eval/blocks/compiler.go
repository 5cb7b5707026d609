package blocks

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// compiler is the state of one Compile.
type compiler struct {
	cfg   *Config
	diags diag.List
	// sites has the references of each module and where they are, to be checked once all blocks are known.
	sites map[*Module][]site
	// warned has the arguments of deprecated variables: a module that is called twice is compiled twice, and
	// warned of once.
	warned map[hcl.Range]struct{}
	// schemaErrors has the texts of errors in reading schemas: a provider that cannot be started is one
	// error.
	schemaErrors map[string]struct{}
}

type site struct {
	refs          []lang.Ref
	repeat        Repetition
	anyKey        bool // whether count or for_each gave the key is not known
	self          bool
	check         *config.Check // that the references are in, if any
	validationFor string        // the variable whose validation it is
	test          bool          // it is in a test file
	actions       bool          // it is the list of actions of a trigger
	beforeChange  bool          // it is the condition of a trigger with events before a change
}

// expr compiles e and notes its references for checking.
func (c *compiler) expr(m *Module, e hcl.Expression, u site) *lang.Expr {
	if e == nil {
		return nil
	}
	x, diags := lang.Compile(e)
	c.diags = append(c.diags, lang.Propose(diags, m.Config.MeantBy)...)
	if u.test {
		x.InTest()
	}
	c.record(m, x, u)
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

// record notes the references and function calls of an expression.
func (c *compiler) record(m *Module, x *lang.Expr, u site) {
	widen(m, x)
	c.note(m, x.Refs, u)
	c.cfg.clearsEphemeral = c.cfg.clearsEphemeral || x.ClearsEphemeral
	if x.Fingerprints {
		c.cfg.fingerprints = append(c.cfg.fingerprints, moduleExpr{m, x})
	}
}

// note keeps references for the checks that need the whole configuration, which begin when all modules are
// compiled.
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

// body compiles the expressions of a body by its schema, in the order of the source text.
func (c *compiler) body(m *Module, body hcl.Body, block *schema.Block, u site) []*lang.Expr {
	exprs, diags := lang.CompileBody(body, block)
	c.diags = append(c.diags, lang.Propose(diags, m.Config.MeantBy)...)
	for _, x := range exprs {
		if u.test {
			x.InTest()
		}
		c.record(m, x, u)
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

// traversals compiles references that stand alone, as in depends_on. Invalid ones are reported and left out.
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
	out := Repetition{Count: c.expr(m, r.Count, site{}), ForEach: c.expr(m, r.ForEach, site{}), Enabled: c.expr(m, r.Enabled, site{})}
	if out.ForEach != nil {
		out.ForEach.Expression = marked.Choice(out.ForEach.Expression)
	}
	return out
}

// reportNoSchema reports why a schema is not available, each reason once.
func (c *compiler) reportNoSchema(diags diag.List) {
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
