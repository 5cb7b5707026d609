package engine_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/plan"
)

// next changes the configuration, the real objects or the state at random and returns the step with which
// both sides follow.
func (h *heldHistory) next() heldStep {
	s := heldStep{cmd: heldCommand{skipRefresh: h.c.chance(6), save: h.c.chance(3)}}
	if h.c.chance(8) && !s.cmd.skipRefresh {
		s.cmd.mode = plan.RefreshOnly
	}
	if h.c.chance(10) && len(h.held.state.Salts) > 0 && h.resalts(&s) {
		return s
	}
	seen := map[*heldObject]bool{}
	var names []string
	for range 1 + h.c.rng.IntN(3) {
		o := h.c.any()
		if o == nil {
			names = append(names, "add "+h.c.add().name)
			continue
		}
		if !seen[o] {
			seen[o] = true
			names = append(names, h.change(o, &s)+" "+o.name)
		}
	}
	s.name = strings.Join(names, ", ")
	return s
}

// resalts makes a step before which all fingerprints are lost. It returns false where a destruction needs the
// values, or where the form that a provider gives them cannot be distinguished from drift any more.
func (h *heldHistory) resalts(s *heldStep) bool {
	for _, o := range h.c.objects {
		if o.strict == "delete" || o.typ == "sim_legacy" {
			return false
		}
	}
	s.name, s.resalt, s.cmd = "resalt", true, heldCommand{skipRefresh: s.cmd.skipRefresh, save: s.cmd.save}
	return true
}

// change makes one change about an object, and returns its name.
func (h *heldHistory) change(o *heldObject, s *heldStep) string {
	c := h.c
	switch c.rng.IntN(17) {
	case 0, 1:
		return h.changeSecret(o, s)
	case 2:
		o.other++
		return "other argument"
	case 3, 4:
		return h.rearrange(o)
	case 5, 6:
		return h.drift(o, s)
	case 7:
		h.plain.vanish(o.name)
		h.held.vanish(o.name)
		return "vanish"
	case 8:
		s.cmd.replace = append(s.cmd.replace, o.address())
		s.cmd.mode = plan.Normal
		return "replace"
	case 9:
		h.plain.taint(o.address())
		h.held.taint(o.address())
		return "taint"
	case 10:
		if o.strict == "delete" {
			return "nothing" // E95: without the block, nothing has the value
		}
		if s.cmd.mode == plan.RefreshOnly && o.recorded {
			s.refused = cmp.Or(s.refused, refusals[o.strict]) // without the block, nothing has the value (E92)
		}
		c.objects = slices.DeleteFunc(c.objects, func(other *heldObject) bool { return other == o })
		return "remove"
	case 11:
		o.from, o.label = o.label, o.label+"m"
		return "move"
	case 12:
		if o.slots[0].leaf != "" {
			return "nothing"
		}
		o.ignored = !o.ignored
		return fmt.Sprintf("ignore %t", o.ignored)
	case 13:
		o.on = !o.on
		c.publish(o)
		return fmt.Sprintf("setting %t", o.on)
	case 14:
		o.versions = !o.versions
		return fmt.Sprintf("versions %t", o.versions)
	case 15:
		return h.fail(o, s)
	}
	return "add " + c.add().name
}

// refusals are parts of the errors that reading ends with if the provider has to be sent the value, and the
// configuration has another one by now (E92).
var refusals = map[string]string{"gone": "Cannot tell whether the object exists", "error": "the state has no password"}

// changeSecret gives one secret another value.
func (h *heldHistory) changeSecret(o *heldObject, s *heldStep) string {
	slot := h.c.rng.IntN(len(o.slots))
	if len(o.secrets[slot]) == 0 || slot == 0 && o.ignored {
		return "nothing" // ADR 033: where changes are ignored, the new value is sent if something else changes
	}
	e := &o.secrets[slot][h.c.rng.IntN(len(o.secrets[slot]))]
	before := e.secret
	if e.secret = h.c.secret(); e.secret == before {
		return "the same secret"
	}
	o.version++
	h.c.publish(o)
	if o.recorded && !s.cmd.skipRefresh {
		s.refused = cmp.Or(s.refused, refusals[o.strict])
	}
	return fmt.Sprintf("secret %d in %s", e.secret, o.slots[slot].attr)
}

// rearrange changes the elements that have secrets.
func (h *heldHistory) rearrange(o *heldObject) string {
	i := h.c.rng.IntN(len(o.slots))
	elements := slices.Clone(o.secrets[i])
	if o.slots[i].leaf == "" {
		return "nothing"
	}
	o.version++
	what := "grow"
	switch n := len(elements); {
	case n > 1 && h.c.chance(2):
		what, elements = "rotate", append(elements[1:], elements[0])
	case n > 0 && h.c.chance(2):
		at := h.c.rng.IntN(n)
		what, elements = "shrink", slices.Delete(elements, at, at+1)
	default:
		elements = slices.Insert(elements, h.c.rng.IntN(n+1), h.c.element())
	}
	o.secrets[i] = elements
	h.c.publish(o)
	return what + " " + o.slots[i].attr
}

// drift changes an argument of the real objects.
func (h *heldHistory) drift(o *heldObject, s *heldStep) string {
	if h.c.chance(3) {
		for _, side := range []*heldSide{h.plain, h.held} {
			if o.typ == "sim_account" || o.typ == "sim_legacy" {
				side.drift(o.name, heldTypes[o.typ].other, "outside")
			} else {
				side.drift(o.name, heldTypes[o.typ].other, 1000+o.other)
			}
		}
		return "drift of another argument"
	}
	if o.strict == "" && o.typ == "sim_account" || o.strict == "delete" {
		return "nothing" // E92: drift of a value that the provider does not return stays unnoticed
	}
	slot := h.c.rng.IntN(len(o.slots))
	if len(o.secrets[slot]) == 0 || slot == 0 && o.ignored {
		return "nothing" // ADR 033, as in changeSecret
	}
	h.c.drifts++
	for _, side := range []*heldSide{h.plain, h.held} {
		real := side.object(o.name)
		if real == nil {
			continue
		}
		doc := real.Attrs[o.slots[slot].attr]
		for _, e := range o.secrets[slot] {
			for _, old := range []string{heldSecret(e.secret), strings.ToUpper(heldSecret(e.secret))} {
				doc = bytes.ReplaceAll(doc, []byte(old), []byte(heldOutside(h.c.drifts)))
			}
		}
		side.drift(o.name, o.slots[slot].attr, json.RawMessage(doc))
	}
	if !o.on {
		h.c.seen = h.c.drifts
	} else if s.cmd.mode == plan.RefreshOnly && o.recorded && refusals[o.strict] != "" && h.held.object(o.name) != nil {
		s.blind = cmp.Or(s.blind, refusals[o.strict])
	}
	return "drift of " + o.slots[slot].attr
}

// fail has the provider fail to change an object, before or after it has done so.
func (h *heldHistory) fail(o *heldObject, s *heldStep) string {
	do := []string{"error", "rpc-error"}[h.c.rng.IntN(2)]
	if o.typ == "sim_legacy" {
		do = "rpc-error" // of a failed answer in another form, nothing says which value it was made of
	}
	s.rules = append(s.rules, simprovider.Rule{RPC: "ApplyResourceChange", Type: o.typ, Name: o.name, Do: do})
	if h.c.chance(2) {
		o.other++
	}
	before := o.version
	what := h.changeSecret(o, s)
	if do == "rpc-error" && o.version != before && o.recorded {
		h.blind = cmp.Or(h.blind, refusals[o.strict])
	}
	return do + " and " + what
}
