package histories

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The kinds of pieces of a design.
const (
	alone      = iota // a resource with one instance
	repeated          // a resource with count
	keyed             // a resource with for_each
	asMany            // a resource with as many instances as an object says
	alike             // a resource with the keys that an object has
	lookup            // a data source that finds an object
	group             // a module with objects that are made of each other
	keyedGroup        // such a module with for_each
	manyGroups        // such a module, as often as an object says
	pieceKinds
)

// piece is a block of a design. The objects of its instances are made of those of earlier pieces.
type piece struct {
	kind, value, size int
	gone              bool
	keys              string // "a", "b" or "a,b"; and "" for none
	reads             []edge
	base              int // the earlier piece that says the number, the keys, or what is looked up; -1 for none
	after             int // depends_on; -1 for none
	trigger           int // replace_triggered_by; -1 for none
	from              int // the piece that the configuration of its provider is made of; -1 for the default one
	replace           int // the value that replaces the object if it changes
	first, ignoring   bool
	pre, post         bool // it has a condition that one of the values does not meet
	variable, shown   bool // its value is the variable's; an output has it
	check             bool
}

// edge is what a piece reads of an earlier one.
type edge struct {
	of, style  int
	local, may bool // through a local value, and if the variable says so
}

// design is a configuration.
type design struct {
	pieces []piece
	value  int    // of the variable
	on     bool   // the other variable
	key    string // a local value
	other  bool   // the provider has the other source
}

func newDesign(r *rand.Rand) *design {
	d := &design{on: true, key: "a"}
	for i := range 4 + r.IntN(5) {
		p := piece{kind: r.IntN(pieceKinds)}
		if i < 2 {
			p.kind = []int{alone, keyed}[i]
		}
		d.pieces = append(d.pieces, p)
		d.draw(r, i)
	}
	return d
}

func (d *design) clone() *design {
	out := *d
	out.pieces = slices.Clone(d.pieces)
	for i := range out.pieces {
		out.pieces[i].reads = slices.Clone(d.pieces[i].reads)
	}
	return &out
}

// draw draws everything of a piece but its kind.
func (d *design) draw(r *rand.Rand, i int) {
	one := func(n int) bool { return r.IntN(n) == 0 }
	earlier := func(n int) int {
		if i == 0 || !one(n) {
			return -1
		}
		return r.IntN(i)
	}
	p := piece{
		kind: d.pieces[i].kind, value: r.IntN(3), size: r.IntN(3), keys: []string{"", "a", "b", "a,b"}[r.IntN(4)], after: earlier(6), trigger: earlier(8), from: -1,
		first: one(4), ignoring: one(8), pre: one(10), post: one(10), variable: one(4), shown: one(2), check: one(8), base: -1,
	}
	for range 3 {
		if i > 0 && one(2) {
			p.reads = append(p.reads, d.drawEdge(r, i))
		}
	}
	for j := range i {
		if d.pieces[j].kind != alone {
			continue
		}
		if p.base < 0 || one(2) {
			p.base = j
		}
		if one(8) {
			p.from = j
		}
	}
	d.pieces[i] = p
}

func (d *design) drawEdge(r *rand.Rand, i int) edge {
	return edge{of: r.IntN(i), style: r.IntN(4), local: r.IntN(2) == 0, may: r.IntN(4) == 0}
}

// edit changes the design in one place.
func (d *design) edit(r *rand.Rand) {
	i := r.IntN(len(d.pieces))
	p := &d.pieces[i]
	switch r.IntN(18) {
	case 0:
		d.value = r.IntN(3)
	case 1:
		d.on = !d.on
	case 2:
		d.key = []string{"a", "b"}[r.IntN(2)]
	case 3:
		p.gone = !p.gone && i > 1
	case 4:
		p.replace = r.IntN(3)
	case 5:
		p.first = !p.first
	case 6, 7:
		if i > 0 && len(p.reads) > 0 {
			p.reads[r.IntN(len(p.reads))] = d.drawEdge(r, i)
		}
	case 8:
		d.draw(r, i)
	case 9:
		p.keys = []string{"", "a", "b", "a,b"}[r.IntN(4)]
	case 10:
		p.size = r.IntN(3)
	case 11:
		p.pre, p.post = false, false
	case 12:
		p.ignoring = !p.ignoring
	default:
		p.value = r.IntN(3)
	}
}

// is reports whether there is a piece.
func (d *design) is(i int) bool { return i >= 0 && !d.pieces[i].gone }

// kindOf returns the kind of a piece: one that needs an object of another one, and has none, is alone.
func (d *design) kindOf(i int) int {
	switch p := d.pieces[i]; p.kind {
	case asMany, alike, lookup, manyGroups:
		if !d.is(p.base) {
			return alone
		}
	}
	return d.pieces[i].kind
}

// address returns the address of a piece.
func (d *design) address(i int) string {
	switch d.kindOf(i) {
	case group, keyedGroup, manyGroups:
		return fmt.Sprint("module.b", i)
	case lookup:
		return fmt.Sprint("data.sim_lookup.b", i)
	}
	return fmt.Sprint("sim_thing.b", i)
}

// looks reports whether a piece is a data source.
func (d *design) looks() bool {
	for i := range d.pieces {
		if d.is(i) && d.kindOf(i) == lookup {
			return true
		}
	}
	return false
}

// ordered reports whether a piece has depends_on.
func (d *design) ordered() bool {
	return slices.ContainsFunc(d.pieces, func(p piece) bool { return !p.gone && p.after >= 0 })
}

// readsState reports whether the number of instances of the piece with a name depends on objects.
func (d *design) readsState(name string) bool {
	var i int
	if n, _ := fmt.Sscanf(name, "b%d", &i); n == 0 || i >= len(d.pieces) {
		return false
	}
	k := d.kindOf(i)
	return k == asMany || k == alike || k == manyGroups
}

// read returns an expression for a text that is made of a piece.
func (d *design) read(e edge) string {
	at := d.address(e.of)
	texts := map[int][4]string{
		alone:      {"%s.tags.v", "%s.label", "tostring(%s.serial)", "%s.name"},
		repeated:   {`join("", %s[*].tags.v)`, `tostring(length(%s))`, `try(%s[0].tags.v, "-")`, `try(%s[1].label, "-")`},
		keyed:      {`join("", [for k, o in %s : "${k}${o.tags.v}"])`, `try(%s["a"].tags.v, "-")`, `join("", keys(%s))`, `try(%s[local.key].tags.v, "-")`},
		lookup:     {"%s.label", "tostring(%s.size)", `lookup(%s.tags, "v", "-")`, "tostring(%s.serial)"},
		group:      {"%s.says", "%s.both", "%s.says", "%s.all"},
		keyedGroup: {`join("", [for m in %s : m.says])`, `try(%s["a"].both, "-")`, `join("", keys(%s))`, `try(%s[local.key].says, "-")`},
		manyGroups: {`join("", %s[*].says)`, `tostring(length(%s))`, `try(%s[0].both, "-")`, `join("", %s[*].all)`},
	}
	texts[asMany], texts[alike] = texts[repeated], texts[keyed]
	style := texts[d.kindOf(e.of)][e.style]
	if k := d.kindOf(e.of); (k == keyed || k == alike) && e.style == 3 && e.of > 0 && d.is(0) && d.kindOf(0) == alone {
		return fmt.Sprintf(`try(%s[sim_thing.b0.tags.k].tags.v, "-")`, at)
	}
	return fmt.Sprintf(style, at)
}

// files returns the text of the design.
func (d *design) files() map[string]string {
	source := "mayfly.dev/test/sim"
	if d.other {
		source = "mayfly.dev/test/sam"
	}
	needs := fmt.Sprintf("terraform {\n  required_providers {\n    sim = { source = %q }\n  }\n}\n", source)
	out := map[string]string{"group/main.tf": needs + groupText, "group/in/main.tf": needs + innerText}
	var sb strings.Builder
	fmt.Fprintf(&sb, "%svariable \"v\" { default = \"%d\" }\nvariable \"on\" { default = %v }\nlocals { key = %q }\n", needs, d.value, d.on, d.key)
	for i := range d.pieces {
		if d.is(i) {
			d.write(&sb, i)
		}
	}
	out["main.tf"] = sb.String()
	return out
}

// write writes a piece.
func (d *design) write(sb *strings.Builder, i int) {
	p, kind := d.pieces[i], d.kindOf(i)
	value := fmt.Sprintf("\"%d\"", p.value)
	if p.variable {
		value = "var.v"
	}
	var reads []string
	for n, e := range p.reads {
		if !d.is(e.of) {
			continue
		}
		x := d.read(e)
		if e.may {
			x = fmt.Sprintf("var.on ? %s : \"off\"", x)
		}
		if e.local {
			fmt.Fprintf(sb, "locals { l%d_%d = %s }\n", i, n, x)
			x = fmt.Sprintf("local.l%d_%d", i, n)
		}
		reads = append(reads, "("+x+")")
	}
	all := "join(\"-\", [" + strings.Join(append([]string{`""`}, reads...), ", ") + "])"
	base := fmt.Sprint("sim_thing.b", p.base)
	repeats := map[int]string{
		repeated: fmt.Sprint("  count = ", p.size), keyed: fmt.Sprintf("  for_each = toset(compact(split(\",\", %q)))", p.keys),
		asMany: "  count = " + base + ".size", alike: "  for_each = toset(compact(split(\",\", " + base + ".tags.ks)))", manyGroups: "  count = " + base + ".size",
	}
	repeats[keyedGroup] = repeats[keyed]
	after := ""
	if d.is(p.after) {
		after = fmt.Sprintf("  depends_on = [%s]\n", d.address(p.after))
	}
	repeat := repeats[kind]
	if repeat != "" {
		repeat += "\n"
	}
	switch kind {
	case lookup:
		fmt.Fprintf(sb, "data \"sim_lookup\" \"b%d\" {\n  name = %s.name\n  hint = %s\n}\n", i, base, all)
	case group, keyedGroup, manyGroups:
		fmt.Fprintf(sb, "module \"b%d\" {\n  source = \"./group\"\n%s%s  name = \"b%d%s\"\n  v = %s\n  r = %s\n}\n", i, repeat, after, i, suffixes[kind], value, all)
	default:
		fmt.Fprintf(sb, "resource \"sim_thing\" \"b%d\" {\n%s%s  name = \"b%d%s\"\n  size = %d\n  replace_me = \"%d\"\n  tags = { v = %s, k = %q, ks = %q, r = %s }\n%s}\n",
			i, repeat, after, i, suffixes[kind], p.size, p.replace, value, (p.keys + "a")[:1], p.keys, all, d.life(i, all))
	}
	if d.is(p.from) && kind != lookup && repeat == "" {
		fmt.Fprintf(sb, "provider \"sim\" {\n  alias = \"p%d\"\n  region = sim_thing.b%d.tags.v\n}\n", i, p.from)
	}
	if p.shown && d.read(edge{of: i}) != "" {
		fmt.Fprintf(sb, "output \"o%d\" { value = %s }\n", i, d.read(edge{of: i}))
	}
	if p.check {
		fmt.Fprintf(sb, "check \"c%d\" {\n  assert {\n    condition     = %s != \"2\"\n    error_message = \"It is 2.\"\n  }\n}\n", i, d.read(edge{of: i}))
	}
}

var suffixes = map[int]string{
	repeated: "-${count.index}", keyed: "-${each.key}", asMany: "-${count.index}", alike: "-${each.key}", keyedGroup: "-${each.key}", manyGroups: "-${count.index}",
}

// life returns the provider and the lifecycle of a piece that is a resource. all is the text that it reads.
func (d *design) life(i int, all string) string {
	p := d.pieces[i]
	out := ""
	if d.is(p.from) && d.kindOf(i) == alone {
		out = fmt.Sprintf("  provider = sim.p%d\n", i)
	}
	out += "  lifecycle {\n"
	if p.first {
		out += "    create_before_destroy = true\n"
	}
	if p.ignoring {
		out += "    ignore_changes = [tags[\"v\"]]\n"
	}
	if d.is(p.trigger) && strings.HasPrefix(d.address(p.trigger), "sim_thing") {
		out += fmt.Sprintf("    replace_triggered_by = [%s]\n", d.address(p.trigger))
	}
	if p.pre && all != `join("-", [""])` {
		out += fmt.Sprintf("    precondition {\n      condition     = %s != \"-2\"\n      error_message = \"It reads 2.\"\n    }\n", all)
	}
	if p.post {
		out += "    postcondition {\n      condition     = self.tags.v != \"2\"\n      error_message = \"It is 2.\"\n    }\n"
	}
	return out + "  }\n"
}

const groupText = `variable "name" {}
variable "v" {}
variable "r" {
  validation {
    condition     = var.r != "9"
    error_message = "It is 9."
  }
}
locals { v = sim_thing.x.tags.v }
resource "sim_thing" "x" {
  name = var.name
  tags = { v = var.v, r = var.r }
}
resource "sim_thing" "y" {
  name = "${var.name}-y"
  tags = { v = local.v, r = var.r }
}
module "in" {
  source = "./in"
  name   = "${var.name}-in"
  r      = var.v
}
output "says" { value = local.v }
output "both" {
  value = "${sim_thing.x.serial}${sim_thing.y.tags.r}"
  precondition {
    condition     = sim_thing.x.tags.v != "9"
    error_message = "It is 9."
  }
}
check "c" {
  assert {
    condition     = sim_thing.y.tags.v != "1"
    error_message = "It is 1."
  }
}
output "all" { value = module.in.all }
`

const innerText = `variable "name" {}
variable "r" {}
resource "sim_thing" "z" {
  count = 2
  name  = "${var.name}-${count.index}"
  tags  = { v = var.r, k = count.index == 0 ? "first" : "second" }
}
output "all" { value = join("", sim_thing.z[*].tags.k) }
`
