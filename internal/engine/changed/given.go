package changed

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// Given is the hash of the configuration that the provider of an object was last given, when the row of the
// object had a version.
type Given struct {
	Hash    state.Hash
	Version state.Version
}

// Given returns the hash of the configuration that the provider of an instance was last given; false if there
// is none, or if the provider has to be asked anyway. A row that was read before or after the record may have
// another version. It is safe for concurrent use.
func (w *Work) Given(a addr.Instance) (Given, bool) {
	if !w.Partial() {
		return Given{}, false
	}
	g, is := w.attempt.given[a]
	return g, is
}

// noteGiven notes the record of an instance, which may be nil, unless the object was changed, or its row says
// that it is due.
func (w *Work) noteGiven(a addr.Instance, rec *state.Record) {
	toRefresh := func(t addr.Target) bool { return t.Selects(a) }
	if rec != nil && rec.Given.Known() && !w.asks[a] && !slices.ContainsFunc(w.attempt.asked.Refresh, toRefresh) {
		w.attempt.given[a] = Given{rec.Given, rec.Version}
	}
}

// askedAbout returns the instances whose provider has to be asked, whatever it was given, but for targets.
func askedAbout(due []state.Due, asked Asked) map[addr.Instance]bool {
	out := map[addr.Instance]bool{}
	for a := range asked.instances {
		out[a] = true
	}
	for _, d := range due {
		if a, err := addr.ParseInstance(d.Unit.Addr); d.Unit.Kind == state.InstanceUnit && err == nil && d.Why&^(state.ByInput|state.ByBlock) != 0 {
			out[a] = true
		}
	}
	return out
}
