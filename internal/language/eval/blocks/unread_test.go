package blocks_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
)

// TestUnread finds the values that no unit is evaluated from.
func TestUnread(t *testing.T) {
	const module = `
variable "v" {}
locals { l = var.v }
output "o" { value = local.l }
`
	call := func(repeat string) string { return "module \"m\" {\n source = \"./m\"\n " + repeat + "\n v = 1\n}\n" }
	for main, want := range map[string]string{
		"locals { l = 1 }":                  "local.l",
		"locals {\n a = 1\n b = local.a\n}": "local.a local.b",
		"locals {\n a = 1\n b = local.a\n}\nresource \"t\" \"r\" { n = local.b }":                    "",
		"locals { l = 1 }\noutput \"o\" { value = local.l }":                                         "",
		"variable \"v\" {\n validation {\n  condition = var.v > 0\n  error_message = \"No.\"\n }\n}": "",
		"variable \"v\" {}":         "var.v",
		call(""):                    "module.m.local.l module.m.output.o module.m.var.v",
		call("count = 1"):           "module.m.local.l module.m.output.o module.m.var.v",
		call("count = length([1])"): "module.m.local.l module.m.output.o module.m.var.v",
		call("") + "output \"o\" { value = module.m.o }\n":                    "",
		call("count = 1") + "output \"o\" { value = module.m[0].o }\n":        "module.m.local.l module.m.output.o module.m.var.v",
		call("") + "resource \"t\" \"r\" { depends_on = [module.m] }\n":       "module.m.local.l module.m.output.o module.m.var.v",
		call("") + "output \"o\" { value = module.m }\n":                      "",
		call("count = 1") + "output \"o\" { value = module.m }\n":             "module.m.local.l module.m.output.o module.m.var.v",
		"locals { l = 1 }\nresource \"t\" \"r\" { depends_on = [local.l] }\n": "",
		strings.Replace(call("count = 1"), "./m", "./n", 1):                   "module.m.output.o",
	} {
		tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(main)}, "m/main.tf": {Data: []byte(module)}, "n/main.tf": {Data: []byte(module + "resource \"t\" \"r\" { n = local.l }\n")}}}).Load(".")
		if diags.HasErrors() {
			t.Errorf("%s: got %v, want no error", main, diags)
			continue
		}
		cfg, diags := blocks.Compile(tree, blockstest.Schemas{"n": {Type: cty.Number, Optional: true}})
		if diags.HasErrors() {
			t.Errorf("%s: got %v, want no error", main, diags)
			continue
		}
		var got []string
		for v := range cfg.Unread() {
			got = append(got, v.Address())
		}
		slices.Sort(got)
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %q, want %q", main, got, want)
		}
	}
}
