package eval

import (
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/schema"
)

var provisionerSchemas = map[string]*schema.Block{
	"local-exec": {Attributes: map[string]*schema.Attribute{
		"command":     {Type: cty.String, Required: true},
		"interpreter": {Type: cty.List(cty.String), Optional: true},
		"working_dir": {Type: cty.String, Optional: true},
		"environment": {Type: cty.Map(cty.String), Optional: true},
		"quiet":       {Type: cty.Bool, Optional: true},
	}},
	"remote-exec": {Attributes: map[string]*schema.Attribute{
		"inline":  {Type: cty.List(cty.String), Optional: true},
		"script":  {Type: cty.String, Optional: true},
		"scripts": {Type: cty.List(cty.String), Optional: true},
	}},
	"file": {Attributes: map[string]*schema.Attribute{
		"source":      {Type: cty.String, Optional: true},
		"content":     {Type: cty.String, Optional: true},
		"destination": {Type: cty.String, Required: true},
	}},
}

// remoteProvisioners are the types that work on another machine and so need a connection.
var remoteProvisioners = map[string]bool{"remote-exec": true, "file": true}

// Provisioners returns the provisioner blocks that run when the instance is created, in order.
func (in *Instance) Provisioners() []*config.Provisioner {
	return provisionerConfigs(in.Resource.Block.provisioners)
}

func provisionerConfigs(blocks []provisionerBlock) []*config.Provisioner {
	out := make([]*config.Provisioner, len(blocks))
	for i := range blocks {
		out[i] = blocks[i].cfg
	}
	return out
}

// EvalProvisioner evaluates the arguments of one provisioner, which may carry marks. self is the instance's object.
func (in *Instance) EvalProvisioner(t *future.Task, s *Session, index int, self cty.Value) (cty.Value, diag.List) {
	sc := in.scope(t, s)
	sc.self, sc.own = func() cty.Value { return self }, in
	return in.Run().provisioner(sc, &in.Resource.Block.provisioners[index])
}

func (r *Run) provisioner(sc *scope, p *provisionerBlock) (cty.Value, diag.List) {
	v, diags := r.decode(sc, p.schema, p.view, p.exprs)
	return v, diags.WithAddress(sc.address)
}
