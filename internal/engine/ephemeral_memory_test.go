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
	path := filepath.Join(t.TempDir(), "heap")
	soft, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var found [][]byte
	watched := make(chan error, 1)
	w.fails(command{soft: soft, onEvent: during(event.OpCreate, "sim_slow.rest", func() {
		defer interrupt() // which ends the creation
		var err error
		for range 30 { // what was open is being closed
			if found, err = secretsInMemory(path); err != nil || len(found) == 0 {
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

// secretsInMemory writes what is in use to a file, and returns the surroundings of each secret in it, changed
// so that the next search doesn't find what this one has returned.
func secretsInMemory(path string) ([][]byte, error) {
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
	for _, secret := range []string{"CANARY-lease-sim_secret-heapwatch", "CANARY-sim_secret-heapwatch"} {
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
