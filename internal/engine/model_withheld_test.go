package engine_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/plan"
)

// envHeldSeeds is how many histories TestE91Model tries; envHeldFirst is the first one.
const (
	envHeldSeeds = "MAYFLY_TEST_WITHHELD_SEEDS"
	envHeldFirst = "MAYFLY_TEST_WITHHELD_FIRST"
	heldSeeds    = 4 // a long run sets the variable
)

// TestE91Model changes random configurations in random ways, with ephemeral_attributes and without. Both must
// change the infrastructure by the same calls and leave the same objects, except where a rule says otherwise:
// the steps name the rule. No secret that is withheld may be in anything that a command writes or shows.
func TestE91Model(t *testing.T) {
	t.Parallel()
	first, seeds := envNumber(t, envHeldFirst, 0), envNumber(t, envHeldSeeds, heldSeeds)
	enough := time.Now().Add(time.Hour)
	if deadline, ok := t.Deadline(); ok { // a busy machine tries fewer
		enough = deadline.Add(-time.Minute)
	}
	hashes := fingerprint.NewHashes()
	var salts []fingerprint.Salt
	for b := range byte(2) {
		s, err := fingerprint.NewSalt(bytes.NewReader(bytes.Repeat([]byte{b}, 20)))
		if err != nil {
			t.Fatal(err)
		}
		salts = append(salts, s)
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
				h := newHeldHistory(t, uint64(first+seed), salts, hashes)
				h.live()
				steps.Add(int64(len(h.trail)))
				if t.Failed() {
					text, _ := h.c.text(true)
					t.Fatalf("with %s=%d, after:\n  %s\nof the configuration:\n%s", envHeldFirst, first+seed, strings.Join(h.trail, "\n  "), text)
				}
			}
		})
	}
}

// heldHistory is what happens to a configuration.
type heldHistory struct {
	t           *testing.T
	c           *heldConfig
	plain, held *heldSide
	salts       []fingerprint.Salt // the first is the one in use
	trail       []string
	// blind is a part of the error that the next command ends with, by rule, since the state knows only what
	// came from outside (E92).
	blind string
}

func newHeldHistory(t *testing.T, seed uint64, salts []fingerprint.Salt, hashes *fingerprint.Hashes) *heldHistory {
	c := newHeldConfig(rand.New(rand.NewPCG(seed, 91)))
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	h := &heldHistory{t: t, c: c, salts: slices.Clone(salts)}
	used := salts[:1]
	if c.chance(50) {
		used = nil // an apply makes one, which takes time to hash with
	}
	h.plain, h.held = newHeldSide(t, dir, false, nil, hashes), newHeldSide(t, dir, true, used, hashes)
	return h
}

// live is the life of a configuration.
func (h *heldHistory) live() {
	h.both(heldStep{name: "create"})
	h.settle()
	for range 3 + h.c.rng.IntN(6) {
		if h.t.Failed() {
			return
		}
		h.step(h.next())
	}
	if h.t.Failed() {
		return
	}
	h.both(heldStep{name: "destroy everything", cmd: heldCommand{mode: plan.Destroy}})
	if got := h.held.world(h.c); got != "" {
		h.t.Errorf("got %s after the destruction, want nothing", got)
	}
}

// heldStep is a step of a history.
type heldStep struct {
	name    string
	cmd     heldCommand
	rules   []simprovider.Rule
	resalt  bool   // no fingerprint can be compared any more, and -assume-unchanged says that they are the same
	refused string // a part of the error that the command with the setting ends with by rule; the way on is to leave out reading
	blind   string // the same of the next command, if this one takes over a change from outside; one that is refused does not
}

// step carries out a step and what mends its failures. After that a plan has nothing to do.
func (h *heldHistory) step(s heldStep) {
	if s.resalt {
		slices.Reverse(h.salts)
		h.held.resalt(h.salts[0])
	}
	if s.refused != "" {
		h.refuse(s)
		s.cmd.skipRefresh, s.cmd.mode = true, plan.Normal
	}
	if s.refused == "" {
		h.blind = cmp.Or(h.blind, s.blind)
	}
	h.both(s)
	h.settle()
}

// settle applies what is left to do.
func (h *heldHistory) settle() {
	if h.t.Failed() {
		return
	}
	if h.blind != "" {
		h.refuse(heldStep{name: "mend", refused: h.blind})
		h.both(heldStep{name: "mend", cmd: heldCommand{skipRefresh: true}})
		h.blind = ""
	}
	h.both(heldStep{name: "mend"})
	h.both(heldStep{name: "second plan", cmd: heldCommand{planOnly: true}})
	for _, o := range h.c.objects {
		o.from, o.recorded = "", o.on
	}
}

// refuse carries out a command that is an error with the setting, and changes nothing.
func (h *heldHistory) refuse(s heldStep) {
	h.trail = append(h.trail, "refused: "+s.name)
	r := h.held.run(h.c, s.cmd)
	if len(r.calls) > 0 || !strings.Contains(fmt.Sprint(r.diags.Err()), s.refused) {
		h.t.Errorf("got %v and the calls %q, want the error %q", r.diags.Err(), r.calls, s.refused)
	}
	h.hides(r)
}

// both carries out a command on both sides and compares them.
func (h *heldHistory) both(s heldStep) {
	if h.t.Failed() {
		return
	}
	h.trail = append(h.trail, fmt.Sprintf("%s %+v", s.name, s.cmd))
	h.plain.rules, h.held.rules = s.rules, s.rules
	want := h.plain.run(h.c, s.cmd)
	if s.resalt {
		for _, o := range h.c.objects {
			if o.on {
				s.cmd.assume = append(s.cmd.assume, o.address())
			}
		}
	}
	got := h.held.run(h.c, s.cmd)
	h.same("the calls", strings.Join(got.calls, "\n"), strings.Join(want.calls, "\n"))
	h.same("the planned actions", strings.Join(got.planned, "\n"), strings.Join(want.planned, "\n"))
	h.same("the errors", errorsOf(got.diags), errorsOf(want.diags))
	h.same("the objects", h.held.world(h.c), h.plain.world(h.c))
	h.same("the state", h.held.records(h.c), h.plain.records(h.c))
	if s.name == "second plan" && len(got.planned) > 0 {
		h.t.Errorf("got %q in the second plan, want nothing", got.planned)
	}
	h.hides(got)
}

func errorsOf(diags diag.List) string {
	var out []string
	for _, d := range diags {
		if d.Severity == diag.Error {
			out = append(out, d.Address+": "+d.Summary+": "+d.Detail)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "\n")
}

func (h *heldHistory) same(what, got, want string) {
	h.t.Helper()
	if got != want {
		h.t.Errorf("got %s with the setting:\n%s\nwant, as without it:\n%s", what, got, want)
	}
}

// hides checks that the secrets are in nothing that a command has left.
func (h *heldHistory) hides(r *heldResult) {
	h.t.Helper()
	for _, in := range []struct{ what, text string }{{"what the command shows and writes", r.shown}, {"the state", string(h.held.encoded(h.held.state))}} {
		text := strings.ToUpper(in.text)
		for _, secret := range append(h.c.hidden(), h.c.outside()...) {
			if i := strings.Index(text, strings.ToUpper(secret)); i >= 0 {
				h.t.Errorf("got %s in %s: …%s…", secret, in.what, in.text[max(0, i-100):min(len(text), i+60)])
			}
		}
	}
}
