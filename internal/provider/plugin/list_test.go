package plugin

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// lister is a provider whose list of fake_a has the results.
func lister(t *testing.T, results ...proto.Message) *client {
	list := blockSchema(t, &tfplugin6.Schema_Attribute{Name: "filter", Type: []byte(`"string"`), Optional: true})
	return rawStreams(t, handlers{
		"GetProviderSchema": answer(bytesMessage(slices.Concat(simpleResponse(t), entry(fieldLists, "fake_a", list)))),
		"GetResourceIdentitySchemas": answer(&tfplugin6.GetResourceIdentitySchemas_Response{IdentitySchemas: map[string]*tfplugin6.ResourceIdentitySchema{
			"fake_a": {Version: 1, IdentityAttributes: []*tfplugin6.ResourceIdentitySchema_IdentityAttribute{{Name: "key", Type: []byte(`"string"`), RequiredForImport: true}}},
		}}),
		"ValidateListResourceConfig": answer(&tfplugin6.ValidateListResourceConfig_Response{Diagnostics: []*tfplugin6.Diagnostic{
			{Severity: tfplugin6.Diagnostic_WARNING, Summary: "looked at"},
		}}),
	}, map[string][]proto.Message{"ListResource": results})
}

// listRequest asks for objects of fake_a.
var listRequest = provider.ListRequest{Type: "fake_a", Config: cty.ObjectVal(map[string]cty.Value{"filter": cty.StringVal("x")}), Limit: 10}

// found is a result with an identity.
func found(key string) *tfplugin6.ListResource_Event {
	id := keyed(key)
	return &tfplugin6.ListResource_Event{DisplayName: "called " + key, Identity: &tfplugin6.ResourceIdentityData{IdentityData: dynamic(id, id.Type())}}
}

func TestList(t *testing.T) {
	object := simple("x", cty.StringVal("y"))
	whole := found("b")
	whole.ResourceObject = dynamic(object, object.Type())
	empty := found("e")
	empty.ResourceObject = dynamic(cty.NullVal(object.Type()), object.Type())
	wrong := found("c")
	wrong.ResourceObject = dynamic(cty.StringVal("text"), cty.String)
	c := lister(t, found("a"), whole, wrong, &tfplugin6.ListResource_Event{Diagnostic: []*tfplugin6.Diagnostic{{Summary: "no such object"}}}, found("d"), empty)
	wantOne(t, c.ValidateList(soon(t), listRequest), diag.Warning, "looked at")
	var got []provider.ListResult
	diags := c.List(soon(t), listRequest, func(r provider.ListResult) bool {
		got = append(got, r)
		return len(got) < 6
	})
	wantNone(t, diags)
	if len(got) != 6 {
		t.Fatalf("got %d results, want 6", len(got))
	}
	if got[0].Name != "called a" || got[0].Identity.GetAttr("key").AsString() != "a" || got[0].Object != cty.NilVal {
		t.Errorf("first result: got %v, want \"called a\" with the key a and without an object", got[0])
	}
	wantValue(t, "object", got[1].Object, object)
	wantOne(t, got[2].Diags, diag.Error, "invalid value", fakeName)
	wantOne(t, got[3].Diags, diag.Error, "no such object")
	if got[3].Identity != cty.NilVal {
		t.Errorf("an identity that was not sent: got %v, want %v", got[3].Identity, cty.NilVal)
	}

	if got[5].Object != cty.NilVal || len(got[5].Diags) > 0 {
		t.Errorf("an object that is null: got %v, want a result without object and diagnostics", got[5])
	}
	n := 0
	diags = c.List(soon(t), listRequest, func(provider.ListResult) bool { n++; return n < 2 })
	if wantNone(t, diags); n != 2 {
		t.Errorf("%d results, although two were wanted", n)
	}
}

func TestListFails(t *testing.T) {
	none := func(provider.ListResult) bool {
		t.Error("there is a result")
		return true
	}
	diags := lister(t, bytesMessage(field(1, []byte{0xff}))).List(soon(t), listRequest, none)
	wantOne(t, diags, diag.Error, "not well-formed", fakeName)

	other := listRequest
	other.Type = "fake_b"
	wantOne(t, lister(t).List(soon(t), other, none), diag.Error, `no list resource type "fake_b"`)
	other = listRequest
	other.Config = cty.StringVal("text")
	wantOne(t, lister(t).List(soon(t), other, none), diag.Error, "does not fit")

	without := rawProvider(t, handlers{"GetProviderSchema": answer(bytesMessage(slices.Concat(simpleResponse(t), entry(fieldLists, "fake_a",
		blockSchema(t, &tfplugin6.Schema_Attribute{Name: "filter", Type: []byte(`"string"`), Optional: true})))))})
	diags = without.List(soon(t), listRequest, none)
	if !strings.Contains(diags.Err().Error(), "does not have the operation ListResource") {
		t.Errorf("got %v", diags)
	}
	if diags := (provider.NoLists{}).List(soon(t), listRequest, none); !diags.HasErrors() {
		t.Error("a provider without lists lists")
	}
	if diags := (provider.NoLists{}).ValidateList(soon(t), listRequest); !diags.HasErrors() {
		t.Error("a provider without lists accepts one")
	}
}
