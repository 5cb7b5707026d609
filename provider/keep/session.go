package keep

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mayfly-iac/mayfly/provider/keep/store"
)

// session is what a configured provider passes to its types. It is immutable.
type session struct {
	store   *store.Store // nil while an argument of the provider configuration is unknown
	unknown []string     // the names of those arguments
	now     func() time.Time
}

// open returns the store, or reports why there is none. A nil session belongs to a provider that was never
// configured.
func (s *session) open(diags *diag.Diagnostics) *store.Store {
	switch {
	case s == nil:
		diags.AddError("Provider not configured", "The keep provider was asked to use its store before it was configured. This is an error of the program that runs the provider.")
		return nil
	case s.store == nil:
		diags.AddError("Store not known yet",
			"This needs the keep store now, but the provider configuration depends on values that are known only after apply: "+
				strings.Join(s.unknown, ", ")+". Apply what they depend on first, or set them to values known in advance.")
	}
	return s.store
}

// unsettled reports whether the configuration is partly unknown.
func (s *session) unsettled() bool { return s != nil && s.store == nil }

// holder is embedded in every type that works with the store.
type holder struct{ session *session }

// take remembers the session that Configure of the provider has passed on.
func (h *holder) take(data any) {
	// Before the provider is configured, the framework passes nil, for validation and schema calls.
	h.session, _ = data.(*session)
}

// resourceHolder is the holder of a managed resource.
type resourceHolder struct{ holder }

// Configure implements resource.ResourceWithConfigure.
func (h *resourceHolder) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	h.take(req.ProviderData)
}

// dataHolder is the holder of a data source.
type dataHolder struct{ holder }

// Configure implements datasource.DataSourceWithConfigure.
func (h *dataHolder) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	h.take(req.ProviderData)
}

// ephemeralHolder is the holder of an ephemeral resource.
type ephemeralHolder struct{ holder }

// Configure implements ephemeral.EphemeralResourceWithConfigure.
func (h *ephemeralHolder) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	h.take(req.ProviderData)
}

// addError converts a failure of the store to a diagnostic.
func addError(diags *diag.Diagnostics, err error) {
	if p, ok := errors.AsType[*store.Problem](err); ok {
		diags.AddError(p.Summary, p.Detail)
		return
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		diags.AddError("Interrupted", "The operation on the keep store was interrupted before it changed anything.")
		return
	}
	diags.AddError("Keep store failed", err.Error())
}

// gone handles a failed look-up while refreshing: it returns true if the object no longer exists, and warns
// if the file is missing.
func gone(diags *diag.Diagnostics, err error) bool {
	if !errors.Is(err, store.ErrNotFound) {
		addError(diags, err)
		return false
	}
	if p, ok := errors.AsType[*store.Problem](err); ok && errors.Is(err, store.ErrNoStore) {
		diags.AddWarning("Keep store does not exist", p.Detail+" What the state says was kept there counts as deleted.")
	}
	return true
}

// warnUnrefreshed says why an object was not refreshed.
func (s *session) warnUnrefreshed(diags *diag.Diagnostics, id string) {
	diags.AddWarning("Not refreshed", "The keep store can't be read yet because the provider configuration depends on values known only after apply ("+
		strings.Join(s.unknown, ", ")+"). "+id+" is taken to be as it was last seen.")
}
