package diag

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

func TestNamed(t *testing.T) {
	meta := &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "for_each"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "lifecycle"}, {Type: "_"}},
	}
	own := &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "name", Required: true}, {Name: "size"}, {Name: "key_wo"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "rule"}},
	}
	inner := &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "port", Required: true}}}
	tests := []struct{ src, want string }{
		{"name = 1", ""},
		{"foreach = 1\nname = 1", `1,1-8: Unsupported argument: An argument named "foreach" is not expected here. Did you mean "for_each"?`},
		{"nmae = 1", `1,1-5: Unsupported argument: An argument named "nmae" is not expected here. Did you mean "name"?`},
		{"zzz = 1\nqqqq {\n}\n", `1,1-1: Missing required argument: The argument "name" is required, but no definition was found.
1,1-4: Unsupported argument: An argument named "zzz" is not expected here.
2,1-5: Unsupported block type: Blocks of type "qqqq" are not expected here.`},
		{"name = 1\nlifecylce {\n}\n", `2,1-10: Unsupported block type: Blocks of type "lifecylce" are not expected here. Did you mean "lifecycle"?`},
		{"name = 1\nlifecycle = {}\n", `2,1-10: Unsupported argument: An argument named "lifecycle" is not expected here. It is a block: write it without an equals sign, as in lifecycle { ... }.`},
		{"name = 1\nruel = {}\n", `2,1-5: Unsupported argument: An argument named "ruel" is not expected here. Did you mean the block "rule"?`},
		{"name {\n}\n", `1,1-5: Unsupported block type: Blocks of type "name" are not expected here. It is an argument: write it with an equals sign, as in name = VALUE.`},
		{"name = 1\nrule = {}\n", `2,1-5: Unsupported argument: An argument named "rule" is not expected here. It is a block: write it without an equals sign, as in rule { ... }.`},
		{"name = 1\nrule {\n  prot = 1\n}\n", `3,3-7: Unsupported argument: An argument named "prot" is not expected here. Did you mean "port"?`},
		{"name = 1\nkey = 1", `2,1-4: Unsupported argument: An argument named "key" is not expected here. Did you mean "key_wo"?`},
		{"name = 1\nresource \"a\" {\n}\n", `2,1-9: Unsupported block type: Blocks of type "resource" are not expected here. A block of this type is in no other block: move it out, or look above it for a brace that is not closed.`},
		{`{"nmae": 1}`, `1,2-8: Extraneous JSON object property: No argument or block type is named "nmae". Did you mean "name"?`},
		{`{"name": 1, "foreach": 1}`, `1,13-22: Extraneous JSON object property: No argument or block type is named "foreach". Did you mean "for_each"?`},
	}
	for _, test := range tests {
		var file *hcl.File
		var hd hcl.Diagnostics
		if strings.HasPrefix(test.src, "{") {
			file, hd = json.Parse([]byte(test.src), "a")
		} else {
			file, hd = hclsyntax.ParseConfig([]byte(test.src), "a", hcl.InitialPos)
		}
		if hd.HasErrors() {
			t.Fatal(hd)
		}
		_, rest, hd := Named(file.Body).PartialContent(meta)
		content, more := rest.Content(own)
		hd = append(hd, more...)
		for _, b := range content.Blocks {
			_, more := b.Body.Content(inner)
			hd = append(hd, more...)
		}
		var got []string
		for _, d := range FromHCL(hd) {
			got = append(got, strings.TrimPrefix(d.String(), "a:"))
		}
		if got := strings.Join(got, "\n"); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.src, got, test.want)
		}
	}
}
