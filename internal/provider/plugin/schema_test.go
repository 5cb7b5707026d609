package plugin

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin5"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

type wireAttr = tfplugin6.Schema_Attribute

func nestedAttr(name string, nesting tfplugin6.Schema_Object_NestingMode, attrs ...*wireAttr) *wireAttr {
	return &wireAttr{Name: name, Optional: true, NestedType: &tfplugin6.Schema_Object{Nesting: nesting, Attributes: attrs}}
}

func wireBlock(t testing.TB, blocks []*tfplugin6.Schema_NestedBlock, attrs ...*wireAttr) *tfplugin6.Schema_Block {
	b := &tfplugin6.Schema_Block{BlockTypes: blocks}
	for _, a := range attrs {
		b.Attributes = append(b.Attributes, encoded(t, a))
	}
	return b
}

// TestSchemaRules has the E60 rules and the others that the engine relies on.
func TestSchemaRules(t *testing.T) {
	wo := func() *wireAttr {
		a := stringAttr("pw")
		a.WriteOnly = true
		return a
	}
	change := func(f func(*wireAttr)) *wireAttr {
		a := stringAttr("a")
		f(a)
		return a
	}
	set := func(inner *tfplugin6.Schema_Block) []*tfplugin6.Schema_NestedBlock {
		return []*tfplugin6.Schema_NestedBlock{{TypeName: "s", Nesting: tfplugin6.Schema_NestedBlock_SET, Block: inner}}
	}
	list := func(inner *tfplugin6.Schema_Block) []*tfplugin6.Schema_NestedBlock {
		return []*tfplugin6.Schema_NestedBlock{{TypeName: "l", Nesting: tfplugin6.Schema_NestedBlock_LIST, Block: inner}}
	}
	for _, test := range []struct {
		name  string
		block *tfplugin6.Schema_Block
		kind  schema.Kind // managed if zero
		want  string
	}{
		{name: "E60 write-only", block: wireBlock(t, list(wireBlock(t, nil, wo())), wo(), nestedAttr("n", tfplugin6.Schema_Object_MAP, wo()))},
		{name: "E60 in a set block", block: wireBlock(t, set(wireBlock(t, nil, wo()))), want: "s.pw: a write-only attribute cannot be inside a set"},
		{name: "E60 deep in a set block", block: wireBlock(t, set(wireBlock(t, list(wireBlock(t, nil, wo()))))), want: "s.l.pw: a write-only attribute cannot be inside a set"},
		{name: "E60 in a set attribute", block: wireBlock(t, nil, nestedAttr("n", tfplugin6.Schema_Object_SET, wo())), want: "n.pw: a write-only attribute cannot be inside a set"},
		{name: "E60 deep in a set attribute", block: wireBlock(t, nil, nestedAttr("n", tfplugin6.Schema_Object_SET,
			nestedAttr("m", tfplugin6.Schema_Object_SINGLE, wo()))), want: "n.m.pw: a write-only attribute cannot be inside a set"},
		{name: "E60 computed", block: wireBlock(t, nil, change(func(a *wireAttr) { a.WriteOnly, a.Computed = true, true })), want: "a: cannot be both write-only and computed"},
		{name: "E60 on a data source", block: wireBlock(t, list(wireBlock(t, nil, wo()))), kind: schema.ForData, want: "l.pw: write-only attributes are not possible in data sources"},
		{name: "required and optional", block: wireBlock(t, nil, change(func(a *wireAttr) { a.Required = true })), want: "a: cannot be both required and optional"},
		{name: "two types", block: wireBlock(t, nil, change(func(a *wireAttr) { a.NestedType = &tfplugin6.Schema_Object{} })), want: "a: it has both a type and nested"},
		{name: "bad type", block: wireBlock(t, nil, change(func(a *wireAttr) { a.Type = []byte(`"text"`) })), want: "a: its type is not valid"},
		{name: "no type", block: wireBlock(t, nil, change(func(a *wireAttr) { a.Type = nil })), want: "a: it has no type"},
		{name: "no name", block: wireBlock(t, nil, change(func(a *wireAttr) { a.Name = "" })), want: "names may contain only"},
		{name: "twice", block: wireBlock(t, nil, stringAttr("a"), stringAttr("a")), want: "a: the name is declared twice"},
		{name: "block and attribute", block: wireBlock(t, list(nil), stringAttr("l")), want: "l: is both an attribute and a block"},
		{name: "nesting of a block", block: wireBlock(t, []*tfplugin6.Schema_NestedBlock{{TypeName: "b"}}), want: "b: unknown nesting mode"},
		{name: "nesting of an attribute", block: wireBlock(t, nil, nestedAttr("n", 9)), want: "n: unknown nesting mode"},
		{name: "broken attribute", block: &tfplugin6.Schema_Block{Attributes: [][]byte{{0xff}}}, want: "not well-formed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.kind == 0 {
				test.kind = schema.ForManaged
			}
			l := &lazySchema{decoder: decoder{protocol: 6, kind: test.kind}, what: "the type", raw: encoded(t, &tfplugin6.Schema{Block: test.block})}
			s, diags := l.get(fakeName)
			if test.want == "" {
				wantNone(t, diags)
				s.Block.Type()
				return
			}
			wantOne(t, diags, diag.Error, test.want, fakeName, "the type")
			if s != nil {
				t.Error("there is a schema")
			}
		})
	}
}

// TestSchemaRulesByPlace: the places where write-only attributes must not be are known from the response.
func TestSchemaRulesByPlace(t *testing.T) {
	wo := stringAttr("pw")
	wo.WriteOnly = true
	s := blockSchema(t, wo)
	var response []byte
	for num, name := range map[protowire.Number]string{fieldResources: "r", fieldDataSources: "d", fieldEphemerals: "e"} {
		response = append(response, entry(num, name, s)...)
	}
	response = append(append(response, field(fieldProvider, s)...), field(fieldMeta, s)...)
	c := rawProvider(t, handlers{"GetProviderSchema": answer(bytesMessage(response))})
	cat, diags := c.Catalog(soon(t))
	wantNone(t, diags)
	_, diags = cat.Resource(addr.Managed, "r")
	wantNone(t, diags)
	for what, get := range map[string]func() (*schema.Schema, diag.List){
		"data source type d":        func() (*schema.Schema, diag.List) { return cat.Resource(addr.Data, "d") },
		"ephemeral resource type e": func() (*schema.Schema, diag.List) { return cat.Resource(addr.Ephemeral, "e") },
		"its configuration":         cat.Provider,
		"provider_meta":             cat.Meta,
	} {
		s, diags := get()
		wantOne(t, diags, diag.Error, what, "pw: write-only attributes are not possible in", fakeName)
		if s != nil {
			t.Errorf("%s: there is a schema", what)
		}
	}
}

func TestProtocol5Attribute(t *testing.T) {
	in := &tfplugin5.Schema_Attribute{
		Name: "a", Type: []byte(`"string"`), Description: "d", DescriptionKind: tfplugin6.StringKind_MARKDOWN, Required: true, Sensitive: true,
		WriteOnly: true, Deprecated: true, DeprecationMessage: "use b",
	}
	raw := encoded(t, &tfplugin6.Schema{Version: 5, Block: &tfplugin6.Schema_Block{Attributes: [][]byte{encoded(t, in)}}})
	s, problems := decoder{protocol: 5, kind: schema.ForManaged}.schema(raw)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	a := s.Block.Attributes["a"]
	if s.Version != 5 || !a.Required || !a.WriteOnly || !a.Sensitive || a.DeprecationMessage != "use b" || a.DescriptionKind != schema.Markdown || a.Description != "d" {
		t.Errorf("got version %d and attribute %+v, want version 5 and all properties of the attribute that were sent", s.Version, a)
	}
}

func TestFunctionAndIdentityProblems(t *testing.T) {
	if _, problems := decodeFunction(encoded(t, &tfplugin6.Function{Parameters: []*tfplugin6.Function_Parameter{{Name: "p", Type: []byte(`1`)}}})); len(problems) != 2 {
		t.Errorf("function with a parameter of a bad type: got problems %q, want 2", problems)
	}
	if _, problems := decodeFunction([]byte{0xff}); len(problems) != 1 {
		t.Errorf("function that is not encoded: got problems %q, want 1", problems)
	}
	id := &tfplugin6.ResourceIdentitySchema{IdentityAttributes: []*tfplugin6.ResourceIdentitySchema_IdentityAttribute{{Name: "i"}}}
	c := rawProvider(t, handlers{
		"GetProviderSchema":          answer(bytesMessage(entry(fieldFunctions, "f", []byte{0xff}))),
		"GetResourceIdentitySchemas": answer(&tfplugin6.GetResourceIdentitySchemas_Response{IdentitySchemas: map[string]*tfplugin6.ResourceIdentitySchema{"x": id}}),
	})
	cat, diags := c.Catalog(soon(t))
	wantNone(t, diags)
	_, diags = cat.Functions()
	wantOne(t, diags, diag.Error, "the function f", "not well-formed")
	_, diags = cat.Identity("x")
	wantOne(t, diags, diag.Error, "identity of the resource type x", "i: it has no type")
	if s, diags := cat.Provider(); s == nil || s.Block == nil || len(diags) > 0 {
		t.Errorf("no provider schema: %v %v", s, diags)
	}
}

// bigResponse has many types, about 60 MB in all, as the largest providers have.
func bigResponse(t testing.TB) []byte {
	var attrs []*wireAttr
	for i := range 40 {
		a := stringAttr(fmt.Sprintf("attribute_%d", i))
		a.Description = strings.Repeat("words ", 160)
		attrs = append(attrs, a)
	}
	s := blockSchema(t, attrs...)
	var response []byte
	for i := range 60<<20/len(s) + 1 {
		response = append(response, entry(fieldResources, fmt.Sprintf("fake_type_%d", i), s)...)
	}
	return response
}

// BenchmarkSchema compares receiving 60 MB of schemas with receiving them and using five types.
func BenchmarkSchema(b *testing.B) {
	response := bigResponse(b)
	newClient := func() *client {
		return rawProvider(b, handlers{"GetProviderSchema": answer(proto.Message(bytesMessage(response)))})
	}
	b.Run("receive", func(b *testing.B) {
		c := newClient()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.calls.CallRaw(b.Context(), c.method("GetProviderSchema"), &tfplugin6.GetProviderSchema_Request{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("use five", func(b *testing.B) {
		c := newClient()
		b.ReportAllocs()
		for b.Loop() {
			cat, diags := c.fetchCatalog(b.Context())
			for i := range 5 {
				s, more := cat.Resource(addr.Managed, fmt.Sprintf("fake_type_%d", i))
				if diags = append(diags, more...); len(diags) > 0 {
					b.Fatal(diags)
				}
				s.Block.Type()
			}
		}
	})
	b.Run("decode all", func(b *testing.B) {
		c := newClient()
		b.ReportAllocs()
		for b.Loop() {
			cat, diags := c.newCatalog(response)
			for _, name := range cat.Types(addr.Managed) {
				_, more := cat.Resource(addr.Managed, name)
				if diags = append(diags, more...); len(diags) > 0 {
					b.Fatal(diags)
				}
			}
		}
	})
}

// TestSharedAfterEnd takes a result, which is there, with a context that has ended.
func TestSharedAfterEnd(t *testing.T) {
	var s shared[int]
	ended, end := context.WithCancel(t.Context())
	end()
	one := func(context.Context) (int, diag.List) { return 1, nil }
	if got, _, err := s.get(t.Context(), t.Context(), one); got != 1 || err != nil {
		t.Fatalf("get: got %d, %v, want 1", got, err)
	}
	for range 100 {
		if got, _, err := s.get(ended, ended, one); got != 1 || err != nil {
			t.Fatalf("get after the end: got %d, %v, want 1", got, err)
		}
	}
}
