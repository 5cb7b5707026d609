package eval

import (
	"strings"

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
}

// connectionArguments are the arguments of connection blocks.
var connectionArguments = strings.Fields(`type user password host port timeout script_path target_platform private_key certificate agent agent_identity
	host_key https insecure use_ntlm cacert proxy_scheme proxy_host proxy_port proxy_user_name proxy_user_password bastion_user bastion_password
	bastion_host bastion_host_key bastion_port bastion_private_key bastion_certificate`)

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
