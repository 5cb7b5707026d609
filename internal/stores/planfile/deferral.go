package planfile

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// deferral is one line of the entry for deferrals.
//
//	{"change":{"addr":{"resource":0,"key":true},…},"reason":"instance_count_unknown","waits_for":[{"resource":1}]}
type deferral struct {
	Change   *change `json:"change"`
	Reason   string  `json:"reason"`
	WaitsFor []dep   `json:"waits_for,omitempty"`
}

var deferralReasons = []plan.DeferralReason{
	plan.DeferredCountUnknown, plan.DeferredProviderConfig, plan.DeferredAbsent, plan.DeferredConfigUnknown, plan.DeferredPrereq,
}

// generic reports whether an address has a key that is not known. Only deferrals may have such addresses: an
// apply that met one would not know which object is meant.
func generic(m addr.ModuleInstance, k addr.Key) bool {
	if k == addr.AnyKey {
		return true
	}
	for !m.IsRoot() {
		if m, _, k = m.Parent(); k == addr.AnyKey {
			return true
		}
	}
	return false
}

// errGeneric is the error for an unknown key that is not in a deferral.
var errGeneric = errors.New("an address outside of the deferrals has a key that is not known")

// specific refuses an address with an unknown key, except in deferrals.
func (e *encoder) specific(x *failing, m addr.ModuleInstance, k addr.Key) {
	if !e.deferred && generic(m, k) {
		x.check(errGeneric)
	}
}

// specific refuses an address with an unknown key, except in deferrals.
func (d *decoder) specific(m addr.ModuleInstance, k addr.Key) {
	if !d.deferred && generic(m, k) {
		d.fail("%v", errGeneric)
	}
}

// deferrals writes the deferrals, one per line. An entry without any is not written.
func (p *writer) deferrals(list []*plan.Deferral, e *encoder) {
	if len(list) == 0 {
		return
	}
	e.deferred = true
	defer func() { e.deferred = false }()
	p.entry(entryDeferred, func(w io.Writer) error {
		lines := lineEncoder(w)
		for _, later := range list {
			var x failing
			c, err := e.change(later.Change)
			x.check(err)
			line := deferral{Change: c, Reason: string(later.Reason), WaitsFor: e.deps(&x, later.WaitsFor)}
			if !slices.Contains(deferralReasons, later.Reason) {
				x.check(fmt.Errorf("unknown reason %q", later.Reason))
			}
			if x.err != nil {
				return fmt.Errorf("saving the deferral of %s: %w", later.Change.Object(), x.err)
			}
			if err := lines.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// deferrals reads the deferrals. The count in the document makes a cut-off entry an error.
func (p *reader) deferrals(count int, d *decoder) ([]*plan.Deferral, error) {
	if count == 0 {
		return nil, nil // allUsed finds a leftover entry
	}
	d.deferred = true
	defer func() { d.deferred = false }()
	var list []*plan.Deferral
	err := p.with(entryDeferred, func(r io.Reader) error {
		dec := strict(r)
		for {
			var line deferral
			err := dec.Decode(&line)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				list, err = append(list, d.deferral(&line)), d.err
			}
			if err != nil {
				return err
			}
		}
	})
	if err == nil && len(list) != count {
		err = corrupt("it records %d changes for its entry %q, which has %d", count, entryDeferred, len(list))
	}
	return list, err
}

// deferral decodes one deferral. The result is valid only if d.err is nil.
func (d *decoder) deferral(in *deferral) *plan.Deferral {
	out := &plan.Deferral{Reason: plan.DeferralReason(in.Reason), WaitsFor: d.deps(in.WaitsFor)}
	if !slices.Contains(deferralReasons, out.Reason) {
		d.fail("it defers something for a reason that is not valid")
	}
	if in.Change == nil {
		d.fail("one of its deferrals has no change")
		return out
	}
	out.Change = d.change(in.Change)
	return out
}
