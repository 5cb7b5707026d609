//go:build unix

package migrations

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// required names the provider.
const required = "terraform {\n  required_providers {\n    sim = { source = \"" + simcloud.Source + "\" }\n  }\n}\n"

// configuration has everything that a state can have objects, outputs and results for. With fail set to
// create-partial and another version, an apply leaves a tainted object and a deposed one.
var configuration = map[string]string{"main.tf": required + `
variable "number" {
  type    = number
  default = 1
  validation {
    condition     = var.number > 0
    error_message = "It is not positive."
  }
}
variable "fail" {
  type    = string
  default = null
}
variable "secret" {
  type      = string
  sensitive = true
  default   = "unlike"
}

ephemeral "sim_secret" "e" {
  name = "e"
}

resource "sim_thing" "counted" {
  count             = 3
  name              = "counted${count.index}"
  tags              = { version = var.number, "a.b[\"c\"]" = "<&>\u2028" }
  secret_wo         = ephemeral.sim_secret.e.value
  secret_wo_version = 1
  rule {
    port = 1e6
  }
}

resource "sim_thing" "keyed" {
  for_each = toset(["plain", "two words", "dotted.key[0]", "quo\"ted", "back\\slash", "ünï€", "$${no}", "a/b", "0", ""])
  name     = "keyed ${each.key}"
  tags     = { from = sim_thing.counted[1].id }
}

resource "sim_thing" "kept" {
  name       = "kept"
  replace_me = var.number
  fail_on    = var.fail
  lifecycle {
    create_before_destroy = true
    postcondition {
      condition     = self.name == "kept"
      error_message = "It has another name."
    }
  }
}

resource "sim_shape" "secrets" {
  name     = "secrets"
  secret   = var.secret
  text     = "plain ${var.secret}"
  dyn      = { list = [1, "two", null], secret = var.secret }
  labels   = ["b", "a"]
  settings = { mode = "m", level = 0.1 }
  part {
    value = "v"
    leaf {
      value = "l"
    }
  }
}

resource "terraform_data" "any" {
  input            = { number = 12345678901234567890.5, tuple = [true, null, {}], text = sim_thing.kept.name }
  triggers_replace = sim_thing.counted[*].name
}

module "m" {
  source   = "./m"
  for_each = toset(["one", "an.other[\"x\"]"])
  name     = each.key
  from     = sim_thing.counted[0].id
}

data "sim_lookup" "d" {
  name = sim_thing.counted[2].name
}

check "met" {
  assert {
    condition     = data.sim_lookup.d.tags.version == tostring(var.number)
    error_message = "The tag is wrong."
  }
}
check "unmet" {
  assert {
    condition     = length(sim_thing.keyed) == 0
    error_message = "There are ${length(sim_thing.keyed)} of them."
  }
}

output "plain" {
  value = sim_thing.counted[0].label
  precondition {
    condition     = length(sim_thing.counted) == 3
    error_message = "Three are needed."
  }
}
output "secret" {
  value     = { inside = var.secret }
  sensitive = true
}
output "complex" {
  value = { number = 1.5, big = 123456789012345678901234567890, list = [], tuple = ["a", 1, false, null], object = { "odd key" = "\n\t\"" }, set = toset(["x"]) }
}
output "modules" {
  value = { for key, m in module.m : key => m.ids }
}
`, "m/main.tf": required + `
variable "name" {}
variable "from" {}

resource "sim_thing" "inner" {
  count = 2
  name  = "${var.name} ${count.index}"
  tags  = { from = var.from }
}
data "sim_lookup" "inner" {
  name = sim_thing.inner[0].name
}
output "ids" {
  value = concat(sim_thing.inner[*].id, [data.sim_lookup.inner.id])
}
`}

// evaluated is how many objects a plan of changes has evaluated.
var evaluated = regexp.MustCompile(`Scope: (\d+) evaluated, of (\d+) objects`)

// TestMigrations takes states from each kind of place to rows and back. Nothing may be lost or added.
func TestMigrations(t *testing.T) {
	rows, others := places(t)
	first := begun(t)
	t.Run("kinds", func(t *testing.T) { // ends before the servers
		for _, p := range others {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				beside := func(t *testing.T) {
					if p.name != "pg" { // which has one lock for creating states in all schemas of a database
						t.Parallel()
					}
				}
				t.Run("state", func(t *testing.T) { beside(t); moveState(t, first, rows, p) })
				t.Run("encrypted", func(t *testing.T) { beside(t); moveEncrypted(t, rows, p) })
				t.Run("workspaces", func(t *testing.T) { beside(t); moveWorkspaces(t, rows, p) })
			})
		}
	})
	stored := rows.contents()
	for _, p := range others {
		if p.name != rows.name && bytes.Contains(stored, []byte(canary(p))) {
			t.Errorf("the rows of the state from %s have the secret: got true, want false", p.name)
		}
	}
}

// begun returns a site, without a place for its state, after an apply and one that has failed.
func begun(t *testing.T) *site {
	t.Helper()
	s := newSite(t, environ(), configuration)
	s.must("init", "-plugin-dir="+mirror)
	s.must("apply", "-auto-approve")
	s.run(1, "apply", "-auto-approve", "-var=number=2", "-var=fail=create-partial")
	s.contains("state pull", s.must("state", "pull"), `"deposed": "`, `"status": "tainted"`, `"sensitive_attributes": [ [`, `"private": "`, `"dependencies": [`,
		`"mode": "data"`, `"index_key": "quo\"ted"`, `"index_key": 2`, `"status": "fail"`, `"object_kind": "check"`, `"unlike"`, "123456789012345678901234567890")
	return s
}

// moveState takes a state from the directory to a place, then to rows, where an apply completes it, back to
// the place, which has a former state, and once more to rows after an apply there.
func moveState(t *testing.T, first *site, rows, p place) {
	s := first.copied(t, p.env)
	there, target := p.one("state"+p.name), rows.one("rows"+p.name)
	pulled := s.must("state", "pull")
	s.contains("init", s.move(there), copied("default"))
	s.has(pulled)
	s.contains("init", s.move(target), copied("default"))
	s.has(pulled)

	version := "-var=number=2"
	s.contains("apply", s.must("apply", "-auto-approve", "-scope=changed", version), "Scope: everything", "Apply complete!")
	again := s.must("apply", "-auto-approve", "-scope=changed", version)
	s.contains("apply", again, "No changes")
	if m := evaluated.FindStringSubmatch(again); m == nil || m[1] != "4" {
		t.Errorf("apply -scope=changed: got\n%s\nwant 4 evaluated: the data sources, and what the replaced object leads to", again)
	}
	pulled = s.must("state", "pull")
	if strings.Contains(pulled, `"deposed"`) || strings.Contains(pulled, `"tainted"`) {
		t.Errorf("state pull: got\n%s\nwant no deposed and no tainted object", pulled)
	}
	s.contains("init", s.move(there), copied("default"))
	s.has(pulled)

	version = "-var=number=3"
	s.must("apply", "-auto-approve", version)
	pulled = s.must("state", "pull")
	s.contains("init", s.move(target), copied("default"))
	s.has(pulled)
	s.run(0, "plan", "-detailed-exitcode", version)
}

// encryption returns a terraform block that encrypts states with a passphrase. The arguments of its state
// block are given.
func encryption(state string) string {
	return `
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase    = "a passphrase that is long enough"
      iterations    = 200000
      hash_function = "sha256"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    method "unencrypted" "u" {}
    state {
` + state + `
    }
  }
}
`
}

var (
	encrypted  = encryption("method = method.aes_gcm.m\nenforced = true")
	encrypting = encryption("method = method.aes_gcm.m\nfallback {\nmethod = method.unencrypted.u\n}")
	decrypting = encryption("method = method.unencrypted.u\nfallback {\nmethod = method.aes_gcm.m\n}")
)

// sealed is a configuration whose state has a secret.
const sealed = `
variable "secret" {
  sensitive = true
}
resource "terraform_data" "one" {
  input = var.secret
}
output "secret" {
  value     = terraform_data.one.output
  sensitive = true
}
`

// canary is the secret in the encrypted state that comes from a place.
func canary(p place) string { return "canary-of-" + p.name }

// moveEncrypted takes an encrypted state to encrypted rows, from there to a place in clear, to encrypted
// rows again, and to the first place, which has it encrypted.
func moveEncrypted(t *testing.T, rows, p place) {
	s := newSite(t, p.env, map[string]string{"main.tf": required + sealed})
	variable := "-var=secret=" + canary(p)
	has := func(want bool) {
		t.Helper()
		if p.contents == nil || p.name == rows.name {
			return
		}
		if got := bytes.Contains(p.contents(), []byte(canary(p))); got != want {
			t.Errorf("the contents of %s have the secret: got %v, want %v", p.name, got, want)
		}
	}
	s.put(p.one("sealed"+p.name), encrypted)
	s.must("init", "-plugin-dir="+mirror)
	s.must("apply", "-auto-approve", variable)
	has(false)
	pulled := s.must("state", "pull")
	s.contains("state pull", pulled, canary(p))
	for _, step := range []struct{ block, encryption string }{
		{rows.one("rows" + p.name + "sealed"), encrypted},
		{p.one("open" + p.name), decrypting},
		{rows.one("rows" + p.name + "closed"), encrypting},
		{p.one("sealed" + p.name), encrypted},
	} {
		s.contains("init", s.move(step.block, step.encryption), copied("default"))
		s.has(pulled)
	}
	has(true) // in the place that is left behind
	s.run(0, "plan", "-detailed-exitcode", variable)
}

// brief is a configuration whose state differs by workspace.
const brief = `
resource "terraform_data" "one" {
  input = "in ${terraform.workspace}"
}
output "where" {
  value = terraform_data.one.output
}
`

// moveWorkspaces takes the states of two workspaces to rows and back.
func moveWorkspaces(t *testing.T, rows, p place) {
	if p.many == nil {
		moveToOne(t, rows, p)
		return
	}
	names := []string{"default", "other"}
	if p.nameless {
		names = []string{"first", "other"}
	}
	s := newSite(t, p.env, map[string]string{"main.tf": required + brief})
	s.put(p.many("many" + p.name))
	states := s.begin(names...)
	arrived := func() {
		t.Helper()
		if got := strings.TrimSpace(s.must("workspace", "show")); got != "other" {
			t.Errorf("workspace show: got %q, want other", got)
		}
		for _, name := range names {
			s.in(name).has(states[name])
		}
	}
	s.contains("init", s.move(rows.one("rows"+p.name+"many")), copied(names...))
	arrived()
	s.contains("init", s.move(p.many("back"+p.name)), copied(names...))
	arrived()
	s.run(0, "plan", "-detailed-exitcode")
}

// moveToOne takes states of two workspaces to a place with room for one. It refuses them, and takes the only
// one that is left.
func moveToOne(t *testing.T, rows, p place) {
	s := newSite(t, p.env, map[string]string{"main.tf": required + brief})
	from, to := rows.one("many"+p.name), p.one("back"+p.name)
	s.put(from)
	states := s.begin("default", "other")
	s.put(to)
	s.fails(migrating(), fmt.Sprintf("The backend %q keeps the state of one workspace only", p.name), `states in the workspaces "default" and "other"`, "Nothing was copied")
	s.put(from)
	s.in("default").must("destroy", "-auto-approve")
	s.contains("init", s.move(to), copied("other"))
	s.has(states["other"])
}
