//go:build unix

package claims

import (
	"slices"
	"strings"
	"testing"
)

// Four objects, one made of the other but for the last, which has a postcondition; an output and a check.
const row = `
variable "a" { default = 1 }
variable "d" { default = 1 }
variable "passes" { default = true }
resource "sim_thing" "a" {
  name = "a"
  tags = { value = var.a, secret = "CANARY" }
}
resource "sim_thing" "b" {
  name = "b"
  tags = { value = sim_thing.a.tags.value }
}
resource "sim_thing" "c" {
  name = "c"
  tags = { value = sim_thing.b.tags.value == "9" ? "more" : "less" }
}
resource "sim_thing" "d" {
  name = "d"
  tags = { value = var.d }
  lifecycle {
    postcondition {
      condition     = var.passes || self.id == ""
      error_message = "It does not pass."
    }
  }
}
output "o" { value = sim_thing.b.tags.value }
check "k" {
  assert {
    condition     = sim_thing.a.tags.value != "7"
    error_message = "It is 7."
  }
}
`

// due returns the units with marks, as "NAME KIND", with their records' reads in order; then the marks are
// removed.
func (s *site) due() string {
	s.Helper()
	read := func(query string) (out []string) {
		rows, err := s.db.Query(query)
		for err == nil && rows.Next() {
			var text string
			err = rows.Scan(&text)
			out = append(out, strings.TrimPrefix(text, "sim_thing."))
		}
		if err != nil {
			s.Fatal(err)
		}
		slices.Sort(out)
		return out
	}
	marks := read(`SELECT DISTINCT unit || ' ' || kind FROM mayfly.due`)
	void := read(`SELECT o.address || ' void' FROM mayfly.objects o WHERE NOT EXISTS (SELECT 1 FROM mayfly.units u WHERE u.workspace = o.workspace AND u.unit = o.address AND u.version = o.version)`)
	if _, err := s.db.Exec(`DELETE FROM mayfly.due`); err != nil {
		s.Fatal(err)
	}
	return strings.Join(slices.Concat(marks, void), ", ")
}

// TestMarksOfCommands carries out all commands that change a state, and compares the marks that each leaves,
// and the objects without a valid record.
func TestMarksOfCommands(t *testing.T) {
	s := newSite(t, row, nil)
	dir := s.machine()
	apply := func(more ...string) []string { return append([]string{"apply", "-auto-approve"}, more...) }
	for _, c := range []struct {
		args []string
		fail bool
		want string
	}{
		{apply(), false, "check check.k object, output o object"}, // evaluated when it was its turn
		{apply(), false, ""},
		{apply(set("a", 2)), false, "c input, output o object"},                             // which has the same value, but had to be looked at
		{apply(set("a", 3), "-target=sim_thing.a"), false, "b input, check check.k object"}, // which is about the object as it was
		{apply(set("a", 3)), false, "c input, output o object"},                             // the check has a record from now on
		{apply(set("a", 3), set("passes", false), "-replace=sim_thing.d"), true, "d object"},
		{apply(set("a", 3), set("d", 3)), false, ""},
		{[]string{"taint", "sim_thing.b"}, false, "b object, b void"},
		{[]string{"untaint", "sim_thing.b"}, false, "b object, b void"},
		{apply(set("a", 4), set("d", 3)), false, "c input, check check.k input, output o object"}, // the check still passes, which is not stored
		{[]string{"state", "mv", "sim_thing.c", "sim_thing.x"}, false, "c object, x object, x void"},
		{[]string{"state", "mv", "sim_thing.x", "sim_thing.c"}, false, "c object, x object, c void"},
		{apply(set("a", 9), set("d", 3)), false, "check check.k input, output o object"},
		{[]string{"state", "rm", "sim_thing.a"}, false, "a object, b input, check check.k input"},
		{[]string{"import", set("a", 9), set("d", 3), "sim_thing.a", "ID"}, false, "a object, b input, check check.k input, a void"},
		{apply("-replace=sim_thing.a", set("a", 9), set("d", 3)), false, "b input, check check.k input"},
		{apply("-replace=sim_thing.b", set("a", 9), set("d", 3)), false, "c input"},
		{[]string{"destroy", "-auto-approve", "-target=sim_thing.c"}, false, "c object"},
		{[]string{"destroy", "-auto-approve"}, false, "a object, b object, check check.k input, check check.k object, check sim_thing.d object, d object, output o object"},
	} {
		for i, a := range c.args {
			if a == "ID" {
				c.args[i] = strings.Trim(s.attribute("a", "id"), `"`)
			}
		}
		if r := s.run(dir, c.args...); (r.code != 0) != c.fail {
			t.Fatalf("mayfly %s: got the exit status %d, want an error: %v\n%s", strings.Join(c.args, " "), r.code, c.fail, r.output)
		}
		if got := s.due(); got != c.want {
			t.Errorf("mayfly %s: got %q, want %q", strings.Join(c.args, " "), got, c.want)
		}
		var leaks int
		if err := s.db.QueryRow(`SELECT count(*) FROM (SELECT u::text AS t FROM mayfly.units u UNION ALL SELECT d::text FROM mayfly.due d) r WHERE t LIKE '%CANARY%'`).Scan(&leaks); err != nil || leaks != 0 {
			t.Errorf("mayfly %s: got %d rows with a value (%v), want none", strings.Join(c.args, " "), leaks, err)
		}
	}
}
