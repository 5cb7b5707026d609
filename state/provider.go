package state

import "github.com/mayfly-iac/mayfly/addr"

// SetProvider makes another provider configuration the one that an instance with all its objects belongs to.
// Without such an instance it does nothing.
func (s *State) SetProvider(a addr.Instance, provider addr.ProviderConfig) {
	if i := s.Instance(a); i != nil {
		i.Provider = provider
	}
}

// AtDefaultHost returns the state as a program writes it whose default registry is ours: providers that
// Terraform has looked up at its own registry are those of the same name at the default one, but for those
// that keep accepts, which is asked once for each. If nothing is to be changed it returns s, otherwise a
// copy.
func (s *State) AtDefaultHost(keep func(addr.Provider) bool) *State {
	out, kept := s, map[addr.Provider]bool{}
	for a, i := range s.AllInstances() {
		p := i.Provider.Provider
		if p.Hostname != addr.TerraformHost {
			continue
		}
		if _, asked := kept[p]; !asked {
			kept[p] = keep(p)
		}
		if kept[p] {
			continue
		}
		if out == s {
			out = s.Copy()
		}
		pc := i.Provider
		pc.Provider.Hostname = addr.DefaultHost
		out.SetProvider(a, pc)
	}
	return out
}
