package provider

import "context"

// Deferred says why a provider puts off an answer; "" if it does not. The plugin protocol has the same
// reasons.
type Deferred string

// The reasons.
const (
	DeferredUnexplained    Deferred = "unknown"
	DeferredConfigUnknown  Deferred = "resource_config_unknown"
	DeferredProviderConfig Deferred = "provider_config_unknown"
	DeferredAbsent         Deferred = "absent_prereq"
)

// Text returns the reason in words, for messages.
func (d Deferred) Text() string {
	switch d {
	case DeferredConfigUnknown:
		return "the configuration of the resource is not known yet"
	case DeferredProviderConfig:
		return "the configuration of the provider is not known yet"
	case DeferredAbsent:
		return "something that the resource needs does not exist yet"
	default:
		return "the provider gave no reason"
	}
}

type deferralKey struct{}

// AllowDeferral returns a context in whose calls providers may put off their answers.
func AllowDeferral(ctx context.Context) context.Context {
	return context.WithValue(ctx, deferralKey{}, true)
}

// DeferralAllowed reports whether a provider may put off its answer to a call with the context.
func DeferralAllowed(ctx context.Context) bool { return ctx.Value(deferralKey{}) != nil }
