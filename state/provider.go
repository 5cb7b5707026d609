package state

import "github.com/mayfly-iac/mayfly/addr"

// SetProvider assigns an instance, with all its objects, to another provider configuration. It does nothing
// if there is no such instance.
func (s *State) SetProvider(a addr.Instance, provider addr.ProviderConfig) {
	if i := s.ownInstance(a); i != nil {
		i.Provider = provider
	}
}

// AtDefaultHost returns the state as written by a program with our default registry: providers that Terraform
// found at its own registry become their namesakes at the default one, except the ones that keep accepts.
// keep is called once for each. If nothing changes the result is s, otherwise a copy.
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
