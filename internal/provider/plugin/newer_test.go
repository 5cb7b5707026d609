package plugin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

func TestConfiguredFunctions(t *testing.T) {
	signature := encoded(t, &tfplugin6.Function{Return: &tfplugin6.Function_Return{Type: []byte(`"string"`)}})
	c := rawProvider(t, handlers{
		"GetProviderSchema": answer(bytesMessage(simpleResponse(t))),
		"GetFunctions": answer(bytesMessage(slices.Concat(
			entry(1, "more", signature), entry(1, "broken", []byte{0xff}),
			field(2, encoded(t, &tfplugin6.Diagnostic{Severity: tfplugin6.Diagnostic_WARNING, Summary: "take care"})),
		))),
		"CallFunction": answer(&tfplugin6.CallFunction_Response{Result: dynamic(cty.StringVal("called"), cty.String)}),
	})
	if _, err := c.CallFunction(soon(t), "more", nil); err == nil || !strings.Contains(err.Error(), `no function "more"`) {
		t.Errorf("before it was asked for: %v", err)
	}
	functions, diags := c.ConfiguredFunctions(soon(t))
	if functions["more"] == nil || functions["broken"] != nil {
		t.Errorf("functions: %v", functions)
	}
	if len(diags) != 2 || diags[0].Severity != diag.Warning || !strings.Contains(diags[1].Detail, "the function broken") {
		t.Errorf("got diagnostics %v, want two, the first a warning, the second about the function broken", diags)
	}
	if got, err := c.CallFunction(soon(t), "more", nil); err != nil || got.AsString() != "called" {
		t.Errorf("CallFunction(more): got %#v, %v, want \"called\"", got, err)
	}

	c = rawProvider(t, handlers{"GetProviderSchema": answer(bytesMessage(simpleResponse(t)))})
	if functions, diags := c.ConfiguredFunctions(soon(t)); len(functions) > 0 || len(diags) > 0 {
		t.Errorf("without the call: %v %v", functions, diags)
	}
	c = rawProvider(t, handlers{"GetFunctions": answer(bytesMessage(field(1, []byte{0xff})))})
	_, diags = c.ConfiguredFunctions(soon(t))
	wantOne(t, diags, diag.Error, fakeName)
}

func TestGenerateConfig(t *testing.T) {
	want := simple("x", cty.StringVal("y"))
	c := rawProvider(t, handlers{
		"GetProviderSchema":      answer(bytesMessage(simpleResponse(t))),
		"GenerateResourceConfig": answer(&tfplugin6.GenerateResourceConfig_Response{Config: dynamic(want, want.Type())}),
	})
	got, diags := c.GenerateConfig(soon(t), provider.GenerateRequest{Type: "fake_a", State: simple("x", cty.NullVal(cty.String))})
	wantNone(t, diags)
	wantValue(t, "config", got, want)
	c = rawProvider(t, handlers{"GetProviderSchema": answer(bytesMessage(simpleResponse(t)))})
	_, diags = c.GenerateConfig(soon(t), provider.GenerateRequest{Type: "fake_a", State: want})
	wantOne(t, diags, diag.Error, "does not have the operation GenerateResourceConfig", fakeName)
}

// TestBigSchema has a schema response of more than 60 MB and uses one type.
func TestBigSchema(t *testing.T) {
	response := simpleResponse(t)
	padding := blockSchema(t, &tfplugin6.Schema_Attribute{
		Name: "long", Type: []byte(`"string"`), Optional: true, Description: strings.Repeat("x", 1<<20),
	})
	for i := range 61 {
		response = append(response, entry(fieldResources, fmt.Sprintf("fake_big_%d", i), padding)...)
	}
	c := rawProvider(t, handlers{"GetProviderSchema": func() (proto.Message, error) { return bytesMessage(response), nil }})
	before := decodedSchemas.Load()
	cat, diags := c.Catalog(soon(t))
	wantNone(t, diags)
	s, diags := cat.Resource(addr.Managed, "fake_big_60")
	wantNone(t, diags)
	if s.Block.Attributes["long"] == nil || len(response) < 60<<20 || decodedSchemas.Load() != before+1 {
		t.Errorf("got a response of %d bytes and %d decoded schemas, want at least %d bytes, one decoded schema, and its attribute long", len(response), decodedSchemas.Load()-before, 60<<20)
	}
}
