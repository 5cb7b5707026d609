package object

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

func texts(paths []cty.Path) string {
	var out []string
	for _, p := range paths {
		out = append(out, schema.PathString(p))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// identityName returns the name in an identity; "" for none.
func identityName(id cty.Value) string {
	if id == cty.NilVal || !id.Type().HasAttribute("name") {
		return ""
	}
	return id.GetAttr("name").AsString()
}

// TestImport has each answer to an import, by id and by identity.
func TestImport(t *testing.T) {
	whole, gone := thing(attrs{"id": str("i-1")}), cty.NullVal(block().Type())
	object := func(o provider.ImportedObject) []provider.ImportedObject {
		return []provider.ImportedObject{{Type: "thing_b", State: str("x")}, o}
	}
	byIdentity := ImportTarget{Identity: identity("a"), Range: &hcl.Range{}}
	for _, row := range []struct {
		name    string
		target  ImportTarget
		resp    provider.ImportResponse
		diags   diag.List
		read    cty.Value
		ok      bool
		private string
		summary string
	}{
		{"by id", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole, Private: []byte("p1")})}, nil, whole, true, "p1", ""},
		{"by identity", byIdentity, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole, Identity: identity("a")})}, nil, whole, true, "p1", ""},
		{"by a wrong identity", ImportTarget{Identity: cty.ObjectVal(attrs{"other": str("a")}), Range: &hcl.Range{}}, provider.ImportResponse{}, nil, whole, false, "", "Invalid import identity"},
		{"no object", ImportTarget{ID: "i-1"}, provider.ImportResponse{}, nil, whole, false, "", "Nothing imported"},
		{"another type", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: []provider.ImportedObject{{Type: "thing_b"}}}, nil, whole, false, "", "Provider produced invalid imported object"},
		{"null", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: gone})}, nil, whole, false, "", "Provider produced invalid imported object"},
		{"of no type", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: str("x")})}, nil, whole, false, "", "Provider produced invalid imported object"},
		{"deferred", ImportTarget{ID: "i-1"}, provider.ImportResponse{Deferred: "later", Objects: object(provider.ImportedObject{Type: "thing_a", State: whole})}, nil, whole, false, "", "Provider deferred a change"},
		{"failure", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole})}, diag.Errorf("failed", "it failed"), whole, false, "", "failed"},
		{"gone", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole})}, nil, gone, false, "", "Cannot import non-existent remote object"},
		{"not read", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole})}, nil, str("x"), false, "", "Provider produced invalid object read"},
		{"secret", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole, Private: []byte(secret)})}, nil, whole, true, "p1", "Provider copied a write-only value"},
		{"secret identity", ImportTarget{ID: "i-1"}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole, Identity: identity(secret)})}, nil, whole, true, "p1", "Provider copied a write-only value"},
		{"imported by the secret", ImportTarget{ID: secret}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole, Private: []byte(secret), Identity: identity(secret)})}, nil, whole, true, "p1", ""},
		{"imported by an identity with the secret", ImportTarget{Identity: identity(secret), Range: &hcl.Range{}}, provider.ImportResponse{Objects: object(provider.ImportedObject{Type: "thing_a", State: whole, Identity: identity(secret)})}, nil, whole, true, "p1", ""},
	} {
		f := newFixture(t)
		f.imported, f.diags = row.resp, row.diags
		if row.target.Identity == (cty.Value{}) {
			row.target.Identity = cty.NilVal
		}
		f.read = provider.ReadResponse{New: row.read, Private: []byte("p1"), Identity: cty.NilVal}
		got, ok := row.target.Import(&f.Op, cty.NilVal)
		if ok != row.ok || ok && !same(got.Value, whole) || string(got.Private) != row.private {
			t.Errorf("%s: got %t, %#v, want %t, %#v with %s", row.name, ok, got, row.ok, whole, row.private)
		}
		if ok && (got.Importing == nil || got.Importing.ID != row.target.ID || (row.target.Identity == cty.NilVal) != got.Importing.Identity.IsZero()) {
			t.Errorf("%s: got importing %#v, want the target %+v", row.name, got.Importing, row.target)
		}
		f.says(t, row.name, row.summary)
		if f.Events.Flush(); len(f.events) > 0 && (f.events[0].ID != row.target.ID+identityName(row.target.Identity) || (f.events[0].IDKey == "id") != (row.target.ID != "")) {
			t.Errorf("%s: got it imported by %s %s, want the target %+v", row.name, f.events[0].IDKey, f.events[0].ID, row.target)
		}
		if !ok && f.Events.Flush() == nil && len(f.events)%2 != 0 {
			t.Errorf("%s: got the events %v, want an end for each begin", row.name, f.events)
		}
	}
	for name, prepare := range map[string]func(*fixture){"failed": func(f *fixture) { f.failure = diag.Errorf("failed", "it failed") }, "Import by identity is not supported": func(f *fixture) { f.id = nil }, "unknown": func(f *fixture) { f.id, f.unknown = nil, diag.Errorf("unknown", "it is not known") }} {
		f := newFixture(t)
		prepare(f)
		target := byIdentity
		if _, ok := target.Import(&f.Op, cty.NilVal); ok || f.asked != nil {
			t.Errorf("%s: imported", name)
		}
		f.says(t, name, name)
	}
}

// TestPutOff has a provider put off reading and importing an object where it may.
func TestPutOff(t *testing.T) {
	for name, do := range map[string]func(f *fixture) bool{
		"read": func(f *fixture) bool {
			_, ok := f.Refresh(Prior{Value: thing(attrs{"id": str("i-1")})}, cty.NilVal)
			return ok
		},
		"import": func(f *fixture) bool {
			_, ok := (&ImportTarget{ID: "i-1", Identity: cty.NilVal}).Import(&f.Op, cty.NilVal)
			return ok
		},
	} {
		f := newFixture(t)
		f.Deferring = true
		f.read, f.imported = provider.ReadResponse{Deferred: "later"}, provider.ImportResponse{Deferred: "later"}
		ok := do(f)
		f.says(t, name, "")
		if f.Events.Flush(); ok || f.PutOff != "later" || len(f.events) != 2 || f.events[1].Kind != event.PutOff {
			t.Errorf("%s: got %t, %q and the events %v, want it put off", name, ok, f.PutOff, f.events)
		}
	}
}

// TestOpenImporting lets come back what an object was imported by.
func TestOpenImporting(t *testing.T) {
	id, err := value.Seal(identity(secret), identity("").Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]*plan.Importing{"id": {ID: secret}, "identity": {Identity: id}} {
		f := newFixture(t)
		f.PublishImporting(i)
		if got, diags := f.Answers.AcceptIdentity(identity(secret), contract.Object); diags != nil || got == cty.NilVal {
			t.Errorf("%s: %v", name, diags)
		}
	}
	f := newFixture(t)
	f.PublishImporting(nil)
	f.PublishImporting(&plan.Importing{ID: "i-1", Identity: value.Restore(identity("").Type(), []byte{0xff}, nil)})
	if _, diags := f.Answers.AcceptIdentity(identity(secret), contract.Object); !diags.HasErrors() {
		t.Error("what is nowhere is public")
	}
}

// TestSuggestConfig takes a configuration from a provider that makes one, and judges it.
func TestSuggestConfig(t *testing.T) {
	v, made := thing(attrs{"id": str("i-1")}), thing(attrs{"name": str("n")})
	for _, row := range []struct {
		name      string
		generates bool
		failure   diag.List
		answer    cty.Value
		diags     diag.List
		ok        bool
		want      cty.Value
		summary   string
	}{
		{"none", false, nil, made, nil, true, v, ""},
		{"without schemas", true, diag.Errorf("failed", "it failed"), made, nil, false, v, ""},
		{"made", true, nil, made, nil, true, made, ""},
		{"failure", true, nil, made, diag.Errorf("failed", "it failed"), false, made, "failed"},
		{"null", true, nil, cty.NullVal(block().Type()), nil, false, cty.NilVal, "Provider produced invalid generated configuration"},
		{"secret", true, nil, thing(attrs{"name": str(secret)}), nil, true, thing(nil), "Provider copied a write-only value"},
	} {
		f := newFixture(t)
		f.generates, f.failure, f.value, f.diags = row.generates, row.failure, row.answer, row.diags
		if got, ok := f.SuggestConfig(v); ok != row.ok || !same(got, row.want) {
			t.Errorf("%s: got %t, %#v, want %t, %#v", row.name, ok, got, row.ok, row.want)
		}
		f.says(t, row.name, row.summary)
	}
}

// TestStateObject makes state objects, and none of what must not be stored.
func TestStateObject(t *testing.T) {
	like := &state.Object{Tainted: true, CreateBeforeDestroy: true, SkipDestroy: true, Dependencies: []addr.ConfigResource{{}}}
	whole := thing(attrs{"id": str("i-1")})
	f := newFixture(t)
	got := f.StateObject(whole, []cty.Path{cty.GetAttrPath("id")}, []byte("p1"), identity("a"), like)
	if got == nil || !got.Tainted || !got.CreateBeforeDestroy || !got.SkipDestroy || len(got.Dependencies) != 1 || got.SchemaVersion != 2 || string(got.Private) != "p1" ||
		string(got.Identity) != `{"name":"a"}` || got.IdentityVersion != 3 || texts(got.Sensitive) != "id" {
		t.Errorf("StateObject: got %+v, want all of what it is like, and the answer", got)
	}
	if v, err := got.DecodeUnmarked(block().Type()); err != nil || !same(v, whole) {
		t.Errorf("got %#v, %v", v, err)
	}
	for _, none := range []cty.Value{cty.NilVal, cty.NullVal(identity("").Type())} {
		if got := f.StateObject(whole, nil, nil, none, nil); got == nil || got.Identity != nil || got.IdentityVersion != 0 || got.Tainted {
			t.Errorf("StateObject without an identity: got %+v, want none", got)
		}
	}
	f.says(t, "what can be stored", "")
	for name, v := range map[string]cty.Value{
		"ephemeral": thing(attrs{"name": str(secret).Mark(value.Ephemeral)}), "write-only": thing(attrs{"secret": str(secret)}), "unknown": thing(attrs{"name": cty.UnknownVal(cty.String)}), "null": cty.NullVal(block().Type()),
	} {
		if got := f.StateObject(v, nil, nil, cty.NilVal, nil); got != nil {
			t.Errorf("%s is stored: %+v", name, got)
		}
		f.says(t, name, "Object cannot be stored")
	}
	for name, id := range map[string]cty.Value{"ephemeral": cty.ObjectVal(attrs{"name": str(secret).Mark(value.Ephemeral)}), "unknown": cty.ObjectVal(attrs{"name": cty.UnknownVal(cty.String)})} {
		if got := f.StateObject(whole, nil, nil, id, nil); got == nil || got.Identity != nil {
			t.Errorf("with an identity that is %s: %+v", name, got)
		}
		f.says(t, name, "Identity cannot be stored")
	}
	if d, ok := f.Seal(thing(attrs{"secret": str(secret)}), nil); ok || !d.IsZero() {
		t.Error("a write-only value is sealed")
	}
	f.says(t, "sealed", "Object cannot be stored")
	f = newFixture(t)
	if f.failure = diag.Errorf("failed", "it failed"); f.identityVersion() != 0 {
		t.Error("a version without schemas")
	}
	f = newFixture(t)
	if f.id = nil; f.identityVersion() != 0 {
		t.Error("a version without a schema")
	}
}

// TestKeepIdentity keeps the identity of an earlier record if nothing took its place.
func TestKeepIdentity(t *testing.T) {
	earlier := &state.Object{Identity: []byte(`{"name":"a"}`), IdentityVersion: 2}
	for name, row := range map[string]struct {
		n, earlier *state.Object
		prepare    func(*fixture)
		want       string
		version    int64
	}{
		"kept":                 {&state.Object{}, earlier, func(*fixture) {}, `{"name":"a"}`, 2},
		"without schemas":      {&state.Object{}, earlier, func(f *fixture) { f.failure = diag.Errorf("failed", "it failed") }, `{"name":"a"}`, 2},
		"replaced":             {&state.Object{Identity: []byte("{}"), IdentityVersion: 3}, earlier, func(*fixture) {}, "{}", 3},
		"no longer identified": {&state.Object{}, earlier, func(f *fixture) { f.id = nil }, "", 0},
		"none":                 {&state.Object{IdentityVersion: 1}, &state.Object{IdentityVersion: 2}, func(*fixture) {}, "", 1},
		"no earlier record":    {&state.Object{}, nil, func(*fixture) {}, "", 0},
		"no record":            {nil, earlier, func(*fixture) {}, "", 0},
	} {
		f := newFixture(t)
		row.prepare(f)
		f.KeepIdentity(row.n, row.earlier)
		if row.n != nil && (string(row.n.Identity) != row.want || row.n.IdentityVersion != row.version) {
			t.Errorf("%s: got %s in version %d, want %s in version %d", name, row.n.Identity, row.n.IdentityVersion, row.want, row.version)
		}
	}
}

// TestHasNewIdentity compares what was read with what is stored.
func TestHasNewIdentity(t *testing.T) {
	with := &state.Object{Identity: []byte("{}"), IdentityVersion: 3}
	for name, row := range map[string]struct {
		stored        *state.Object
		before, after cty.Value
		want          bool
	}{
		"none":            {with, identity("a"), cty.NilVal, false},
		"null":            {with, identity("a"), cty.NullVal(identity("").Type()), false},
		"the same":        {with, identity("a"), identity("a"), false},
		"another":         {with, identity("a"), identity("b"), true},
		"the first":       {&state.Object{IdentityVersion: 3}, identity("a"), identity("a"), true},
		"not upgraded":    {with, cty.NilVal, identity("a"), true},
		"another version": {&state.Object{Identity: []byte("{}"), IdentityVersion: 2}, identity("a"), identity("a"), true},
	} {
		f := newFixture(t)
		if got := f.HasNewIdentity(Prior{Object: row.stored, Identity: row.before}, Prior{Identity: row.after}); got != row.want {
			t.Errorf("%s: got %t, want %t", name, got, row.want)
		}
	}
}

// builtinFixture is an operation on a terraform_data, whose output repeats its input.
func builtinFixture(t *testing.T, of addr.Provider, typeName string) *fixture {
	f := newFixture(t)
	f.Source, f.Obj.Resource.Type = of, typeName
	f.Schema = &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{
		"input": {Type: cty.DynamicPseudoType, Optional: true}, "output": {Type: cty.DynamicPseudoType, Computed: true}, "hidden": {Type: cty.String, Computed: true, Sensitive: true},
	}}}
	return f
}

// TestShownOfAnotherState has views show nothing of another state, whose sensitive outputs have no marks
// here, and no arguments that open it; and nothing that a schema calls sensitive.
func TestShownOfAnotherState(t *testing.T) {
	for name, row := range map[string]struct {
		of        addr.Provider
		typ, want string
	}{
		"remote state":   {addr.BuiltinProvider, "terraform_remote_state", `{"backend":"plain"}`},
		"another type":   {addr.BuiltinProvider, "terraform_another", `{"backend":"plain","config":"canary","defaults":"canary","outputs":"canary"}`},
		"another source": {source, "terraform_remote_state", `{"backend":"plain","config":"canary","defaults":"canary","outputs":"canary"}`},
	} {
		f := builtinFixture(t, row.of, row.typ)
		v := attrs{"backend": str("plain")}
		f.Schema.Block.Attributes = map[string]*schema.Attribute{"backend": {Type: cty.String}}
		for _, name := range []string{"config", "defaults", "outputs"} {
			v[name], f.Schema.Block.Attributes[name] = str("canary"), &schema.Attribute{Type: cty.String}
		}
		v["password"], f.Schema.Block.Attributes["password"] = str("hidden"), &schema.Attribute{Type: cty.String, Sensitive: true}
		o := f.StateObject(cty.ObjectVal(v), nil, nil, cty.NilVal, nil)
		if o == nil {
			t.Fatalf("%s: %v", name, f.reported)
		}
		if got := string(o.Shown()); got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

// TestMirror marks in a result what is sensitive in the argument that it repeats.
func TestMirror(t *testing.T) {
	ab := cty.ObjectVal(attrs{"a": str("x"), "b": str("y")})
	data := func(output cty.Value) cty.Value {
		return cty.ObjectVal(attrs{"input": ab, "output": output, "hidden": str("h")})
	}
	in, a, hidden := cty.GetAttrPath("input"), cty.GetAttrPath("input").GetAttr("a"), cty.GetAttrPath("hidden")
	for name, row := range map[string]struct {
		of    addr.Provider
		typ   string
		v     cty.Value
		paths []cty.Path
		want  string // of the marked paths, where there is a value
	}{
		"whole":          {addr.BuiltinProvider, "terraform_data", data(ab), []cty.Path{in}, "hidden input output"},
		"part":           {addr.BuiltinProvider, "terraform_data", data(ab), []cty.Path{a, hidden}, "hidden input.a output.a"},
		"part, unknown":  {addr.BuiltinProvider, "terraform_data", data(cty.DynamicVal), []cty.Path{a}, "hidden input.a"},
		"whole, unknown": {addr.BuiltinProvider, "terraform_data", data(cty.DynamicVal), []cty.Path{in}, "hidden input output"},
		"another type":   {addr.BuiltinProvider, "terraform_remote_state", data(ab), []cty.Path{in}, "hidden input"},
		"another source": {source, "terraform_data", data(ab), []cty.Path{in}, "hidden input"},
	} {
		f := builtinFixture(t, row.of, row.typ)
		before := texts(row.paths)
		got := f.Mark(row.v, Config{Sensitive: row.paths}, nil)
		if text := texts(value.PathsWith(got, value.Sensitive)); text != row.want {
			t.Errorf("%s: got %s, want %s", name, text, row.want)
		}
		again := f.Mark(got, Config{Sensitive: row.paths}, nil)
		if text := texts(value.PathsWith(again, value.Sensitive)); text != row.want || texts(row.paths) != before {
			t.Errorf("%s: marked again: got %s of %s, want %s of %s", name, text, texts(row.paths), row.want, before)
		}
		d, ok := f.Seal(row.v, row.paths)
		if !ok {
			t.Fatalf("%s: %v", name, f.reported)
		}
		if text := texts(d.Sensitive()); text != strings.TrimPrefix(row.want, "hidden ") && !slices.ContainsFunc(row.paths, hidden.Equals) {
			t.Errorf("%s: sealed: got %s, want %s", name, text, strings.TrimPrefix(row.want, "hidden "))
		}
	}
	f := builtinFixture(t, addr.BuiltinProvider, "terraform_data")
	for _, v := range []cty.Value{cty.NilVal, cty.NullVal(data(ab).Type()), cty.UnknownVal(data(ab).Type())} {
		if got := texts(f.mirrorSensitivity(v, []cty.Path{in})); got != "input" {
			t.Errorf("%#v: got %s, want %s", v, got, "input")
		}
	}
	if null := cty.NullVal(f.Block().Type()); !same(f.Mark(null, Config{Sensitive: []cty.Path{in, {}}}, nil), null) {
		t.Error("null has got marks")
	}
	paths := []cty.Path{in, cty.GetAttrPath("output").GetAttr("a"), hidden}
	if got := texts(f.DropMirrored(paths)); got != "hidden input" || texts(paths) != "hidden input output.a" {
		t.Errorf("DropMirrored: got %s of %s, want \"hidden input\", and the given paths unchanged", got, texts(paths))
	}
	for _, other := range []*fixture{builtinFixture(t, source, "terraform_data"), builtinFixture(t, addr.BuiltinProvider, "terraform_remote_state")} {
		if got := texts(other.DropMirrored(paths)); got != "hidden input output.a" {
			t.Errorf("of another type or provider: got %s, want %s", got, "hidden input output.a")
		}
	}
	if Additions(source) != nil || len(Additions(addr.BuiltinProvider)) == 0 {
		t.Error("the additions are not those of the built-in provider")
	}
}

// TestLive decodes stored objects with their marks, and without write-only values.
func TestLive(t *testing.T) {
	f := newFixture(t)
	o := stored(t, thing(attrs{"id": str("i-1"), "pin": str("17"), "secret": str("other-s3cret")}))
	o.Sensitive = []cty.Path{cty.GetAttrPath("id")}
	want := thing(attrs{"id": str("i-1").Mark(value.Sensitive), "pin": str("17").Mark(value.Sensitive)})
	if got, ok := f.Live(o); !ok || !same(got, want) {
		t.Errorf("got %#v", got)
	}
	for name, o := range map[string]*state.Object{"none": nil, "flat": {Flatmap: map[string]string{}}, "of another shape": stored(t, cty.ObjectVal(attrs{"other": str("x")}))} {
		if got, ok := f.Live(o); ok || got != cty.NilVal {
			t.Errorf("%s: got %#v, want %#v", name, got, cty.NilVal)
		}
	}
	if paths := (Prior{Object: o}).Sensitive(); texts(paths) != "id" || (Prior{}).Sensitive() != nil {
		t.Errorf("sensitive: got %s, want %s", texts(paths), "id")
	}
	prior := Prior{Value: thing(attrs{"name": str("old")}), Object: &state.Object{Sensitive: []cty.Path{cty.GetAttrPath("name"), cty.GetAttrPath("secret")}}}
	lc := &config.Lifecycle{IgnoreAll: true}
	got := f.IgnoreChanges(Config{Value: thing(attrs{"name": str("new"), "secret": str("s")}), Ephemeral: true}, lc, prior)
	if !same(got.Value, thing(attrs{"name": str("old"), "secret": str("s")})) || texts(got.Sensitive) != "name" || !got.Ephemeral {
		t.Errorf("changes ignored: got %#v, want the old name, sensitive, and the secret, ephemeral", got)
	}
}

// TestIgnoredBlocks takes nothing that is write-only from a stored block, nor that it was sensitive.
func TestIgnoredBlocks(t *testing.T) {
	f := newFixture(t)
	rule := &schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"name": block().Attributes["name"], "secret": block().Attributes["secret"]}}}
	f.Schema = &schema.Schema{Block: &schema.Block{Blocks: map[string]*schema.NestedBlock{"rule": rule}}}
	f.Withheld.Block = f.Schema.Block
	of := func(name string, secret cty.Value) cty.Value {
		return cty.ObjectVal(attrs{"rule": cty.ListVal([]cty.Value{cty.ObjectVal(attrs{"name": str(name), "secret": secret})})})
	}
	within := func(name string) cty.Path { return cty.GetAttrPath("rule").IndexInt(0).GetAttr(name) }
	prior := Prior{Value: of("old", cty.NullVal(cty.String)), Object: &state.Object{Sensitive: []cty.Path{within("name"), within("secret")}}}
	got := f.IgnoreChanges(Config{Value: of("new", str("s"))}, &config.Lifecycle{IgnoreAll: true}, prior)
	if !same(got.Value, of("old", str("s"))) || texts(got.Sensitive) != "rule[0].name" {
		t.Errorf("%#v, sensitive: got %s, want %s", got.Value, texts(got.Sensitive), "rule[0].name")
	}
}

// TestReview judges what was read before the configuration was known.
func TestReview(t *testing.T) {
	f := newFixture(t)
	pr := Prior{Value: thing(attrs{"name": str(secret), "id": str("i-1")}), Identity: identity(secret), Private: []byte(secret)}
	if !f.Review(&pr, []byte("before")) || !same(pr.Value, thing(attrs{"id": str("i-1")})) || pr.Identity != cty.NilVal || string(pr.Private) != "before" || len(f.reported) != 3 {
		t.Errorf("Review: got %#v, %v, want the id alone, the private data of before, 3 diagnostics", pr, f.reported)
	}
	pr = Prior{Value: thing(attrs{"id": str("i-1")}), Identity: cty.ObjectVal(attrs{"name": cty.UnknownVal(cty.String)})}
	if f.Review(&pr, nil) {
		t.Error("an object with errors is used")
	}
}
