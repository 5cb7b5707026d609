package withheld

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// judgement compares the values of one object.
type judgement struct {
	*Attributes
	prior        cty.Value // filled; may be null
	stored       *state.Object
	cfg, planned cty.Value
}

// Judge says of each withheld attribute how its value in the configuration compares with its value in the
// prior object, which was filled and may be null. Of a computed attribute, it compares the planned value.
func (a *Attributes) Judge(prior cty.Value, stored *state.Object, cfg, planned cty.Value) (out []plan.Withheld) {
	if prior.IsNull() {
		stored = nil
	}
	j := judgement{Attributes: a, prior: prior, stored: stored, cfg: cfg, planned: planned}
	var paths []cty.Path
	for _, v := range []cty.Value{cfg, prior, planned} {
		paths = appendNew(paths, a.Names.Find(v)...)
	}
	if stored != nil {
		for _, w := range stored.Withheld {
			paths = appendNew(paths, w.Path)
		}
	}
	for _, path := range paths {
		w := plan.Withheld{Path: path}
		record := recordAt(stored, path)
		if w.Computed = isComputed(a, path, cfg) || record != nil && record.Computed && part(cfg, path) == cty.NilVal; w.Computed {
			w.Status = j.ofComputed(path, record)
		} else {
			w.Status = j.ofGiven(path, record)
		}
		if w.Status != "" {
			out = append(out, w)
		}
	}
	return out
}

// ofGiven is Judge for an attribute that the configuration sets and that is on record, if record is not nil;
// "" if there is nothing to say.
func (j *judgement) ofGiven(path cty.Path, record *state.Withheld) plan.WithheldStatus {
	status := j.difference(path, record)
	if status == plan.WithheldNew && j.stored != nil && j.Lost {
		status = plan.WithheldIncomparable
	}
	if status == plan.WithheldSame {
		status = j.sameness(path, record)
	}
	return status
}

// sameness says more of an attribute whose value stays: whether something changes in the state.
func (j *judgement) sameness(path cty.Path, record *state.Withheld) plan.WithheldStatus {
	switch {
	case !j.Names.Matches(path):
		return plan.WithheldReleased
	case slices.ContainsFunc(j.taken, path.Equals):
		return plan.WithheldAssumed
	case record == nil && j.stored != nil:
		return plan.WithheldStored
	case record != nil && j.Imported && j.compare(*record, part(j.prior, path)) == fingerprint.Incomparable:
		return plan.WithheldImported
	case record != nil && j.assumed(*record, part(j.cfg, path)):
		return plan.WithheldAssumed
	case record != nil && (j.otherVersion(*record, j.restSet(j.cfg)) || j.otherMade(*record) && !j.ignored(path)):
		return plan.WithheldVersion
	}
	return plan.WithheldSame
}

// isComputed reports whether the provider gives the value at a path of an object: the configuration has none
// there. Without a configuration, it is judged by the block.
func isComputed(a *Attributes, path cty.Path, cfg cty.Value) bool {
	if !a.Names.Matches(path) || !a.Block.ComputedAt(path) {
		return false
	}
	if cfg == cty.NilVal {
		return a.Computed.Matches(path)
	}
	return part(cfg, path) == cty.NilVal
}

// ofComputed is Judge for a computed attribute. A value that a provider may or may not change in an update is
// unknown.
func (j *judgement) ofComputed(path cty.Path, record *state.Withheld) plan.WithheldStatus {
	before, now := part(j.prior, path), part(j.planned, path)
	switch {
	case !hasPlace(j.planned, path):
		return ""
	case record == nil && now == cty.NilVal:
		return "" // there is none
	case !j.Names.Matches(path) && now == cty.NilVal:
		return plan.WithheldRemoved // it cannot come back
	case !j.Names.Matches(path):
		return plan.WithheldReleased // the provider makes a new one, or has returned it when it read the object
	case now != cty.NilVal && !now.IsWhollyKnown():
		return plan.WithheldUnknown
	case record == nil && before == cty.NilVal:
		return plan.WithheldNew
	case j.Imported && before != cty.NilVal && before.RawEquals(now):
		return plan.WithheldImported
	case record == nil && before.RawEquals(now):
		return plan.WithheldStored
	case record == nil, now != cty.NilVal && j.compare(*record, now) == fingerprint.Different:
		return plan.WithheldChanged
	}
	return plan.WithheldSame
}

// Restored says of the computed attributes of an object that stays as it is whether its record in the state
// changes with the configuration: whether an attribute is taken out, or is to be stored from now on.
func (a *Attributes) Restored(v cty.Value, stored *state.Object) (out []plan.Withheld) {
	paths := slices.DeleteFunc(a.Names.Find(v), func(p cty.Path) bool { return !a.Computed.Matches(p) })
	for _, w := range stored.Withheld {
		if w.Computed {
			paths = appendNew(paths, w.Path)
		}
	}
	j := judgement{Attributes: a, prior: v, stored: stored, planned: v}
	for _, path := range paths {
		if w := (plan.Withheld{Path: path, Computed: true, Status: j.ofComputed(path, recordAt(stored, path))}); w.Restores() {
			out = append(out, w)
		}
	}
	return out
}

// Gone says of each attribute that the state withholds that it goes with its object.
func Gone(stored *state.Object) []plan.Withheld {
	if stored == nil {
		return nil
	}
	var out []plan.Withheld
	for _, w := range stored.Withheld {
		out = append(out, plan.Withheld{Path: w.Path, Status: plan.WithheldRemoved})
	}
	return out
}

func appendNew(paths []cty.Path, more ...cty.Path) []cty.Path {
	for _, path := range more {
		if !slices.ContainsFunc(paths, path.Equals) {
			paths = append(paths, path)
		}
	}
	return paths
}

// difference compares the value in the configuration with the one that the attribute had, or that is on
// record.
func (j *judgement) difference(path cty.Path, record *state.Withheld) plan.WithheldStatus {
	before, now := part(j.prior, path), part(j.cfg, path)
	switch {
	case before == cty.NilVal && record == nil:
		if !now.IsWhollyKnown() {
			return plan.WithheldUnknown
		}
		return plan.WithheldNew
	case now == cty.NilVal:
		if !hasPlace(j.cfg, path) || j.ignored(path) {
			return "" // maybe the block that it was in has gone
		}
		return plan.WithheldRemoved
	case !now.IsWhollyKnown() && j.ignored(path):
		return plan.WithheldSame // it is null for the provider, in the prior object too
	case !now.IsWhollyKnown():
		return plan.WithheldUnknown
	case before == cty.NilVal && j.compare(*record, now) == fingerprint.Incomparable:
		return plan.WithheldIncomparable
	case before == cty.NilVal:
		return plan.WithheldChanged
	case before.RawEquals(now) || j.ignored(path):
		return plan.WithheldSame
	case record != nil && j.compare(*record, now) == fingerprint.Same && j.compare(*record, before) == fingerprint.Same:
		return plan.WithheldSame // the provider has normalized it
	}
	return plan.WithheldChanged
}

// CheckGiven reports withheld attributes that the configuration does not set although the provider gives them
// a value.
func (a *Attributes) CheckGiven(cfg, planned cty.Value) (diags diag.List) {
	for _, path := range a.Names.Find(planned) {
		if v := part(planned, path); part(cfg, path) == cty.NilVal && !isZero(v) && !a.Block.ComputedAt(path) {
			diags = append(diags, diag.Diagnostic{
				Summary: "Ephemeral attribute without a value", Path: path,
				Detail: fmt.Sprintf("The configuration sets no value for %s of %s, so that the provider decides about it. Only a value that the configuration sets can be kept out of the state. Set the argument, or remove it from ephemeral_attributes.", schema.PathString(path), a.Object),
			})
		}
	}
	return diags
}

// CheckSent reports ignored attributes of an object to be updated whose values are not known any more: the
// provider would be sent null in their place, and might write it. cfg is the configuration with ignored
// attributes taken from the prior object; declared is the configuration without that, which may have values
// that are not known yet.
func (a *Attributes) CheckSent(cfg, declared cty.Value, stored *state.Object) (diags diag.List) {
	for _, w := range Missing(cfg, stored) {
		if v := part(declared, w.Path); a.ignored(w.Path) && (v == cty.NilVal || v.IsWhollyKnown()) {
			diags = append(diags, a.blind(w.Path, "Ignored ephemeral attribute without a value", ignoredBlindly))
		}
	}
	return diags
}

func (a *Attributes) blind(path cty.Path, summary, format string) diag.Diagnostic {
	return diag.Diagnostic{
		Summary: summary, Path: path, Detail: fmt.Sprintf(format, schema.PathString(path), a.Object, diag.Argument(a.Object.Instance.String())),
	}
}

// Messages about a path, an object and its address as an argument of a command: of changes that a provider
// does not see.
const (
	replacedBlindly = "The state has no fingerprint of %[1]s of %[2]s that could be compared, so that it is not known whether the value has changed, and the provider would replace the object if it has. To replace it, add the option -replace=%[3]s. If the value is the same, add the option -assume-unchanged=%[3]s."
	removedBlindly  = "%[1]s of %[2]s has no value in the configuration any more. The state does not have the earlier value, so that the provider cannot see that it is to go. Replace the object with the option -replace=%[3]s, or put the argument back."
	ignoredBlindly  = "Changes of %[1]s of %[2]s are ignored, and the configuration sets no value for it. The state does not have the value either, so that the provider would be sent null in its place in this update. Set the argument, or replace the object with the option -replace=%[3]s."
	changedBlindly  = "%[1]s of %[2]s has another value in the configuration than before. The state does not have the earlier value, and without it the provider plans no change. Replace the object with the option -replace=%[3]s."
)

// CheckSeen reports changes of withheld attributes that a provider cannot make because it was not sent the
// value of before: one that it does not plan, one that takes the value away, and a replacement that is
// planned only because the value cannot be compared. It reports computed values too that are to be stored
// from now on, but exist no longer. replaced are the paths that require the replacement of
// the object, none if it is updated.
func (a *Attributes) CheckSeen(prior, planned cty.Value, statuses []plan.Withheld, replaced []cty.Path) (diags diag.List) {
	report := func(path cty.Path, summary, format string) { diags = append(diags, a.blind(path, summary, format)) }
	known := func(p cty.Path) bool { // the difference at this path that requires the replacement is known
		return !slices.ContainsFunc(statuses, func(w plan.Withheld) bool { return w.Status == plan.WithheldIncomparable && p.HasPrefix(w.Path) })
	}
	if len(replaced) > 0 {
		if !slices.ContainsFunc(replaced, known) {
			report(replaced[0], "Replacement without a known difference", replacedBlindly)
		}
		return diags
	}
	var released []cty.Path
	for _, w := range statuses {
		if !hasPlace(planned, w.Path) || part(prior, w.Path) != cty.NilVal {
			continue
		}
		if w.Computed {
			if w.Status == plan.WithheldRemoved {
				released = append(released, w.Path)
			}
			continue
		}
		v := part(planned, w.Path)
		switch unset := v == cty.NilVal || isZero(v); {
		case unset && w.Status == plan.WithheldRemoved:
			report(w.Path, "Ephemeral attribute was removed", removedBlindly)
		case unset && (w.Status == plan.WithheldChanged || w.Status == plan.WithheldIncomparable):
			report(w.Path, "Change of an ephemeral attribute is not seen", changedBlindly)
		}
	}
	return append(diags, cannotComeBack(a.Object, released)...)
}

// cannotComeBack is the error about computed values of an object that are to be stored from now on, but exist
// no longer.
func cannotComeBack(o addr.Object, released []cty.Path) diag.List {
	if len(released) == 0 {
		return nil
	}
	var names []string
	for _, path := range released {
		names = append(names, schema.EveryElementOf(path))
	}
	slices.Sort(names)
	list := strings.Join(slices.Compact(names), ", ")
	return diag.List{{
		Summary: "Computed value cannot come back", Path: released[0],
		Detail: fmt.Sprintf("The configuration no longer keeps %s of %s out of the state, but the values existed only in an earlier run. For new ones, which will be stored, replace the object with the option -replace=%s, or name the attributes again: ephemeral_attributes = [%s]",
			list, o, diag.Argument(o.Instance.String()), list),
	}}
}
