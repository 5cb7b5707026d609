package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The kinds of blocks in a lifeConfig. Each has a resource, or is one, whose serial its apply makes known.
const (
	lifePlain     = iota
	lifeCount     // its count comes from another block
	lifeForEach   // its keys do
	lifeModule    // the count of its module call does
	lifeProvider  // the configuration of its provider does
	lifePending   // an ephemeral resource that an apply can open is configured with it
	lifeReach     // the count of an ephemeral resource does
	lifeToken     // its provider is configured with an ephemeral resource that only an apply can open
	lifeImport    // the identifier of its import block does
	lifeData      // a data source that waits for another block
	lifeAccount   // its token is kept out of the state
	lifeConsumer  // its count comes from another block, and it takes the token of an account
	lifeKinds     // how many there are
	lifeGone      // a provider that the objects of a block need which is gone
	lifeImporting = "n%d-0-0"
)

// lifeBlock is a block of a random configuration.
type lifeBlock struct {
	i, kind    int
	key, arg   *lifeBlock // nil for values that are known
	after      *lifeBlock // in depends_on
	account    *lifeBlock
	n          int  // instances
	size       int  // another one is an update
	generation int  // another one is a replacement
	first      bool // the replacement creates first
	made       bool // by an earlier phase, with the given own text and number of instances
	own        string
	had        int
	wasOf      int  // its generation then
	fleeting   bool // its provider or ephemeral resource reads tofu.applying too
	trigger    *lifeTrigger

	round   int  // in which it is planned
	changed bool // in that round, so that its serial is known after it
	touched bool // or an instance has come or gone
}

// lifeConfig is a random configuration in which blocks refer to earlier blocks.
type lifeConfig struct {
	r      *rand.Rand
	blocks []*lifeBlock
	last   int
	vague  bool // the number of rounds cannot be foreseen: see foresee
}

func (c *lifeConfig) chance(percent int) bool { return c.r.IntN(100) < percent }

// pick returns a block to refer to, or nil.
func (c *lifeConfig) pick(percent int, fits func(*lifeBlock) bool) *lifeBlock {
	var from []*lifeBlock
	for _, b := range c.blocks {
		if b.kind != lifeGone && fits(b) {
			from = append(from, b)
		}
	}
	if len(from) == 0 || !c.chance(percent) {
		return nil
	}
	return from[c.r.IntN(len(from))]
}

// add adds a block.
func (c *lifeConfig) add() {
	anything := func(*lifeBlock) bool { return true }
	b := &lifeBlock{i: c.last, kind: c.r.IntN(lifeKinds), size: 1, generation: 1, n: 1, key: c.pick(85, anything), arg: c.pick(70, anything), after: c.pick(20, anything)}
	c.last++
	switch b.kind {
	case lifeCount, lifeForEach, lifeModule:
		b.n = 1 + c.r.IntN(3)
	case lifeData:
		b.key, b.after = nil, nil
		if b.arg = c.pick(100, func(o *lifeBlock) bool { return o.kind != lifeData && o.kind != lifeAccount }); b.arg == nil {
			b.kind = lifePlain
		}
	case lifePlain, lifeAccount:
		b.key = nil
	case lifeConsumer:
		b.account = c.pick(100, func(o *lifeBlock) bool { return o.kind == lifeAccount })
		if b.account == nil {
			b.kind = lifeCount
			break
		}
		// A consumer that waits for the account itself would never get the token.
		free := func(o *lifeBlock) bool { return !o.needs(b.account) }
		b.key, b.arg, b.after = c.pick(85, free), c.pick(70, free), nil
	}
	b.first = c.chance(30) && b.kind != lifeData
	b.fleeting = c.chance(40) && (b.kind == lifeProvider || b.kind == lifePending)
	if b.kind != lifeData && c.chance(40) {
		b.trigger = c.newTrigger(b)
	}
	c.blocks = append(c.blocks, b)
}

// needs reports whether a block refers to another one, directly or through others.
func (b *lifeBlock) needs(other *lifeBlock) bool {
	if b == other {
		return true
	}
	return slices.ContainsFunc(b.refs(), func(o *lifeBlock) bool { return o.needs(other) })
}

// refs returns the blocks that a block or its action refers to.
func (b *lifeBlock) refs() []*lifeBlock {
	refs := []*lifeBlock{b.arg, b.after, b.account}
	if b.kind != lifeImport || !b.made { // an import block is used up
		refs = append(refs, b.key)
	}
	for _, ref := range b.trigger.refs() {
		refs = append(refs, *ref)
	}
	return slices.DeleteFunc(refs, func(o *lifeBlock) bool { return o == nil })
}

// object returns a reference to the first object of a block, for attributes.
func (b *lifeBlock) object() string {
	switch b.kind {
	case lifeCount, lifeConsumer:
		return fmt.Sprintf("sim_thing.n%d[0]", b.i)
	case lifeForEach:
		return fmt.Sprintf("sim_thing.n%d[\"0\"]", b.i)
	case lifeModule:
		return fmt.Sprintf("module.n%d[0]", b.i)
	case lifeData:
		return fmt.Sprintf("data.sim_lookup.n%d", b.i)
	case lifeAccount:
		return fmt.Sprintf("sim_account.n%d", b.i)
	}
	return fmt.Sprintf("sim_thing.n%d", b.i)
}

// whole returns a reference to a block.
func (b *lifeBlock) whole() string {
	text, _, _ := strings.Cut(b.object(), "[")
	return text
}

// one returns an expression of the number 1 which is known when the block's serial is.
func (b *lifeBlock) one(written bool) string {
	if b == nil || written {
		return "1"
	}
	return "min(" + b.object() + ".serial, 1)"
}

// argument returns the text that tells of the objects that a block refers to.
func (b *lifeBlock) argument() string {
	if b.arg == nil {
		return `["", 1]`
	}
	return fmt.Sprintf("[%[1]s.id, %[1]s.serial]", b.arg.object())
}

// attributes returns all arguments but the name.
func (b *lifeBlock) attributes() string {
	text := fmt.Sprintf("  size = %d\n  replace_me = \"g%d\"\n  json = jsonencode(%s)\n", b.size, b.generation, b.argument())
	if b.kind == lifeAccount {
		text = fmt.Sprintf("  note = jsonencode(%s)\n  rotate = \"g%d\"\n", b.argument(), b.generation)
	}
	return text
}

// text returns the configuration, with the keys as references or written out.
func (c *lifeConfig) text(written bool) string {
	var sb strings.Builder
	for _, b := range c.blocks {
		b.write(&sb, written)
	}
	return sb.String()
}

func (b *lifeBlock) write(sb *strings.Builder, written bool) {
	key, body := b.key.one(written), b.attributes()
	if b.after != nil && b.kind != lifeModule {
		body += "  depends_on = [" + b.after.whole() + "]\n"
	}
	life := ""
	if b.first {
		life += "    create_before_destroy = true\n"
	}
	if b.kind == lifeAccount {
		life += "    ephemeral_attributes = [token]\n"
	}
	if b.trigger != nil && b.kind != lifeModule {
		life += b.trigger.write(sb, b.i, written)
	}
	if life != "" {
		body += "  lifecycle {\n" + life + "  }\n"
	}
	if b.kind == lifeGone {
		b.writeProvider(sb, key)
		return
	}
	typ, name := "sim_thing", fmt.Sprintf("\"n%d-0\"", b.i)
	switch b.kind {
	case lifeAccount:
		typ = "sim_account"
	case lifeCount, lifeConsumer:
		body = fmt.Sprintf("  count = %s * %d\n", key, b.n) + body
		name = fmt.Sprintf("\"n%d-${count.index}\"", b.i)
		if b.kind == lifeConsumer {
			body += fmt.Sprintf("  secret_wo = %[1]s.token\n  secret_wo_version = fingerprint(%[1]s.token)\n", b.account.object())
		}
	case lifeForEach:
		body = fmt.Sprintf("  for_each = toset([for x in range(%s * %d) : tostring(x)])\n", key, b.n) + body
		name = fmt.Sprintf("\"n%d-${each.key}\"", b.i)
	case lifeModule:
		source := "./m"
		if b.first {
			source = "./first"
		}
		if b.trigger != nil {
			source += "-act"
			body = b.trigger.inputs(b.i, written)
		} else {
			body = ""
		}
		fmt.Fprintf(sb, "module \"n%d\" {\n  source = %q\n  count = %s * %d\n  name = \"n%d-${count.index}\"\n  size = %d\n  replace_me = \"g%d\"\n  arg = %s\n", b.i, source, key, b.n, b.i, b.size, b.generation, b.argument())
		if b.after != nil {
			body += "  depends_on = [" + b.after.whole() + "]\n"
		}
		sb.WriteString(body + "}\n")
		return
	case lifeData:
		fmt.Fprintf(sb, "data \"sim_lookup\" \"n%d\" {\n  name = %q\n  depends_on = [%s]\n}\n", b.i, fmt.Sprintf("n%d-0", b.arg.i), b.arg.whole())
		return
	case lifeProvider:
		b.writeProvider(sb, key)
		body = fmt.Sprintf("  provider = sim.p%d\n", b.i) + body
	case lifeToken:
		fmt.Fprintf(sb, "ephemeral \"sim_token\" \"e%d\" {\n  name = \"e%d\"\n  hint = \"h${%s}\"\n}\n", b.i, b.i, key)
		fmt.Fprintf(sb, "provider \"sim\" {\n  alias = \"p%d\"\n  token = ephemeral.sim_token.e%d.lease\n}\n", b.i, b.i)
		body = fmt.Sprintf("  provider = sim.p%d\n", b.i) + body
	case lifePending:
		count, value := "", fmt.Sprintf("ephemeral.sim_secret.e%d.value", b.i)
		if b.fleeting { // so that the plan opens none
			count, value = "  count = tofu.applying ? 1 : 0\n", fmt.Sprintf("one(ephemeral.sim_secret.e%d[*].value)", b.i)
		}
		fmt.Fprintf(sb, "ephemeral \"sim_secret\" \"e%d\" {\n%s  name = \"e%d\"\n  hint = \"h${%s}\"\n}\n", b.i, count, b.i, key)
		body += "  secret_wo = " + value + "\n  secret_wo_version = 1\n"
	case lifeReach:
		fmt.Fprintf(sb, "ephemeral \"sim_secret\" \"e%d\" {\n  count = %s\n  name = \"e%d\"\n}\n", b.i, key, b.i)
		body += fmt.Sprintf("  secret_wo = ephemeral.sim_secret.e%d[0].value\n  secret_wo_version = 1\n", b.i)
	case lifeImport:
		fmt.Fprintf(sb, "import {\n  to = sim_thing.n%d\n  id = %s > 0 ? \"%s\" : \"\"\n}\n", b.i, key, fmt.Sprintf(lifeImporting, b.i))
	}
	fmt.Fprintf(sb, "resource %q \"n%d\" {\n  name = %s\n%s}\n", typ, b.i, name, body)
}

// writeProvider writes a provider configuration with a key.
func (b *lifeBlock) writeProvider(sb *strings.Builder, key string) {
	region := fmt.Sprintf("r${%s}", key)
	if b.fleeting {
		region = fleetingRegion + "${tofu.applying}" + region
	}
	fmt.Fprintf(sb, "provider \"sim\" {\n  alias = \"p%d\"\n  region = \"%s\"\n}\n", b.i, region)
}

// names returns the names of a block's objects.
func (b *lifeBlock) names() (out []string) {
	for k := range b.n {
		if b.kind != lifeData && b.kind != lifeGone {
			out = append(out, fmt.Sprintf("n%d-%d", b.i, k))
		}
	}
	return out
}

// addresses returns the addresses of a block's objects, in the order of their names.
func (b *lifeBlock) addresses() (out []string) {
	for k := range b.names() {
		switch b.kind {
		case lifeCount, lifeConsumer:
			out = append(out, fmt.Sprintf("sim_thing.n%d[%d]", b.i, k))
		case lifeForEach:
			out = append(out, fmt.Sprintf("sim_thing.n%d[\"%d\"]", b.i, k))
		case lifeModule:
			out = append(out, fmt.Sprintf("module.n%d[%d].sim_thing.x", b.i, k))
		default:
			out = append(out, b.object())
		}
	}
	return out
}

// known returns the first round in whose plan the block's serial is known.
func (b *lifeBlock) known() int {
	switch {
	case b == nil:
		return 1
	case b.changed:
		return b.round + 1
	}
	return b.round
}

// foresee determines the rounds in which the blocks are planned, and which of them change, without those that
// are left out. It returns the number of rounds.
func (c *lifeConfig) foresee(without map[*lifeBlock]bool) int {
	most := 1
	c.vague = false
	for _, b := range c.blocks {
		if without[b] {
			continue
		}
		b.round = 1
		for _, o := range []*lifeBlock{b.arg, b.after} {
			if o != nil {
				b.round = max(b.round, o.round)
			}
		}
		if b.kind == lifeGone {
			b.changed, b.touched = false, false
			continue
		}
		if b.kind == lifeData {
			b.changed = b.arg.touched
			b.touched = b.changed
			continue
		}
		b.changed = !b.made || b.own != b.attributes() || b.arg != nil && b.arg.changed
		b.touched = b.changed || b.had != b.n
		switch b.kind {
		case lifeCount, lifeForEach, lifeModule, lifeProvider, lifeToken, lifeConsumer:
			b.round = max(b.round, b.key.known())
		case lifePending:
			if b.key != nil && b.changed {
				b.round = max(b.round, b.key.round)
			}
		case lifeReach:
			if b.changed {
				b.round = max(b.round, b.key.known())
			}
		case lifeImport:
			if !b.made {
				b.round = max(b.round, b.key.known())
			}
		}
		if creates := b.replaces() || !b.made && b.kind != lifeImport; b.trigger.fires(b.changed, creates) {
			b.round = max(b.round, b.trigger.round())
		}
		c.vague = c.vague || b.trigger != nil && b.made && b.had != b.n // its instances come in different rounds
		most = max(most, b.round)
	}
	return most
}

// settle notes that the configuration was applied.
func (c *lifeConfig) settle() {
	for _, b := range c.blocks {
		b.made, b.own, b.had, b.wasOf = true, b.attributes(), b.n, b.generation
	}
}

// replaces reports whether the next phase replaces the objects of a block.
func (b *lifeBlock) replaces() bool {
	return b.made && b.wasOf != b.generation && b.kind != lifeAccount
}

// change changes the configuration for another phase. It returns whether something may be destroyed, and the
// names of the objects that are made anew and that go.
func (c *lifeConfig) change() (destructive bool, anew, gone []string) {
	was := map[int][]string{}
	for _, b := range c.blocks {
		was[b.i] = b.names()
	}
	harmless := c.chance(40)
	for _, b := range slices.Clone(c.blocks) {
		switch k := c.r.IntN(10); {
		case k < 2:
			b.size++
		case harmless, b.kind == lifeData, b.kind == lifeGone:
		case k < 4 && b.kind == lifeAccount:
			b.generation++
		case k < 4:
			b.generation++
			anew = append(anew, was[b.i]...)
			destructive = true
		case k == 4 && slices.Contains([]int{lifeCount, lifeForEach, lifeModule}, b.kind):
			b.n = 1 + c.r.IntN(3)
		case k == 5:
			c.remove(b)
		}
	}
	for range c.r.IntN(3) {
		c.add()
	}
	now := map[string]bool{}
	for _, b := range c.blocks {
		for _, name := range b.names() {
			now[name] = true
		}
	}
	for _, names := range was {
		for _, name := range names {
			if !now[name] {
				gone = append(gone, name)
			}
		}
	}
	return destructive || len(gone) > 0, anew, gone
}

// remove removes a block and the references to it. Blocks that cannot be without it stay as they are.
func (c *lifeConfig) remove(b *lifeBlock) {
	for _, o := range c.blocks {
		if o.kind == lifeData && o.arg == b || o.account == b {
			return
		}
	}
	if b.kind == lifeProvider || b.kind == lifeToken {
		b.kind, b.arg, b.after, b.trigger = lifeGone, nil, nil, nil
	} else {
		c.blocks = slices.DeleteFunc(c.blocks, func(o *lifeBlock) bool { return o == b })
	}
	for _, o := range c.blocks {
		for _, ref := range append(o.trigger.refs(), &o.key, &o.arg, &o.after) {
			if *ref == b {
				*ref = nil
			}
		}
	}
}

// allNames returns the names of all objects.
func (c *lifeConfig) allNames() (out []string) {
	for _, b := range c.blocks {
		out = append(out, b.names()...)
	}
	return out
}
