package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestE98ConsumersWaitTogether has many consumers of one value, each of a block of its own, whose results
// take long to become durable. They do so side by side, and all are struck out.
func TestE98ConsumersWaitTogether(t *testing.T) {
	const consumers = 20
	var sb strings.Builder
	sb.WriteString(`
resource "sim_account" "a" {
  name = "a"
  lifecycle { ephemeral_attributes = [token] }
}
`)
	for i := range consumers {
		fmt.Fprintf(&sb, `
resource "sim_thing" "c%[1]d" {
  name              = "c%[1]d"
  secret_wo         = sim_account.a.token
  secret_wo_version = 1
}
`, i)
	}
	inVirtualTime(t, sb.String(), func(t *testing.T, w *world) {
		w.endTakes = 10 * time.Second
		start := time.Now()
		w.ok(command{})
		if took := time.Since(start); took > consumers*w.endTakes/2 {
			t.Errorf("the apply took %s, so that consumers wait for each other", took)
		}
		for _, record := range w.object("sim_account.a").Withheld {
			if len(record.To) != consumers || len(record.Owed) > 0 {
				t.Errorf("got %d consumers and %d that are owed the value, want %d and none", len(record.To), len(record.Owed), consumers)
			}
		}
		w.endTakes = 0
	})
}

// TestE96OtherAttributeBorrowsNothing refers to another attribute of an object that makes a value, beside an
// ephemeral value: nothing has claimed the computed one, so that it must not be asked for.
func TestE96OtherAttributeBorrowsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_account" "a" {
  name = "a"
  lifecycle { ephemeral_attributes = [token] }
}
resource "sim_thing" "between" {
  name       = "between"
  depends_on = [sim_account.a]
}
ephemeral "sim_secret" "s" {
  name = "s"
  hint = sim_thing.between.id
}
resource "sim_thing" "user" {
  name      = "user"
  json      = jsonencode(sim_account.a.id)
  secret_wo = ephemeral.sim_secret.s.value
}`)
	w.virtual = true
	w.ok(command{})
	w.exists("a", "between", "user")
}
