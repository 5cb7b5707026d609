package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/event"
)

// TestE55NothingHoldsTheValue looks through everything that this process can reach, after an instance was
// closed and while the run goes on.
func TestE55NothingHoldsTheValue(t *testing.T) {
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "heapwatch" }
ephemeral "sim_secret" "p" { name = "heapwatch-provider" }
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.p.lease
}
module "m" {
  source = "./m"
  secret = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "x" {
  name              = "x"
  secret_wo         = module.m.secret
  secret_wo_version = 1
  provisioner "local-exec" {
    command     = "true"
    environment = { V = ephemeral.sim_secret.s.value }
  }
}
resource "sim_thing" "y" {
  provider = sim.p
  name     = "y"
  json     = jsonencode(sim_thing.x.id)
}
resource "sim_thing" "long" { # its answer takes the place of what the connection received last
  name = "long"
  json = jsonencode([sim_thing.y.id, join("", [for i in range(1000) : "long"])])
}
resource "sim_slow" "rest" {
  name         = "rest"
  trigger      = sim_thing.long.id
  create_delay = "5m"
}`)
	w.file("m/main.tf", prelude+`
variable "secret" {
  type      = string
  ephemeral = true
}
locals { again = "${var.secret}" }
output "secret" {
  value     = local.again
  ephemeral = true
}`)
	nothingIsLeft(t, w, "CANARY-lease-sim_secret-heapwatch", "CANARY-sim_secret-heapwatch")
}

// TestE96NothingHoldsTheValue looks for values that a provider has computed and that are kept out of the
// state, after the last step that may read them and while the run goes on. They have gone wherever they may.
func TestE96NothingHoldsTheValue(t *testing.T) {
	w := newWorld(t, `
resource "sim_account" "s" {
  name = "heapwatch"
  lifecycle { ephemeral_attributes = [token] }
}
resource "sim_account" "many" {
  count = 2
  name  = "heapwatch-many-${count.index}"
  lifecycle { ephemeral_attributes = [token] }
}
resource "sim_account" "each" {
  for_each = toset(["a", "b"])
  name     = "heapwatch-each-${each.key}"
  lifecycle { ephemeral_attributes = [token] }
}
locals { each = { for k, v in sim_account.each : k => { token = v.token } } }
module "each" {
  for_each = local.each
  source   = "./each"
  v        = each.value
}
resource "sim_thing" "each" {
  for_each          = tomap({ for k, v in local.each : k => { token = v.token } })
  name              = each.key
  secret_wo         = "${each.value.token}${module.each[each.key].token}"
  secret_wo_version = 1
}
module "pass" {
  source = "./pass"
  v      = local.each
}
resource "sim_thing" "index" {
  for_each          = toset(["a", "b"])
  name              = each.key
  secret_wo         = "${local.each[each.key].token}${module.pass.typed[each.key].token}${values(sim_account.each)[0].token}${values(module.each)[1].token}"
  secret_wo_version = 1
}
resource "sim_account" "unused" {
  name = "heapwatch-unused"
  lifecycle { ephemeral_attributes = [token] }
}
ephemeral "sim_secret" "e" { name = "of-${sim_account.s.token}" }
provider "sim" {
  alias = "p"
  token = sim_account.s.token
}
locals { all = sim_account.many[*].token }
module "m" {
  count  = 2
  source = "./m"
  secret = "${sim_account.s.token}${local.all[count.index]}"
}
resource "sim_thing" "x" {
  name              = "x"
  secret_wo         = join("", module.m[*].secret)
  secret_wo_version = fingerprint(sim_account.s.token)
  provisioner "local-exec" {
    command     = "test -n \"$V\" -a -n \"$W\""
    environment = { V = sim_account.s.token, W = ephemeral.sim_secret.e.value }
  }
  lifecycle {
    precondition {
      condition     = alltrue([for t in local.all : startswith(t, "token-")])
      error_message = "The tokens are others."
    }
  }
}
resource "sim_account" "made" {
  name     = "heapwatch-made"
  password = jsonencode({ token = local.all })
  lifecycle { ephemeral_attributes = [password, token] }
}
action "sim_note" "n" {
  config {
    name = "n"
    text = sim_account.s.token
  }
}
resource "sim_thing" "y" {
  provider = sim.p
  name     = "y"
  lifecycle {
    action_trigger {
      events    = [after_create]
      condition = length(sim_account.many[0].token) > 0
      actions   = [action.sim_note.n]
    }
  }
  json     = jsonencode([sim_thing.x.id, sim_account.made.id])
}
output "number" { value = fingerprint(sim_account.s.token) }
output "none" { value = [for t in local.all : nonsensitive(ephemeralasnull(t))] }
resource "sim_thing" "long" { # its answer takes the place of what the connection received last
  name = "long"
  json = jsonencode([sim_thing.y.id, sim_thing.each["a"].id, sim_thing.each["b"].id, sim_thing.index["a"].id, sim_thing.index["b"].id, sim_account.unused.id, join("", [for i in range(1000) : "long"])])
}
resource "sim_slow" "rest" {
  name         = "rest"
  trigger      = join("", [sim_thing.long.id, sim_account.s.id, sim_account.many[1].id])
  create_delay = "5m"
  depends_on   = [sim_account.made]
}`)
	w.file("each/main.tf", prelude+`
variable "v" { ephemeral = true }
output "token" {
  value     = var.v.token
  ephemeral = true
}`)
	w.file("pass/main.tf", prelude+`
variable "v" {
  type      = map(object({ token = string }))
  ephemeral = true
}
output "typed" {
  value     = var.v
  ephemeral = true
}`)
	w.file("m/main.tf", prelude+`
variable "secret" {
  type      = string
  ephemeral = true
  validation {
    condition     = length(var.secret) > 30
    error_message = "It is too short."
  }
}
locals { again = "${var.secret}" }
output "secret" {
  value     = local.again
  ephemeral = true
  precondition {
    condition     = startswith(local.again, "token-")
    error_message = "It is another one."
  }
}`)
	nothingIsLeft(t, w, "CANARY-heapwatch")
}

// nothingIsLeft applies a configuration whose last step is to create sim_slow.rest, and looks for the texts
// in everything that this process can reach meanwhile.
func nothingIsLeft(t *testing.T, w *world, texts ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "heap")
	soft, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var found [][]byte
	watched := make(chan error, 1)
	w.fails(command{soft: soft, onEvent: during(event.OpCreate, "sim_slow.rest", func() {
		defer interrupt() // which ends the creation
		var err error
		for range 30 { // what was open is being closed
			if found, err = inMemory(path, texts); err != nil || len(found) == 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		watched <- err
	})}, "interrupted")
	if err := <-watched; err != nil {
		t.Fatal(err)
	}
	for _, around := range found {
		t.Errorf("a secret is still in memory: %q", around)
	}
}

// inMemory writes all that is in use to a file, and returns the surroundings of each of the texts in it,
// changed so that the next search doesn't find the result of this one.
func inMemory(path string, texts []string) ([][]byte, error) {
	if err := dump(path); err != nil {
		return nil, err
	}
	heap, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(heap, []byte("sim_slow")) {
		return nil, errors.New("the dump does not have what is surely in memory")
	}
	var found [][]byte
	for _, secret := range texts {
		for at := 0; ; {
			i := bytes.Index(heap[at:], []byte(secret))
			if i < 0 {
				break
			}
			at += i + 1
			found = append(found, bytes.ReplaceAll(heap[max(0, at-200):min(len(heap), at+200)], []byte("CANARY"), []byte("canary")))
		}
	}
	return found, nil
}

// dump writes all objects that are in use to a file.
func dump(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for range 3 { // pools let go of what they keep after the second time
		runtime.GC()
	}
	debug.WriteHeapDump(f.Fd())
	return f.Close()
}
