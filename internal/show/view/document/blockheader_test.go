package document

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// TestBlockHeaderEverywhere compares the name of the block around each place of a file with what the
// library's own search through all blocks finds.
func TestBlockHeaderEverywhere(t *testing.T) {
	const text = "a = 1\nlocals {\n}\nresource \"t\" \"n\\n\" {\n  b {\n  }\n}\n\nmodule \"é\" {}\noutput x { value = 1 }\nbroken {\n  c =\n}\nlast \"z\" {\n"
	native, _ := hclsyntax.ParseConfig([]byte(text), "a.tf", hcl.InitialPos)
	const document = `{"resource": {"t": {"n": {"b": 1}}}, "locals": {"x": 1}}`
	object, diags := hcljson.Parse([]byte(document), "a.tf.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for file, n := range map[*hcl.File]int{native: len(text), object: len(document)} {
		named := 0
		for offset := range n + 2 {
			got, want := blockHeader(file, offset), hcled.ContextString(file, offset)
			if got != want {
				t.Errorf("at %d: got %q, want %q", offset, got, want)
			}
			if got != "" {
				named++
			}
		}
		if named < n/2 {
			t.Errorf("only %d of %d places are in a block", named, n)
		}
	}
}
