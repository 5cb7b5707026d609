package plan

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
