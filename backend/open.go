package backend

import (
	"fmt"
	"math"
	"math/big"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/remote"
)

// remote returns the store of a service.
func (e Env) remote(s remote.Service) store.Store {
	return remote.New(s, remote.Options{Cipher: e.Cipher, JournalDir: e.JournalDir, Version: e.Version})
}

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

// isTrue reports whether an argument is set to true.
func isTrue(cfg cty.Value, name string) bool {
	v := cfg.GetAttr(name)
	return !v.IsNull() && v.True()
}

// textsOf returns an argument that is a map of texts; nil if it is not set. Null elements are left out.
func textsOf(cfg cty.Value, name string) map[string]string {
	v := cfg.GetAttr(name)
	if v.IsNull() {
		return nil
	}
	out := map[string]string{}
	for key, elem := range v.AsValueMap() {
		if !elem.IsNull() {
			out[key] = elem.AsString()
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
