package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
)

// TestE50FailedRenewalIsTriedAgain lets the first renewal fail, which is due from the start. The use tries
// again at once and goes on, so that what the provider said about the first try is a warning.
func TestE50FailedRenewalIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, secretUser)
	w.rules = rules(`{"rpc":"OpenEphemeralResource","do":"renew-at","text":"-1h"}`, `{"rpc":"RenewEphemeralResource","do":"rpc-error","text":"net split","nth":1}`)
	r := w.ok(command{})
	r.wants(diag.Warning, "net split", "A later try succeeded")
	r.did("create x")
	if n := strings.Count(texts(r.diags()), "net split"); n != 1 {
		t.Errorf("the failure was reported %d times", n)
	}
}

// TestE54RenewalThatHangs does not keep the instance from being closed, nor the run from ending.
func TestE54RenewalThatHangs(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "100ms"
}
resource "sim_thing" "x" {
  name      = "x"
  delay     = "300ms"
  secret_wo = ephemeral.sim_secret.s.lease
}`, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"RenewEphemeralResource","do":"hang"}`)
		begin := time.Now()
		r := w.run(command{closeLimit: 400 * time.Millisecond})
		if d := time.Since(begin); d > 15*time.Second {
			t.Errorf("the command took %s", d)
		}
		window(t, r.applyLog, "s")
		w.has("sim_thing.x")
	})
}

// TestE53CrashWhileClosing tells which lease may still be live.
func TestE53CrashWhileClosing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, secretUser)
	w.rules = rules(`{"rpc":"CloseEphemeralResource","do":"exit","when":"before","nth":2,"text":"last words"}`)
	r := w.fails(command{}, "Ephemeral resource may still be live", "ephemeral.sim_secret.s")
	r.wants(diag.Error, "stopped unexpectedly", "last words")
	w.has("sim_thing.x")
}

// TestE53InterruptWhileOpening waits for an opening that is under way, and closes it.
func TestE53InterruptWhileOpening(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, secretUser, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"OpenEphemeralResource","do":"delay","ms":400}`)
		soft, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := w.run(command{soft: soft, onEvent: during(event.OpOpen, "ephemeral.sim_secret.s", cancel)})
		if r.errors() == 0 {
			t.Error("the interrupted command has no error")
		}
		r.did()
		if len(r.log().Windows()) != 1 {
			t.Error("nothing was opened")
		}
	})
}

// TestE53HardCancelWhileOpening gives up an opening; a late answer is closed all the same or never counted as
// open.
func TestE53HardCancelWhileOpening(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, secretUser, func(t *testing.T, w *world) {
		w.rules = rules(`{"rpc":"OpenEphemeralResource","do":"hang"}`)
		hard, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin := time.Now()
		r := w.run(command{ctx: hard, onEvent: during(event.OpOpen, "ephemeral.sim_secret.s", func() {
			time.Sleep(50 * time.Millisecond)
			cancel()
		})})
		if d := time.Since(begin); d > 15*time.Second || !r.planDiags.HasErrors() {
			t.Errorf("took %s; %s", d, texts(r.diags()))
		}
	})
}

// TestE35ApplyingDecidesCount opens a tunnel in the apply phase only.
func TestE35ApplyingDecidesCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" {
  count = terraform.applying ? 1 : 0
  name  = "s"
}
resource "sim_thing" "x" {
  name = "x"
  provisioner "local-exec" {
    command     = "test -n \"$V\""
    environment = { V = join(",", ephemeral.sim_secret.s[*].value) }
  }
}`)
	r := w.ok(command{})
	if opens(r.planLog, "") != 0 || opens(r.applyLog, "") != 1 {
		t.Errorf("%d openings in plan, %d in apply", opens(r.planLog, ""), opens(r.applyLog, ""))
	}
	w.config(`
resource "sim_thing" "x" {
  count = terraform.applying ? 1 : 0
  name  = "x"
}`)
	w.fails(command{}, "sim_thing.x")
}

// TestE34ChecksOfEphemerals stores the results of an ephemeral resource's conditions, and the conditions of
// an unused one are evaluated.
func TestE34ChecksOfEphemerals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" {
  name = "s"
  lifecycle {
    precondition {
      condition     = terraform.workspace == "default"
      error_message = "no"
    }
    postcondition {
      condition     = self.opened > 0
      error_message = "not opened"
    }
  }
}
resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{})
	if got := w.checks(); !slices.Equal(got, []string{"ephemeral.sim_secret.s pass"}) {
		t.Errorf("checks = %q", got)
	}
}

// TestE33DataHeldOpen keeps what a data source depends on open while it is read.
func TestE33DataHeldOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "x" { name = "x" }
ephemeral "sim_secret" "tunnel" { name = "tunnel" }
data "sim_lookup" "d" {
  name       = "x"
  depends_on = [ephemeral.sim_secret.tunnel]
}`)
	r := w.ok(command{planOnly: true})
	if !window(t, r.planLog, "tunnel").Covers(call(t, r.planLog, simlog.Filter{RPC: "ReadDataSource"})) {
		t.Error("the tunnel was not open while the data source was read")
	}
	w.config(`
ephemeral "sim_secret" "s" { name = "s" }
data "sim_lookup" "d" { name = ephemeral.sim_secret.s.value }`)
	w.fails(command{planOnly: true}, "data.sim_lookup.d", "name")
}

// TestE33ResourceHeldOpen does the same for a managed resource.
func TestE33ResourceHeldOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "tunnel" { name = "tunnel" }
resource "sim_thing" "x" {
  name       = "x"
  depends_on = [ephemeral.sim_secret.tunnel]
}`)
	r := w.ok(command{})
	if !window(t, r.applyLog, "tunnel").Covers(applyOf(t, r.applyLog, "x")) {
		t.Error("the tunnel was not open while the resource was created")
	}
}

// TestE32ForbiddenPlaces refuses ephemeral values where the result would be stored.
func TestE32ForbiddenPlaces(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{
		"count":    `resource "sim_thing" "x" {` + "\n count = ephemeral.sim_secret.s.opened\n name = \"x\"\n}",
		"for_each": `resource "sim_thing" "x" {` + "\n for_each = toset([ephemeral.sim_secret.s.value])\n name = \"x\"\n}",
		"enabled":  `resource "sim_thing" "x" {` + "\n name = \"x\"\n lifecycle { enabled = ephemeral.sim_secret.s.opened > 0 }\n}",
		"trigger":  `resource "sim_thing" "x" {` + "\n name = \"x\"\n lifecycle { replace_triggered_by = [ephemeral.sim_secret.s] }\n}",
		"argument": `resource "sim_thing" "x" { name = ephemeral.sim_secret.s.value }`,
		"block":    `resource "sim_thing" "x" {` + "\n name = \"x\"\n dynamic \"rule\" {\n for_each = [1]\n content {\n port = 1\n note = ephemeral.sim_secret.s.value\n}\n}\n}",
		"output":   `output "o" { value = ephemeral.sim_secret.s.value }`,
		"moved":    "moved {\n from = ephemeral.sim_secret.s\n to = ephemeral.sim_secret.t\n}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "ephemeral \"sim_secret\" \"s\" { name = \"s\" }\n"+part)
			if diags := w.validate(); !diags.HasErrors() {
				t.Error("validate finds nothing wrong")
			}
			r := w.run(command{})
			if r.errors() == 0 {
				t.Errorf("no error; planned %q", r.actions())
			}
			w.exists()
		})
	}
}

// TestE32ImportID finds the ephemeral id when the import is planned.
func TestE32ImportID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
import {
  to = sim_thing.x
  id = ephemeral.sim_secret.s.value
}
resource "sim_thing" "x" { name = "x" }`)
	w.fails(command{}, "id of an import must not be ephemeral")
	w.exists()
}

// TestFailedHalvesOfReplacement fails each half of a replacement that destroys first.
func TestFailedHalvesOfReplacement(t *testing.T) {
	t.Parallel()
	text := func(replaceMe, failOn string) string {
		return "resource \"sim_thing\" \"x\" {\n name = \"x\"\n replace_me = \"" + replaceMe + "\"\n fail_on = " + failOn + "\n}"
	}
	w := newWorld(t, text("1", `"delete"`))
	w.ok(command{})
	w.config(text("2", "null"))
	r := w.fails(command{}, "asked to fail on delete")
	r.did("delete x")
	w.has("sim_thing.x")

	w = newWorld(t, text("1", "null"))
	w.ok(command{})
	w.config(text("2", `"create"`))
	r = w.fails(command{}, "asked to fail on create")
	r.did("delete x", "create x")
	w.has()
	w.exists()
}

// TestEquivalentJSON keeps the prior value where the provider says that the change does not matter.
func TestEquivalentJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "resource \"sim_thing\" \"x\" {\n name = \"x\"\n json = \"{\\\"a\\\":1}\"\n}")
	w.ok(command{})
	w.config("resource \"sim_thing\" \"x\" {\n name = \"x\"\n json = \"{ \\\"a\\\" : 1 }\"\n}")
	w.ok(command{}).plans().did()
}

// TestCycle names the members of a cycle and plans nothing.
func TestCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" {
  name = "a"
  json = jsonencode(sim_thing.b.id)
}
resource "sim_thing" "b" {
  name = "b"
  json = jsonencode(sim_thing.a.id)
}`)
	w.fails(command{}, "sim_thing.a", "sim_thing.b")
	w.exists()
}

// TestUnknownForEach says what to do.
func TestUnknownForEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
resource "sim_thing" "b" {
  for_each = toset([sim_thing.a.id])
  name     = each.key
}`)
	w.fails(command{}, "sim_thing.b", "for_each")
	w.exists()
}
