package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// madeObject is a resource of a random configuration in which providers compute secrets: an account, whose
// token is one, or something with a secret that is made of tokens: an account with a password, or a thing.
type madeObject struct {
	typ, name, label string // label is the name of the block
	keys             int    // instances; 0 for one without a key
	each             bool   // with for_each, in place of count
	rotate, note     int
	on               bool // the token is kept out of the state
	cbd              bool

	uses    []madeUse // which the secret is made of; empty if there is none
	form    string    // direct, upper or text, if it is made of one token
	through string    // local, module or nothing
	static  bool      // the version of the secret is a number
	version int
	rebuilt int    // how often it was made of other tokens, or of the same in another way
	from    string // the label before the step
}

// madeUse is the use of a token.
type madeUse struct {
	of  *madeObject
	key int // of the instance; sameKey for the one with the same key as the user's
}

const sameKey = -1

// madeInstance is an instance of a resource.
type madeInstance struct {
	*madeObject
	key int
}

func (o *madeObject) instances() (out []madeInstance) {
	for key := range max(1, o.keys) {
		out = append(out, madeInstance{o, key})
	}
	return out
}

func (i madeInstance) named() string {
	if i.keys == 0 {
		return i.name
	}
	return fmt.Sprintf("%sk%d", i.name, i.key)
}

func (i madeInstance) address() string { return i.typ + "." + i.label + i.index(fmt.Sprint(i.key)) }

// index returns the index of the instance with a key, which is an expression.
func (o *madeObject) index(key string) string {
	switch {
	case o.keys == 0:
		return ""
	case o.each && !strings.HasSuffix(key, ".key"):
		return fmt.Sprintf("[%q]", key)
	}
	return "[" + key + "]"
}

// sources are the instances whose tokens make the secret of an instance.
func (i madeInstance) sources() (out []madeInstance) {
	for _, u := range i.uses {
		key := u.key
		if key == sameKey {
			key = i.key
		}
		out = append(out, madeInstance{u.of, min(key, max(0, u.of.keys-1))})
	}
	return out
}

// secret returns the secret that tokens make.
func (o *madeObject) secret(tokens []string) string {
	switch {
	case len(tokens) > 1:
		return strings.Join(tokens, "-")
	case o.form == "upper":
		return strings.ToUpper(tokens[0])
	case o.form == "text":
		return "with " + tokens[0]
	}
	return tokens[0]
}

// refs are the references to the tokens.
func (o *madeObject) refs() (out []string) {
	for _, u := range o.uses {
		key := fmt.Sprint(min(u.key, max(0, u.of.keys-1)))
		if u.key == sameKey {
			key = []string{"count.index", "each.key"}[min(1, len(o.eachText()))]
		}
		out = append(out, u.of.typ+"."+u.of.label+u.of.index(key)+".token")
	}
	return out
}

// eachText is not empty if the instances have texts as keys.
func (o *madeObject) eachText() string {
	if o.keys == 0 || !o.each {
		return ""
	}
	var keys []string
	for key := range o.keys {
		keys = append(keys, fmt.Sprintf("%q", fmt.Sprint(key)))
	}
	return "  for_each = toset([" + strings.Join(keys, ", ") + "])\n"
}

func (o *madeObject) expr() string {
	refs := o.refs()
	switch {
	case len(refs) > 1:
		return "join(\"-\", [" + strings.Join(refs, ", ") + "])"
	case o.form == "upper":
		return "upper(" + refs[0] + ")"
	case o.form == "text":
		return "\"with ${" + refs[0] + "}\""
	}
	return refs[0]
}

// text renders the block of a resource, with what its secret goes through.
func (o *madeObject) text() string {
	var sb strings.Builder
	secret, whole := "", slices.Clone(o.refs())
	if len(o.uses) > 0 {
		secret = o.expr()
		through := ""
		switch o.through {
		case "local":
			through = "local.l_" + o.name
			fmt.Fprintf(&sb, "locals {\n  l_%s = %s\n}\n", o.name, secret)
		case "module":
			through = "module.m_" + o.name + ".out"
			fmt.Fprintf(&sb, "module \"m_%s\" {\n  source = \"./pass\"\n  in = %s\n}\n", o.name, secret)
		}
		if through != "" {
			if secret = through; len(whole) == 1 && o.form == "direct" && o.version%2 == 0 {
				whole[0] = through
			}
		}
	}
	name := fmt.Sprintf("%q", o.name)
	fmt.Fprintf(&sb, "resource %q %q {\n", o.typ, o.label)
	switch each := o.eachText(); {
	case each != "":
		name = "\"" + o.name + "k${each.key}\""
		sb.WriteString(each)
	case o.keys > 0:
		name = "\"" + o.name + "k${count.index}\""
		fmt.Fprintf(&sb, "  count = %d\n", o.keys)
	}
	fmt.Fprintf(&sb, "  name = %s\n", name)
	var names []string
	if o.typ == "sim_account" {
		fmt.Fprintf(&sb, "  note = \"%d\"\n  rotate = \"%d\"\n", o.note, o.rotate)
		if o.on {
			names = append(names, "token")
		}
		if secret != "" {
			names = append(names, "password")
			fmt.Fprintf(&sb, "  password = %s\n", secret)
		}
	} else {
		fmt.Fprintf(&sb, "  size = %d\n  secret_wo = %s\n  secret_wo_version = ", o.note, secret)
		for i := range whole {
			whole[i] = "fingerprint(" + whole[i] + ")"
		}
		if o.rebuilt > 0 {
			whole = append(whole, fmt.Sprint(o.rebuilt))
		}
		if o.static {
			whole = []string{fmt.Sprint(o.version)}
		}
		sb.WriteString(strings.Join(whole, " + ") + "\n")
	}
	fmt.Fprintf(&sb, "  lifecycle {\n    create_before_destroy = %t\n", o.cbd)
	if len(names) > 0 {
		fmt.Fprintf(&sb, "    ephemeral_attributes = [%s]\n", strings.Join(names, ", "))
	}
	sb.WriteString("  }\n}\n")
	if o.from != "" {
		fmt.Fprintf(&sb, "moved {\n  from = %s.%s\n  to = %s.%s\n}\n", o.typ, o.from, o.typ, o.label)
	}
	return sb.String()
}

// madeConfig is a random configuration in which providers compute secrets.
type madeConfig struct {
	rng     *rand.Rand
	objects []*madeObject
	last    int // object that was made
}

// passModule is a module through which a secret goes.
const passModule = `
variable "in" {
  type      = string
  ephemeral = true
}
output "out" {
  value     = var.in
  ephemeral = true
}
`

func (c *madeConfig) files() map[string]string {
	var sb strings.Builder
	sb.WriteString(prelude)
	for _, o := range c.objects {
		sb.WriteString(o.text())
	}
	return map[string]string{"main.tf": sb.String(), "pass/main.tf": passModule}
}

func newMadeConfig(rng *rand.Rand) *madeConfig {
	c := &madeConfig{rng: rng}
	for range 1 + rng.IntN(2) {
		c.add(false)
	}
	for range 1 + rng.IntN(3) {
		c.add(true)
	}
	return c
}

// chance reports true once in n times.
func (c *madeConfig) chance(n int) bool { return c.rng.IntN(n) == 0 }

// add adds a resource, with a secret that is made of others' or without.
func (c *madeConfig) add(uses bool) *madeObject {
	c.last++
	name := fmt.Sprintf("o%d", c.last)
	o := &madeObject{
		typ: "sim_account", name: name, label: name, on: !c.chance(8), cbd: c.chance(4), each: c.chance(2),
		form: "direct", static: c.chance(5),
	}
	if c.chance(3) {
		o.keys = 1 + c.rng.IntN(2)
	}
	if uses {
		if !c.chance(3) {
			o.typ, o.on = "sim_thing", false
		}
		c.use(o)
	}
	c.objects = append(c.objects, o)
	return o
}

// use has the secret of a resource made of random tokens of resources before it.
func (c *madeConfig) use(o *madeObject) {
	accounts := c.producers(o)
	o.uses, o.through = nil, []string{"", "", "local", "module"}[c.rng.IntN(4)]
	o.form = []string{"direct", "direct", "upper", "text"}[c.rng.IntN(4)]
	c.rng.Shuffle(len(accounts), func(i, j int) { accounts[i], accounts[j] = accounts[j], accounts[i] })
	for _, of := range accounts[:1+c.rng.IntN(min(2, len(accounts)))] {
		u := madeUse{of: of, key: c.rng.IntN(max(1, of.keys))}
		if of.keys > 0 && o.keys > 0 && c.chance(2) {
			u.key, o.through, o.each, o.keys = sameKey, "", of.each, of.keys
		}
		o.uses = append(o.uses, u)
	}
	for i, u := range o.uses { // one may have changed the keys
		if u.key == sameKey && (u.of.each != o.each || u.of.keys != o.keys) {
			o.uses[i].key = 0
		}
	}
}

// producers are the accounts that a resource may use: those before it.
func (c *madeConfig) producers(o *madeObject) (out []*madeObject) {
	for _, p := range c.objects {
		if p == o {
			break
		}
		if p.typ == "sim_account" {
			out = append(out, p)
		}
	}
	return out
}

// users are the resources whose secrets are made of the tokens of a resource.
func (c *madeConfig) users(of *madeObject) (out []*madeObject) {
	for _, o := range c.objects {
		if slices.ContainsFunc(o.uses, func(u madeUse) bool { return u.of == of }) {
			out = append(out, o)
		}
	}
	return out
}

func (c *madeConfig) all() (out []madeInstance) {
	for _, o := range c.objects {
		out = append(out, o.instances()...)
	}
	return out
}

// some returns a random instance.
func (c *madeConfig) some() madeInstance {
	all := c.all()
	return all[c.rng.IntN(len(all))]
}
