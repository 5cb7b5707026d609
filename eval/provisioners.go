package eval

import (
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
