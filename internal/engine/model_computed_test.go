package engine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestE98Model changes random configurations in random ways in which providers compute secrets that are kept
// out of the state. Each consumer must have the newest, or a plan must say so: none may be lost in silence,
// not even by a run that fails or dies. An error must be right, and its way out must work.
func TestE98Model(t *testing.T) {
	t.Parallel()
	first, seeds := envNumber(t, envHeldFirst, 0), envNumber(t, envHeldSeeds, heldSeeds)
	enough := time.Now().Add(time.Hour)
	if deadline, ok := t.Deadline(); ok { // a busy machine tries fewer
		enough = deadline.Add(-time.Minute)
	}
	hashes := fingerprint.NewHashes()
	salt, err := fingerprint.NewSalt(bytes.NewReader(make([]byte, 20)))
	if err != nil {
		t.Fatal(err)
	}
	var next, steps atomic.Int64
	t.Cleanup(func() { t.Logf("%d histories with %d steps", min(next.Load(), int64(seeds)), steps.Load()) })
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for !t.Failed() && time.Now().Before(enough) {
				seed := int(next.Add(1)) - 1
				if seed >= seeds {
					return
				}
				h := newMadeHistory(t, uint64(first+seed), salt, hashes)
				h.live()
				steps.Add(int64(len(h.trail)))
				if t.Failed() {
					t.Fatalf("with %s=%d, after:\n  %s\nof the configuration:\n%s", envHeldFirst, first+seed, strings.Join(h.trail, "\n  "), h.config.files()["main.tf"])
				}
			}
		})
	}
}

// madeHistory is what happens to a configuration.
type madeHistory struct {
	t      *testing.T
	config *madeConfig
	side   *heldSide
	truth  *madeTruth
	trail  []string

	touched   map[string]bool   // instances that calls may change, by name
	needy     map[string]bool   // those of them that need their secrets for it
	renewed   map[string]bool   // those that get new tokens, or may have got them
	waived    map[string]string // tokens, in upper case, that instances lack, which is all right; by user and account
	ended     bool              // a run has failed or died since all was well
	uncertain bool              // and the engine cannot know what it has done
}

func newMadeHistory(t *testing.T, seed uint64, salt fingerprint.Salt, hashes *fingerprint.Hashes) *madeHistory {
	c := newMadeConfig(rand.New(rand.NewPCG(seed, 98)))
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	salts := []fingerprint.Salt{salt}
	if c.chance(25) {
		salts = nil // an apply makes one, which takes time to hash with
	}
	h := &madeHistory{
		t: t, config: c, side: newHeldSide(t, dir, true, salts, hashes),
		truth:   &madeTruth{config: c, tokens: map[string]string{}, got: map[string]string{}, minted: map[string]bool{}, hidden: map[string]bool{}},
		touched: map[string]bool{}, needy: map[string]bool{}, renewed: map[string]bool{}, waived: map[string]string{},
	}
	h.side.through = h.truth.change
	return h
}

// live is the life of a configuration.
func (h *madeHistory) live() {
	for _, i := range h.config.all() {
		h.renew(i)
	}
	h.step(madeStep{name: "create"})
	for range 3 + h.config.rng.IntN(6) {
		if h.t.Failed() {
			return
		}
		h.step(h.next())
	}
	if h.t.Failed() {
		return
	}
	if s := h.next(); h.config.chance(2) { // and what it leaves, whatever that is
		h.run(s)
	}
	if r := h.run(madeStep{name: "destroy everything", cmd: heldCommand{mode: plan.Destroy}}); r.diags.HasErrors() {
		h.t.Errorf("got %v from the destruction", r.diags.Err())
	}
}

// step carries out a step and what settles its outcome. After that a plan has nothing to do.
func (h *madeHistory) step(s madeStep) {
	var way wayOut
	for range 30 {
		if h.t.Failed() {
			return
		}
		s.cmd.replace = append(append(s.cmd.replace, way.replace...), h.bare(s.cmd)...)
		r := h.run(s)
		if !r.refused {
			h.checkSilence(s.cmd)
		}
		switch {
		case r.refused:
			way = h.follow(s, r)
			if s.cmd.mode == plan.RefreshOnly { // which replaces nothing
				s.cmd.mode = plan.Normal
			}
			if way.unrestricted {
				s.cmd.targets, s.cmd.excludes = nil, nil
			}
			continue
		case h.missed(r):
			h.ended, s, way = true, h.mend(), wayOut{}
			continue
		case s.harmed && (r.killed || r.diags.HasErrors()), len(s.cmd.targets)+len(s.cmd.excludes) > 0, s.cmd.mode != plan.Normal:
			h.ended = h.ended || s.harmed
			h.uncertain = h.uncertain || r.killed || len(s.rules) > 0
			s, way = h.mend(), wayOut{}
			continue
		case r.diags.HasErrors():
			h.t.Errorf("got %v", r.diags.Err())
			return
		}
		h.settled()
		return
	}
	h.t.Error("got an error again and again, want one whose way out works")
}

// missed reports whether an apply has failed only because new values were not delivered to those who take
// none in it.
func (h *madeHistory) missed(r *heldResult) bool {
	missed := false
	for _, d := range r.diags {
		if d.Severity != diag.Error {
			continue
		}
		if d.Summary != "New value was not delivered" || len(h.lacking()) == 0 {
			return false
		}
		missed = true
	}
	return missed
}

// settled checks what holds after an apply of everything.
func (h *madeHistory) settled() {
	if lack := h.lacking(); len(lack) > 0 {
		h.t.Errorf("got an apply that left %q without the secrets of now", lack)
	}
	for _, o := range h.config.objects {
		o.from = ""
	}
	r := h.run(madeStep{name: "second plan", cmd: heldCommand{planOnly: true}})
	if r.refused || r.changes > 0 {
		h.t.Errorf("got %v and the changes %q in a second plan, want none", r.diags.Err(), r.planned)
	}
	clear(h.touched)
	clear(h.needy)
	clear(h.renewed)
	h.ended, h.uncertain = false, false
}

// checkSilence plans after a run that ended in any way: if something lacks a secret, the plan delivers it or
// is an error.
func (h *madeHistory) checkSilence(cmd heldCommand) {
	if cmd.planOnly || h.t.Failed() {
		return
	}
	lack := h.lacking()
	r := h.run(madeStep{name: "look", cmd: heldCommand{planOnly: true}})
	for _, address := range lack {
		named := slices.ContainsFunc(r.planned, func(line string) bool { return strings.Contains(line, " "+address+" ") })
		if !named && !r.refused {
			h.t.Errorf("got the plan %q after a run that left %s without its secret, want one that delivers it, or an error", r.planned, address)
		}
	}
}

// run carries out a command and checks what always holds.
func (h *madeHistory) run(s madeStep) *heldResult {
	h.t.Helper()
	h.trail = append(h.trail, fmt.Sprintf("%s %+v stop=%d %v", s.name, s.cmd, s.stopAt, s.rules))
	h.side.rules = s.rules
	h.truth.calls, h.truth.made, h.truth.stopAt = nil, 0, 0
	if s.stopAt > 0 {
		h.truth.stopAt = s.stopAt
		s.cmd.soft, h.truth.stop = stoppable(h.t.Context())
		defer h.truth.stop()
	}
	for _, i := range h.config.all() {
		if slices.Contains(s.cmd.replace, i.address()) {
			h.renew(i)
		}
	}
	r := h.side.command(h.config.files(), nil, s.cmd)
	if r.refused && len(h.truth.calls) > 0 {
		h.t.Errorf("got the calls %q of a plan that is an error", h.truth.calls)
	}
	for _, name := range h.truth.calls {
		if !h.touched[name] && s.cmd.mode != plan.Destroy && !h.removed(name) {
			h.t.Errorf("got a call that changes %s, which is as it was", name)
		}
	}
	for _, fault := range h.truth.faults {
		h.t.Error(fault)
	}
	for _, in := range []struct{ what, text string }{{"what the command shows and writes", r.shown}, {"the state", string(h.side.encoded(h.side.state))}} {
		for _, found := range h.truth.shown(in.text) {
			h.t.Errorf("got in %s %s", in.what, found)
		}
	}
	return r
}

// removed reports whether no block has an instance of a name any more.
func (h *madeHistory) removed(name string) bool {
	return !slices.ContainsFunc(h.config.all(), func(i madeInstance) bool { return i.named() == name })
}

// wayOut is a way out of an error, as its message names it.
type wayOut struct {
	replace      []string
	unrestricted bool // nothing is left out of the plan
}

var replaceOption = regexp.MustCompile(`-replace=(?:'([^']+)'|([a-z_]+\.[a-z0-9_]+))`)

// follow checks that the errors of a plan are right and does what they say.
func (h *madeHistory) follow(s madeStep, r *heldResult) (way wayOut) {
	for _, d := range r.diags {
		if d.Severity != diag.Error {
			continue
		}
		h.trail = append(h.trail, fmt.Sprintf("  %s: %s: %s", d.Address, d.Summary, d.Detail))
		right := false
		switch d.Summary {
		case "Value is no longer available":
			right = h.isNeeded(d.Detail)
		case "New value would not be delivered":
			right, way.unrestricted = h.isMissed(d.Address, s.cmd), true
			for _, i := range h.config.all() {
				if i.address() == d.Address && i.static {
					h.bump(i.madeObject)
				}
			}
		case "Moved resource instances excluded by targeting", "Nothing matches -replace":
			right, way.unrestricted = len(s.cmd.targets)+len(s.cmd.excludes) > 0, true
		case "Value is still needed":
			right, way.unrestricted = h.isTakenOut(d.Address) && len(s.cmd.targets)+len(s.cmd.excludes) > 0, true
		case "Cannot tell whether the object exists": // an account that is gone, with a password
			right = slices.ContainsFunc(h.config.all(), func(i madeInstance) bool { return i.address() == d.Address && h.real(i) == "" })
		case "Value was not delivered":
			right = h.ended && (h.uncertain || len(h.lacking()) > 0)
			if right && h.config.chance(4) {
				h.untaint(d)
				continue
			}
		}
		if !right {
			h.t.Errorf("got the error %q without a reason: %s", d.Summary, d.Detail)
		}
		for _, m := range replaceOption.FindAllStringSubmatch(d.Detail, -1) {
			way.replace = append(way.replace, m[1]+m[2])
		}
	}
	way.replace = slices.DeleteFunc(way.replace, func(a string) bool { return slices.Contains(s.cmd.replace, a) })
	slices.Sort(way.replace)
	way.replace = slices.Compact(way.replace)
	return way
}

// untaint does what the command untaint does: the user says that all is well with an object.
func (h *madeHistory) untaint(d diag.Diagnostic) {
	for _, m := range replaceOption.FindAllStringSubmatch(d.Detail, -1) {
		address := m[1] + m[2]
		h.trail = append(h.trail, "  untaint "+address)
		all := h.config.all()
		in := h.instance(all[slices.IndexFunc(all, func(i madeInstance) bool { return i.address() == address })])
		n := in.Current.Clone()
		n.Tainted = false
		n.Withheld, _ = state.Deliver(n.Withheld, nil)
		in.Current = n
		for _, user := range all {
			for _, source := range user.sources() {
				if source.address() == address {
					h.waived[user.named()+" "+source.named()] = strings.ToUpper(h.token(source))
					h.touch(user)
				}
			}
		}
	}
}
