package diag

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// unknownFunction returns the detail of an error about a call of an unknown function, with the most similar
// name; HCL suggests an arbitrary one of several. ok is false if d is about something else.
func unknownFunction(d *hcl.Diagnostic) (detail string, ok bool) {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d)
	if !ok {
		return "", false
	}
	name, namespace := call.CalledFunctionName(), call.CalledFunctionNamespace()
	var similar, others []string
	for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
		for f := range ctx.Functions {
			if short, within := strings.CutPrefix(f, namespace); within && namespace != "" {
				similar = append(similar, short)
			} else if !strings.Contains(f, "::") {
				others = append(others, f)
			}
		}
	}
	switch {
	case namespace == "":
		return fmt.Sprintf("There is no function named %q.%s", name, DidYouMean(name, others)), true
	case len(similar) == 0:
		return fmt.Sprintf("There are no functions in namespace %q.", namespace), true
	}
	detail = fmt.Sprintf("There is no function named %q in namespace %s.", name, namespace)
	if near := Nearest(name, similar); near != "" {
		detail += fmt.Sprintf(" Did you mean %s%s?", namespace, near)
	}
	return detail, true
}
