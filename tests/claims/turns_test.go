//go:build unix

package claims

import "testing"

// joined has an output and a check that are made of the objects of both modules.
const joined = modules + `
output "joined" {
  value = "${module.a.value} ${module.b.value}"
}
output "names" {
  value = sort(concat(module.a[*].name, module.b[*].name))
}
check "different" {
  assert {
    condition     = module.a.value != module.b.value
    error_message = "Both are ${module.a.value}."
  }
}
`

const outputs = `
output "value" {
  value = sim_thing.second.tags.value
}
output "name" {
  value = sim_thing.first.name
}
`

// TestTurns has two applies change a module each at the same time, with plans that know nothing of each
// other. An output and a check are made of both modules: they do not exclude each other, and have the values
// of the last objects in the end.
func TestTurns(t *testing.T) {
	s := newSite(t, joined, map[string]string{"pair/main.tf": pair + outputs})
	one, two := s.machine(), s.machine()
	s.must(one, vars(1, 2, "apply", "-auto-approve")...)
	s.contains(s.must(one, vars(3, 2, "plan", "-out=p")...), "joined", "1 2", "3 2")
	s.contains(s.must(two, vars(1, 3, "plan", "-out=p")...), "joined", "1 2", "1 3")
	cmd, first := s.start(one, "apply", "p")
	goOn := s.halt(cmd)
	_, second := s.start(two, "apply", "p")
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
	s.contains(s.must(one, "output", "joined"), `"3 3"`)
	s.contains(s.must(one, "state", "pull"), "Both are 3.")
	s.contains(s.must(one, vars(3, 3, "plan")...), "No changes", "Both are 3.")
}

// TestTurnOfNewExpression has a run change an output without an object behind it, which excludes another run
// that changes such an object.
func TestTurnOfNewExpression(t *testing.T) {
	s := newSite(t, joined, map[string]string{"pair/main.tf": pair + outputs})
	one := s.machine()
	s.must(one, vars(1, 2, "apply", "-auto-approve")...)
	s.files["main.tf"] += "\noutput \"more\" {\n  value = module.a.value\n}\n"
	two := s.machine()
	s.must(two, vars(1, 2, "plan", "-out=p")...)
	s.must(one, vars(3, 2, "apply", "-auto-approve")...)
	r := s.run(two, "apply", "p")
	if r.code != 1 {
		t.Errorf("got the exit status %d, want 1", r.code)
	}
	s.contains(r.output, "Plan is stale", "module.a.sim_thing.second was changed by")
	s.must(two, vars(3, 2, "apply", "-auto-approve")...)
	s.contains(s.must(two, "output", "more"), `"3"`)
	s.contains(s.must(two, vars(3, 2, "plan")...), "No changes")
}

// TestTurnThatCannotBeStored reports an output that has no value which can be stored only with the objects of
// both runs.
func TestTurnThatCannotBeStored(t *testing.T) {
	s := newSite(t, modules+`
output "ratio" {
  value = 1 / (tonumber(module.a.value) - tonumber(module.b.value))
}
`, map[string]string{"pair/main.tf": pair + outputs})
	one, two := s.machine(), s.machine()
	s.must(one, vars(1, 2, "apply", "-auto-approve")...)
	s.must(one, vars(3, 2, "plan", "-out=p")...)
	s.must(two, vars(1, 3, "plan", "-out=p")...)
	s.must(one, "apply", "p")
	r := s.run(two, "apply", "p")
	if r.code != 1 {
		t.Errorf("got the exit status %d, want 1", r.code)
	}
	s.contains(r.output, "Output cannot be stored", `output "ratio"`)
	s.contains(s.must(two, "output", "ratio"), "1")
}
