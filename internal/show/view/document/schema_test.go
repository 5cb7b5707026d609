package document

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

func TestE81_SchemasJSON(t *testing.T) {
	attr := &schema.Attribute{Type: cty.String, Optional: true, WriteOnly: true, Sensitive: true, Deprecated: true, DeprecationMessage: "use b"}
	block := &schema.Block{
		Description: "d", DescriptionKind: schema.Markdown,
		Attributes: map[string]*schema.Attribute{
			"a": attr, "n": {Nested: &schema.Object{Nesting: schema.Map, Attributes: map[string]*schema.Attribute{"x": {Type: cty.List(cty.Number), Required: true}}}},
		},
		Blocks: map[string]*schema.NestedBlock{"b": {Nesting: schema.Group, MinItems: 1, MaxItems: 2}},
	}
	b, err := ProviderSchemas(map[addr.Provider]Declarations{addr.DefaultProvider("x"): {
		Provider: &schema.Schema{Block: &schema.Block{}}, Resources: map[string]*schema.Schema{"x_r": {Version: 2, Block: block}},
		Ephemeral: map[string]*schema.Schema{"x_e": {Block: &schema.Block{}}},
		Stores:    map[string]*schema.Schema{"x_s": {Block: &schema.Block{}}},
		Functions: map[string]*schema.Function{"f": {
			Return: cty.Bool, Summary: "s",
			Params: []schema.FunctionParam{{Name: "p", Type: cty.String, AllowNull: true}}, Variadic: &schema.FunctionParam{Name: "v", Type: cty.DynamicPseudoType},
		}},
		Identities: map[string]*schema.Identity{"x_r": {Version: 1, Attributes: map[string]*schema.IdentityAttribute{"id": {Type: cty.String, RequiredForImport: true}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var out tfjson.ProviderSchemas
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	ps := out.Schemas["registry.opentofu.org/hashicorp/x"]
	if ps == nil || ps.EphemeralResourceSchemas["x_e"] == nil || ps.ResourceIdentitySchemas["x_r"].Attributes["id"].IdentityType != cty.String {
		t.Fatalf("got %s, want the ephemeral x_e and the identity of x_r", b)
	}
	if ps.StateStoreSchemas["x_s"] == nil {
		t.Errorf("no state store: %s", b)
	}
	r := ps.ResourceSchemas["x_r"]
	if r.Version != 2 || !r.Block.Attributes["a"].WriteOnly || !r.Block.Attributes["a"].Sensitive || r.Block.DescriptionKind != "markdown" {
		t.Errorf("resource: got %s, want version 2, with a write-only and sensitive", b)
	}
	if nt := r.Block.Attributes["n"].AttributeNestedType; nt == nil || nt.NestingMode != "map" || !nt.Attributes["x"].AttributeType.Equals(cty.List(cty.Number)) {
		t.Errorf("nested type: got %s, want a map with a list of numbers", b)
	}
	if nb := r.Block.NestedBlocks["b"]; nb.NestingMode != "group" || nb.MinItems != 1 || nb.MaxItems != 2 {
		t.Errorf("block: got %s, want a group of 1 to 2", b)
	}
	f := ps.Functions["f"]
	if f.ReturnType != cty.Bool || !f.Parameters[0].IsNullable || f.VariadicParameter.Type != cty.DynamicPseudoType {
		t.Errorf("function: got %s, want a nullable parameter, a variadic one, and a bool as result", b)
	}
	b, err = Functions(map[string]*schema.Function{"f": {Return: cty.Bool}})
	if err != nil {
		t.Fatal(err)
	}
	var functions tfjson.MetadataFunctions
	if err := json.Unmarshal(b, &functions); err != nil || functions.Signatures["f"].ReturnType != cty.Bool {
		t.Errorf("functions: got %s, %v, want f with a bool as result", b, err)
	}
}

// A document that a peer wrote comes back with nothing lost.
func TestSchemasJSONMatchesPeers(t *testing.T) {
	loaded := fixture.LoadSchemas(t)
	all := map[addr.Provider]Declarations{}
	for name, s := range loaded {
		p, err := addr.ParseProvider(name)
		if err != nil {
			t.Fatal(err)
		}
		all[p] = Declarations{Provider: s.Provider, Resources: s.Resources, Data: s.Data, Ephemeral: s.Ephemeral}
	}
	b, err := ProviderSchemas(all)
	if err != nil {
		t.Fatal(err)
	}
	var have, want any
	if err := json.Unmarshal(b, &have); err != nil {
		t.Fatal(err)
	}
	fixture.Read(t, "schemas.json", &want)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVersionJSON(t *testing.T) {
	b, err := Version(testVersions, "linux_amd64", map[addr.Provider]string{addr.DefaultProvider("random"): "3.9.0"})
	if err != nil {
		t.Fatal(err)
	}
	var out tfjson.VersionOutput
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if out.Version != "1.12.0" || out.Platform != "linux_amd64" || out.ProviderSelections["registry.opentofu.org/hashicorp/random"] != "3.9.0" ||
		!strings.Contains(string(b), `"mayfly_version": "0.1.0"`) {
		t.Errorf("got %s, want version 1.12.0 on linux_amd64 with random 3.9.0", b)
	}
}
