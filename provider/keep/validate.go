package keep

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mayfly-iac/mayfly/provider/keep/store"
)

// nameValidator accepts the names that the store accepts, and the same with idPrefix if that is set.
type nameValidator struct{ idPrefix string }

// Description implements validator.String.
func (nameValidator) Description(context.Context) string {
	return "1 to 255 letters, digits and . _ - @ /, beginning with a letter or digit"
}

// MarkdownDescription implements validator.String.
func (v nameValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String. The error does not quote the name.
func (v nameValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if store.CheckName(bareName(req.ConfigValue.ValueString(), v.idPrefix)) != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid name",
			"Use 1 to 255 letters, digits and . _ - @ /, beginning with a letter or digit.")
	}
}

// ttlValidator accepts durations within the store's bounds.
type ttlValidator struct{}

// Description implements validator.String.
func (ttlValidator) Description(context.Context) string {
	return "a duration such as \"90s\" or \"5m\", between 1s and 24h"
}

// MarkdownDescription implements validator.String.
func (v ttlValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (v ttlValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if _, ok := parseTTL(req.ConfigValue.ValueString()); !ok {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid ttl", "Give "+v.Description(ctx)+".")
	}
}

// parseTTL parses a duration such as "5m", and returns false if it is outside of the store's bounds.
func parseTTL(text string) (time.Duration, bool) {
	ttl, err := time.ParseDuration(text)
	return ttl, err == nil && store.CheckTTL(ttl) == nil
}

// Ids are names with a prefix. Names contain no colon, so an id is unambiguous where a name is expected.
const (
	secretIDPrefix = "keep:secret/"
	noteIDPrefix   = "keep:note/"
)

// bareName returns the name in an id; a name is returned as it is.
func bareName(nameOrID, prefix string) string { return strings.TrimPrefix(nameOrID, prefix) }
