package lang

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// CompileBody finds the references of every expression in a body that a schema describes, dynamic blocks
// included. Arguments that the schema doesn't know are passed over: decoding reports them. Expressions
// without references and calls are left out, except in dynamic blocks.
func CompileBody(body hcl.Body, block *schema.Block) ([]*Expr, diag.List) {
	var out []*Expr
	var diags diag.List
	for _, e := range block.Expressions(body) {
		x, more := Compile(e.Expression, e.Iterators...)
		x.Argument = e.Argument
		diags = append(diags, more...)
		if len(x.Refs) > 0 || x.Calls || len(e.Iterators) > 0 {
			out = append(out, x)
		}
	}
	return out, diags
}
