package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// lifeTrigger is an action that changes of a block trigger. All of its blocks are nil for values that are
// known.
type lifeTrigger struct {
	before         bool       // the change, or after it
	create, update bool       // the changes that trigger it
	count          *lifeBlock // decides how many instances it has
	arg            *lifeBlock // in its configuration
	reach          *lifeBlock // decides how many instances an ephemeral resource of its configuration has
}

// newTrigger returns a trigger for a new block. Modules have triggers of one form.
func (c *lifeConfig) newTrigger(b *lifeBlock) *lifeTrigger {
	anything := func(*lifeBlock) bool { return true }
	tr := &lifeTrigger{before: c.chance(40), create: c.chance(80), update: c.chance(60), count: c.pick(40, anything), arg: c.pick(60, anything), reach: c.pick(30, anything)}
	if b.kind == lifeModule {
		tr.before, tr.create, tr.update, tr.reach = false, true, true, nil
	}
	if !tr.create {
		tr.update = true
	}
	return tr
}

// refs returns the references of a trigger, which may be nil.
func (tr *lifeTrigger) refs() []**lifeBlock {
	if tr == nil {
		return nil
	}
	return []**lifeBlock{&tr.count, &tr.arg, &tr.reach}
}

// fires reports whether a change triggers the action.
func (tr *lifeTrigger) fires(changes, creates bool) bool {
	return tr != nil && changes && (creates && tr.create || !creates && tr.update)
}

// round returns the first round in which the action can be planned.
func (tr *lifeTrigger) round() int {
	n := max(tr.count.known(), tr.reach.known())
	if tr.arg != nil {
		n = max(n, tr.arg.round)
	}
	return n
}

// text returns the argument of the action that tells of an object.
func (tr *lifeTrigger) text() string {
	if tr.arg == nil {
		return "0"
	}
	return tr.arg.object() + ".serial"
}

// write writes the action of a block, and returns the trigger.
func (tr *lifeTrigger) write(sb *strings.Builder, i int, written bool) string {
	secret := ""
	if tr.reach != nil {
		fmt.Fprintf(sb, "ephemeral \"sim_secret\" \"t%d\" {\n  count = %s\n  name = \"t%d\"\n}\n", i, tr.reach.one(written), i)
		secret = fmt.Sprintf("    secret = ephemeral.sim_secret.t%d[0].value\n", i)
	}
	fmt.Fprintf(sb, "action \"sim_note\" \"a%d\" {\n  count = %s\n  config {\n    name = \"a%d\"\n    text = jsonencode(%s)\n%s  }\n}\n", i, tr.count.one(written), i, tr.text(), secret)
	return fmt.Sprintf("    action_trigger {\n      events  = [%s]\n      actions = [action.sim_note.a%d[0]]\n    }\n", strings.Join(tr.events(), ", "), i)
}

func (tr *lifeTrigger) events() (out []string) {
	when := "after"
	if tr.before {
		when = "before"
	}
	if tr.create {
		out = append(out, when+"_create")
	}
	if tr.update {
		out = append(out, when+"_update")
	}
	return out
}

// inputs returns the arguments of a module call for the action in the module.
func (tr *lifeTrigger) inputs(i int, written bool) string {
	return fmt.Sprintf("  action_name = \"a%d\"\n  action_count = %s\n  action_text = %s\n", i, tr.count.one(written), tr.text())
}

// lifeModules are the modules of the calls, by file.
func lifeModules() map[string]string {
	const text = prelude + `
variable "name" {}
variable "size" {}
variable "replace_me" {}
variable "arg" {}
resource "sim_thing" "x" {
  name       = var.name
  size       = var.size
  replace_me = var.replace_me
  json       = jsonencode(var.arg)
  lifecycle {
    create_before_destroy = FIRST
TRIGGER  }
}
output "id" { value = sim_thing.x.id }
output "serial" { value = sim_thing.x.serial }
`
	const action = `
variable "action_name" {}
variable "action_count" {}
variable "action_text" {}
action "sim_note" "a" {
  count = var.action_count
  config {
    name = var.action_name
    text = jsonencode(var.action_text)
  }
}
`
	const trigger = "    action_trigger {\n      events  = [after_create, after_update]\n      actions = [action.sim_note.a[0]]\n    }\n"
	out := map[string]string{}
	for dir, first := range map[string]string{"m": "false", "first": "true"} {
		out[dir+"/main.tf"] = strings.NewReplacer("FIRST", first, "TRIGGER", "").Replace(text)
		out[dir+"-act/main.tf"] = strings.NewReplacer("FIRST", first, "TRIGGER", trigger).Replace(text) + action
	}
	return out
}

// nurse has a new place for the providers of the next commands, with the present rules.
func (l *life) nurse() {
	l.nursery = l.within().(*nursery)
	l.launcher = l.nursery
}

// nothingFleeting checks that nothing is open, and that no provider runs that is configured with an ephemeral
// value or with tofu.applying.
func (l *life) nothingFleeting(when string) {
	if n := l.openLeases(); n > 0 {
		l.t.Errorf("got %d ephemeral instances that are open %s, want none", n, when)
	}
	if n := l.nursery.fleeting(); n > 0 {
		l.t.Errorf("got %d providers that run with an ephemeral configuration %s, want none", n, when)
	}
}

// checkActions checks that each change of the round has triggered its action once, at its time, and that no
// other was invoked. A failure may come after an action that precedes its change.
func (l *life) checkActions(r *result) {
	failed := r.diags().HasErrors()
	for _, b := range l.config.blocks {
		if b.trigger == nil {
			continue
		}
		var changes, changed, invoked, done int
		idle := b.idleUpdates(r)
		for _, e := range r.applyLog {
			switch change := e.RPC == "ApplyResourceChange" && slices.Contains(b.names(), e.Name) && b.trigger.fires(e.Action != "delete", e.Action == "create"); {
			case change && e.Phase == simlog.Begin:
				changes++
				if b.trigger.before && done < changes {
					l.t.Errorf("%s: got a change without its action before it, want the action first", e.Name)
				}
			case change && e.Err == "":
				changed++
			case e.RPC != "InvokeAction" || e.Name != fmt.Sprintf("a%d", b.i):
			case e.Phase == simlog.Begin:
				invoked++
				if !b.trigger.before && invoked > changed+idle {
					l.t.Errorf("%s: got an action before the change that triggers it, want it after the change", e.Name)
				}
			default:
				done++
			}
		}
		if b.trigger.before {
			changed = changes
		}
		if changed += idle; failed && invoked < changed {
			changed = max(invoked, changed-idle) // some of them were not reached
		}
		lost := failed && !b.trigger.before && reportsLost(r.diags(), b.i)
		if invoked > changed && !(failed && b.trigger.before) || invoked < changed && !lost {
			l.t.Errorf("a%d: got %d invocations, want %d", b.i, invoked, changed)
		}
	}
	if names := l.withoutTrigger(r); len(names) > 0 {
		l.t.Errorf("got invocations %q of actions that are not in the configuration, want none", names)
	}
}

// idleUpdates returns how many updates the plan of a round has that trigger the action and for which the
// apply found nothing to do, since the values that were unknown are as before. The plan has shown the action,
// so that it is invoked.
func (b *lifeBlock) idleUpdates(r *result) (n int) {
	if r.plan == nil || !b.trigger.fires(true, false) {
		return 0
	}
	for _, c := range r.plan.Changes {
		i := slices.Index(b.addresses(), c.Addr.String())
		if c.Action == plan.Update && i >= 0 && r.applyLog.Count(simlog.Filter{RPC: "ApplyResourceChange", Name: b.names()[i]}) == 0 {
			n++
		}
	}
	return n
}

// reportsLost reports whether an error says that the actions of a block were not invoked.
func reportsLost(diags diag.List, i int) bool {
	return slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
		return d.Summary == "Actions were not invoked" && (strings.Contains(d.Address, fmt.Sprintf("a%d[", i)) || strings.Contains(d.Address, fmt.Sprintf("n%d[", i)))
	})
}

// withoutTrigger returns the names of invoked actions that no block triggers.
func (l *life) withoutTrigger(r *result) (names []string) {
	for _, c := range r.applyLog.Calls(simlog.Filter{RPC: "InvokeAction"}) {
		if !slices.ContainsFunc(l.config.blocks, func(b *lifeBlock) bool { return b.trigger != nil && fmt.Sprintf("a%d", b.i) == c.Begin.Name }) {
			names = append(names, c.Begin.Name)
		}
	}
	return names
}

// withoutSome applies the configuration without a block and whatever depends on it, in as few rounds as the
// others take.
func (l *life) withoutSome() {
	victim := l.config.pick(100, func(*lifeBlock) bool { return true })
	if victim == nil {
		return
	}
	l.left = map[*lifeBlock]bool{}
	for _, b := range l.config.blocks {
		if b.needs(victim) {
			l.left[b] = true
			l.loose = l.loose || b.kind == lifeConsumer // its account is replaced for another token
		}
	}
	for _, name := range l.existing() {
		l.neglected[name] = l.isLeft(name)
	}
	l.excludes = []string{victim.whole()}
	had := l.existing()
	want := l.config.foresee(l.left)
	l.trail = append(l.trail, "without "+victim.whole())
	n, diags := l.attempt(nil)
	vague := l.config.vague || l.loose || slices.ContainsFunc(l.config.blocks, func(b *lifeBlock) bool {
		return b.kind == lifeAccount || b.replaces() || b.had > b.n || l.left[b] && l.isBehindModule(b)
	}) || slices.ContainsFunc(had, func(name string) bool { // its destruction may wait
		return !slices.Contains(l.config.allNames(), name)
	})
	if diags.HasErrors() {
		l.loose = true
		l.follow(diags)
	} else {
		if n > want && !vague {
			l.t.Errorf("rounds without %s: got %d, want %d", victim.whole(), n, want)
		}
		got := l.existing()
		for _, b := range l.config.blocks {
			for _, name := range b.names() {
				if want := l.left[b] && slices.Contains(had, name) || !l.left[b]; slices.Contains(got, name) != want {
					l.t.Errorf("%s without %s: got exists %t, want %t", name, victim.whole(), !want, want)
				}
			}
		}
		for _, name := range had { // also if its key is gone
			if b := l.leftBlock(name); b != nil && !l.isBehindModule(b) && !slices.Contains(got, name) {
				l.t.Errorf("%s without %s: got destroyed, want it left out with its block", name, victim.whole())
			}
		}
	}
	l.excludes, l.left, l.uneven = nil, nil, true
	l.config.foresee(nil)
}

// checkLeftOut checks that a round has neither changed nor deferred objects that are left out.
func (l *life) checkLeftOut(r *result) {
	if l.left == nil {
		return
	}
	for _, c := range r.applyLog.Calls(simlog.Filter{RPC: "ApplyResourceChange"}) {
		if c.Begin.Action != "delete" && l.isLeft(c.Begin.Name) { // see below for these
			l.t.Errorf("got a change of %s, which is left out, want none", c.Begin.Name)
		}
	}
	if r.plan == nil {
		return
	}
	for _, d := range r.plan.Deferrals {
		if b := l.leftBlock(d.Change.Addr.String()); b != nil && !l.isBehindModule(b) {
			l.t.Errorf("got %s deferred, which is left out, want it not counted", d.Change.Addr)
		}
	}
	for _, c := range r.plan.Changes {
		if c.Deposed == addr.Current && c.Action != plan.NoOp && c.Action != plan.Delete && l.isLeft(c.Addr.String()) {
			l.t.Errorf("got %s of %s, which is left out, want none", c.Action, c.Addr)
		}
	}
}

// isLeft reports whether an object or address belongs to a block that is left out.
func (l *life) isLeft(name string) bool { return l.leftBlock(name) != nil }

// leftBlock returns the block that an object or address belongs to if it is left out, nil otherwise.
func (l *life) leftBlock(name string) *lifeBlock {
	m := lifeName.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	i, _ := strconv.Atoi(m[1])
	at := slices.IndexFunc(l.config.blocks, func(b *lifeBlock) bool { return b.i == i && b.kind != lifeGone && l.left[b] })
	if at < 0 {
		return nil
	}
	return l.config.blocks[at]
}

// isBehindModule reports whether a block that is left out refers to a module call whose instances may be
// unknown, also through others. As long as they are, a reference to an output of the call leads to all that
// is in it, and its users are deferred: objects in it may be left out, and others not.
func (l *life) isBehindModule(b *lifeBlock) bool {
	return slices.ContainsFunc(b.refs(), func(o *lifeBlock) bool {
		return l.left[o] && (o.kind == lifeModule && o.key != nil || l.isBehindModule(o))
	})
}
