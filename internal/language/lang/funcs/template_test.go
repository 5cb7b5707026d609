package funcs

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestTemplateErrors checks that an error in a template is shown in its text, and that nothing secret is.
func TestTemplateErrors(t *testing.T) {
	dir := filetest.Tree(t, map[string]string{
		"open":                    "a\n${upper(x}\n",
		"undefined":               "a\n${nmae}\n",
		"config":                  "${var.region}",
		"wrong":                   "a\n${upper(xs)}",
		"outer":                   "a\n${templatefile(\"wrong\", { xs = [1] })}",
		"deep":                    strings.Repeat("${[", 2000),
		"name-with-" + secretText: "${x",
	})
	ctx := &hcl.EvalContext{Functions: Table(Options{BaseDir: dir}), Variables: map[string]cty.Value{
		"secret_name": cty.StringVal("name-with-" + secretText).Mark(value.Sensitive),
		"secret_text": cty.StringVal("${" + secretText).Mark(value.Sensitive),
		"secret":      cty.StringVal(secretText).Mark(value.Sensitive),
		"text":        cty.StringVal("${upper(x}"),
	}}
	tests := []struct{ expr, want string }{
		{`templatefile("open", { x = "" })`, `open:2,8-9: Unclosed parenthesis: There is no closing ")" for this "(". The "}" on line 2 comes first. The template is rendered at m.tf:1.`},
		{`templatefile("undefined", { name = secret })`, `undefined:2,3-7: Undefined template variable: The call that renders this template passes no variable "nmae". Did you mean "name"? The template is rendered at m.tf:1.`},
		{`templatefile("config", {})`, `config:1,3-6: Undefined template variable: The call that renders this template passes no variable "var". A template cannot refer to the configuration: pass var.region under a name of your choice, and refer to that. The template is rendered at m.tf:1.`},
		{`templatefile("outer", {})`, `wrong:2,9-11: Invalid function argument: Invalid value for "str" parameter: string required, but have tuple. The template is rendered by the one at outer:2, which is rendered at m.tf:1.`},
		{`templatestring(text, {})`, `<templatestring argument>:1,8-9: Unclosed parenthesis: There is no closing ")" for this "(". The "}" on line 1 comes first. The template is rendered at m.tf:1.`},
		{`templatefile("wrong", { xs = [secret] })`, `wrong:2,9-11: Invalid function argument: Invalid value for "str" parameter: string required, but have tuple. The template is rendered at m.tf:1.`},
		{`templatestring(secret_text, {})`, `m.tf:1,1-16: Error in function call: Call to function "templatestring" failed: the template could not be rendered; the details are withheld because they could reveal a value: (sensitive value).`},
		{`templatefile(secret_name, {})`, `m.tf:1,1-14: Error in function call: Call to function "templatefile" failed: the template could not be rendered; the details are withheld because they could reveal a value: (sensitive value).`},
		{`templatefile("deep", { a = secret })`, `m.tf:1,1-14: Error in function call: Call to function "templatefile" failed: nested too deep: brackets may be nested 1000 levels deep, and one expression may have up to 20000 operators.`},
	}
	for _, test := range tests {
		x, hd := hclsyntax.ParseExpression([]byte(test.expr), "m.tf", hcl.InitialPos)
		if hd.HasErrors() {
			t.Fatal(hd)
		}
		_, hd = x.Value(ctx)
		diags := diag.FromHCL(hd)
		if len(diags) != 1 || diags[0].String() != test.want {
			t.Errorf("%s\ngot  %v\nwant %s", test.expr, diags, test.want)
			continue
		}
		if d := diags[0]; d.Source != nil && d.Subject.Filename == "m.tf" || d.Source == nil && d.Subject.Filename != "m.tf" {
			t.Errorf("%s: got the source %q for %s, want one only for a place outside m.tf", test.expr, d.Source, d.Subject.Filename)
		}
		if strings.Contains(diags[0].String()+string(diags[0].Source), secretText) {
			t.Errorf("%s: the error shows the secret", test.expr)
		}
	}
}
