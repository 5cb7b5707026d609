package plan

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
)

// DeferralReason says why a plan leaves something to a later one. The JSON plan format has the same values.
type DeferralReason string

// The reasons.
const (
	// DeferredCountUnknown: count, for_each or enabled is known only after apply.
	DeferredCountUnknown DeferralReason = "instance_count_unknown"
	// DeferredProviderConfig: the provider cannot be configured before something is applied, or says so.
	DeferredProviderConfig DeferralReason = "provider_config_unknown"
	// DeferredAbsent: the object to import is not known before something is applied, or the provider says
	// that something does not exist yet.
	DeferredAbsent DeferralReason = "absent_prereq"
	// DeferredConfigUnknown: the provider says that it needs to know more of the configuration.
	DeferredConfigUnknown DeferralReason = "resource_config_unknown"
	// DeferredPrereq: something that the object depends on is deferred or, if it is to be destroyed,
	// something that depends on it.
	DeferredPrereq DeferralReason = "deferred_prereq"
)

// Deferral is something that a plan leaves to a later one.
type Deferral struct {
	// Change is the change as far as it is known. Its address has addr.AnyKey where the keys are unknown.
	// Its action is NoOp if only a later plan can tell.
	Change *Change
	Reason DeferralReason
	// WaitsFor are the objects that have to change, or to be planned, before this can be planned, in the
	// order of their addresses; none if that is not known.
	WaitsFor []Dep
}

// Why returns the reason as a clause about the object, such as "its provider cannot be configured yet".
func (d *Deferral) Why() string {
	switch c := d.Change; {
	case d.Reason == DeferredCountUnknown:
		return "its instances are known only after an apply"
	case d.Reason == DeferredProviderConfig:
		return "its provider cannot be configured yet"
	case d.Reason == DeferredAbsent:
		return "something that has to exist first does not exist yet"
	case d.Reason == DeferredConfigUnknown:
		return "its provider needs to know more of its configuration"
	case c.Action == Delete || c.Action.IsReplace():
		return "something else that is deferred may need it"
	case slices.ContainsFunc(c.Withheld, func(w Withheld) bool { return w.Computed }):
		return "what takes a value that it makes is deferred"
	default:
		return "it depends on something that is deferred"
	}
}

// Awaited returns the addresses of the objects that d waits for, none if they are not known.
func (d *Deferral) Awaited() []string {
	var names []string
	for _, w := range d.WaitsFor {
		names = append(names, w.String())
	}
	return slices.Compact(names)
}

// MayRefer reports whether the dependency may be on an instance of the block of a, whose key, or the key of a
// module around it, is not known.
func (d Dep) MayRefer(a addr.Instance) bool {
	if d.Resource.Resource != (addr.Resource{}) {
		return d.Resource.Config() == a.Config()
	}
	inner, outer := a.Module.Module().Calls(), d.Resource.Module.Module().Calls()
	return len(inner) >= len(outer) && slices.Equal(inner[:len(outer)], outer)
}
