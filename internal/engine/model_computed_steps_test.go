package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/plan"
)

// madeStep is a step of a history.
type madeStep struct {
	name   string
	cmd    heldCommand
	rules  []simprovider.Rule
	stopAt int  // the change at which the apply is interrupted, 0 for none
	harmed bool // the apply may fail
}

// stoppable returns a context and the function that interrupts it.
func stoppable(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) }

// next changes the configuration, the real objects or the state at random and returns the step that follows.
func (h *madeHistory) next() madeStep {
	c := h.config
	s := madeStep{cmd: heldCommand{save: c.chance(4), killAt: 1000}}
	var names []string
	for range 1 + c.rng.IntN(3) {
		i := c.some()
		names = append(names, h.change(i, &s)+" "+i.named())
	}
	for _, list := range []*[]string{&s.cmd.replace, &s.cmd.targets, &s.cmd.excludes} {
		*list = slices.DeleteFunc(*list, func(address string) bool { // which another change has removed
			return !slices.ContainsFunc(c.all(), func(i madeInstance) bool { return i.address() == address })
		})
	}
	if len(h.bare(heldCommand{})) > 0 {
		s.cmd.mode = plan.Normal // references to the tokens that the state lacks would be null
	}
	if s.cmd.mode == plan.RefreshOnly {
		s.cmd.replace, s.cmd.targets, s.cmd.excludes = nil, nil, nil
	}
	s.name = strings.Join(names, ", ")
	return s
}

// mend returns the step after one that has left things to do.
func (h *madeHistory) mend() madeStep {
	if h.config.chance(4) {
		return h.next()
	}
	if i := h.config.some(); h.config.chance(3) {
		return madeStep{name: h.move(i) + " and mend"}
	}
	return madeStep{name: "mend"}
}

func (h *madeHistory) move(i madeInstance) string {
	if i.from != "" {
		return "nothing"
	}
	i.from, i.label = i.label, i.label+"m"
	return "move " + i.name
}

// change makes one change about an instance, and returns its name.
func (h *madeHistory) change(i madeInstance, s *madeStep) string {
	c := h.config
	switch c.rng.IntN(20) {
	case 0, 1, 2:
		return h.rotate(i)
	case 3:
		i.note++
		for _, all := range i.instances() {
			h.brush(all)
		}
		return "note"
	case 4:
		s.cmd.replace = append(s.cmd.replace, i.address())
		return "replace"
	case 5:
		if len(s.cmd.replace)+len(s.cmd.targets)+len(s.cmd.excludes) > 0 {
			return "nothing" // they have the address before
		}
		return h.move(i)
	case 6:
		return h.set(i, s)
	case 7, 8:
		return h.fail(i, s)
	case 9, 10:
		s.cmd.killAt, s.harmed = 1+c.rng.IntN(16), true
		return "kill and " + h.rotate(i)
	case 11:
		s.stopAt, s.harmed = 1+c.rng.IntN(4), true
		return "stop and " + h.rotate(i)
	case 12:
		return h.drift(i, s)
	case 13:
		h.side.vanishOf(h.object(i))
		h.renew(i)
		return "vanish"
	case 14:
		return h.forget(i)
	case 15:
		if in := h.instance(i); in != nil {
			h.side.taint(h.addressNow(i))
			h.renew(i)
		}
		return "taint"
	case 16:
		return h.restrict(i, s)
	case 17:
		return h.rebuild(i)
	case 18:
		return h.recount(i)
	}
	if c.chance(2) {
		i.static, i.version = !i.static, i.version+1
		for _, all := range i.instances() {
			h.touch(all)
		}
		return fmt.Sprintf("static %t", i.static)
	}
	s.cmd.mode = plan.RefreshOnly
	return "refresh and " + h.rotate(i)
}

// bump changes the version of the secret of a thing.
func (h *madeHistory) bump(o *madeObject) {
	o.version++
	for _, i := range o.instances() {
		h.touch(i)
	}
}

// rotate has an account make new tokens, in all its instances.
func (h *madeHistory) rotate(i madeInstance) string {
	if i.typ != "sim_account" {
		return "nothing"
	}
	i.rotate++
	for _, all := range i.instances() {
		h.renew(all)
	}
	return "rotate"
}

// set adds or removes the setting of an account. Without it, the token has to be made anew: the state does
// not have it.
func (h *madeHistory) set(i madeInstance, s *madeStep) string {
	if i.typ != "sim_account" || s.cmd.mode != plan.Normal {
		return "nothing"
	}
	i.on = !i.on
	for _, all := range i.instances() {
		h.touch(all)
		if id := h.real(all); i.on && id != "" { // a run that died may have left an older one, as ever
			h.truth.tokens[id] = tokenOf(h.instance(all).Current)
		}
		if !i.on {
			s.cmd.replace = append(s.cmd.replace, all.address())
		}
	}
	return fmt.Sprintf("setting %t", i.on)
}

// fail has the provider fail to change an object, before or after it has done so, and makes a new token for
// it, or of it.
func (h *madeHistory) fail(i madeInstance, s *madeStep) string {
	do := []string{"error", "rpc-error"}[h.config.rng.IntN(2)]
	s.rules = append(s.rules, simprovider.Rule{RPC: "ApplyResourceChange", Type: i.typ, Name: i.named(), Do: do})
	s.harmed = true
	what := "nothing"
	if sources := i.sources(); len(sources) > 0 {
		what = h.rotate(sources[0])
	} else {
		what = h.rotate(i)
	}
	return do + " and " + what
}

// drift changes a real object behind the engine's back.
func (h *madeHistory) drift(i madeInstance, s *madeStep) string {
	s.cmd.skipRefresh = false
	switch {
	case i.typ == "sim_thing":
		h.side.driftOf(h.object(i), "size", 1000+i.note)
	case h.config.chance(2):
		h.side.driftOf(h.object(i), "note", "outside")
	default:
		h.side.driftOf(h.object(i), "rotate", "outside")
		h.renew(i)
		return "drift of rotate"
	}
	h.brush(i)
	return "drift"
}

// addressNow is the address that the state has an instance at.
func (h *madeHistory) addressNow(i madeInstance) string {
	o := *i.madeObject
	if o.from != "" {
		o.label = o.from
	}
	return madeInstance{&o, i.key}.address()
}

// forget takes an instance out of the state; the real object stays.
func (h *madeHistory) forget(i madeInstance) string {
	if in := h.instance(i); in == nil {
		return "nothing"
	}
	h.side.state.RemoveObject(addr.Object{Instance: h.side.instances([]string{h.addressNow(i)})[0]})
	h.renew(i)
	return "state rm"
}

// restrict has the plan leave something out.
func (h *madeHistory) restrict(i madeInstance, s *madeStep) string {
	if i.from != "" || s.cmd.mode != plan.Normal || len(s.cmd.targets)+len(s.cmd.excludes) > 0 {
		return "nothing"
	}
	if h.config.chance(2) {
		s.cmd.targets = []string{i.address()}
		return "target"
	}
	s.cmd.excludes = []string{i.address()}
	return "exclude"
}

// rebuild adds or removes a resource, or has a secret made of other tokens.
func (h *madeHistory) rebuild(i madeInstance) string {
	c := h.config
	switch {
	case c.chance(3) && len(c.users(i.madeObject)) == 0 && len(c.producers(i.madeObject)) > 0:
		c.objects = slices.DeleteFunc(c.objects, func(o *madeObject) bool { return o == i.madeObject })
		return "remove"
	case c.chance(2) && len(i.uses) > 0:
		keys, each := i.keys, i.each
		if c.use(i.madeObject); keys != i.keys || each != i.each {
			for n := range i.uses { // its instances would be others
				i.uses[n].key = 0
			}
			i.keys, i.each = keys, each
		}
		i.rebuilt++
		h.bump(i.madeObject)
		return "rebuild"
	}
	o := c.add(true)
	for _, i := range o.instances() {
		h.renew(i)
	}
	return "add " + o.name + " beside"
}

// recount changes the number of the instances of a resource, and of those who follow it.
func (h *madeHistory) recount(i madeInstance) string {
	if i.keys == 0 || slices.ContainsFunc(i.uses, func(u madeUse) bool { return u.key == sameKey }) {
		return "nothing"
	}
	i.keys = 3 - min(i.keys, 2)
	h.follows(i.madeObject)
	return fmt.Sprintf("%d of", i.keys)
}

// follows gives those who use each instance of a resource as many instances.
func (h *madeHistory) follows(of *madeObject) {
	for _, i := range of.instances() {
		if h.instance(i) == nil {
			h.renew(i)
		} else {
			h.comeBack(i)
		}
	}
	for _, user := range h.config.users(of) {
		same := slices.ContainsFunc(user.uses, func(u madeUse) bool { return u.of == of && u.key == sameKey })
		for n, u := range user.uses {
			if same && u.of != of && u.key == sameKey {
				user.uses[n].key = 0
			}
		}
		if same && user.keys != of.keys {
			user.keys = of.keys
			h.follows(user)
		}
		h.bump(user)
	}
}

// comeBack notes the changes of an instance while its resource did not have it.
func (h *madeHistory) comeBack(i madeInstance) {
	first := madeInstance{i.madeObject, 0}.named()
	h.touched[i.named()] = h.touched[i.named()] || h.touched[first]
	h.needy[i.named()] = h.needy[i.named()] || h.needy[first]
	if h.renewed[first] {
		h.renew(i)
	}
	h.spread()
}
