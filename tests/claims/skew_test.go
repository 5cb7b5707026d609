//go:build unix

package claims

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// ring is the number of objects of TestSkew.
const ring = 3

// turned is the configuration of runs that change the object i: it has the number of the run, and the one
// that it has seen of the next object, which the run leaves alone.
func turned(i int) string {
	next := (i + 1) % ring
	return fmt.Sprintf(`variable "v" {}
resource "sim_thing" "o%d" {
  name  = "o%d"
  delay = "100ms"
  tags  = { v = var.v, seen = sim_thing.o%d.tags.v }
}
resource "sim_thing" "o%d" {
  name = "o%d"
  tags = { v = "1" }
  lifecycle {
    ignore_changes = [tags, delay]
  }
}
`, i, i, next, next, next)
}

// TestSkew has runs, in rounds, that change an object each, which is made of the next one. If all could use
// the next object as it was before, no order of them would explain what is left.
func TestSkew(t *testing.T) {
	s := newSite(t, "", nil)
	blocks := s.files["main.tf"]
	first := blocks
	for i := range ring {
		first += fmt.Sprintf("resource \"sim_thing\" \"o%d\" {\n  name = \"o%d\"\n  tags = { v = \"1\" }\n}\n", i, i)
	}
	s.files["main.tf"] = first
	dir := s.machine()
	s.must(dir, "apply", "-auto-approve")
	var dirs []string
	for i := range ring {
		s.files["main.tf"] = turned(i) + blocks
		dirs = append(dirs, s.machine())
	}
	again := 0
	for round := range 3 {
		var all []<-chan result
		for i, dir := range dirs {
			_, ended := s.start(dir, "apply", "-auto-approve", "-lock-timeout=5m", fmt.Sprint("-target=sim_thing.o", i), set("v", 100*(round+1)+i))
			all = append(all, ended)
		}
		for _, ended := range all {
			end := <-ended
			if end.code != 0 {
				t.Errorf("got the exit status %d, want 0:\n%s", end.code, end.output)
			}
			again += strings.Count(end.output, "A new plan is made")
		}
		_, world := s.tags(dir, ring)
		if err := ordered(world); err != nil {
			t.Errorf("got the objects %v in round %d: %v", world, round, err)
		}
	}
	t.Logf("%d plans were stale", again)
}

// ordered returns an error if no order of the runs that have left the objects explains which of each other
// they have seen.
func ordered(world []map[string]string) error {
	after := map[int][]int{} // runs that come later
	for i, tags := range world {
		var numbers [3]int
		for n, text := range []string{tags["v"], tags["seen"], world[(i+1)%len(world)]["v"]} {
			var err error
			if numbers[n], err = strconv.Atoi(text); err != nil {
				return err
			}
		}
		own, seen, next := numbers[0], numbers[1], numbers[2]
		if seen == next {
			after[next] = append(after[next], own)
		} else {
			after[own] = append(after[own], next)
		}
	}
	return acyclic(after)
}

// acyclic returns an error if runs come before each other.
func acyclic(after map[int][]int) error {
	const open, done = 1, 2
	status := map[int]int{}
	var visit func(run int) error
	visit = func(run int) error {
		switch status[run] {
		case open:
			return fmt.Errorf("no order of the runs explains the objects: the run %d comes before itself in %v", run, after)
		case done:
			return nil
		}
		status[run] = open
		for _, next := range after[run] {
			if err := visit(next); err != nil {
				return err
			}
		}
		status[run] = done
		return nil
	}
	for run := range after {
		if err := visit(run); err != nil {
			return err
		}
	}
	return nil
}
