package install

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// Only returns the requirements of the providers with the source addresses in only; all of them if that is
// empty.
func Only(reqs map[addr.Provider]*Requirement, only []string) (map[addr.Provider]*Requirement, diag.List) {
	if len(only) == 0 {
		return reqs, nil
	}
	picked := map[addr.Provider]*Requirement{}
	for _, text := range only {
		p, err := addr.ParseProvider(text)
		if err != nil {
			return nil, diag.Errorf("Invalid provider argument", "%q is not the source address of a provider, such as hashicorp/random.", text)
		}
		if reqs[p] == nil {
			return nil, diag.Errorf("Invalid provider argument", "The configuration does not need provider %s. To see which ones it needs, run:\n  mayfly providers", p)
		}
		picked[p] = reqs[p]
	}
	return picked, nil
}
