package backend

import (
	"fmt"
	"math"
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

// inBackend says which backend an error about arguments is of.
func inBackend(kind string, err error) error {
	return fmt.Errorf("the backend %q: %w", kind, err)
}

// textOr returns an argument, or else the text otherwise.
func textOr(cfg cty.Value, name, otherwise string) string {
	if v := cfg.GetAttr(name); !v.IsNull() {
		return v.AsString()
	}
	return otherwise
}

// isTrue reports whether an argument is set and true.
func isTrue(cfg cty.Value, name string) bool {
	v := cfg.GetAttr(name)
	return !v.IsNull() && v.True()
}

// textsOf returns the elements of an argument that is a list or set of texts, without nulls; nil if it is not
// set.
func textsOf(cfg cty.Value, name string) (out []string) {
	if v := cfg.GetAttr(name); !v.IsNull() {
		for _, e := range v.AsValueSlice() {
			if !e.IsNull() {
				out = append(out, e.AsString())
			}
		}
	}
	return out
}

// textMapOf returns the elements of an argument that is a map of texts, without nulls; nil if it is not set.
func textMapOf(cfg cty.Value, name string) map[string]string {
	v := cfg.GetAttr(name)
	if v.IsNull() {
		return nil
	}
	out := map[string]string{}
	for key, e := range v.AsValueMap() {
		if !e.IsNull() {
			out[key] = e.AsString()
		}
	}
	return out
}

// countOf returns an argument that is a whole number and not negative; nil if it is not set.
func countOf(cfg cty.Value, kind, name string) (*int, error) {
	v := cfg.GetAttr(name)
	if v.IsNull() {
		return nil, nil
	}
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != big.Exact || n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("the argument %q of the backend %q must be a whole number that is not negative", name, kind)
	}
	count := int(n)
	return &count, nil
}
