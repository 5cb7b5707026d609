package given

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

const canary = "canary-7Q4x"

// host opens nothing and has no functions.
type host struct{}

func (host) WithOpened(_ *future.Task, _ *eval.Value, f func(*eval.Opened)) { f(eval.NewOpened(nil)) }

func (host) ConfiguredFunctions(*future.Task, *eval.ProviderObject) (map[string]*schema.Function, bool) {
	return nil, true
}

func (host) CallFunction(*future.Task, eval.FunctionCall) (cty.Value, error) {
	return cty.DynamicVal, nil
}

// setting has all that the hash of an object is made of.
type setting struct {
	text     string // the configuration
	of       string // the object's name
	key      string
	version  string
	dev      bool // the provider is under development
	schema   int64
	phase    eval.Phase
	variable string
	most     int // secrets
	meta     cty.Value
	edit     func(*object.Config)
}

func theSetting() *setting {
	return &setting{
		text: "resource \"sim_thing\" \"a\" {\n name = \"x\"\n}\nresource \"sim_thing\" \"b\" {\n name = \"x\"\n}\n",
		of:   "a", key: "key", version: "1.0.0", phase: eval.Planning, most: 2, edit: func(*object.Config) {},
	}
}

// body returns an edit that has the object of the setting declared by other arguments, beside other blocks.
func body(text, more string) func(*setting) {
	return func(s *setting) { s.text = "resource \"sim_thing\" \"a\" {\n" + text + "\n}\n" + more }
}

func attribute(ty cty.Type) *schema.Attribute { return &schema.Attribute{Type: ty, Optional: true} }

func theSchemas() blockstest.Schemas {
	return blockstest.Schemas{
		"made": {Type: cty.String, Computed: true}, "name": attribute(cty.String), "other": attribute(cty.String), "list": attribute(cty.List(cty.String)),
		"secret": {Type: cty.String, Optional: true, Sensitive: true}, "wo": {Type: cty.String, Optional: true, WriteOnly: true},
	}
}

// run evaluates the configuration.
func (s *setting) run(t *testing.T) *eval.Run {
	t.Helper()
	const head = "terraform {\n required_providers {\n sim = { source = \"mayfly.dev/test/sim\" }\n }\n}\nvariable \"e\" {\n ephemeral = true\n default = \"e\"\n}\n"
	text := s.text
	if !strings.Contains(text, "required_providers") {
		text = head + text
	}
	tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(text)}}}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := blocks.Compile(tree, theSchemas())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	result := func(_ *future.Task, in *eval.Instance) cty.Value {
		ty := in.Resource.Block.Schema.Block.Type()
		attrs := map[string]cty.Value{}
		for name, ty := range ty.AttributeTypes() {
			attrs[name] = cty.UnknownVal(ty)
		}
		if s.phase == eval.Applying {
			attrs["made"] = cty.StringVal("made")
		}
		return cty.ObjectVal(attrs)
	}
	var vars map[string]cty.Value
	if s.variable != "" {
		vars = map[string]cty.Value{"e": cty.StringVal(s.variable)}
	}
	return eval.NewRun(cfg, eval.Options{Phase: s.phase, Host: host{}, Result: result, WorkDir: "/", Variables: vars})
}

// hasher returns a Hasher for the setting.
func (s *setting) hasher() *Hasher {
	h := New([]byte(s.key), func(addr.Provider) (string, bool) { return s.version, !s.dev })
	h.secrets.most = s.most
	return h
}

// hash hashes the object of a run.
func (s *setting) hash(t *testing.T, h *Hasher, run *eval.Run) (out state.Hash) {
	t.Helper()
	pool := future.NewPool(1)
	pool.Go(func(task *future.Task) {
		in, _ := run.Find(task, addr.Instance{Resource: addr.Resource{Type: "sim_thing", Name: s.of}})
		if in == nil {
			t.Error("got no object")
			return
		}
		in.Prepare(task)
		marked, diags := in.EvalBody(task, eval.NewOpened(nil))
		if diags.HasErrors() {
			t.Error(diags)
			return
		}
		c := object.Config{Sensitive: value.PathsWith(marked, value.Sensitive), Ephemeral: value.Contains(marked, value.Ephemeral), Computed: value.PathsMadeOf(marked)}
		c.Value, _ = marked.UnmarkDeep()
		s.edit(&c)
		of := *in.Resource.Block.Schema
		of.Version = s.schema
		out = h.Of(task, in, &object.Op{Schema: &of}, c, func() cty.Value { return s.meta })
	})
	pool.Wait()
	return out
}

// TestOf changes everything that a hash is made of, each by itself.
func TestOf(t *testing.T) {
	const provider = "provider \"sim\" {\n name = \"x\"\n}\n"
	secrets := func(names ...string) string {
		return strings.Join(slices.Concat([]string{"list = ["}, names, []string{"]"}), "\n")
	}
	edit := func(f func(*object.Config)) func(*setting) { return func(s *setting) { s.edit = f } }
	paths := func(names ...string) func(*setting) {
		return edit(func(c *object.Config) {
			for _, name := range names {
				c.Sensitive = append(c.Sensitive, cty.GetAttrPath(name))
			}
		})
	}
	both := func(fs ...func(*setting)) func(*setting) {
		return func(s *setting) {
			for _, f := range fs {
				f(s)
			}
		}
	}
	meta := func(v cty.Value) func(*setting) { return func(s *setting) { s.meta = v } }
	nothing := func(*setting) {}
	for _, c := range []struct {
		name          string
		before, after func(*setting)
		want          string // changed, same or none
	}{
		{"nothing", nothing, nothing, "same"},
		{"a key", nothing, func(s *setting) { s.key = "other" }, "changed"},
		{"an address", nothing, func(s *setting) { s.of = "b" }, "changed"},
		{"a value", nothing, body("name = \"y\"", ""), "changed"},
		{"another argument", nothing, body("other = \"x\"", ""), "changed"},
		{"a version of the schema", nothing, func(s *setting) { s.schema = 1 }, "changed"},
		{"a version of the provider", nothing, func(s *setting) { s.version = "1.0.1" }, "changed"},
		{"a provider under development", nothing, func(s *setting) { s.dev = true }, "none"},
		{"all changes are ignored", nothing, body("name = \"x\"\nlifecycle {\nignore_changes = all\n}", ""), "changed"},
		{"changes are ignored", nothing, body("name = \"x\"\nlifecycle {\nignore_changes = [other]\n}", ""), "changed"},
		{"changes of others are ignored", body("name = \"x\"\nlifecycle {\nignore_changes = [name]\n}", ""), body("name = \"x\"\nlifecycle {\nignore_changes = [other]\n}", ""), "changed"},
		{"changes of another element are ignored", body("name = \"x\"\nlifecycle {\nignore_changes = [list[0]]\n}", ""), body("name = \"x\"\nlifecycle {\nignore_changes = [list[1]]\n}", ""), "changed"},
		{"meta", nothing, meta(cty.StringVal("x")), "changed"},
		{"another meta", meta(cty.StringVal("x")), meta(cty.StringVal("y")), "changed"},
		{"marked meta", nothing, meta(cty.StringVal("x").Mark("x")), "none"},
		{"unknown meta", nothing, meta(cty.UnknownVal(cty.String)), "none"},
		{"a sensitive path", nothing, paths("name"), "changed"},
		{"a sensitive path without a value", nothing, paths("other"), "changed"},
		{"other sensitive paths without a value", paths("list"), paths("other"), "changed"},
		{"the order of sensitive paths", paths("name", "other"), paths("other", "name"), "same"},
		{"a secret of the schema", body("secret = \""+canary+"\"", ""), body("secret = \"y\"", ""), "changed"},
		{"secrets that change places", both(body("name = \"x\"\nother = \"y\"", ""), paths("name", "other")), both(body("name = \"y\"\nother = \"x\"", ""), paths("name", "other")), "changed"},
		{"a secret too many", nothing, both(body("name = \"x\"\nother = \"y\"\nsecret = \"z\"", ""), paths("name", "other")), "none"},
		{"a write-only argument", nothing, body("wo = \"x\"", ""), "none"},
		{"an unknown value", nothing, body("name = sim_thing.c.made", "resource \"sim_thing\" \"c\" {}\n"), "none"},
		{"an ephemeral value", nothing, edit(func(c *object.Config) { c.Ephemeral = true }), "none"},
		{"a part of computed values", nothing, edit(func(c *object.Config) { c.Computed = []value.ComputedPart{{}} }), "none"},
		{"an ephemeral attribute", nothing, body("name = \"x\"\nlifecycle {\nephemeral_attributes = { name = 1 }\n}", ""), "none"},
		{"a provider configuration", nothing, body("name = \"x\"", provider), "changed"},
		{"a value of the provider", body("name = \"x\"", provider), body("name = \"x\"", strings.ReplaceAll(provider, `"x"`, `"y"`)), "changed"},
		{"a secret of the provider", body("name = \"x\"", "provider \"sim\" {\n secret = \"x\"\n}\n"), body("name = \"x\"", "provider \"sim\" {\n secret = \"y\"\n}\n"), "changed"},
		{
			"a provider's secret too many", body("name = \"x\"", provider),
			both(body("name = \"x\"", "provider \"sim\" {\n secret = \"x\"\n}\n"), func(s *setting) { s.most = 0 }), "none",
		},
		{"an unknown value of the provider", nothing, body("name = \"x\"", "provider \"sim\" {\n name = sim_thing.c.made\n}\nprovider \"sim\" {\n alias = \"c\"\n}\nresource \"sim_thing\" \"c\" {\n provider = sim.c\n}\n"), "none"},
		{"an error of the provider", nothing, body("name = \"x\"", "provider \"sim\" {\n name = tolist([])[0]\n}\n"), "none"},
		{
			"an ephemeral value of the provider", body("name = \"x\"", "provider \"sim\" {\n name = var.e\n}\n"),
			both(body("name = \"x\"", "provider \"sim\" {\n name = var.e\n}\n"), func(s *setting) { s.variable = "f" }), "same",
		},
		{"an ephemeral part of the provider", body("name = \"x\"", "provider \"sim\" {\n name = var.e\n}\n"), body("name = \"x\"", "provider \"sim\" {\n other = var.e\n}\n"), "changed"},
		{
			"another provider", nothing, func(s *setting) {
				s.text = "terraform {\n required_providers {\n sim = { source = \"mayfly.dev/test/other\" }\n }\n}\n" + s.text
			}, "changed",
		},
		{
			"a provider with what isn't stored", nothing, both(func(s *setting) { s.phase = eval.Applying },
				body("name = \"x\"", "provider \"sim\" {\n name = sim_thing.c.made\n}\nprovider \"sim\" {\n alias = \"c\"\n}\nresource \"sim_thing\" \"c\" {\n provider = sim.c\n lifecycle {\n ephemeral_attributes = [made]\n }\n}\n")), "none",
		},
		{"many plain values", nothing, body(secrets(`"x",`, `"y",`, `"z"`), ""), "changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hash := func(edit func(*setting)) state.Hash {
				s := theSetting()
				edit(s)
				return s.hash(t, s.hasher(), s.run(t))
			}
			before, after := hash(c.before), hash(c.after)
			if !before.Known() {
				t.Error("got no hash before the change, want one")
			}
			got := "changed"
			switch {
			case !after.Known():
				got = "none"
			case before == after:
				got = "same"
			}
			if got != c.want {
				t.Errorf("hash after the change: got %s, want %s", got, c.want)
			}
		})
	}
}

// TestProvidersAreHashedOnce asks for the version of a provider once for all objects of a run.
func TestProvidersAreHashedOnce(t *testing.T) {
	s, asked := theSetting(), 0
	h := New([]byte(s.key), func(addr.Provider) (string, bool) {
		asked++
		return s.version, true
	})
	run := s.run(t)
	first := s.hash(t, h, run)
	if again := s.hash(t, h, run); first != again || asked != 1 {
		t.Errorf("got %v and %v, and asked %d times, want the same and one time", first, again, asked)
	}
	if other := s.hash(t, h.ForRun(), s.run(t)); other != first || asked != 2 {
		t.Errorf("for another run: got %v and asked %d times, want %v and two times", other, asked, first)
	}
	if got := h.provider(nil, nil); got.Known() {
		t.Errorf("without a provider: got %v, want none", got)
	}
	if got := (*Hasher)(nil).Of(nil, nil, nil, object.Config{}, nil); got.Known() {
		t.Errorf("without a key: got %v, want none", got)
	}
}

// TestValue has sensitive parts nowhere in the text that is hashed. Parts of them count as they do, and
// those without a value as if they weren't there.
func TestValue(t *testing.T) {
	b := &schema.Block{Attributes: map[string]*schema.Attribute{"name": attribute(cty.String), "pair": attribute(cty.Map(cty.String))}}
	of := func(v cty.Value, paths ...cty.Path) (writer, bool) {
		var w writer
		ok := theSetting().hasher().value(&w, "x", b, v, paths)
		return w, ok
	}
	name, pair, within := cty.GetAttrPath("name"), cty.GetAttrPath("pair"), cty.GetAttrPath("pair").IndexString("a")
	v := cty.ObjectVal(map[string]cty.Value{"name": cty.NullVal(cty.String), "pair": cty.MapVal(map[string]cty.Value{"a": cty.StringVal(canary)})})
	whole, ok := of(v, pair)
	if !ok || bytes.Contains(whole, []byte(canary)) {
		t.Errorf("got %q, %v, want it without the sensitive value", whole, ok)
	}
	for _, same := range [][]cty.Path{{pair, within}, {within, pair}, {pair, name}, {name, pair}, {pair, cty.GetAttrPath("gone")}} {
		if got, ok := of(v, same...); !ok || !bytes.Equal(got, whole) {
			t.Errorf("paths %v: got %q, %v, want %q", same, got, ok, whole)
		}
	}
	if got, ok := of(v, within); !ok || bytes.Contains(got, []byte(canary)) || bytes.Equal(got, whole) {
		t.Errorf("an element: got %q, %v, want it without the sensitive value, and other than %q", got, ok, whole)
	}
	if _, ok := of(v.Mark("x")); ok {
		t.Error("got the text of a marked value, want none")
	}
}

// TestWriter writes other texts for other sequences of parts.
func TestWriter(t *testing.T) {
	seen := map[string]int{}
	for i, write := range []func(*writer){
		func(w *writer) { w.text("ab"); w.text("c") },
		func(w *writer) { w.text("a"); w.text("bc") },
		func(w *writer) { w.text("a"); w.text("b"); w.text("c") },
		func(w *writer) { w.list([]string{"a"}); w.list([]string{"b", "c"}) },
		func(w *writer) { w.list([]string{"a", "b"}); w.list([]string{"c"}) },
		func(w *writer) { w.list([]string{"ab"}); w.list([]string{"c"}) },
		func(w *writer) { w.list(nil); w.list([]string{"", ""}) },
		func(w *writer) { w.list([]string{""}); w.list([]string{""}) },
		func(w *writer) { w.bytes(nil) },
		func(*writer) {},
	} {
		var w writer
		write(&w)
		if same, is := seen[string(w)]; is {
			t.Errorf("parts %d: got the text of parts %d, want another one", i, same)
		}
		seen[string(w)] = i
	}
}

// TestIgnored tells apart all lists of attributes.
func TestIgnored(t *testing.T) {
	root, attr, index := hcl.TraverseRoot{Name: "x"}, hcl.TraverseAttr{Name: "y"}, hcl.TraverseIndex{Key: cty.StringVal("y")}
	seen := map[string]int{}
	for i, l := range []config.Lifecycle{
		{},
		{IgnoreAll: true},
		{IgnoreChanges: []hcl.Traversal{{root}}},
		{IgnoreChanges: []hcl.Traversal{{attr}}},
		{IgnoreChanges: []hcl.Traversal{{root, attr}}},
		{IgnoreChanges: []hcl.Traversal{{root}, {attr}}},
		{IgnoreChanges: []hcl.Traversal{{root, index}}},
	} {
		var w writer
		w.list(ignored(&l))
		if same, is := seen[string(w)]; is {
			t.Errorf("list %d: got the text of list %d, want another one", i, same)
		}
		seen[string(w)] = i
	}
}
