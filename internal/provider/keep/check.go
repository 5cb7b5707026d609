package keep

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/store"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// text returns a string, "" if it is null or unknown.
func text(v cty.Value) string {
	if v.IsNull() || !v.IsKnown() {
		return ""
	}
	return v.AsString()
}

// optional returns a string, nil if it is null or unknown.
func optional(v cty.Value) *string {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	s := v.AsString()
	return &s
}

// fromOptional is the reverse of optional.
func fromOptional(s *string) cty.Value {
	if s == nil {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(*s)
}

// whole returns a number, and false if it is null, unknown, too large, or not a whole number.
func whole(v cty.Value) (int64, bool) {
	if v.IsNull() || !v.IsKnown() {
		return 0, false
	}
	n := v.AsBigFloat()
	if !n.IsInt() {
		return 0, false
	}
	i, _ := n.Int64()
	return i, cty.NumberIntVal(i).RawEquals(v)
}

// attributeError returns an error about an attribute.
func attributeError(name, summary, detail string) diag.Diagnostic {
	return diag.Diagnostic{Summary: summary, Detail: detail, Path: cty.GetAttrPath(name)}
}

// unprepared returns the error for a request with a value that no caller should send. It is checked because
// cty would panic.
func unprepared() diag.List {
	return diag.Errorf("Invalid request to provider", "A value was not prepared for the schema of the keep provider. This is an error of the program that runs the provider.")
}

// checkNumbers refuses numbers that are not whole.
func checkNumbers(block *schema.Block, c map[string]cty.Value) (diags diag.List) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		v := c[name]
		if block.Attributes[name].Type != cty.Number || v.IsNull() || !v.IsKnown() {
			continue
		}
		if _, ok := whole(v); !ok {
			diags = append(diags, attributeError(name, "Invalid number", "Give "+name+" a whole number of usual size."))
		}
	}
	return diags
}

// checkName accepts the names that the store accepts, and the same with a prefix if that is not "". The error
// does not quote the name.
func checkName(v cty.Value, prefix string) diag.List {
	if v.IsNull() || !v.IsKnown() || store.CheckName(bareName(v.AsString(), prefix)) == nil {
		return nil
	}
	return diag.List{attributeError("name", "Invalid name", "Use 1 to 255 letters, digits and . _ - @ /, beginning with a letter or digit.")}
}

// checkTTL accepts durations within the store's bounds.
func checkTTL(v cty.Value) diag.List {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	if _, ok := parseTTL(v.AsString()); ok {
		return nil
	}
	return diag.List{attributeError("ttl", "Invalid ttl", "Give a duration such as \"90s\" or \"5m\", between 1s and 24h.")}
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
