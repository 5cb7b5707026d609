package marked_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
)

// BenchmarkSets evaluates operations on sets and lists of many strings.
func BenchmarkSets(b *testing.B) {
	for _, n := range []int{25_000, 100_000} {
		elems := make([]cty.Value, n)
		for i := range elems {
			elems[i] = cty.StringVal(fmt.Sprintf("element-%d", i))
		}
		vars := map[string]cty.Value{"set": cty.SetVal(elems), "list": cty.ListVal(elems)}
		for _, src := range []string{"setunion(set, set)", "setunion(list, list)", "setintersection(list, list)", "setsubtract(set, set)"} {
			b.Run(fmt.Sprintf("%s/%d", src, n), func(b *testing.B) {
				native, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
				if diags.HasErrors() {
					b.Fatal(diags)
				}
				for b.Loop() {
					ctx := marked.Context(vars, funcs.Table(funcs.Options{}), bounds.NewBudget(nil), true, "")
					if _, diags := marked.Expression(native).Value(ctx); diags.HasErrors() {
						b.Fatal(diags)
					}
				}
			})
		}
	}
}
