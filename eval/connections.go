package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/schema"
)

// connectionSchema describes connection blocks. Arguments of WinRM are known, so that it is the type of the connection that is refused.
var connectionSchema = func() *schema.Block {
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

// connection compiles a connection block by itself: what is wrong in it is said even if no provisioner uses it.
func (c *compiler) connection(m *moduleBlock, conn *config.Connection, u use) map[string]connectionArg {
	if conn == nil {
		return nil
	}
	attrs, diags := conn.Body.JustAttributes()
	c.diags = append(c.diags, diag.FromHCL(diags)...)
	out := map[string]connectionArg{}
	for name, a := range attrs {
		x := c.expr(m, a.Expr, u)
		if connectionSchema.Attributes[name] == nil {
			meant := diag.Nearest(name, slices.Collect(maps.Keys(connectionSchema.Attributes)))
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

// expressions returns those of a connection block in the order of its arguments' names.
func expressions(conn map[string]connectionArg) []*lang.Expr {
	var out []*lang.Expr
	for _, name := range slices.Sorted(maps.Keys(conn)) {
		out = append(out, conn[name].expr)
	}
	return out
}

// connect gives a provisioner the arguments of the outer connection block, overridden by those of its own. What is overridden is not evaluated, and
// opens nothing; for a provisioner that works on this machine, all of it is evaluated while validating only.
func (c *compiler) connect(p *provisionerBlock, outer *config.Connection, shared, own map[string]connectionArg) {
	args := maps.Clone(shared)
	if args == nil {
		args = map[string]connectionArg{}
	}
	maps.Copy(args, own)
	body := &connectionBody{attrs: hcl.Attributes{}}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		body.attrs[name] = args[name].attr
		p.connection = append(p.connection, args[name].expr)
	}
	remote := remoteProvisioners[p.cfg.Type]
	switch {
	case p.cfg.Connection != nil:
		body.rng = p.cfg.Connection.Range
	case outer != nil:
		body.rng = outer.Range
	case !remote:
		return
	default:
		c.diags = append(c.diags, diag.At(p.cfg.Range, "Missing connection block",
			"The %q provisioner works on another machine: a \"connection\" block in it, or in the resource, has to say how to reach that. Its argument \"host\" is the least it needs.", p.cfg.Type)...)
		return
	}
	if remote {
		p.exprs = slices.Concat(p.exprs, p.connection)
	}
	p.connected = body
}

// connectionBody is the body of a connection block, merged from those of resource and provisioner. It has known arguments only.
type connectionBody struct {
	attrs hcl.Attributes
	rng   hcl.Range
}

// Content implements hcl.Body.
func (b *connectionBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, _, diags := b.PartialContent(s)
	return content, diags
}

// PartialContent implements hcl.Body. Nothing remains: arguments that the schema of connections doesn't have were reported when compiling.
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

// EvalConnection evaluates the connection of one provisioner, that of the resource overridden by the provisioner's own; it may carry marks.
// The value is cty.NilVal if the provisioner has no use for one. self is the instance's object.
func (in *Instance) EvalConnection(t *future.Task, s *Session, index int, self cty.Value) (cty.Value, diag.List) {
	sc := in.scope(t, s)
	sc.self, sc.own = func() cty.Value { return self }, in
	return in.Run().connection(sc, &in.Resource.Block.provisioners[index])
}

// EvalConnection evaluates the connection of one provisioner, as that of Instance does. self is the object that is about to be destroyed.
func (d *Departure) EvalConnection(t *future.Task, s *Session, index int, self cty.Value) (cty.Value, diag.List) {
	p := &d.blocks[index]
	if d.checkKeys(p).HasErrors() {
		return cty.NilVal, nil // EvalProvisioner reports it
	}
	sc := d.scope(t, s)
	sc.self = func() cty.Value { return self }
	return d.run.connection(sc, p)
}

func (r *Run) connection(sc *scope, p *provisionerBlock) (cty.Value, diag.List) {
	used := remoteProvisioners[p.cfg.Type]
	if p.connected == nil || !used && r.opt.Phase != Validating {
		return cty.NilVal, nil
	}
	r.Stats.Evaluations.Add(1)
	v, diags := connectionSchema.Decode(p.connected, r.context(sc, p.connection...))
	if !used { // no more than its arguments must be right
		v = cty.NilVal
	}
	return v, sc.forget(diags).WithAddress(sc.address)
}

// ConnectionBody returns the body that EvalConnection evaluates, for the positions of its arguments; nil if there is none.
func (in *Instance) ConnectionBody(index int) hcl.Body {
	return in.Resource.Block.provisioners[index].connectionBody()
}

// ConnectionBody returns the body that EvalConnection evaluates, for the positions of its arguments; nil if there is none.
func (d *Departure) ConnectionBody(index int) hcl.Body { return d.blocks[index].connectionBody() }

func (p *provisionerBlock) connectionBody() hcl.Body {
	if p.connected == nil {
		return nil
	}
	return p.connected
}
