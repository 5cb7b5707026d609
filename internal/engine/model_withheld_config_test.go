package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// heldSlot is a place of secrets in objects of a type: an attribute, or one of the elements of a list or map.
type heldSlot struct {
	attr, leaf string // leaf is empty if the attribute itself is secret
	form       string // block, list, map, or empty
	beside     string // format of another argument of each element, for its key; may be empty
}

// heldTypes are the types of objects, with the places of secrets in each and the argument that is public.
var heldTypes = map[string]struct {
	other string
	slots []heldSlot
}{
	"sim_account": {"note", []heldSlot{{attr: "password"}}},
	"sim_thing": {"size", []heldSlot{
		{attr: "replace_me"},
		{attr: "rule", leaf: "note", form: "block", beside: "port = %d"},
		{attr: "nested", leaf: "value", form: "map"},
	}},
	"sim_vault": {"version", []heldSlot{
		{attr: "replace_me"},
		{attr: "list_block", leaf: "label", form: "block"},
		{attr: "list_attr", leaf: "label", form: "list"},
		{attr: "map_attr", leaf: "label", form: "map"},
	}},
	"sim_legacy": {"defaulted", []heldSlot{{attr: "value"}}}, // which the apply turns into upper case
}

func (s heldSlot) pattern() string {
	if s.leaf == "" {
		return s.attr
	}
	return s.attr + "[*]." + s.leaf
}

// heldElement is a secret in an object.
type heldElement struct{ key, secret int }

// heldSecret returns the value of a secret, which sim_secret makes of its name.
func heldSecret(n int) string { return simcloud.Canary("sim_secret", fmt.Sprintf("s%04d", n)) }

// heldObject is a resource of a random configuration.
type heldObject struct {
	typ, name, label string // label is the name of the block
	slots            []heldSlot
	secrets          [][]heldElement // of each slot
	other            int
	strict           string
	source           string // of the values where they are withheld: literal, variable or ephemeral
	on, versions     bool   // the setting, and whether it is a map
	version          int
	ignored          bool // changes of the first slot are
	cbd              bool

	from     string // the label before the step
	recorded bool   // the setting was on before the step
}

func (o *heldObject) address() string { return o.typ + "." + o.label }

// heldConfig is a random configuration, which is rendered with the setting and without.
type heldConfig struct {
	rng     *rand.Rand
	objects []*heldObject
	all     []*heldObject // also those that were removed
	last    int           // secret that was made
	key     int           // of an element that was made
	public  map[int]bool  // secrets that were stored because the setting was off
	drifts  int           // values that came from outside, of which those up to seen may be stored
	seen    int
}

func newHeldConfig(rng *rand.Rand) *heldConfig {
	c := &heldConfig{rng: rng, public: map[int]bool{}}
	for range 1 + rng.IntN(3) {
		c.add()
	}
	return c
}

// chance reports true once in n times.
func (c *heldConfig) chance(n int) bool { return c.rng.IntN(n) == 0 }

// secret returns a secret, mostly a new one.
func (c *heldConfig) secret() int {
	if c.last > 0 && c.chance(4) {
		return 1 + c.rng.IntN(c.last)
	}
	c.last++
	return c.last
}

func (c *heldConfig) element() heldElement {
	c.key++
	return heldElement{c.key, c.secret()}
}

func (c *heldConfig) add() *heldObject {
	types := []string{"sim_account", "sim_thing", "sim_vault", "sim_legacy"}
	name := fmt.Sprintf("o%d", c.key)
	o := &heldObject{
		typ: types[c.rng.IntN(len(types))], name: name, label: name, cbd: c.chance(4), on: !c.chance(5), versions: c.chance(3),
		source: []string{"literal", "variable", "ephemeral"}[c.rng.IntN(3)],
	}
	if o.typ == "sim_account" {
		o.strict = []string{"", "gone", "error", "other", "delete"}[c.rng.IntN(5)]
	}
	slots := slices.Clone(heldTypes[o.typ].slots)
	c.rng.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	for _, slot := range slots[:1+c.rng.IntN(min(2, len(slots)))] {
		n := 1
		if slot.leaf != "" {
			n += c.rng.IntN(3)
		}
		var elements []heldElement
		for range n {
			elements = append(elements, c.element())
		}
		o.slots, o.secrets = append(o.slots, slot), append(o.secrets, elements)
	}
	c.objects, c.all = append(c.objects, o), append(c.all, o)
	c.publish(o)
	return o
}

// publish notes that the secrets of an object whose setting is off may be anywhere.
func (c *heldConfig) publish(o *heldObject) {
	for _, elements := range o.secrets {
		for _, e := range elements {
			if !o.on {
				c.public[e.secret] = true
			}
		}
	}
}

// any returns one of the objects, nil if there is none.
func (c *heldConfig) any() *heldObject {
	if len(c.objects) == 0 {
		return nil
	}
	return c.objects[c.rng.IntN(len(c.objects))]
}

// hidden returns the secrets that must be nowhere.
func (c *heldConfig) hidden() []string {
	var out []string
	for n := 1; n <= c.last; n++ {
		if !c.public[n] {
			out = append(out, heldSecret(n))
		}
	}
	return out
}

// heldOutside returns a value that comes from outside.
func heldOutside(n int) string { return fmt.Sprintf("CANARY-outside-%04d", n) }

// outside returns the values from outside that must be nowhere.
func (c *heldConfig) outside() []string {
	var out []string
	for n := c.seen + 1; n <= c.drifts; n++ {
		out = append(out, heldOutside(n))
	}
	return out
}

// expr returns the expression of a secret.
func (o *heldObject) expr(n int, with bool) string {
	switch {
	case with && o.on && o.source == "variable":
		return fmt.Sprintf("var.v%d", n)
	case with && o.on && o.source == "ephemeral":
		return fmt.Sprintf("ephemeral.sim_secret.e%d.value", n)
	}
	return fmt.Sprintf("%q", heldSecret(n))
}

// text renders the configuration with the setting or without, and returns the values of its variables.
func (c *heldConfig) text(with bool) (string, map[string]cty.Value) {
	var sb strings.Builder
	sb.WriteString(prelude)
	vars := map[string]cty.Value{}
	if with {
		for n := 1; n <= c.last; n++ {
			if vars[fmt.Sprint("v", n)] = cty.StringVal(heldSecret(n)); c.uses(n) {
				fmt.Fprintf(&sb, "variable \"v%d\" { ephemeral = true }\nephemeral \"sim_secret\" \"e%d\" { name = \"s%04d\" }\n", n, n, n)
			} else {
				delete(vars, fmt.Sprint("v", n))
			}
		}
	}
	for _, o := range c.objects {
		sb.WriteString(o.text(with))
	}
	return sb.String(), vars
}

func (c *heldConfig) uses(n int) bool {
	return slices.ContainsFunc(c.objects, func(o *heldObject) bool {
		return slices.ContainsFunc(o.secrets, func(in []heldElement) bool {
			return slices.ContainsFunc(in, func(e heldElement) bool { return e.secret == n })
		})
	})
}

func (o *heldObject) text(with bool) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "resource %q %q {\n  name = %q\n  %s = %d\n", o.typ, o.label, o.name, heldTypes[o.typ].other, o.other)
	if o.strict != "" {
		fmt.Fprintf(&sb, "  strict = %q\n", o.strict)
	}
	for i, slot := range o.slots {
		sb.WriteString(slot.text(o, o.secrets[i], with))
	}
	fmt.Fprintf(&sb, "  lifecycle {\n    create_before_destroy = %t\n", o.cbd)
	if o.ignored {
		fmt.Fprintf(&sb, "    ignore_changes = [%s]\n", o.slots[0].attr)
	}
	if with && o.on {
		var names []string
		for _, slot := range o.slots {
			if name := slot.pattern(); o.versions {
				names = append(names, fmt.Sprintf("%s = %d", name, o.version))
			} else {
				names = append(names, name)
			}
		}
		brackets := "[]"
		if o.versions {
			brackets = "{}"
		}
		fmt.Fprintf(&sb, "    ephemeral_attributes = %c%s%c\n", brackets[0], strings.Join(names, ", "), brackets[1])
	}
	sb.WriteString("  }\n}\n")
	if o.from != "" {
		fmt.Fprintf(&sb, "moved {\n  from = %s.%s\n  to = %s\n}\n", o.typ, o.from, o.address())
	}
	return sb.String()
}

func (s heldSlot) text(o *heldObject, elements []heldElement, with bool) string {
	var out []string
	for _, e := range elements {
		value := o.expr(e.secret, with)
		if s.leaf == "" {
			return fmt.Sprintf("  %s = %s\n", s.attr, value)
		}
		body := s.leaf + " = " + value
		if s.beside != "" {
			body += "\n" + fmt.Sprintf(s.beside, e.key)
		}
		switch s.form {
		case "block":
			out = append(out, fmt.Sprintf("  %s {\n%s\n}\n", s.attr, body))
		case "list":
			out = append(out, "{"+body+"}")
		case "map":
			out = append(out, fmt.Sprintf("k%d = {%s}", e.key, body))
		}
	}
	switch {
	case s.form == "block":
		return strings.Join(out, "")
	case s.form == "list":
		return fmt.Sprintf("  %s = [%s]\n", s.attr, strings.Join(out, ", "))
	case s.form == "map":
		return fmt.Sprintf("  %s = {%s}\n", s.attr, strings.Join(out, ", "))
	}
	return ""
}

// without takes what differs by rule out of the attributes of an object: the secrets, if so asked, and the
// count of changes.
func (o *heldObject) without(attrs map[string]any, secrets bool) {
	delete(attrs, "serial")
	delete(attrs, "token")
	if !secrets {
		return
	}
	for _, slot := range o.slots {
		if slot.leaf == "" {
			delete(attrs, slot.attr)
			continue
		}
		switch in := attrs[slot.attr].(type) {
		case []any:
			for _, e := range in {
				delete(e.(map[string]any), slot.leaf)
			}
		case map[string]any:
			for _, e := range in {
				delete(e.(map[string]any), slot.leaf)
			}
		}
	}
}

// plainAttributes returns attributes in a form that is the same for the same values.
func (o *heldObject) plainAttributes(doc []byte, secrets bool) string {
	var attrs map[string]any
	if err := json.Unmarshal(doc, &attrs); err != nil {
		return err.Error()
	}
	if o != nil {
		o.without(attrs, secrets)
	}
	out, err := json.Marshal(attrs)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
