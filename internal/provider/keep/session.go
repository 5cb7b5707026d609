package keep

import (
	"context"
	"errors"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/store"
)

// session is the configuration of a configured provider. It is immutable.
type session struct {
	store   *store.Store // nil while an argument of the provider configuration is unknown
	unknown []string     // the names of those arguments
}

// open returns the store, or the reason why there is none. A nil session belongs to a provider that was never
// configured.
func (s *session) open() (*store.Store, diag.List) {
	switch {
	case s == nil:
		return nil, diag.Errorf("Provider not configured", "The keep provider was asked to use its store before it was configured. This is an error of the program that runs the provider.")
	case s.store == nil:
		return nil, diag.Errorf("Store not known yet",
			"This needs the keep store now, but the provider configuration depends on values that are known only after apply: %s"+
				". Apply what they depend on first, or set them to values known in advance.", strings.Join(s.unknown, ", "))
	}
	return s.store, nil
}

// unsettled reports whether the configuration is partly unknown.
func (s *session) unsettled() bool { return s != nil && s.store == nil }

// explain converts a failure of the store to a diagnostic.
func explain(err error) diag.List {
	if p, ok := errors.AsType[*store.Problem](err); ok {
		return diag.List{{Summary: p.Summary, Detail: p.Detail}}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return diag.Errorf("Interrupted", "The operation on the keep store was interrupted before it changed anything.")
	}
	return diag.Errorf("Keep store failed", "%s", safefile.Reason(err))
}

// explainStore is explain for a store that cannot be opened. It points at the argument that names the file,
// if there is one: its value may be ephemeral, so that only the engine knows whether it may be shown.
func explainStore(err error, arguments map[string]cty.Value) diag.List {
	diags := explain(err)
	about := []string{"path"}
	switch {
	case errors.Is(err, store.ErrNoLease):
		about = []string{"token"}
	case errors.Is(err, store.ErrKeyMissing), errors.Is(err, store.ErrKeyUnusable):
		about = []string{"key_file", "path"}
	}
	for _, name := range about {
		if text(arguments[name]) != "" {
			diags[0].Path = cty.GetAttrPath(name)
			break
		}
	}
	return diags
}

// explainLost is explain for a secret that could not be read. Resources that need it cannot even be
// destroyed.
func explainLost(err error) diag.List {
	diags := explain(err)
	if errors.Is(err, store.ErrNotFound) {
		diags[0].Detail += " If it was removed for good, what needs it to be planned or destroyed can be taken out of the state with: state rm ADDRESS"
	}
	return diags
}

// gone handles a failed look-up while refreshing: ok is true if the object no longer exists. It warns if the
// file is missing.
func gone(err error) (ok bool, diags diag.List) {
	if !errors.Is(err, store.ErrNotFound) {
		return false, explain(err)
	}
	if p, ok := errors.AsType[*store.Problem](err); ok && errors.Is(err, store.ErrNoStore) {
		diags = diag.Warnf("Keep store does not exist", "%s What the state says was kept there counts as deleted.", p.Detail)
	}
	return true, diags
}

// unrefreshed says why an object was not refreshed.
func (s *session) unrefreshed(id string) diag.List {
	return diag.Warnf("Not refreshed", "The keep store can't be read yet because the provider configuration depends on values known only after apply (%s"+
		"). %s is taken to be as it was last seen.", strings.Join(s.unknown, ", "), id)
}
