package blockhash

import (
	"bytes"
	"hash"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

// recorder is a hash that keeps everything written to it.
type recorder struct {
	hash.Hash
	all *bytes.Buffer
}

func (r recorder) Write(b []byte) (int, error) {
	r.all.Write(b)
	return r.Hash.Write(b)
}

// TestSensitiveValuesEnterSlowly looks for secrets in everything that is hashed.
func TestSensitiveValuesEnterSlowly(t *testing.T) {
	const canary = "CANARY-5813"
	s := newSetting(t, head+`
variable "given" {
  sensitive = true
}
variable "default" {
  sensitive = true
  default   = "`+canary+`-2"
}
variable "ephemeral" {
  ephemeral = true
  default   = "`+canary+`-3"
}
locals {
  all  = [var.given, var.default, module.m.out]
  file = sensitive(file("secret.txt"))
  next = [sensitive("next"), file("public.txt")]
  tpl  = sensitive("${trimspace(templatefile("secret.txt", {}))}!")
}
resource "sim_thing" "a" {
  password_wo = "`+canary+`-4"
  password    = "`+canary+`-5"
  nested      = { pin_wo = "`+canary+`-6", pin = "`+canary+`-7" }
  many        = { k = { pin_wo = "`+canary+`-8" } }
  rule { value_wo = "`+canary+`-9" }
  lifecycle {
    ephemeral_attributes = { password = 1, nested.pin = 1 }
  }
}
module "m" {
  source = "./m"
}
-- m/main.tf --
variable "default" {
  sensitive = true
  default   = "`+canary+`-10"
}
output "out" {
  value     = var.default
  sensitive = true
}
-- secret.txt --
`+canary+`-11
-- public.txt --
public
`)
	s.vars = map[string]cty.Value{"given": cty.StringVal(canary + "-1"), "ephemeral": cty.StringVal(canary + "-12")}
	var all bytes.Buffer
	s.begin = func() hash.Hash { return recorder{newHash(), &all} }
	set := s.hash(t)
	if i := bytes.Index(all.Bytes(), []byte(canary)); i >= 0 {
		t.Errorf("secrets that are hashed: got %q, want none", all.Bytes()[i:i+len(canary)+3])
	}
	if got := unknownOf(set); len(got) > 0 {
		t.Errorf("blocks without a hash: got %v, want none", got)
	}
	if s.slowCalls == 0 || !bytes.Contains(all.Bytes(), []byte("sim_thing")) {
		t.Errorf("slow hashes: got %d, want some", s.slowCalls)
	}
}

// TestLeftOut lists edits of arguments that are left out in part, and whether they change the hash.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		name, before, after, want string
	}{
		{"element of a list of blocks", "rule { value = ephemeral.sim_secret.a.id }\n lifecycle { ephemeral_attributes = { rule[0].value = 1 } }", "rule { value = ephemeral.sim_secret.b.id }\n lifecycle { ephemeral_attributes = { rule[0].value = 1 } }", "same"},
		{"other element", "rule { value = \"a\" }\n rule { value = \"b\" }\n lifecycle { ephemeral_attributes = { rule[1].value = 1 } }", "rule { value = \"c\" }\n rule { value = \"b\" }\n lifecycle { ephemeral_attributes = { rule[1].value = 1 } }", "changed"},
		{"every element", "rule { value = \"a\" }\n rule { value = \"b\" }\n lifecycle { ephemeral_attributes = { rule[*].value = 1 } }", "rule { value = \"c\" }\n rule { value = \"d\" }\n lifecycle { ephemeral_attributes = { rule[*].value = 1 } }", "same"},
		{"an element behind generated ones", "dynamic \"rule\" {\n for_each = [1]\n content { value = \"a\" }\n }\n rule { value = \"x\" }\n lifecycle { ephemeral_attributes = { rule[1].value = 1 } }", "dynamic \"rule\" {\n for_each = [1]\n content { value = \"a\" }\n }\n rule { value = \"y\" }\n lifecycle { ephemeral_attributes = { rule[1].value = 1 } }", "changed"},
		{"an element without a version behind generated ones", "", "dynamic \"rule\" {\n for_each = [1]\n content { value = \"a\" }\n }\n rule { value = \"y\" }\n lifecycle { ephemeral_attributes = [rule[1].value] }", "none"},
		{"the first element, behind generated ones", "dynamic \"rule\" {\n for_each = []\n content { value = \"a\" }\n }\n rule { value = \"x\" }\n lifecycle { ephemeral_attributes = { rule[0].value = 1 } }", "dynamic \"rule\" {\n for_each = []\n content { value = \"a\" }\n }\n rule { value = \"y\" }\n lifecycle { ephemeral_attributes = { rule[0].value = 1 } }", "changed"},
		{"every element, of generated ones", "dynamic \"rule\" {\n for_each = [1]\n content { value = \"a\" }\n }\n lifecycle { ephemeral_attributes = { rule[*].value = 1 } }", "dynamic \"rule\" {\n for_each = [1]\n content { value = \"b\" }\n }\n lifecycle { ephemeral_attributes = { rule[*].value = 1 } }", "same"},
		{"element behind blocks of another type", "rule {}\n step { value = \"x\" }\n lifecycle { ephemeral_attributes = { step[0].value = 1 } }", "rule {}\n step { value = \"y\" }\n lifecycle { ephemeral_attributes = { step[0].value = 1 } }", "same"},
		{"order of types of blocks", "rule { value = \"x\" }\n step { value = \"y\" }", "step { value = \"y\" }\n rule { value = \"x\" }", "same"},
		{"other type of block", "rule { value = \"x\" }", "step { value = \"x\" }", "changed"},
		{"single block", "one { value = \"x\" }\n lifecycle { ephemeral_attributes = { one.value = 1 } }", "one { value = \"y\" }\n lifecycle { ephemeral_attributes = { one.value = 1 } }", "same"},
		{"group", "group { value = \"x\" }\n lifecycle { ephemeral_attributes = { group.value = 1 } }", "group { value = \"y\" }\n lifecycle { ephemeral_attributes = { group.value = 1 } }", "same"},
		{"labelled block", "entry \"a\" { value = \"x\" }\n lifecycle { ephemeral_attributes = { entry[\"a\"].value = 1 } }", "entry \"a\" { value = \"y\" }\n lifecycle { ephemeral_attributes = { entry[\"a\"].value = 1 } }", "same"},
		{"label", "entry \"a\" { value = \"x\" }", "entry \"b\" { value = \"x\" }", "changed"},
		{"content of generated blocks", "dynamic \"rule\" {\n for_each = [1]\n content { value = \"a\" }\n }", "dynamic \"rule\" {\n for_each = [1]\n content { value = \"b\" }\n }", "changed"},
		{"labels of generated blocks", "dynamic \"entry\" {\n for_each = [1]\n labels = [\"a\"]\n content {}\n }", "dynamic \"entry\" {\n for_each = [1]\n labels = [\"b\"]\n content {}\n }", "changed"},
		{"write-only argument in generated blocks", "dynamic \"rule\" {\n for_each = [1]\n content { value_wo = \"a\" }\n }", "dynamic \"rule\" {\n for_each = [1]\n content { value_wo = \"b\" }\n }", "same"},
		{"for_each of generated blocks", "dynamic \"rule\" {\n for_each = [1]\n content { value_wo = \"a\" }\n }", "dynamic \"rule\" {\n for_each = [2]\n content { value_wo = \"a\" }\n }", "changed"},
		{"iterator of generated blocks", "dynamic \"rule\" {\n for_each = [1]\n content { value = rule.value }\n }", "dynamic \"rule\" {\n for_each = [1]\n iterator = r\n content { value = r.value }\n }", "changed"},
		{"member of a map of objects", "many = { k = { pin_wo = \"a\" } }", "many = { k = { pin_wo = \"b\" } }", "same"},
		{"key of a map of objects", "many = { k = { pin_wo = \"a\" } }", "many = { l = { pin_wo = \"a\" } }", "changed"},
		{"members of a written-out map", "tags = { a = \"1\", b = \"2\" }\n lifecycle { ephemeral_attributes = { tags[\"a\"] = 1 } }", "tags = { a = \"3\", b = \"2\" }\n lifecycle { ephemeral_attributes = { tags[\"a\"] = 1 } }", "same"},
		{"other members of a written-out map", "tags = { a = \"1\", b = \"2\" }\n lifecycle { ephemeral_attributes = { tags[\"a\"] = 1 } }", "tags = { a = \"1\", b = \"3\" }\n lifecycle { ephemeral_attributes = { tags[\"a\"] = 1 } }", "changed"},
		{"in parentheses", "nested = ({ pin_wo = \"a\" })", "nested = ({ pin_wo = \"b\" })", "same"},
		{"in an object that is not written out", "nested = { for k in [\"pin\"] : k => \"1\" }\n lifecycle { ephemeral_attributes = { nested.pin = 1 } }", "nested = { for k in [\"pin\"] : k => \"2\" }\n lifecycle { ephemeral_attributes = { nested.pin = 1 } }", "changed"},
		{"in an object that is not written out, without a version", "", "nested = { for k in [\"pin\"] : k => \"1\" }\n lifecycle { ephemeral_attributes = [nested.pin] }", "none"},
		{"under a computed key, without a version", "", "nested = { (local.k) = \"1\" }\n lifecycle { ephemeral_attributes = [nested.pin] }", "none"},
		{"not given, without a version", "nested = { user = \"1\" }\n lifecycle { ephemeral_attributes = [nested.pin] }", "nested = { user = \"2\" }\n lifecycle { ephemeral_attributes = [nested.pin] }", "changed"},
		{"elements of a list", "list = [ephemeral.sim_secret.a.id, \"x\"]\n lifecycle { ephemeral_attributes = { list[0] = 1 } }", "list = [ephemeral.sim_secret.b.id, \"x\"]\n lifecycle { ephemeral_attributes = { list[0] = 1 } }", "same"},
		{"other elements of a list", "list = [\"y\", \"x\"]\n lifecycle { ephemeral_attributes = { list[0] = 1 } }", "list = [\"y\", \"z\"]\n lifecycle { ephemeral_attributes = { list[0] = 1 } }", "changed"},
		{"version", "list = [\"x\"]\n lifecycle { ephemeral_attributes = { list = 7 } }", "list = [\"x\"]\n lifecycle { ephemeral_attributes = { list = 8 } }", "changed"},
		{"path that is not given", "lifecycle { ephemeral_attributes = { list = 7 } }", "lifecycle { ephemeral_attributes = { tags = 7 } }", "changed"},
		{"order of paths", "lifecycle { ephemeral_attributes = { list = 7, tags = 8 } }", "lifecycle { ephemeral_attributes = { tags = 8, list = 7 } }", "same"},
		{"instance of an action", "lifecycle {\n action_trigger {\n events = [after_create]\n actions = [action.sim_act.x[0]]\n }\n }", "lifecycle {\n action_trigger {\n events = [after_create]\n actions = [action.sim_act.x[1]]\n }\n }", "changed"},
		{"condition of actions", "lifecycle {\n action_trigger {\n events = [after_create]\n condition = local.k == \"a\"\n actions = [action.sim_act.x[0]]\n }\n }", "lifecycle {\n action_trigger {\n events = [after_create]\n condition = local.k == \"b\"\n actions = [action.sim_act.x[0]]\n }\n }", "changed"},
		{"failure of actions", "lifecycle {\n action_trigger {\n events = [after_create]\n actions = [action.sim_act.x[0]]\n }\n }", "lifecycle {\n action_trigger {\n events = [after_create]\n on_failure = continue\n actions = [action.sim_act.x[0]]\n }\n }", "changed"},
		{"explicit one of two dependencies", "list = [sim_thing.x.id, sim_thing.y.id]\n depends_on = [sim_thing.x]", "list = [sim_thing.x.id, sim_thing.y.id]\n depends_on = [sim_thing.y]", "changed"},
		{"argument of a connection", "provisioner \"remote-exec\" {\n inline = [\"x\"]\n connection {\n host = \"h\"\n user = \"x\"\n }\n }", "provisioner \"remote-exec\" {\n inline = [\"x\"]\n connection {\n host = \"h\"\n type = \"x\"\n }\n }", "changed"},
		{"connection of the resource", "connection {\n host = \"h\"\n }\n provisioner \"remote-exec\" {\n inline = [\"x\"]\n }", "connection {\n host = \"i\"\n }\n provisioner \"remote-exec\" {\n inline = [\"x\"]\n }", "changed"},
		{"type of a provisioner", "provisioner \"local-exec\" {\n command = \"x\"\n }", "provisioner \"local-exec\" {\n command = \"x\"\n }\n provisioner \"local-exec\" {\n command = \"x\"\n }", "changed"},
		{"computed by the provider", "name = \"1\"\n lifecycle { ephemeral_attributes = [token] }", "name = \"2\"\n lifecycle { ephemeral_attributes = [token] }", "changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rest = "locals { k = \"pin\" }\nephemeral \"sim_secret\" \"a\" {}\nephemeral \"sim_secret\" \"b\" { name = \"b\" }\n" +
				"action \"sim_act\" \"x\" {\n  count = 2\n  config {}\n}\nresource \"sim_thing\" \"x\" {}\nresource \"sim_thing\" \"y\" {}\n"
			hashOf := func(body string) (Hash, bool) {
				s := newSetting(t, head+rest+"resource \"sim_thing\" \"a\" {\n "+body+"\n}\n")
				set, cfg := s.both(t)
				return set.Block(cfg.Modules[addr.RootModule].Resources[addr.Resource{Type: "sim_thing", Name: "a"}])
			}
			before, _ := hashOf(c.before)
			after, known := hashOf(c.after)
			got := "changed"
			switch {
			case !known:
				got = "none"
			case before == after:
				got = "same"
			}
			if got != c.want {
				t.Errorf("hash: got %s, want %s", got, c.want)
			}
		})
	}
}

// TestEphemeralPartsOfProviders lists arguments of provider configurations and whether changing local.x,
// which they refer to, changes the hash.
func TestEphemeralPartsOfProviders(t *testing.T) {
	for expr, want := range map[string]bool{
		`local.x`: true,
		`"${ephemeral.sim_secret.s.id}-${local.x}"`: false,
		`local.mixed`:                                  false,
		`local.object.secret`:                          false,
		`local.object.plain`:                           true,
		`local.object["secret"]`:                       false,
		`local.made.plain`:                             true,
		`true ? local.x : ephemeral.sim_secret.s.id`:   true,
		`true ? local.mixed : "${var.e}${local.x}"`:    false,
		`upper(local.mixed)`:                           true,
		`(local.mixed)`:                                false,
		`"${local.mixed}"`:                             false,
		`module.m.secret`:                              false,
		`module.m.plain`:                               true,
		`local.alias.secret`:                           false,
		`local.alias.plain`:                            true,
		`(local.object).secret`:                        false,
		`ephemeral.sim_secret.s.list[length(local.x)]`: false,
		`true ? local.mixed : local.x`:                 true,
		`local.mixed == local.x`:                       false,
		`local.x == local.mixed`:                       false,
		`local.x == "1"`:                               true,
		`!(local.mixed == "a")`:                        false,
		`"${local.loop}${local.x}"`:                    true,
		`local.circle`:                                 true,
	} {
		text := func(x string) string {
			return head + `
variable "e" {
  ephemeral = true
  default   = "e"
}
locals {
  x      = "` + x + `"
  mixed  = "${var.e}${local.x}"
  object = { secret = "${var.e}${local.x}", plain = local.x }
  made   = merge({ secret = var.e }, { plain = local.x })
  circle = "${local.x}${local.one}${local.one}"
  one    = "1"
  alias  = local.object
  loop   = local.pool
  pool   = local.loop
}
provider "sim" {
  alias = "plain"
}
ephemeral "sim_secret" "s" {
  provider = sim.plain
}
provider "sim" {
  region = ` + expr + `
}
module "m" {
  source    = "./m"
  providers = { sim = sim.plain }
  e         = "${var.e}${local.x}"
  x         = local.x
}
-- m/main.tf --
terraform {
  required_providers { sim = { source = "mayfly.dev/test/sim" } }
}
variable "e" {
  ephemeral = true
}
variable "x" {}
output "secret" {
  value     = upper(var.e)
  ephemeral = true
}
output "plain" {
  value = var.x
}
`
		}
		got := changed(newSetting(t, text("1")).hash(t), newSetting(t, text("2")).hash(t))
		if slices.Contains(got, "provider.sim") != want {
			t.Errorf("%s: got %v, want the provider configuration in it %v", expr, got, want)
		}
	}
}

// TestEphemeralPartsOfHeaders checks written-out objects in provider configurations.
func TestEphemeralPartsOfHeaders(t *testing.T) {
	const text = head + `
variable "e" {
  ephemeral = true
  default   = "e"
}
locals {
  x = "1"
  y = "2"
}
provider "sim" {
  headers = { secret = "${var.e}${local.x}", plain = local.y }
}
resource "sim_thing" "a" {}
`
	before := newSetting(t, text).hash(t)
	if got, want := changed(before, newSetting(t, strings.Replace(text, `"1"`, `"3"`, 1)).hash(t)), []string{"local.x"}; !slices.Equal(got, want) {
		t.Errorf("ephemeral part: got %v, want %v", got, want)
	}
	if got, want := changed(before, newSetting(t, strings.Replace(text, `"2"`, `"3"`, 1)).hash(t)), []string{"local.y", "provider.sim", "resource.sim_thing.a"}; !slices.Equal(got, want) {
		t.Errorf("other part: got %v, want %v", got, want)
	}
}
