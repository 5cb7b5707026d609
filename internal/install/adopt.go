package install

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// atTerraform returns the provider at Terraform's registry that is the same as one at the default registry,
// where HashiCorp's are built again.
func atTerraform(p addr.Provider) (addr.Provider, bool) {
	same := p.Hostname == addr.DefaultHost && p.Namespace == addr.DefaultNamespace
	p.Hostname = addr.TerraformHost
	return p, same
}

// adopted maps providers at the default registry to those at Terraform's registry whose selections they
// have taken over.
type adopted map[addr.Provider]addr.Provider

// adopt returns the lock as this program would have written it, and the differences. HashiCorp's providers
// that Terraform has selected at its own registry are the same as those at the default one, where they are
// built again: so their versions are kept and their checksums are not. Only providers that are required and
// not selected yet are taken over. Neither argument is changed.
func adopt(reqs map[addr.Provider]*Requirement, lock *lockfile.Lock) (*lockfile.Lock, adopted) {
	next, from := lockfile.New(), adopted{}
	for e := range lock.All() {
		next.Set(e)
	}
	for p := range reqs {
		theirs, ok := atTerraform(p)
		if !ok {
			continue
		}
		if _, selected := lock.Entry(p); selected {
			continue
		}
		if e, ok := lock.Entry(theirs); ok {
			from[p] = theirs
			next.Set(lockfile.Entry{Provider: p, Version: e.Version, Constraints: e.Constraints})
		}
	}
	return next, from
}

// warn lists the selections in the new lock that were taken over.
func (from adopted) warn(next, before *lockfile.Lock) diag.List {
	var names strings.Builder
	for e := range next.All() {
		theirs, ok := from[e.Provider]
		if old, _ := before.Entry(theirs); ok && old.Version == e.Version {
			fmt.Fprintf(&names, "\n  - %s => %s", theirs, e.Provider)
		}
	}
	if names.Len() == 0 {
		return nil
	}
	return diag.Warnf("Dependency lock file entries automatically updated",
		"Terraform selected these providers at its own registry. They are now selected at the default registry too:%s\n\n"+
			"Their versions stay the same. The packages there are built separately, so their checksums were recorded again. Terraform's selections stay in the file.", names.String())
}
