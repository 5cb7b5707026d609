package backend

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func text(sensitive bool) *schema.Attribute {
	return &schema.Attribute{Type: cty.String, Optional: true, Sensitive: sensitive}
}

// storeKind returns a state store whose validation says what it was given.
func storeKind(t *testing.T) *Kind {
	t.Helper()
	k, err := OfProvider(Provided{
		Type: "x_files", Provider: "example.com/a/x", Version: "1.0.0",
		Store: &schema.Block{
			Attributes: map[string]*schema.Attribute{"dir": {Type: cty.String, Required: true}, "key": text(true), "note": text(false), "size": {Type: cty.Number, Optional: true}},
			Blocks:     map[string]*schema.NestedBlock{"label": {Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"text": text(false), "pin": text(true)}}}},
		},
		Config: &schema.Block{Attributes: map[string]*schema.Attribute{"region": text(false), "token": text(true)}},
		Validate: func(_ context.Context, store, _ cty.Value) (ours, theirs diag.List) {
			ours = diag.Errorf("ours", "%#v", store.GetAttr("dir"))
			ours[0].Path = cty.GetAttrPath("dir")
			theirs = diag.Errorf("theirs", "")
			theirs[0].Path = cty.GetAttrPath("region")
			return ours, theirs
		},
		Connect: func(context.Context, cty.Value, cty.Value, Env) (remote.Service, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestProvidedWithoutArguments configures a state store that has no arguments.
func TestProvidedWithoutArguments(t *testing.T) {
	valid := func(context.Context, cty.Value, cty.Value) (ours, theirs diag.List) { return nil, nil }
	k, err := OfProvider(Provided{Type: "x_memory", Provider: "example.com/a/x", Store: &schema.Block{}, Config: &schema.Block{}, Validate: valid})
	if err != nil {
		t.Fatal(err)
	}
	body := parsed(t, "")
	if values, diags := k.Decode(body); values == nil || len(values)+len(diags) > 0 {
		t.Errorf("Decode: got %v, %v, want an empty map", values, diags)
	}
	if diags := k.Provided.AcceptsShape(t.Context(), body, body); len(diags) > 0 {
		t.Errorf("AcceptsShape: got %v, want no diagnostics", diags)
	}
}

func parsed(t *testing.T, src string) hcl.Body {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(src), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return f.Body
}

// configured returns a configuration with secrets of all kinds.
func configured(t *testing.T, k *Kind) cty.Value {
	t.Helper()
	values, diags := k.Decode(parsed(t, "dir = \"d\"\nkey = \"CANARY-1\"\nsize = 3\nlabel {\n  text = \"t\"\n  pin = \"CANARY-2\"\n}\n"))
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	values["note"] = cty.StringVal("CANARY-3").Mark(value.Ephemeral)
	values[ProviderArgument] = cty.ObjectVal(map[string]cty.Value{"region": cty.StringVal("eu"), "token": cty.StringVal("CANARY-4")})
	return k.Object(values)
}

func TestProvidedSecrets(t *testing.T) {
	k := storeKind(t)
	cfg := configured(t, k)
	public := k.Public(cfg)
	if got := k.Public(k.Object(map[string]cty.Value{"dir": cty.StringVal("https://user:CANARY-5@host/a")})).GoString(); strings.Contains(got, "CANARY") || !strings.Contains(got, "host/a") {
		t.Errorf("public of an address is %s", got)
	}
	if got := public.GoString(); strings.Contains(got, "CANARY") || !strings.Contains(got, `"eu"`) || !strings.Contains(got, `"t"`) {
		t.Errorf("public are %s", got)
	}
	if got := k.Place(cfg); got != `the state store "x_files" (dir = "d", size = 3)` {
		t.Errorf("Place: got %s, want %s", got, `the state store "x_files" (dir = "d", size = 3)`)
	}
	if got := k.Secrets(cfg); !slices.Equal(got, []string{"key", "label", "note", "provider"}) {
		t.Errorf("Secrets: got %q, want key, label, note and provider", got)
	}
	found := k.Credentials(cfg)
	slices.Sort(found)
	if !slices.Equal(found, []string{"CANARY-1", "CANARY-2", "CANARY-3", "CANARY-4"}) {
		t.Errorf("Credentials: got %q, want CANARY-1 to CANARY-4", found)
	}
	plain, _ := cfg.UnmarkDeep()
	for name, v := range plain.AsValueMap() {
		if !PublicOf(public.GetAttr(name), v) {
			t.Errorf("%s: %#v is no public part of %#v", name, public.GetAttr(name), v)
		}
	}
}

func TestPublicOf(t *testing.T) {
	object := func(a, b cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": a, "b": b}) }
	x, y, null := cty.StringVal("x"), cty.StringVal("y"), cty.NullVal(cty.String)
	for _, c := range []struct {
		public, whole cty.Value
		want          bool
	}{
		{x, x, true},
		{x, y, false},
		{null, x, true},
		{x, null, false},
		{object(null, y), object(x, y), true},
		{object(null, x), object(x, y), false},
		{cty.ListVal([]cty.Value{null}), cty.ListVal([]cty.Value{x}), true},
		{cty.ListVal([]cty.Value{x}), cty.ListVal([]cty.Value{x, y}), false},
		{cty.SetVal([]cty.Value{x}), cty.SetVal([]cty.Value{x, y}), false},
		{cty.MapVal(map[string]cty.Value{"a": null}), cty.MapVal(map[string]cty.Value{"b": x}), false},
	} {
		if got := PublicOf(c.public, c.whole); got != c.want {
			t.Errorf("PublicOf(%#v, %#v): got %t, want %t", c.public, c.whole, got, c.want)
		}
	}
}

// TestProvidedIdentity compares configurations by their public parts.
func TestProvidedIdentity(t *testing.T) {
	k := storeKind(t)
	with := func(name string, v cty.Value) string {
		values := configured(t, k).AsValueMap()
		values[name] = v
		return k.Identity(cty.ObjectVal(values))
	}
	base := k.Identity(configured(t, k))
	if with("key", cty.StringVal("CANARY-9")) != base || with("note", cty.StringVal("z").Mark(value.Ephemeral)) != base {
		t.Error("another secret is another place")
	}
	region := func(r string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"region": cty.StringVal(r), "token": cty.NullVal(cty.String)})
	}
	if with("dir", cty.StringVal("e")) == base || with(ProviderArgument, region("us")) == base || with(ProviderArgument, region("eu")) != base {
		t.Error("the public parts do not tell places apart")
	}
	a, b := k.Provided.env(configured(t, k), Env{JournalDir: "j"}), k.Provided.env(cty.ObjectVal(map[string]cty.Value{
		"dir": cty.StringVal("e"), "key": cty.NullVal(cty.String), "note": cty.NullVal(cty.String), "size": cty.NullVal(cty.Number),
		"label": k.Block.Empty().GetAttr("label"), ProviderArgument: region("eu"),
	}), Env{JournalDir: "j"})
	if a.JournalDir == b.JournalDir || !strings.HasPrefix(a.JournalDir, "j") {
		t.Errorf("journals are in %s and %s", a.JournalDir, b.JournalDir)
	}
}

func TestProvidedDecoding(t *testing.T) {
	k := storeKind(t)
	values, diags := k.Decode(parsed(t, "note = \"\"\n"))
	if diags.HasErrors() || len(values) != 1 {
		t.Errorf("incomplete block: got %v, %v, want one value", values, diags)
	}
	if v := k.Object(values).GetAttr("note"); v.IsNull() {
		t.Error("an empty text of a provider's argument is taken for none")
	}
	if _, err := k.Complete(k.Object(values), nil); err == nil || !strings.Contains(err.Error(), `the argument "dir" of the state store "x_files" is missing`) {
		t.Errorf("incomplete: %v", err)
	}
	for src, want := range map[string]string{"dri = 1": "dri", "size = \"many\"": "number", "label = 1": "label"} {
		if _, diags := k.Decode(parsed(t, src)); !diags.HasErrors() || !strings.Contains(diags.Err().Error(), want) {
			t.Errorf("%s: %v", src, diags)
		}
	}
	if _, diags := k.SetText(ProviderArgument, "x"); !diags.HasErrors() {
		t.Error("an option sets the configuration of the provider")
	}
	f, hd := hcljson.Parse([]byte(`{"dir": "d", "label": [{"text": "a"}]}`), "main.tf.json")
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	if values, diags := k.Decode(f.Body); diags.HasErrors() || values["label"].LengthInt() != 1 {
		t.Errorf("JSON: got %v, %v, want one label", values, diags)
	}
	if _, err := OfProvider(Provided{Type: "x", Store: &schema.Block{Attributes: map[string]*schema.Attribute{ProviderArgument: text(false)}}, Config: &schema.Block{}}); err == nil {
		t.Error("an argument in the way of the provider's block is accepted")
	}
}

// TestProvidedValidation requires that errors of a provider are at their places.
func TestProvidedValidation(t *testing.T) {
	k := storeKind(t)
	store, provider := parsed(t, "note = \"n\"\ndir = \"d\"\n"), parsed(t, "\n\n\nregion = \"eu\"\n")
	for name, diags := range map[string]diag.List{
		"whole": k.Provided.Accepts(t.Context(), configured(t, k), store, provider), "shape": k.Provided.AcceptsShape(t.Context(), store, provider),
	} {
		if len(diags) != 2 || diags[0].Subject.Start.Line != 2 || diags[1].Subject.Start.Line != 4 {
			t.Errorf("%s: got %v, want two diagnostics, on lines 2 and 4", name, diags)
		}
	}
	unset := k.Provided.AcceptsShape(t.Context(), parsed(t, ""), provider)
	if len(unset) != 2 || !strings.Contains(unset[0].Detail, "Unknown") {
		t.Errorf("argument that an option may give: got %v, want two diagnostics, the first about an unknown one", unset)
	}
	if diags := k.Provided.AcceptsShape(t.Context(), parsed(t, "x = 1"), provider); len(diags) > 0 {
		t.Errorf("a block with mistakes that were reported: %v", diags)
	}
}

func TestSame(t *testing.T) {
	k, other := storeKind(t), storeKind(t)
	if !Same(k, other) {
		t.Error("a state store is another than itself")
	}
	other.Provided.Provider = "example.com/b/x"
	if Same(k, other) || Same(k, &Kind{Name: k.Name}) || !Same(&Kind{Name: "s3"}, &Kind{Name: "s3"}) || Same(&Kind{Name: "s3"}, &Kind{Name: "pg"}) {
		t.Error("kinds are mixed up")
	}
}
