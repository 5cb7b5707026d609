//go:build unix

package claims

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Two modules, each with an object and another that is made of it.
const modules = `
variable "a" {}
variable "b" {}
module "a" {
  source = "./pair"
  name   = "a"
  value  = var.a
}
module "b" {
  source = "./pair"
  name   = "b"
  value  = var.b
}
`

const pair = `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
variable "name" {}
variable "value" {}
resource "sim_thing" "first" {
  name  = "${var.name}-first"
  delay = "1500ms"
  tags  = { value = var.value }
}
resource "sim_thing" "second" {
  name = "${var.name}-second"
  tags = { value = sim_thing.first.tags.value }
}
`

func newModules(t *testing.T) *site {
	return newSite(t, modules, map[string]string{"pair/main.tf": pair})
}

func vars(a, b int, more ...string) []string {
	return append(more, set("a", a), set("b", b))
}

// TestDisjoint has two applies change a module each. They have claims at the same time.
func TestDisjoint(t *testing.T) {
	s := newModules(t)
	one, two := s.machine(), s.machine()
	s.must(one, vars(1, 1, "apply", "-auto-approve")...)
	cmd, first := s.start(one, vars(2, 1, "apply", "-auto-approve", "-target=module.a")...)
	goOn := s.halt(cmd)
	_, second := s.start(two, vars(1, 2, "apply", "-auto-approve", "-target=module.b")...)
	s.until(1, underWay+` AND key LIKE 'module.b.%'`)
	goOn()
	for _, ended := range []<-chan result{first, second} {
		if r := <-ended; r.code != 0 {
			t.Errorf("got the exit status %d, want 0:\n%s", r.code, r.output)
		}
	}
	var overlap bool
	if err := s.db.QueryRow(`SELECT EXISTS (SELECT 1 FROM mayfly.runs a JOIN mayfly.runs b ON a.id < b.id AND a.began < b.ended AND b.began < a.ended)`).Scan(&overlap); err != nil || !overlap {
		t.Errorf("got %v (%v), want runs that have claims at the same time", overlap, err)
	}
	s.contains(s.must(one, vars(2, 2, "plan")...), "No changes")
	for _, name := range []string{"a-first", "b-second"} {
		if got := s.attribute(name, "tags"); got != `{"value":"2"}` {
			t.Errorf("got the tags %s of %s, want the new value", got, name)
		}
	}
}

// TestTouching has a run meet one that changes the same objects: it is refused by name, or waits and plans
// again.
func TestTouching(t *testing.T) {
	s := newModules(t)
	one, two := s.machine(), s.machine()
	s.must(one, vars(1, 1, "apply", "-auto-approve")...)
	cmd, first := s.start(one, vars(2, 1, "apply", "-auto-approve", "-target=module.a")...)
	goOn := s.halt(cmd)
	refused := s.run(two, vars(3, 1, "apply", "-auto-approve", "-target=module.a.sim_thing.second")...)
	if refused.code != 1 {
		t.Errorf("got the exit status %d, want 1", refused.code)
	}
	s.contains(refused.output, "Parts of the state are claimed", "module.a.sim_thing.first, claimed by ", " (apply), run ", "mayfly force-unlock ")
	s.contains(s.must(two, vars(1, 1, "plan", "-target=module.b")...), "No changes")
	_, waiting := s.start(two, vars(3, 1, "apply", "-auto-approve", "-lock-timeout=5m", "-target=module.a")...)
	s.until(1, waits)
	goOn()
	r := <-waiting
	if r.code != 0 {
		t.Errorf("got the exit status %d, want 0", r.code)
	}
	s.contains(r.output, "Plan is stale", "module.a.sim_thing.first was changed by", "A new plan is made")
	if r := <-first; r.code != 0 {
		t.Errorf("got the exit status %d, want 0:\n%s", r.code, r.output)
	}
	if got := s.attribute("a-second", "tags"); got != `{"value":"3"}` {
		t.Errorf("got the tags %s, want the ones of the later run", got)
	}
}

// TestSavedPlans refuses a saved plan whose objects have changed, with their names, and applies one although
// others have changed.
func TestSavedPlans(t *testing.T) {
	s := newModules(t)
	dir := s.machine()
	s.must(dir, vars(1, 1, "apply", "-auto-approve")...)
	s.must(dir, vars(2, 1, "plan", "-out=fresh", "-target=module.a")...)
	s.must(dir, vars(1, 2, "plan", "-out=stale", "-target=module.b")...)
	s.must(dir, vars(1, 3, "apply", "-auto-approve", "-target=module.b")...)
	s.must(dir, "apply", "fresh")
	r := s.run(dir, "apply", "stale")
	if r.code != 1 {
		t.Errorf("got the exit status %d, want 1", r.code)
	}
	s.contains(r.output, "Plan is stale", "module.b.sim_thing.first was changed by", "module.b.sim_thing.second was changed by")
	s.contains(s.must(dir, vars(2, 3, "plan")...), "No changes")
}

// TestKilled kills a run in the middle of an operation, and lets its lease lapse: the object of the operation
// stays claimed until a person frees it, and others are free.
func TestKilled(t *testing.T) {
	s := newModules(t)
	one, two := s.machine(), s.machine()
	s.must(one, vars(1, 1, "apply", "-auto-approve")...)
	cmd, ended := s.start(one, vars(2, 2, "apply", "-auto-approve", "-parallelism=1")...)
	s.halt(cmd)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-ended
	var key string
	if err := s.db.QueryRow(`SELECT key FROM mayfly.operations WHERE ended IS NULL`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	mine, other := "module.a", "module.b"
	if key != mine+".sim_thing.first" {
		mine, other = other, mine
	}
	if r := s.run(two, vars(1, 1, "apply", "-auto-approve", "-replace="+other+".sim_thing.second", "-target="+other)...); r.code == 0 {
		t.Error("an object is claimed before the lease of the killed run has lapsed")
	}
	if _, err := s.db.Exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state = 'claimed'`); err != nil {
		t.Fatal(err)
	}
	s.must(two, vars(1, 1, "apply", "-auto-approve", "-replace="+other+".sim_thing.second", "-target="+other)...)
	r := s.run(two, vars(3, 3, "apply", "-auto-approve", "-target="+mine)...)
	if r.code != 1 {
		t.Errorf("got the exit status %d, want 1", r.code)
	}
	s.contains(r.output, key+" (update)", "these operations have begun and not ended")
	run := regexp.MustCompile(`mayfly force-unlock (\S+)`).FindStringSubmatch(r.output)
	if run == nil {
		t.Fatalf("got the text\n%s\nwant the command that frees the run", r.output)
	}
	s.contains(s.must(two, "force-unlock", "-force", run[1]), "has begun these operations", key+" (update)")
	s.contains(s.must(two, vars(3, 3, "plan")...), "Operations were interrupted", key)
	text := s.must(two, vars(3, 3, "apply", "-auto-approve")...)
	s.contains(text, "Operations were interrupted", key)
	if n := strings.Count(text, "Operations were interrupted"); n != 1 {
		t.Errorf("got the warning about the operation %d times, want once:\n%s", n, text)
	}
	s.contains(s.must(two, vars(3, 3, "plan")...), "No changes")
	s.until(0, `SELECT count(*) FROM mayfly.claims`)
}
