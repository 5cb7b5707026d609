package cliconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// uriExpression matches an expression of a URI template, of any level of RFC 6570.
var uriExpression = pattern.New(`\{([^{}]*)\}`)

// OCIMethod returns the method for the OCI mirror in which a URI template gives the repositories, such as
// "example.com/{namespace}/{type}" (RFC 6570, level 1). Errors are about the template: it must give each of
// the providers a repository of its own, since one provider's packages could be taken for another's
// otherwise.
func OCIMethod(template string, providers []addr.Provider) (Method, error) {
	used := map[string]bool{}
	for _, m := range uriExpression().FindAllStringSubmatch(template, -1) {
		if !slices.Contains(templateVariables, m[1]) {
			return Method{}, fmt.Errorf("the repository template %q has the expression %s, where only {hostname}, {namespace} and {type} are possible", template, m[0])
		}
		used[m[1]] = true
	}
	rest := uriExpression().ReplaceAllString(template, "")
	if strings.ContainsAny(rest, "{}$%") || template == "" {
		return Method{}, fmt.Errorf("%q is not a repository template such as example.com/{namespace}/{type}, which is written without dollar signs here", template)
	}
	for _, name := range templateVariables {
		values := map[string]bool{}
		for _, p := range providers {
			values[map[string]string{"hostname": p.Hostname.ForDisplay(), "namespace": p.Namespace, "type": p.Type}[name]] = true
		}
		if !used[name] && len(values) > 1 {
			return Method{}, fmt.Errorf("the repository template %q must contain {%s}, since the providers differ in it. Add it, or name the providers that this mirror is for", template, name)
		}
	}
	expr, hd := hclsyntax.ParseTemplate([]byte(uriExpression().ReplaceAllString(template, "$${$1}")), "", hcl.Pos{})
	if hd.HasErrors() {
		return Method{}, hd
	}
	return Method{Kind: OCIMirror, RepositoryTemplate: expr}, nil
}
