package plugin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/compat"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

func thing(name string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(name), "id": cty.NullVal(cty.String), "secret": cty.StringVal("wo"),
		"any":  cty.TupleVal([]cty.Value{cty.True, cty.NumberIntVal(1)}),
		"rule": cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"port": cty.MustParseNumberVal("123456789012345678901234567890.5")})}),
	})
}

func simple(name string, value cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(name), "value": value})
}

func keyed(key string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(key)})
}

func wantValue(t *testing.T, what string, got, want cty.Value) {
	t.Helper()
	if got == cty.NilVal || !got.RawEquals(want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func wantNone(t *testing.T, diags diag.List) {
	t.Helper()
	if len(diags) > 0 {
		t.Fatalf("unexpected diagnostics: %v", diags)
	}
}

// wantOne checks that there is one diagnostic with the severity and with the texts in summary or detail.
func wantOne(t *testing.T, diags diag.List, severity diag.Severity, texts ...string) {
	t.Helper()
	if len(diags) != 1 || diags[0].Severity != severity {
		t.Fatalf("got %d diagnostics, want one %s: %v", len(diags), severity, diags)
	}
	for _, text := range texts {
		if !strings.Contains(diags[0].String(), text) {
			t.Errorf("%q is not in: %s", text, diags[0])
		}
	}
}

func TestCatalog(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		cat, diags := c.Catalog(soon(t))
		wantOne(t, diags, diag.Warning, "schema warning")
		_, diags = c.Catalog(soon(t))
		wantNone(t, diags)
		if got := cat.Types(addr.Managed); !cmp.Equal(got, []string{"fake_other", "fake_thing"}) {
			t.Errorf("Types(managed): got %v, want fake_other and fake_thing", got)
		}
		if got, want := cat.Capabilities(), (provider.Capabilities{PlanDestroy: true, SchemaOptional: true, MoveResourceState: true}); got != want {
			t.Errorf("capabilities: got %+v, want %+v", got, want)
		}
		s, diags := cat.Resource(addr.Managed, "fake_thing")
		wantNone(t, diags)
		if s.Version != 3 || !s.Block.Type().Equals(thingType) {
			t.Errorf("schema of fake_thing: got version %d and type %#v, want version 3 and type %#v", s.Version, s.Block.Type(), thingType)
		}
		if a := s.Block.Attributes["secret"]; !a.WriteOnly || !a.Sensitive || a.Computed || !a.Optional {
			t.Errorf("secret: %+v", a)
		}
		if nb := s.Block.Blocks["rule"]; nb.MaxItems != 9 {
			t.Errorf("block rule: got %+v, want at most 9 of it", nb)
		}
		if s, diags := cat.Resource(addr.Data, "fake_thing"); s != nil || len(diags) > 0 {
			t.Errorf("a type that is not there: %v %v", s, diags)
		}
		meta, diags := cat.Meta()
		wantNone(t, diags)
		config, diags := cat.Provider()
		wantNone(t, diags)
		if !meta.Block.Type().Equals(metaType) || !config.Block.Type().Equals(configType) {
			t.Errorf("got meta %#v, provider %#v, want %#v, %#v", meta.Block.Type(), config.Block.Type(), metaType, configType)
		}
		id, diags := cat.Identity("fake_thing")
		wantNone(t, diags)
		if id.Version != 2 || !id.Attributes["key"].RequiredForImport {
			t.Errorf("Identity(fake_thing): got %+v, want version 2 and key required for import", id)
		}
		if id, diags := cat.Identity("fake_other"); id != nil || len(diags) > 0 {
			t.Errorf("identity of a type without: %v %v", id, diags)
		}
		functions, diags := cat.Functions()
		wantNone(t, diags)
		if f := functions["join"]; f == nil || len(f.Params) != 1 || f.Variadic.Type != cty.DynamicPseudoType || f.Return != cty.String {
			t.Errorf("function join: got %+v, want one parameter, a variadic one of any type, and a string as result", f)
		}
	})
}

func TestConfigure(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		config := cty.ObjectVal(map[string]cty.Value{"region": cty.StringVal("north")})
		wantOne(t, c.ValidateConfig(soon(t), config), diag.Warning, "region north")
		wantOne(t, c.Configure(soon(t), config), diag.Warning, "region north version "+compat.Version+" deferral false")
		wantOne(t, c.Configure(provider.AllowDeferral(soon(t)), config), diag.Warning, "region north version "+compat.Version+" deferral true")
		if err := c.Stop(soon(t)); err == nil || !strings.Contains(err.Error(), "busy") {
			t.Errorf("stop: %v", err)
		}
	})
}

func TestValidate(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		diags := c.ValidateResource(soon(t), addr.Managed, "fake_thing", thing("x"))
		wantOne(t, diags, diag.Error, "secret wo, write-only allowed true", "told by the fake")
		if got := schema.PathString(diags[0].Path); got != "rule[1].port" {
			t.Errorf("path: got %s, want %s", got, "rule[1].port")
		}
		wantOne(t, c.ValidateResource(soon(t), addr.Data, "fake_lookup", simple("x", cty.NullVal(cty.String))), diag.Warning, "data x")
		wantOne(t, c.ValidateResource(soon(t), addr.Ephemeral, "fake_secret", simple("x", cty.NullVal(cty.String))), diag.Warning, "ephemeral x")
		wantOne(t, c.ValidateResource(soon(t), addr.Ephemeral, "fake_nothing", simple("x", cty.NullVal(cty.String))), diag.Error,
			"has no ephemeral resource type", "fake_nothing", fakeName)
		wantOne(t, c.ValidateResource(soon(t), addr.Managed, "fake_thing", cty.ObjectVal(map[string]cty.Value{"rule": cty.True})), diag.Error,
			"does not fit", "fake_thing")
	})
}

func TestResourceLife(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		meta := cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal("mod")})
		plan, diags := c.PlanResource(soon(t), provider.PlanRequest{
			Type: "fake_thing", Prior: cty.NullVal(thingType), Proposed: thing("x"), Config: thing("x"), PriorPrivate: []byte("p"), ProviderMeta: meta,
		})
		wantNone(t, diags)
		wantValue(t, "planned", plan.Planned, with(thing("x"), "id", cty.UnknownVal(cty.String).Refine().NotNull().StringPrefix("id-").NewValue()))
		wantValue(t, "planned identity", plan.Identity, keyed("planned after none"))
		if string(plan.Private) != "planned p" || !plan.LegacyTypes || plan.Deferred != "" {
			t.Errorf("PlanResource: got %+v, want private %q, the type system of old SDKs, nothing deferred", plan, "planned p")
		}
		if len(plan.RequiresReplace) != 1 || schema.PathString(plan.RequiresReplace[0]) != "name" {
			t.Errorf("paths that require replacement: got %v, want name alone", plan.RequiresReplace)
		}
		apply, diags := c.ApplyResource(soon(t), provider.ApplyRequest{
			Type: "fake_thing", Prior: cty.NullVal(thingType), Planned: plan.Planned, Config: thing("x"), PlannedPrivate: plan.Private,
			Identity: plan.Identity, ProviderMeta: meta,
		})
		wantNone(t, diags)
		wantValue(t, "applied", apply.New, with(thing("x"), "id", cty.StringVal("id-1")))
		wantValue(t, "applied identity", apply.Identity, keyed("applied planned after none"))
		if string(apply.Private) != "applied planned p" || !apply.LegacyTypes {
			t.Errorf("ApplyResource: got %+v, want private %q and the type system of old SDKs", apply, "applied planned p")
		}
		read, diags := c.ReadResource(soon(t), provider.ReadRequest{Type: "fake_thing", Prior: apply.New, Private: []byte("q"), Identity: keyed("k")})
		wantNone(t, diags)
		wantValue(t, "read", read.New, apply.New)
		wantValue(t, "read identity", read.Identity, keyed("read k"))
		if string(read.Private) != "read q" {
			t.Errorf("ReadResource: got %+v, want private %q", read, "read q")
		}
	})
}

func TestReadVariants(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		read := func(name string) (provider.ReadResponse, diag.List) {
			meta := cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal("mod")})
			return c.ReadResource(soon(t), provider.ReadRequest{Type: "fake_thing", Prior: thing(name), ProviderMeta: meta})
		}
		got, diags := read("json")
		wantNone(t, diags)
		wantValue(t, "JSON", got.New, thing("json"))
		got, diags = read("gone")
		wantNone(t, diags)
		wantValue(t, "gone", got.New, cty.NullVal(thingType))
		got, diags = read("meta")
		wantNone(t, diags)
		wantValue(t, "meta", got.New.GetAttr("id"), cty.StringVal("mod"))
		_, diags = read("deferred")
		wantOne(t, diags, diag.Error, "did not indicate support for deferred actions")
		_, diags = read("garbage")
		wantOne(t, diags, diag.Error, fakeName, "fake_thing", "ReadResource", "not valid MessagePack")
		_, diags = read("badtype")
		wantOne(t, diags, diag.Error, fakeName, "fake_thing", "ReadResource", "rule: it is not of type list of object")
		if strings.Contains(diags[0].String(), "CANARY") {
			t.Errorf("quotes the value: %s", diags[0])
		}
		_, diags = read("goerror")
		wantOne(t, diags, diag.Error, fakeName, "ReadResource", "plain error")
	})
}

func TestApplyErrorsKeepState(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		apply := func(name string) (provider.ApplyResponse, diag.List) {
			return c.ApplyResource(soon(t), provider.ApplyRequest{
				Type: "fake_thing", Prior: cty.NullVal(thingType), Planned: thing(name), Config: thing(name), PlannedPrivate: []byte("p"),
			})
		}
		got, diags := apply("partial")
		wantOne(t, diags, diag.Error, "half made")
		wantValue(t, "partial", got.New, with(thing("partial"), "id", cty.StringVal("id-1")))
		wantValue(t, "partial identity", got.Identity, keyed("applied none"))
		got, diags = apply("deep") // what the engine cannot store, it reports
		wantNone(t, diags)
		if id := got.New.GetAttr("id"); id.AsString() != "id-1" {
			t.Errorf("applying deep: got the id %#v, want \"id-1\"", id)
		}
		got, diags = apply("nothing")
		wantOne(t, diags, diag.Error, "not made")
		if got.New != cty.NilVal || string(got.Private) != "applied p" {
			t.Errorf("applying nothing: got %#v, want no value, and private %q", got, "applied p")
		}
	})
}

func TestUpgradeImportMove(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		v, diags := c.UpgradeResource(soon(t), provider.UpgradeRequest{Type: "fake_thing", Version: 1, JSON: []byte(`{}`)})
		wantNone(t, diags)
		wantValue(t, "from JSON", v.GetAttr("name"), cty.StringVal("{}"))
		wantValue(t, "version", v.GetAttr("id"), cty.StringVal("from 1"))
		v, diags = c.UpgradeResource(soon(t), provider.UpgradeRequest{Type: "fake_thing", Flatmap: map[string]string{"name": "flat"}})
		wantNone(t, diags)
		wantValue(t, "from flatmap", v.GetAttr("name"), cty.StringVal("flat"))
		v, diags = c.UpgradeIdentity(soon(t), provider.UpgradeRequest{Type: "fake_thing", Version: 1, JSON: []byte(`{}`)})
		wantNone(t, diags)
		wantValue(t, "identity", v, keyed("{}@1"))
		if v, diags := c.UpgradeIdentity(soon(t), provider.UpgradeRequest{Type: "fake_other"}); v != cty.NilVal || len(diags) > 0 {
			t.Errorf("identity of a type without: got %#v %v, want %#v", v, diags, cty.NilVal)
		}
		imp, diags := c.ImportResource(soon(t), provider.ImportRequest{Type: "fake_thing", ID: "i-1"})
		wantNone(t, diags)
		if len(imp.Objects) != 1 || imp.Objects[0].Type != "fake_other" || string(imp.Objects[0].Private) != "none" {
			t.Errorf("ImportResource by ID: got %+v, want one fake_other with private %q", imp, "none")
		}
		wantValue(t, "imported", imp.Objects[0].State, simple(importedName, cty.StringVal("i-1")))
		imp, diags = c.ImportResource(soon(t), provider.ImportRequest{Type: "fake_thing", Identity: keyed("k")})
		wantNone(t, diags)
		if string(imp.Objects[0].Private) != "k" {
			t.Errorf("ImportResource by identity: got %+v, want private %q", imp, "k")
		}
		_, diags = c.ImportResource(soon(t), provider.ImportRequest{Type: "fake_thing", ID: "unknown type"})
		wantOne(t, diags, diag.Error, "has no resource type", "fake_nothing")
		move, diags := c.MoveResource(soon(t), provider.MoveRequest{
			SourceProvider: addr.DefaultProvider("null"), SourceType: "null_resource", SourceVersion: 4, SourceJSON: []byte(`{"a":1}`),
			SourcePrivate: []byte("p"), TargetType: "fake_other",
		})
		wantNone(t, diags)
		wantValue(t, "moved", move.Target, simple(addr.DefaultHost.String()+"/hashicorp/null null_resource v4", cty.StringVal(`{"a":1}`)))
		if string(move.Private) != "p" {
			t.Errorf("MoveResource: got %+v, want private %q", move, "p")
		}
	})
}

// TestMoveForTerraform has a provider that takes the program for Terraform see Terraform's default host.
func TestMoveForTerraform(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		before := c.engine
		defer func() { c.engine = before }()
		c.engine = compat.Engine{Name: compat.Terraform, Version: "1.16.0"}
		for source, want := range map[string]string{
			"hashicorp/null": "registry.terraform.io/hashicorp/null null_resource v0", "example.com/a/null": "example.com/a/null null_resource v0",
		} {
			p, err := addr.ParseProvider(source)
			if err != nil {
				t.Fatal(err)
			}
			move, diags := c.MoveResource(soon(t), provider.MoveRequest{SourceProvider: p, SourceType: "null_resource", SourceJSON: []byte("{}"), TargetType: "fake_other"})
			wantNone(t, diags)
			wantValue(t, "moved", move.Target, simple(want, cty.StringVal("{}")))
		}
	})
}

func TestData(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		got, diags := c.ReadData(soon(t), provider.DataRequest{Type: "fake_lookup", Config: simple("x", cty.NullVal(cty.String))})
		wantNone(t, diags)
		wantValue(t, "data", got.State, simple("x", cty.StringVal("X")))
	})
}

func TestEphemeral(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		open := func(name string) (provider.OpenResponse, diag.List) {
			return c.OpenEphemeral(soon(t), "fake_secret", simple(name, cty.NullVal(cty.String)))
		}
		got, diags := open("x")
		wantNone(t, diags)
		wantValue(t, "result", got.Result, simple("x", cty.StringVal("CANARY-SECRET")))
		if string(got.Private) != "opened" || !got.RenewAt.Equal(time.Unix(1000, 0)) || got.Deferred != "" {
			t.Errorf("OpenEphemeral: got private %q, renewal at %s, deferred %q, want \"opened\", %s, not deferred", got.Private, got.RenewAt, got.Deferred, time.Unix(1000, 0))
		}
		got, diags = open("garbage")
		wantOne(t, diags, diag.Error, "OpenEphemeralResource", "fake_secret")
		if string(got.Private) != "opened" {
			t.Errorf("private after an unusable answer: got %q, want \"opened\"", got.Private)
		}
		renewed, diags := c.RenewEphemeral(soon(t), "fake_secret", []byte("p"))
		wantNone(t, diags)
		if string(renewed.Private) != "p+" || !renewed.RenewAt.Equal(time.Unix(2000, 0)) {
			t.Errorf("RenewEphemeral: got %+v, want private %q and the next renewal at %s", renewed, "p+", time.Unix(2000, 0))
		}
		renewed, diags = c.RenewEphemeral(soon(t), "fake_secret", []byte("keep"))
		wantNone(t, diags)
		if string(renewed.Private) != "keep" || !renewed.RenewAt.IsZero() {
			t.Errorf("RenewEphemeral without news: got %+v, want private %q and no next renewal", renewed, "keep")
		}
		wantOne(t, c.CloseEphemeral(soon(t), "fake_secret", []byte("p")), diag.Warning, "closed p")
	})
}

func TestFunction(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		call := func(name string, args ...cty.Value) (cty.Value, error) { return c.CallFunction(soon(t), name, args) }
		v, err := call("join", cty.StringVal("-"), cty.StringVal("a"), cty.StringVal("b"))
		if err != nil {
			t.Fatal(err)
		}
		wantValue(t, "joined", v, cty.StringVal("a-b"))
		for _, test := range []struct {
			name, fun string
			args      []cty.Value
			text      string
			index     int
		}{
			{"from the provider", "join", []cty.Value{cty.StringVal("-"), cty.StringVal("a"), cty.True}, "want a string", 2},
			{"wrong type", "join", []cty.Value{cty.EmptyObjectVal}, "sep", 0},
			{"too few", "join", nil, "needs 1 arguments, 0 given", -1},
			{"no such function", "split", nil, "has no function", -1},
		} {
			_, err := call(test.fun, test.args...)
			if err == nil || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%s: %v", test.name, err)
			}
			var argErr function.ArgError
			if is := errors.As(err, &argErr); is != (test.index >= 0) || is && argErr.Index != test.index {
				t.Errorf("%s: got an argument error: %t, with index %d, want index %d (none if negative)", test.name, is, argErr.Index, test.index)
			}
		}
	})
}

func TestBigMessage(t *testing.T) {
	c := start(t, pluginCommand("6"))
	prior := thing(strings.Repeat("x", 20<<20))
	got, diags := c.ReadResource(soon(t), provider.ReadRequest{Type: "fake_thing", Prior: prior})
	wantNone(t, diags)
	wantValue(t, "read", got.New, prior)
}
