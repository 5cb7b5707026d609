package blocks

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

var provisionerSchemas = map[string]*schema.Block{
	"local-exec": {Attributes: map[string]*schema.Attribute{
		"command":     {Type: cty.String, Required: true},
		"interpreter": {Type: cty.List(cty.String), Optional: true},
		"working_dir": {Type: cty.String, Optional: true},
		"environment": {Type: cty.Map(cty.String), Optional: true},
		"quiet":       {Type: cty.Bool, Optional: true},
		"output":      {Type: cty.String, Optional: true},
	}},
	"remote-exec": {Attributes: map[string]*schema.Attribute{
		"inline":  {Type: cty.List(cty.String), Optional: true},
		"script":  {Type: cty.String, Optional: true},
		"scripts": {Type: cty.List(cty.String), Optional: true},
		"output":  {Type: cty.String, Optional: true},
	}},
	"file": {Attributes: map[string]*schema.Attribute{
		"source":      {Type: cty.String, Optional: true},
		"content":     {Type: cty.String, Optional: true},
		"destination": {Type: cty.String, Required: true},
	}},
}

// remoteProvisioners are the types that work on another machine and so need a connection.
var remoteProvisioners = map[string]bool{"remote-exec": true, "file": true}

// provisioners compiles provisioner blocks, for creation and for destruction apart. outer is the connection
// of provisioners without their own. idle has the expressions of connections that no provisioner of creation
// evaluates.
func (c *compiler) provisioners(
	m *Module, list []*config.Provisioner, outer *config.Connection, u site,
) (creating, destroying []Provisioner, idle []*lang.Expr) {
	shared := c.connection(m, outer, u)
	idle = expressions(shared)
	for _, p := range list {
		b := c.provisioner(m, p, u)
		if b.Schema == nil {
			continue // there is no such type, which was reported
		}
		own := c.connection(m, p.Connection, u)
		c.connect(&b, outer, shared, own)
		if p.Destroy {
			destroying = append(destroying, b)
			continue
		}
		creating = append(creating, b)
		idle = append(idle, expressions(own)...)
	}
	idle = slices.DeleteFunc(idle, func(x *lang.Expr) bool {
		return slices.ContainsFunc(creating, func(b Provisioner) bool { return slices.Contains(b.Exprs, x) })
	})
	return creating, destroying, idle
}

// provisioner compiles a provisioner. There are no plugins for them, so a type that is not known here is an
// error.
func (c *compiler) provisioner(m *Module, p *config.Provisioner, u site) Provisioner {
	b := Provisioner{Config: p, Schema: provisionerSchemas[p.Type]}
	if b.Schema == nil {
		c.diags = append(c.diags, diag.At(p.Range, "Unsupported provisioner type",
			"There is no provisioner %q.%s Mayfly has the provisioners local-exec, remote-exec, and file. It does not load plugins with others. If there is a program for the task, run it with local-exec.",
			p.Type, diag.DidYouMean(p.Type, []string{"local-exec", "remote-exec", "file"}))...)
		return b
	}
	b.Exprs = c.body(m, p.Body, b.Schema, u)
	b.View = b.Schema.Bind(marked.Body(p.Body, lang.Expressions(b.Exprs)))
	return b
}

// connectionSchema describes connection blocks. Arguments of WinRM are known, so that it is the type of the
// connection that is refused.
var ConnectionSchema = func() *schema.Block {
	b := &schema.Block{Attributes: map[string]*schema.Attribute{"host": {Type: cty.String, Required: true}}}
	for ty, names := range map[cty.Type][]string{
		cty.String: {
			"type", "user", "password", "timeout", "script_path", "target_platform", "private_key", "certificate", "agent_identity", "host_key",
			"cacert", "proxy_scheme", "proxy_host", "proxy_user_name", "proxy_user_password", "bastion_user", "bastion_password", "bastion_host",
			"bastion_host_key", "bastion_private_key", "bastion_certificate",
		},
		cty.Number: {"port", "proxy_port", "bastion_port"},
		cty.Bool:   {"agent", "https", "insecure", "use_ntlm"},
	} {
		for _, name := range names {
			b.Attributes[name] = &schema.Attribute{Type: ty, Optional: true}
		}
	}
	return b
}()

// connectionArg is one argument of a connection block.
type connectionArg struct {
	attr *hcl.Attribute
	expr *lang.Expr
}

// connection compiles a connection block by itself: mistakes in it are reported even if no provisioner uses
// it.
func (c *compiler) connection(m *Module, conn *config.Connection, u site) map[string]connectionArg {
	if conn == nil {
		return nil
	}
	attrs, diags := conn.Body.JustAttributes()
	c.diags = append(c.diags, diag.FromHCL(diags)...)
	out := map[string]connectionArg{}
	for name, a := range attrs {
		x := c.expr(m, a.Expr, u)
		if ConnectionSchema.Attributes[name] == nil {
			meant := diag.Nearest(name, slices.Collect(maps.Keys(ConnectionSchema.Attributes)))
			c.diags = append(c.diags, diag.At(a.NameRange, "Unsupported argument", "A connection block has no argument named %q.%s",
				name, diag.DidYouMean(name, []string{meant}))...)
			if meant == "" || attrs[meant] != nil {
				continue
			}
			name = meant // it is not missing as well
		}
		known := *a
		known.Expr = x.Expression
		out[name] = connectionArg{&known, x}
	}
	return out
}

// expressions returns the expressions of a connection block in the order of its arguments' names.
func expressions(conn map[string]connectionArg) []*lang.Expr {
	var out []*lang.Expr
	for _, name := range slices.Sorted(maps.Keys(conn)) {
		out = append(out, conn[name].expr)
	}
	return out
}

// connect gives a provisioner the arguments of the outer connection block, overridden by its own. Overridden
// arguments are not evaluated, and open nothing; for a provisioner that works on this machine, all arguments
// are evaluated while validating only.
func (c *compiler) connect(p *Provisioner, outer *config.Connection, shared, own map[string]connectionArg) {
	args := maps.Clone(shared)
	if args == nil {
		args = map[string]connectionArg{}
	}
	maps.Copy(args, own)
	body := &connectionBody{attrs: hcl.Attributes{}}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		body.attrs[name] = args[name].attr
		p.Connection = append(p.Connection, args[name].expr)
	}
	remote := p.IsRemote()
	switch {
	case p.Config.Connection != nil:
		body.rng = p.Config.Connection.Range
	case outer != nil:
		body.rng = outer.Range
	case !remote:
		return
	default:
		c.diags = append(c.diags, diag.At(p.Config.Range, "Missing connection block",
			"The %q provisioner works on another machine: add a \"connection\" block, in it or in the resource, that says how to reach that machine. It needs at least the argument \"host\".", p.Config.Type)...)
		return
	}
	if remote {
		p.Exprs = slices.Concat(p.Exprs, p.Connection)
	}
	p.Connected = body
}

// IsRemote reports whether the provisioner works on another machine.
func (p *Provisioner) IsRemote() bool { return remoteProvisioners[p.Config.Type] }

// connectionBody is the body of a connection block, merged from the blocks of resource and provisioner. It
// has known arguments only.
type connectionBody struct {
	attrs hcl.Attributes
	rng   hcl.Range
}

// Content implements hcl.Body.
func (b *connectionBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, _, diags := b.PartialContent(s)
	return content, diags
}

// PartialContent implements hcl.Body. Nothing remains: arguments that the schema of connections doesn't have
// were reported when compiling.
func (b *connectionBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	content := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: b.rng}
	for _, want := range s.Attributes {
		if a := b.attrs[want.Name]; a != nil {
			content.Attributes[want.Name] = a
		} else if want.Required {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Missing required argument",
				Detail:  "The argument \"" + want.Name + "\" is required, but no definition was found in this connection block, nor in another one that it would complete.",
				Subject: b.rng.Ptr(),
			})
		}
	}
	return content, &connectionBody{rng: b.rng}, diags
}

// JustAttributes implements hcl.Body.
func (b *connectionBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) { return b.attrs, nil }

// MissingItemRange implements hcl.Body.
func (b *connectionBody) MissingItemRange() hcl.Range { return b.rng }

// ConnectionBody returns the connection that the provisioner uses, merged from the blocks of the resource and
// the provisioner; nil without one.
func (p *Provisioner) ConnectionBody() hcl.Body {
	if p.Connected == nil {
		return nil
	}
	return p.Connected
}
