package histories

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The kinds of blocks.
const (
	single  = iota // a resource with one instance
	counted        // a resource with count
	module         // a module with two objects: the second is made of the first
	nested         // a module with such a module, and count
	kinds
)

// most is how many instances a block has at most.
const most = 3

// block is a part of a random configuration.
type block struct {
	kind  int
	first bool // replacements create first
}

// shape is a random configuration, of which each run has a version of its own: see text.
type shape struct{ blocks []block }

func newShape(r *rand.Rand) shape {
	var s shape
	for range 2 + r.IntN(4) {
		s.blocks = append(s.blocks, block{kind: r.IntN(kinds), first: r.IntN(4) == 0})
	}
	return s
}

// commit is the version of the configuration that a run has. Blocks that it has not touched ignore the
// changes of others.
type commit struct {
	shape
	run     int
	touched map[int]int   // the number of instances, by block
	from    map[int][]int // the blocks that the objects of touched ones are made of, by block
}

// connect draws the blocks that touched ones are made of. Other commits may have them the other way round.
func (c *commit) connect(r *rand.Rand) {
	order := r.Perm(len(c.blocks))
	c.from = map[int][]int{}
	for at, i := range order {
		if _, touched := c.touched[i]; !touched {
			continue
		}
		for range min(at, 1+r.IntN(2)) {
			c.from[i] = append(c.from[i], order[r.IntN(at)])
		}
		slices.Sort(c.from[i])
		c.from[i] = slices.Compact(c.from[i])
	}
}

// count returns the number of instances of a block: 2 unless the commit touches it.
func (c commit) count(i int) int {
	if n, is := c.touched[i]; is {
		return n
	}
	return 2
}

// declares reports whether the configuration has the object with a name.
func (c commit) declares(name string) bool {
	var i, k int
	if n, _ := fmt.Sscanf(name, "b%d-%d", &i, &k); n < 2 {
		return true
	}
	return k < c.count(i)
}

// names returns the names of all objects that a block may have, as they are in expressions that read it.
func (s shape) names(i int) (out []string) {
	switch s.blocks[i].kind {
	case single, module:
		return []string{fmt.Sprint("b", i)}
	}
	for k := range most {
		out = append(out, fmt.Sprintf("b%d-%d", i, k))
	}
	return out
}

// read returns an expression that lists the objects of a block, each as "name=run".
func (s shape) read(i int) string {
	switch s.blocks[i].kind {
	case single:
		return fmt.Sprintf("\"${sim_thing.b%[1]d.name}=${sim_thing.b%[1]d.tags.run}\"", i)
	case counted:
		return fmt.Sprintf("join(\",\", [for o in sim_thing.b%d : \"${o.name}=${o.tags.run}\"])", i)
	case module:
		return fmt.Sprintf("module.b%d.says", i)
	}
	return fmt.Sprintf("join(\",\", module.b%d[*].says)", i)
}

// target returns the address of a block.
func (s shape) target(i int) string {
	if k := s.blocks[i].kind; k == single || k == counted {
		return fmt.Sprint("sim_thing.b", i)
	}
	return fmt.Sprint("module.b", i)
}

// objects are the blocks of resources in modules, with and without changes of those that others have made.
func objects(touched, first bool) string {
	var life string
	if !touched {
		life += "    ignore_changes = [tags, replace_me]\n"
	}
	if first {
		life += "    create_before_destroy = true\n"
	}
	return life
}

const requires = `terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
`

// files returns the configuration.
func (c commit) files() map[string]string {
	out := map[string]string{}
	var sb strings.Builder
	sb.WriteString(requires)
	var all []string
	for i, b := range c.blocks {
		var from []string
		for _, f := range c.from[i] {
			from = append(from, c.read(f))
		}
		reads := `""`
		if len(from) > 0 {
			reads = "join(\",\", [" + strings.Join(from, ", ") + "])"
		}
		_, touched := c.touched[i]
		life := objects(touched, b.first)
		args := fmt.Sprintf("  tags = { run = \"%d\", reads = %s }\n  lifecycle {\n%s  }\n", c.run, reads, life)
		switch b.kind {
		case single:
			fmt.Fprintf(&sb, "resource \"sim_thing\" \"b%d\" {\n  name = \"b%d\"\n%s}\n", i, i, args)
		case counted:
			fmt.Fprintf(&sb, "resource \"sim_thing\" \"b%d\" {\n  count = %d\n  name = \"b%d-${count.index}\"\n%s}\n", i, c.count(i), i, args)
		case module:
			fmt.Fprintf(&sb, "module \"b%d\" {\n  source = \"./m%d\"\n  name = \"b%d\"\n  reads = %s\n}\n", i, i, i, reads)
			out[fmt.Sprintf("m%d/main.tf", i)] = c.pair(life)
		case nested:
			fmt.Fprintf(&sb, "module \"b%d\" {\n  source = \"./n%d\"\n  count = %d\n  name = \"b%d-${count.index}\"\n  reads = %s\n}\n", i, i, c.count(i), i, reads)
			out[fmt.Sprintf("n%d/main.tf", i)] = "variable \"name\" {}\nvariable \"reads\" {}\nmodule \"in\" {\n  source = \"./in\"\n  name = var.name\n  reads = var.reads\n}\noutput \"says\" { value = module.in.says }\n"
			out[fmt.Sprintf("n%d/in/main.tf", i)] = c.pair(life)
		}
		all = append(all, c.read(i))
	}
	for i, text := range all {
		if i%2 == 0 {
			fmt.Fprintf(&sb, "output \"o%d\" { value = %s }\n", i, text)
		}
	}
	out["main.tf"] = sb.String()
	return out
}

// pair is a module with an object and another that is made of it.
func (c commit) pair(life string) string {
	return requires + fmt.Sprintf(`variable "name" {}
variable "reads" {}
resource "sim_thing" "x" {
  name = var.name
  tags = { run = "%[1]d", reads = var.reads }
  lifecycle {
%[2]s  }
}
resource "sim_thing" "y" {
  name = "${var.name}-y"
  tags = { run = "%[1]d", reads = "${sim_thing.x.name}=${sim_thing.x.tags.run}" }
  lifecycle {
%[2]s  }
}
output "says" { value = "${sim_thing.x.name}=${sim_thing.x.tags.run}" }
`, c.run, life)
}
