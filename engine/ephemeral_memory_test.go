package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/engine"
)

// TestE55NothingHoldsTheValue looks through everything that this process can reach, after an instance was closed and while the run goes on.
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
  create_delay = "3s"
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
	dumped := make(chan error, 1)
	w.ok(command{onEvent: during(engine.OpCreate, "sim_slow.rest", func() {
		time.Sleep(time.Second) // what was open is being closed
		dumped <- dump(path)
	})})
	if err := <-dumped; err != nil {
		t.Fatal(err)
	}
	heap, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(heap, []byte("sim_slow")) {
		t.Error("the dump does not have what is surely in memory")
	}
	for _, secret := range []string{"CANARY-lease-sim_secret-heapwatch", "CANARY-sim_secret-heapwatch"} {
		for at := 0; ; {
			i := bytes.Index(heap[at:], []byte(secret))
			if i < 0 {
				break
			}
			at += i + 1
			t.Errorf("a secret is still in memory: %q", heap[max(0, at-200):at+200])
		}
	}
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
