package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
)

// Word is the Extra of the error about a reference that is a single word. Code that knows the declarations
// can say which one it may mean.
type Word struct {
	Text         string
	Interpolated bool // it is all that an interpolation has, as in "${word}"
}

// Propose adds to the errors about single words their possible meanings: sentences after a space. It changes
// the list and returns it.
func Propose(diags diag.List, meant func(word string, interpolated bool) string) diag.List {
	for i := range diags {
		if word, ok := diags[i].Extra.(Word); ok {
			diags[i].Detail += meant(word.Text, word.Interpolated)
		}
	}
	return diags
}

// interpolated reports whether the reference at rng is all that an interpolation in e has.
func interpolated(e hcl.Expression, rng hcl.Range) bool {
	node, ok := e.(hclsyntax.Node)
	if !ok {
		return true // strings of JSON syntax are templates
	}
	found := false
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.TemplateExpr:
			found = found || slices.ContainsFunc(n.Parts, func(part hclsyntax.Expression) bool { return part.Range() == rng })
		case *hclsyntax.TemplateWrapExpr:
			found = found || n.Wrapped.Range() == rng
		}
		return nil
	})
	return found
}
