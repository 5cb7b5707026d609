package blockhash

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// head is the beginning of small configurations.
const head = "terraform {\n  required_providers { sim = { source = \"mayfly.dev/test/sim\" } }\n}\n"

// TestWorldly lists expressions after which a block has no hash, and others that look like them.
func TestWorldly(t *testing.T) {
	for expr, want := range map[string]bool{
		`[timestamp(), provider::sim::twice("x")]`:  true,
		`provider::sim::twice("x")`:                 false,
		`[timestamp(), sensitive(file("a.txt"))]`:   true,
		`sensitive(file("none.txt"))`:               false,
		`templatefile("bad.tpl", {})`:               false,
		`file()`:                                    true,
		`sensitive(file("a.txt"))`:                  false,
		`timestamp()`:                               true,
		`plantimestamp()`:                           true,
		`core::uuid()`:                              true,
		`bcrypt("x")`:                               true,
		`pathexpand("~")`:                           true,
		`templatestring(local.t, {})`:               true,
		`file(local.t)`:                             true,
		`file("${local.t}.txt")`:                    true,
		`core::filesha256(local.t)`:                 true,
		`fileset(path.module, local.t)`:             true,
		`templatefile(local.t, {})`:                 true,
		`file([path.module]...)`:                    true,
		`file(upper("a"))`:                          true,
		`file(null)`:                                true,
		`[for f in ["a"] : file(f)]`:                true,
		`file("${path.module}/none.txt")`:           false,
		`file(("${path.root}/none.txt"))`:           false,
		`core::fileexists(path.cwd)`:                false,
		`templatefile("none.tpl", { t = local.t })`: false,
		`abspath("x")`:                              false,
		`uuidv5("dns", "x")`:                        false,
		`"timestamp()"`:                             false,
	} {
		s := newSetting(t, head+"locals {\n  t = \"x\"\n  v = "+expr+"\n}\n-- a.txt --\n-- bad.tpl --\n${timestamp()} ${")
		s.schemas.declared = true
		set, cfg := s.both(t)
		if _, known := set.Block(cfg.Modules[addr.RootModule].Locals["v"]); known == want {
			t.Errorf("%s: got a hash %v, want %v", expr, known, !want)
		}
	}
}

// both returns the hashes with the configuration that they are of.
func (s *setting) both(tb testing.TB) (*Set, *blocks.Config) {
	tb.Helper()
	cfg := s.compile(tb)
	set, err := Of(cfg, s.inputs())
	if err != nil {
		tb.Fatal(err)
	}
	return set, cfg
}

// TestWorldSpreads checks that blocks without a hash leave those without one that have it in theirs, and no
// others.
func TestWorldSpreads(t *testing.T) {
	s := newSetting(t, head+`
locals {
  now   = timestamp()
  user  = local.now
  other = sim_thing.a.name
}
resource "sim_thing" "a" {
  name = local.user
}
resource "sim_thing" "counted" {
  count = length(local.now)
}
`)
	if got, want := unknownOf(s.hash(t)), []string{"local.now", "local.user", "repetition.resource.sim_thing.counted", "resource.sim_thing.a"}; !slices.Equal(got, want) {
		t.Errorf("blocks without a hash: got %v, want %v", got, want)
	}
}

// TestMisfits checks that a block that doesn't fit its schema has no hash, so that it is validated again.
func TestMisfits(t *testing.T) {
	for _, body := range []string{
		`nothing = 1`,
		`nothing {}`,
		"dynamic \"rule\" {\n    for_each = []\n    content {}\n    more = 1\n  }",
		"dynamic \"rule\" {\n    for_each = []\n    iterator = 5\n    content {}\n  }",
		"dynamic \"nothing\" {\n    for_each = []\n    content {}\n  }",
		"rule {\n    nothing = 1\n  }",
	} {
		s := newSetting(t, head+"resource \"sim_thing\" \"a\" {\n  "+body+"\n}\n")
		if got, want := unknownOf(s.hash(t)), []string{"resource.sim_thing.a"}; !slices.Equal(got, want) {
			t.Errorf("%s: blocks without a hash: got %v, want %v", body, got, want)
		}
	}
}

// TestFunctionsOfProviders checks that a call depends on the provider's version, and on its configuration
// if it needs one.
func TestFunctionsOfProviders(t *testing.T) {
	const text = head + `
provider "sim" {
  region = "1"
}
locals {
  v = provider::sim::twice("x")
}
`
	configured := newSetting(t, strings.Replace(text, `"1"`, `"2"`, 1))
	if got, want := changed(newSetting(t, text).hash(t), configured.hash(t)), []string{"local.v", "provider.sim"}; !slices.Equal(got, want) {
		t.Errorf("configuration, of a function that it defines: got %v, want %v", got, want)
	}
	before, after, newer := newSetting(t, text), newSetting(t, strings.Replace(text, `"1"`, `"2"`, 1)), newSetting(t, text)
	for _, s := range []*setting{before, after, newer} {
		s.schemas.declared = true
	}
	newer.version = "2.0.0"
	if got, want := changed(before.hash(t), after.hash(t)), []string{"provider.sim"}; !slices.Equal(got, want) {
		t.Errorf("configuration, of a function that the provider declares: got %v, want %v", got, want)
	}
	if got, want := changed(before.hash(t), newer.hash(t)), []string{"local.v", "provider.sim"}; !slices.Equal(got, want) {
		t.Errorf("version: got %v, want %v", got, want)
	}
	unconfigured := newSetting(t, head+"locals {\n  v = provider::sim::twice(\"x\")\n}\nresource \"sim_thing\" \"a\" {}\n")
	unconfigured.schemas.declared, unconfigured.version = true, ""
	if got, want := unknownOf(unconfigured.hash(t)), []string{"local.v", "resource.sim_thing.a"}; !slices.Equal(got, want) {
		t.Errorf("provider under development: got %v without a hash, want %v", got, want)
	}
}

// TestAround checks that depends_on of a call counts for everything that waits for it, at any depth.
func TestAround(t *testing.T) {
	const text = head + `
resource "sim_thing" "x" {}
resource "sim_thing" "y" {}
module "m" {
  source     = "./m"
  depends_on = [sim_thing.x]
}
-- m/main.tf --
module "n" {
  source = "../n"
  count  = 1
}
-- n/main.tf --
` + head + `
variable "v" {
  default = 1
}
resource "sim_thing" "in" {
  count = var.v
}
`
	for _, c := range []struct{ old, new, want string }{
		{"[sim_thing.x]", "[sim_thing.y]", "module.m.module.n module.m.module.n.repetition.resource.sim_thing.in module.m.module.n.resource.sim_thing.in"},
		{"count  = 1", "count  = 2", "module.m.module.n"},
		{"  count  = 1\n", "", "module.m.module.n module.m.module.n.repetition.resource.sim_thing.in module.m.module.n.resource.sim_thing.in module.m.module.n.var.v"},
		{"./m\"\n", "./m\"\n  count  = 1\n", "module.m module.m.module.n module.m.module.n.repetition.resource.sim_thing.in module.m.module.n.resource.sim_thing.in module.m.module.n.var.v"},
	} {
		if got := strings.Join(changed(newSetting(t, text).hash(t), newSetting(t, strings.Replace(text, c.old, c.new, 1)).hash(t)), " "); got != c.want {
			t.Errorf("%s for %s: got %s, want %s", c.new, c.old, got, c.want)
		}
	}
}

// TestEphemeralResources checks that an ephemeral resource counts, with its repetition, for blocks that it
// leads to, and that an action without a config block has a hash.
func TestEphemeralResources(t *testing.T) {
	const text = head + `
locals {
  n    = 1
  used = ephemeral.sim_secret.s[0].id
}
ephemeral "sim_secret" "s" {
  count = local.n
  name  = "vault"
}
resource "sim_thing" "a" {
  password_wo = local.used
  provisioner "local-exec" {
    command = "echo ${local.used}"
  }
}
resource "sim_thing" "b" {
  password_wo = local.used
}
action "sim_act" "none" {}
`
	before := newSetting(t, text).hash(t)
	if got := unknownOf(before); len(got) > 0 {
		t.Errorf("blocks without a hash: got %v, want none", got)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"vault"`, `"safe"`, "ephemeral.sim_secret.s local.used resource.sim_thing.a"},
		{"n    = 1", "n    = 2", "ephemeral.sim_secret.s local.n local.used repetition.ephemeral.sim_secret.s resource.sim_thing.a"},
		{`{}`, "{\n  config {\n    name = \"x\"\n  }\n}", "action.sim_act.none"},
	} {
		if got := strings.Join(changed(before, newSetting(t, strings.Replace(text, c.old, c.new, 1)).hash(t)), " "); got != c.want {
			t.Errorf("%s for %s: got %s, want %s", c.new, c.old, got, c.want)
		}
	}
}

// TestSourceOfProvider checks that the address of a provider counts, and that another argument for a
// repetition is another one although its expression is the same.
func TestSourceOfProvider(t *testing.T) {
	const text = head + "locals {\n  one = 1\n}\nresource \"sim_thing\" \"a\" {\n  count = local.one\n}\n"
	before := newSetting(t, text).hash(t)
	got := changed(before, newSetting(t, strings.Replace(text, "dev/test", "dev/other", 1)).hash(t))
	if want := []string{"resource.sim_thing.a"}; !slices.Equal(got, want) {
		t.Errorf("source: got %v, want %v", got, want)
	}
	got = changed(before, newSetting(t, strings.Replace(text, "  count = local.one\n", "  lifecycle {\n    enabled = local.one\n  }\n", 1)).hash(t))
	if want := []string{"repetition.resource.sim_thing.a", "resource.sim_thing.a"}; !slices.Equal(got, want) {
		t.Errorf("argument: got %v, want %v", got, want)
	}
}

// TestDefaults checks that defaults of optional attributes count, where a variable has none itself.
func TestDefaults(t *testing.T) {
	const text = head + `
module "m" {
  source = "./m"
  v      = {}
}
-- m/main.tf --
variable "v" {
  type = object({ a = optional(string, "x"), b = optional(object({ c = optional(string, "y") }), {}) })
}
`
	for _, c := range [][2]string{{`"x"`, `"z"`}, {`"y"`, `"z"`}} {
		got := changed(newSetting(t, text).hash(t), newSetting(t, strings.Replace(text, c[0], c[1], 1)).hash(t))
		if want := []string{"module.m.var.v"}; !slices.Equal(got, want) {
			t.Errorf("%s for %s: got %v, want %v", c[1], c[0], got, want)
		}
	}
}

// TestFiles checks that each function finds its own result for each file, and that a file is read once.
func TestFiles(t *testing.T) {
	const text = "locals {\n  a = file(\"a.txt\")\n  again = file(\"a.txt\")\n  b = file(\"b.txt\")\n  is = fileexists(\"a.txt\")\n}\n-- a.txt --\na\n-- b.txt --\nb\n"
	s := newSetting(t, text)
	cfg, in, calls := s.compile(t), s.inputs(), 0
	file := in.Functions["file"]
	in.Functions["file"] = function.New(&function.Spec{
		Params: file.Params(), Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			calls++
			return file.Call(args)
		},
	})
	before, err := Of(cfg, in)
	if err != nil || calls != 2 {
		t.Fatalf("files that are read: got %d, %v, want 2", calls, err)
	}
	for name, want := range map[string]string{"a.txt": "local.a local.again", "b.txt": "local.b"} {
		after := newSetting(t, text)
		after.files[name] = "other"
		if got := strings.Join(changed(before, after.hash(t)), " "); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestPassedKeys checks that the instance of a provider configuration that calls choose counts.
func TestPassedKeys(t *testing.T) {
	const text = head + `
locals {
  which = "a"
}
provider "sim" {
  alias    = "by"
  for_each = toset(["a", "b"])
  region   = each.key
}
module "m" {
  source    = "./m"
  for_each  = { x = "a" }
  providers = { sim = sim.by["a"] }
}
resource "sim_thing" "own" {
  provider = sim.by["c"]
}
-- m/main.tf --
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
}
module "n" {
  source    = "../n"
  providers = { sim = sim }
}
-- n/main.tf --
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
}
resource "sim_thing" "in" {}
`
	const in = "module.m.module.n.resource.sim_thing.in"
	literal := newSetting(t, text).hash(t)
	local := newSetting(t, strings.Replace(text, `sim.by["a"]`, `sim.by[local.which]`, 1))
	element := newSetting(t, strings.Replace(text, `sim.by["a"]`, `sim.by[each.value]`, 1))
	for _, c := range []struct {
		name     string
		before   *Set
		of       *setting
		old, new string
		want     string
	}{
		{"literal", literal, newSetting(t, text), `sim.by["a"]`, `sim.by["b"]`, in},
		{"local value", local.hash(t), local, `which = "a"`, `which = "b"`, "local.which " + in},
		{"element", element.hash(t), element, `{ x = "a" }`, `{ x = "b" }`, "module.m " + in},
		{"own key", literal, newSetting(t, text), `sim.by["c"]`, `sim.by["d"]`, "resource.sim_thing.own"},
		{"element that is not used", literal, newSetting(t, text), `{ x = "a" }`, `{ x = "b" }`, "module.m"},
	} {
		c.of.files["main.tf"] = strings.Replace(c.of.files["main.tf"], c.old, c.new, 1)
		if got := strings.Join(changed(c.before, c.of.hash(t)), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestJSON checks that configurations in JSON syntax are hashed like others.
func TestJSON(t *testing.T) {
	const text = `
-- main.tf.json --
{
  "terraform": {"required_providers": {"sim": {"source": "mayfly.dev/test/sim"}}},
  "variable": {"e": {"ephemeral": true, "default": "e"}},
  "locals": {"x": "1", "list": ["${local.x}", {"k": true}], "now": "${timestamp()}", "file": "${file(\"a.txt\")}"},
  "provider": {"sim": {"region": "${var.e}${local.x}", "headers": {"a": "${var.e}", "b": true}, "key": null}},
  "resource": {"sim_thing": {
    "a": {"name": "${local.list[0]}", "password_wo": "${local.x}", "rule": [{"value": "r1"}]},
    "b": {"password_wo": "${local.x}"}
  }}
}
-- a.txt --
content
`
	before := newSetting(t, text).hash(t)
	if got, want := unknownOf(before), []string{"local.now"}; !slices.Equal(got, want) {
		t.Errorf("blocks without a hash: got %v, want %v", got, want)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"1"`, `"2"`, "local.list local.x resource.sim_thing.a"},
		{`true}]`, `false}]`, "local.list resource.sim_thing.a"},
		{`{"k"`, `{"l"`, "local.list resource.sim_thing.a"},
		{`"r1"`, `"r2"`, "resource.sim_thing.a"},
		{"content", "other", "local.file"},
		{`"list": [`, `"list":   [ `, ""},
	} {
		got := strings.Join(changed(before, newSetting(t, strings.Replace(text, c.old, c.new, 1)).hash(t)), " ")
		if got != c.want {
			t.Errorf("%s for %s: got %q, want %q", c.new, c.old, got, c.want)
		}
	}
}

// TestOverrides checks that a file that overrides arguments counts.
func TestOverrides(t *testing.T) {
	const text = head + "resource \"sim_thing\" \"a\" {\n  name = \"a\"\n}\n-- x_override.tf --\nresource \"sim_thing\" \"a\" {\n  list = [\"1\"]\n}\n"
	got := changed(newSetting(t, text).hash(t), newSetting(t, strings.Replace(text, `"1"`, `"2"`, 1)).hash(t))
	if want := []string{"resource.sim_thing.a"}; !slices.Equal(got, want) {
		t.Errorf("changed hashes: got %v, want %v", got, want)
	}
}

// TestKey checks that another key gives other hashes, and that the same inputs give the same ones.
func TestKey(t *testing.T) {
	s := newSetting(t, everything)
	cfg := s.compile(t)
	in := s.inputs()
	one, err := Of(cfg, in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Of(cfg, in)
	if err != nil {
		t.Fatal(err)
	}
	in.Key = []byte("other")
	other, err := Of(cfg, in)
	if err != nil {
		t.Fatal(err)
	}
	if got := changed(one, again); len(got) > 0 {
		t.Errorf("the same inputs: got changes %v, want none", got)
	}
	if got, all := changed(one, other), entries(one); len(got) != len(all) {
		t.Errorf("another key: got %d changes, want %d", len(got), len(all))
	}
	for i, m := range one.Modules() {
		if m.Digest != again.Modules()[i].Digest || m.Digest == other.Modules()[i].Digest {
			t.Errorf("%s: got a digest that does not follow from the entries, want one that does", m.Path)
		}
	}
}

// TestAccessors checks the hashes of single blocks.
func TestAccessors(t *testing.T) {
	set, cfg := newSetting(t, everything).both(t)
	root := cfg.Modules[addr.RootModule]
	all := entries(set)
	b := root.Resources[addr.Resource{Type: "sim_thing", Name: "b"}]
	for name, get := range map[string]func() (Hash, bool){
		"resource.sim_thing.b":            func() (Hash, bool) { return set.Block(b) },
		"repetition.resource.sim_thing.b": func() (Hash, bool) { return set.Repetition(b) },
		"module.m":                        func() (Hash, bool) { return set.Block(root.Calls["m"]) },
		"provider.sim":                    func() (Hash, bool) { return set.Block(root.Providers["sim"]) },
		"check.c":                         func() (Hash, bool) { return set.Block(root.Checks["c"]) },
	} {
		if got, known := get(); !known || got != all[name].Hash {
			t.Errorf("%s: got %v %x, want %x", name, known, got, all[name].Hash)
		}
	}
	if _, known := set.Repetition(root.Resources[addr.Resource{Type: "sim_thing", Name: "a"}]); known {
		t.Error("repetition of a single resource: got a hash, want none")
	}
}

// TestErrors checks that an interrupted run and a failing slow hash end the computation.
func TestErrors(t *testing.T) {
	s := newSetting(t, everything)
	in := s.inputs()
	in.Slow = func(cty.Value) ([]byte, error) { return nil, fmt.Errorf("no memory") }
	if _, err := Of(s.compile(t), in); err == nil || !strings.Contains(err.Error(), "no memory") {
		t.Errorf("slow hash: got %v, want its error", err)
	}
	done := make(chan struct{})
	close(done)
	text := newSetting(t, head+"locals {\n  sum = filesha256(\"a.txt\")\n}\n-- a.txt --\nx\n")
	in = text.inputs()
	in.Interrupted = done
	if _, err := Of(text.compile(t), in); !errors.Is(err, bounds.ErrInterrupted) {
		t.Errorf("interrupted: got %v, want %v", err, bounds.ErrInterrupted)
	}
}
